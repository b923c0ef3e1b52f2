"""What is said of pods, volumes, nodes and answers: each rule by itself."""

from typing import Any

import pytest

from fakekube.apimachinery import placement
from fakekube.runtime import jobs, pods, volumes
from fakekube.runtime.why import Answer, Attempt, Change, Place, Reason, names

T = "2026-01-01T00:00:{:02}Z"
NOW = 1767225600.0


def pod(name: str = "a", *, ready: str = "", since: int | None = None, **more: Any) -> dict[str, Any]:
    """A pod; ``more`` are parts of its status."""
    condition = {"type": "Ready", "status": ready} | ({} if since is None else {"lastTransitionTime": T.format(since)})
    status = {"conditions": [condition], **more} if ready else more
    return {"metadata": {"name": name, "uid": name, "creationTimestamp": T.format(0)}, "spec": {}, "status": status}


@pytest.mark.parametrize(("given", "finished", "active"), [
    (pod(), False, True), (pod(phase="Running"), False, True), (pod(phase="Succeeded"), True, False),
    (pod(phase="Failed"), True, False), (pod(phase="Unknown"), False, True), ({"metadata": {}, "spec": {}}, False, True),
    ({"metadata": {"deletionTimestamp": "x"}, "spec": {}}, False, False),
])
def test_a_pod_is_finished_or_active(given: dict[str, Any], finished: bool, active: bool) -> None:
    """Given pods in every phase / then they are finished, active, or neither."""
    assert (pods.is_finished(given), pods.is_active(given)) == (finished, active)
    assert pods.is_terminating(given) is (not finished and not active)
    assert pods.phase({"metadata": {}}) == "Pending"


@pytest.mark.parametrize(("given", "seconds", "now", "available"), [
    (pod(), 0, 100, False), (pod(ready="False", since=0), 0, 100, False), (pod(ready="True", since=10), 0, 0, True),
    (pod(ready="True", since=10), 5, 14.9, False), (pod(ready="True", since=10), 5, 15, True),
    (pod(ready="True"), 0, 100, True), (pod(ready="True"), 5, 100, False),
])
def test_a_ready_pod_is_available_after_a_while(given: dict[str, Any], seconds: int, now: float, available: bool) -> None:
    """Given ready pods and others / then one is available once it was ready for so long."""
    assert pods.is_available(given, seconds, NOW + now) is available


def test_the_next_pod_to_become_available() -> None:
    """Given pods that are ready since 1, 3 and never / then the next is waited for, and nobody when
    all are available.
    """
    found = [pod(ready="True", since=1), pod(ready="True", since=3), pod(ready="True"), pod()]
    assert [pods.seconds_until_available(found, 10, NOW + now) for now in (5, 11, 12.5, 13)] == [6, 2, 0.5, None]
    assert pods.ready_since(found[0]) == NOW + 1
    assert (pods.ready_since(found[2]), pods.ready_since(pod(ready="False", since=1))) == (0.0, 0.0)


@pytest.mark.parametrize(("text", "cost"), [
    ("0", 0), ("5", 5), ("-5", -5), ("2147483647", 2147483647), ("2147483648", 0), ("-2147483648", -2147483648),
    ("-2147483649", 0), ("+5", 0), ("05", 0), ("-0", 0), ("x", 0), ("", 0), ("5.0", 0), ("٣", 0), (None, 0),
])
def test_the_cost_of_a_deletion(text: str | None, cost: int) -> None:
    """Given annotations / then those that are numbers of 32 bits in upstream's form count."""
    annotations = {} if text is None else {"controller.kubernetes.io/pod-deletion-cost": text}
    assert pods.deletion_cost({"metadata": {"annotations": annotations}}) == cost


def test_which_pods_go_first() -> None:
    """Given pods that differ in one thing each / when they are ranked / then those without a node
    go first, then by phase, readiness, how long they were ready, restarts, sidecars' restarts, age
    and name.
    """
    on_node = {"nodeName": "n"}
    restarted: dict[str, Any] = {"containerStatuses": [{"restartCount": 1}, {"restartCount": 4}]}
    sidecar: dict[str, Any] = {"initContainerStatuses": [{"name": "s", "restartCount": 9}, {"name": "i", "restartCount": 50}]}
    beside = {"initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]}
    wanted = [
        pod("01"), pod("02", phase="Unknown"), pod("03", phase="Running"), pod("04", ready="True", since=1, phase="Running"),
        {**pod("05"), "spec": on_node}, {**pod("06", phase="Unknown"), "spec": on_node},
        {**pod("07", phase="Running", **restarted), "spec": on_node},
        {**pod("08", phase="Running", **sidecar), "spec": on_node | beside},
        {**pod("09", phase="Running"), "spec": on_node}, {**pod("10", phase="Running"), "spec": on_node},
        {**pod("11", phase="Running", ready="True", since=9), "spec": on_node},
        {**pod("12", phase="Running", ready="True", since=2), "spec": on_node},
        {**pod("13", phase="Running", ready="True"), "spec": on_node}]
    wanted[8]["metadata"]["creationTimestamp"] = T.format(5)
    ranked = sorted(wanted, key=pods.rank)
    # who does not say since when it is ready is ready since the beginning of time
    assert [one["metadata"]["name"] for one in ranked] == [f"{number:02}" for number in range(1, 14)]
    assert pods.restarts(wanted[6]) == (4, 0)
    assert pods.restarts(wanted[7]) == (0, 9)


def test_a_job_is_finished_when_it_says_so() -> None:
    """Given conditions of Jobs / then Complete and Failed count where they are True."""
    def finished(*conditions: tuple[str, str]) -> str:
        found = jobs.finished_condition({"status": {"conditions": [{"type": a, "status": b} for a, b in conditions]}})
        return found["type"] if found is not None else ""

    assert [finished(), finished(("Complete", "True")), finished(("Failed", "True")), finished(("Failed", "False")),
            finished(("Suspended", "True")), finished(("Failed", "False"), ("Complete", "True"))] == [
        "", "Complete", "Failed", "", "", "Complete"]
    assert (jobs.is_finished({}), jobs.is_finished({"status": {}})) == (False, False)


@pytest.mark.parametrize(("toleration", "covered"), [
    ({}, [False, True]), ({"operator": "Exists"}, [True, True]), ({"key": "k", "value": "5"}, [True, False]),
    ({"key": "k", "operator": "Exists"}, [True, False]), ({"key": "k", "value": "6"}, [False, False]),
    ({"key": "x", "operator": "Exists"}, [False, True]), ({"effect": "NoExecute", "operator": "Exists"}, [False, True]),
    ({"effect": "NoSchedule", "key": "k", "operator": "Equal", "value": "5"}, [True, False]),
    ({"key": "k", "operator": "Gt", "value": "4"}, [True, False]), ({"key": "k", "operator": "Gt", "value": "5"}, [False, False]),
    ({"key": "k", "operator": "Lt", "value": "6"}, [True, False]), ({"key": "k", "operator": "Lt", "value": "5"}, [False, False]),
    ({"key": "k", "operator": "Lt", "value": "06"}, [False, False]),
    ({"key": "x", "operator": "Lt", "value": "6"}, [False, False]),
])
def test_which_taints_a_toleration_covers(toleration: dict[str, str], covered: list[bool]) -> None:
    """Given tolerations and two taints, the second without a value / then each covers these."""
    taints = [{"key": "k", "value": "5", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}]
    assert [placement.tolerates(toleration, taint) for taint in taints] == covered
    both = ["NoSchedule", "NoExecute"]
    left = next((taint for taint, yes in zip(taints, covered, strict=True) if not yes), None)
    assert placement.untolerated(taints, [toleration], both) == left
    assert placement.untolerated(taints, [toleration], ["NoSchedule"]) == (None if covered[0] else taints[0])


@pytest.mark.parametrize(("term", "matches"), [
    ({}, False), ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["5", "6"]}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["5"]}]}, False),
    ({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["5"]}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, False),
    ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["4"]}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["5"]}]}, False),
    ({"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["6"]}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["5"]}]}, False),
    ({"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["x"]}]}, False),
    ({"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["6", "7"]}]}, False),
    ({"matchExpressions": [{"key": "b", "operator": "Lt", "values": ["6"]}]}, False),
    ({"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["9223372036854775808"]}]}, False),
    ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}, True),
    ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}, False),
    ({"matchExpressions": [{"key": "a", "operator": "Exists"}],
      "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}, False),
])
def test_which_nodes_a_term_takes(term: dict[str, Any], matches: bool) -> None:
    """Given terms of a node selector / then they take a node with the label a=5 or do not; one that
    fits of several is enough, and a nodeSelector has to fit besides.
    """
    labels = {"a": "5"}
    assert placement.term_matches(term, "n", labels) is matches
    required = {"nodeSelectorTerms": [{}, term]}
    spec: dict[str, Any] = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
    assert placement.selects(spec, "n", labels) is matches
    assert placement.selects(spec | {"nodeSelector": {"a": "5"}}, "n", labels) is matches
    assert not placement.selects(spec | {"nodeSelector": {"a": "6"}}, "n", labels)
    assert placement.selects({}, "n", labels)
    volume = {"spec": {"nodeAffinity": {"required": required}}}
    assert volumes.reaches(volume, "n", labels) is matches
    assert volumes.reaches({"spec": {}}, "n", labels)


def test_what_is_said_of_claims_and_volumes() -> None:
    """Given claims, volumes and pods / then each question has the answer of upstream's helpers."""
    claim: dict[str, Any] = {
        "metadata": {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
        "spec": {"storageClassName": "s", "resources": {"requests": {"storage": "1Ki"}}, "accessModes": ["A", "B"]}}
    volume: dict[str, Any] = {"metadata": {"name": "v"}, "spec": {"capacity": {"storage": "2k"}, "accessModes": ["B", "A", "C"]}}
    assert volumes.claim_reference(claim) == {
        "kind": "PersistentVolumeClaim", "namespace": "ns", "name": "c", "uid": "u", "apiVersion": "v1", "resourceVersion": "7"}
    assert (volumes.requested(claim), volumes.capacity(volume)) == (1024 * 10**9, 2000 * 10**9)
    assert (volumes.requested({"spec": {}}), volumes.capacity({"spec": {}})) == (0, 0)
    assert volumes.has_access_modes(volume, claim)
    assert not volumes.has_access_modes({"spec": {"accessModes": ["A"]}}, claim)
    assert volumes.has_same_mode(volume, claim)
    assert not volumes.has_same_mode({"spec": {"volumeMode": "Block"}}, claim)
    annotated = {**claim, "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": ""}}}
    assert [volumes.class_of(claim), volumes.class_of(volume), volumes.class_of(annotated)] == ["s", "", ""]
    late = {"volumeBindingMode": "WaitForFirstConsumer"}
    assert [volumes.delays_binding(claim, lambda name: late if name == "s" else None),
            volumes.delays_binding(claim, lambda _: {"volumeBindingMode": "Immediate"}),
            volumes.delays_binding(claim, lambda _: None), volumes.delays_binding(annotated, lambda _: late)] == [
        True, False, False, False]
    done = {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v"}}
    assert [volumes.is_fully_bound(done), volumes.is_fully_bound({**done, "spec": {}}),
            volumes.is_fully_bound({**done, "metadata": {}})] == [True, False, False]

    def bound(**reference: str) -> bool:
        return volumes.is_bound_to({"spec": {"claimRef": reference}}, claim)

    assert [bound(namespace="ns", name="c", uid="u"), bound(namespace="ns", name="c"), bound(namespace="ns", name="c", uid="w"),
            bound(namespace="ns", name="d"), bound(namespace="m", name="c"), volumes.is_bound_to({"spec": {}}, claim)] == [
        True, True, False, False, False, False]
    owner = {"metadata": {"name": "p", "namespace": "ns", "uid": "p"}, "spec": {"volumes": [
        {"name": "x", "ephemeral": {}}, {"name": "y", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "z", "emptyDir": {}}]}}
    assert list(volumes.claim_names(owner)) == [("p-x", True), ("c", False)]
    assert volumes.not_for_pod(owner, claim) == "PVC ns/c was not created for pod ns/p (pod is not owner)"
    owned = {"metadata": {"ownerReferences": [{"uid": "p", "controller": True}]}}
    assert volumes.not_for_pod(owner, owned) == ""


def test_an_answer_as_people_and_programs_read_it() -> None:
    """Given an answer with everything in it / then its text and its JSON say all of it, and one
    with nothing says no more than it knows.
    """
    change = Change("Add", "node/n", "add a node", {"cpu": "1"})
    reason = Reason("Fit", "no room", (change,), 3)
    attempts = (Attempt(1, "t1", "r1", "m1"), Attempt(2, "t2", "r2", "m2", (Reason("P", "q"),)))
    places = (*tuple(Place(f"n{number}", (reason, Reason("X", "y"))) for number in range(5)), Place("m", ()))
    answer = Answer("pod/a", "Pending", "waits", (reason,), attempts, places, (change, change), ((change,),), (
        Answer("pod/b", "Held", "waits too", attempts=(Attempt(0, "t", "r", "m"),)),))
    assert str(answer) == """pod/a waits
  Fit: no room
  attempt 2 at t2: m2
  n0, n1, n2 and 2 more: Fit: no room; X: y
  m: would do
  it would go on with: add a node; add a node
  or with: add a node
  pod/b waits too
    attempt at t: m"""
    told = {"action": "Add", "target": "node/n", "cpu": "1", "text": "add a node"}
    why = {"plugin": "Fit", "message": "no room", "nodeCount": 3, "changes": [told]}
    tree: dict[str, Any] = answer.tree()
    assert tree.pop("places") == [
        *({"name": f"n{number}", "reasons": [why, {"plugin": "X", "message": "y"}]} for number in range(5)),
        {"name": "m", "reasons": []}]
    assert tree == {
        "object": "pod/a", "state": "Pending", "message": "waits", "reasons": [why], "attempts": [
            {"number": 1, "time": "t1", "reason": "r1", "message": "m1", "reasons": []},
            {"number": 2, "time": "t2", "reason": "r2", "message": "m2", "reasons": [{"plugin": "P", "message": "q"}]}],
        "changes": [told, told], "alternatives": [[told]], "because": [
            {"object": "pod/b", "state": "Held", "message": "waits too", "attempts": [
                {"number": 0, "time": "t", "reason": "r", "message": "m", "reasons": []}]}]}
    assert Answer("a", "b", "c").tree() == {"object": "a", "state": "b", "message": "c"}
    assert [names([]), names(["a"]), names(["a", "b", "c"]), names(["a", "b", "c", "d"])] == [
        "", "a", "a, b, c", "a, b, c and 1 more"]

"""The whole status that a kubelet writes of a pod."""

from typing import Any

import pytest

from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods import status
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.pods.runs import RunBuilder

BUILDER = RunBuilder(None, Defaults(), lambda *_: None, rules=True, quick=False)


def run_of(seconds: float | None, annotations: Any = None, **spec: Any) -> PodRun:
    """The run of a pod that was accepted at 10, after so many seconds."""
    texts = {f"fakekube.dev/{name}": text for name, text in (annotations or {}).items()}
    metadata = {"name": "p", "namespace": "n", "uid": "u", "generation": 3, "annotations": texts}
    run = BUILDER.build({"metadata": metadata, "spec": {
        "restartPolicy": "Never", "nodeName": "a", "containers": [{"name": "main", "image": "i"}], **spec}}, 10.0, 0)
    if seconds is not None:
        run.advance(10.0 + seconds)
    return run


def rendered(run: PodRun, present: Any = None, now: float = 60.0, observed: bool = True) -> Any:
    return status.render(run, present or {}, host_ip="h", pod_ip="p", now=now, observed_generation=observed)


def conditions(found: Any) -> dict[str, tuple[str, ...]]:
    return {c["type"]: (c["status"], c.get("reason", ""), c.get("message", "")) for c in found["conditions"]}


SCHEDULED = ("True", "", "")
UNREADY = ("False", "ContainersNotReady", "containers with unready status: [main]")
GATES = [{"conditionType": "x"}, {"conditionType": "y"}]


@pytest.mark.parametrize(("seconds", "more", "phase", "expected"), [
    (None, {}, "Pending", [("False", "", ""), SCHEDULED, UNREADY, UNREADY]), (0.5, {}, "Running", [SCHEDULED] * 4),
    (5, {}, "Succeeded",
     [("False", "", ""), ("True", "PodCompleted", ""), ("False", "PodCompleted", ""), ("False", "PodCompleted", "")]),
    (5, {"annotations": {"exit-code": "2"}}, "Failed",
     [("False", "", ""), SCHEDULED, ("False", "PodFailed", ""), ("False", "PodFailed", "")]),
    (0.5, {"annotations": {"ready-after": "never"}}, "Running", [SCHEDULED, SCHEDULED, UNREADY, UNREADY]),
    (0.5, {"readinessGates": GATES}, "Running", [SCHEDULED, SCHEDULED, ("False", "ReadinessGatesNotReady", (
        'corresponding condition of pod readiness gate "x" does not exist., corresponding condition of pod readiness gate "y" '
        "does not exist.")), SCHEDULED]),
    (0.5, {"initContainers": [{"name": "i", "image": "i"}, {"name": "s", "image": "i", "restartPolicy": "Always"}]}, "Pending", [
        SCHEDULED, ("False", "ContainersNotInitialized", "containers with incomplete status: [i s]"),
        ("False", "ContainersNotReady", "containers with unready status: [s main]"),
        ("False", "ContainersNotReady", "containers with unready status: [s main]")]),
])
def test_conditions_tell_how_far_a_pod_is(seconds: float | None, more: dict[str, Any], phase: str, expected: list[Any]) -> None:
    """Given a pod after so many seconds / then phase and conditions are a kubelet's, in its
    order."""
    found = rendered(run_of(seconds, **more))
    kinds = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
    assert found["phase"] == phase
    assert list(conditions(found).items()) == list(zip(kinds, [*expected, SCHEDULED], strict=True))


def test_the_whole_status_of_a_running_pod() -> None:
    """Given a running pod / then its status has addresses, times, conditions with the generation,
    and its containers; what others wrote stays.
    """
    others = {"type": "mine", "status": "True", "lastTransitionTime": "t"}
    before = {"type": "Ready", "status": "True", "lastTransitionTime": "earlier"}
    found = rendered(run_of(0.5), {"qosClass": "Burstable", "conditions": [others, before], "startTime": "s"})
    statuses, listed = found.pop("containerStatuses"), found.pop("conditions")
    assert found == {
        "qosClass": "Burstable", "phase": "Running", "hostIP": "h", "hostIPs": [{"ip": "h"}], "startTime": "s", "podIP": "p",
        "podIPs": [{"ip": "p"}], "observedGeneration": 3}
    assert [each["name"] for each in statuses] == ["main"]
    assert listed[0] == others
    made = {"status": "True", "observedGeneration": 3, "lastProbeTime": None}
    assert listed[1] == {"type": "PodReadyToStartContainers", **made, "lastTransitionTime": "1970-01-01T00:01:00Z"}
    assert listed[3] == {"type": "Ready", **made, "lastTransitionTime": "earlier"}
    assert len(listed) == 6


def test_what_is_not_known_yet_is_left_out() -> None:
    """Given a pod that has not started, and a release that does not speak of generations / then
    there is no address of the pod and no generation; the start is when the pod was accepted.
    """
    found = rendered(run_of(None), observed=False)
    assert ("podIP" in found, "observedGeneration" in found, found["startTime"]) == (False, False, "1970-01-01T00:00:10Z")
    assert all("observedGeneration" not in each for each in found["conditions"])
    assert "initContainerStatuses" not in found
    assert found["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}
    waits = rendered(run_of(None, initContainers=[{"name": "i", "image": "i"}]))
    assert [waits[kind][0]["state"] for kind in ("initContainerStatuses", "containerStatuses")] == [
        {"waiting": {"reason": "PodInitializing"}}] * 2


def test_init_containers_are_ready_when_they_have_ended_well() -> None:
    """Given an init container and a sidecar / then the first is ready once it has ended well, the
    other while it runs.
    """
    init = [{"name": "i", "image": "i"}, {"name": "s", "image": "i", "restartPolicy": "Always"}]
    for seconds, ready in ((0.5, [False, False]), (1.5, [True, True])):
        found = rendered(run_of(seconds, initContainers=init))
        assert [each["ready"] for each in found["initContainerStatuses"]] == ready
    failed = rendered(run_of(5, {"exit-code.i": "1"}, initContainers=init))
    assert [each["ready"] for each in failed["initContainerStatuses"]] == [False, False]


def test_gates_say_what_others_have_not_opened() -> None:
    """Given readiness gates of which one is closed / then that is said, and once all are open the
    pod is ready.
    """
    run = run_of(0.5, readinessGates=GATES)
    closed = ("False", "ReadinessGatesNotReady", 'the status of pod readiness gate "y" is not "True", but False')
    for value, expected in (("False", closed), ("True", SCHEDULED)):
        present = [{"type": "x", "status": "True"}, {"type": "y", "status": value}]
        assert conditions(rendered(run, {"conditions": present}))["Ready"] == expected


def test_a_pod_that_was_rejected_says_nothing_of_containers() -> None:
    """Given a pod that its node does not take / then its status is why, the kubelet's own
    conditions are gone and others stay.
    """
    run = run_of(None)
    run.reject("R", "M")
    present = {"qosClass": "B", "conditions": [{"type": "Ready", "status": "True"}, {"type": "mine", "status": "True"}]}
    whole = {"phase": "Failed", "reason": "R", "message": "Pod was rejected: M", "startTime": "1970-01-01T00:00:10Z"}
    assert rendered(run, present) == {
        **whole, "qosClass": "B", "observedGeneration": 3, "conditions": [{"type": "mine", "status": "True"}]}
    assert rendered(run, {"conditions": [{"type": "PodScheduled"}], "startTime": "s"}, observed=False) == {**whole,
    "startTime": "s"}


def test_an_eviction_is_a_disruption_by_the_kubelet() -> None:
    """Given a pod that was evicted / then the condition DisruptionTarget comes first, and reason
    and message are told.
    """
    run = run_of(0.5)
    run.evict(11.0, "memory")
    found = rendered(run)
    text = "The node was low on resource: memory. "
    assert (found["phase"], found["reason"], found["message"]) == ("Failed", "Evicted", text)
    assert next(iter(conditions(found).items())) == ("DisruptionTarget", ("True", "TerminationByKubelet", text))


def test_only_what_changed_is_written() -> None:
    """Given a status and the one that is there / then the patch has what differs, a null for what
    is to go, and no nulls within conditions.
    """
    assert status.changes({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == {"b": 2, "c": None}
    assert status.changes({"a": 1}, {"a": 1}) == {}
    assert status.changes({"conditions": [{"type": "x", "lastProbeTime": None}]}, {}) == {"conditions": [{"type": "x"}]}

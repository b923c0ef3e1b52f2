"""What a DaemonSet makes and deletes in one step, and what its status says."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.daemonset.backoff import Backoff
from fakekube_controllers.daemonset.step import Step, seniority

NOW = 1000.0


def owner(*, annotations: Tree | None = None, status: Tree | None = None, pod: Tree | None = None, **spec: Any) -> Tree:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "d", "namespace": "x", "uid": "u", "generation": 4, "annotations": annotations or {}},
        "spec": {
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": pod or {"containers": []}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            **spec,
        },
        **({"status": status} if status else {}),
    }


def rolling(**rules: Any) -> Tree:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rules}}


def node(name: str, *taints: str) -> Tree:
    return {"metadata": {"name": name, "labels": {}}, "spec": {"taints": [{"key": "k", "effect": effect} for effect in taints]}}


def pod(
    name: str,
    *,
    on: str = "",
    to: str = "",
    revision: str = "new",
    ready: bool = True,
    at: int = 0,
    phase: str = "Running",
    leaving: bool = False,
    since: str = "1970-01-01T00:00:01Z",
) -> Tree:
    """A pod on a node, or made for one; ``at``: the second of its creation."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [to]}]}
    required = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    return {
        "metadata": {
            "name": name,
            "namespace": "x",
            "creationTimestamp": f"1970-01-01T00:00:{at:02}Z",
            "labels": {"controller-revision-hash": revision},
            **({"deletionTimestamp": "t"} if leaving else {}),
        },
        "spec": {"nodeName": on} if on else {"affinity": required},
        "status": {
            "phase": phase,
            "conditions": [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": since}],
        },
    }


def step(found: list[Tree], nodes: str = "abc", tainted: dict[str, str] | None = None, **spec: Any) -> Step:
    taints = tainted or {}
    return Step(owner(**spec), [node(name, *([taints[name]] if name in taints else ())) for name in nodes], found, "new", NOW)


def managed(one: Step, backoff: Backoff | None = None) -> tuple[list[str], list[str], list[tuple[str, str, str]]]:
    """Nodes that get a pod, pods that go, and what is told."""
    told: list[tuple[str, str, str]] = []
    plan = one.manage(backoff or Backoff(), lambda *event: told.append(event))
    return plan.create, [gone["metadata"]["name"] for gone in plan.delete], told


SURGE = rolling(maxSurge=1, maxUnavailable=0)


@pytest.mark.parametrize(
    ("one", "create", "delete"),
    [
        (step([]), ["a", "b", "c"], []),
        (step([pod("1", on="a"), pod("2", to="b")]), ["c"], []),
        # several on a node: the one on it first, of these the oldest, and of these by name
        (step([pod("1", to="a"), pod("2", on="a", at=9)], "a"), [], ["1"]),
        (step([pod("1", on="a", at=2), pod("2", on="a", at=1), pod("3", on="a", at=1)], "a"), [], ["3", "1"]),
        (step([pod("1", on="a", leaving=True), pod("2", on="a")], "a"), [], []),
        (step([pod("1", on="a", leaving=True)], "a"), [], []),
        (step([pod("1", on="a", leaving=True, phase="Failed")], "a"), ["a"], []),
        # where none may stay, all go; where none may come, one that is there stays
        (step([pod("1", on="a"), pod("2", on="a", leaving=True)], "a", {"a": "NoExecute"}), [], ["1"]),
        (step([pod("1", on="a", at=1), pod("2", on="a")], "a", {"a": "NoSchedule"}), [], ["1"]),
        (step([], "a", {"a": "NoSchedule"}), [], []),
        (step([], "a", {"a": "NoExecute"}), [], []),
        # nodes that are gone
        (step([pod("1", on="gone"), pod("2", to="gone"), pod("3", on="a")], "a"), [], ["2"]),
        # surging: an old and a new one
        (step([pod("1", on="a", revision="old"), pod("2", to="a", ready=False)], "a", **SURGE), [], []),
        (step([pod("1", on="a", revision="old"), pod("2", to="a")], "a", **SURGE), [], ["1"]),
        (step([pod("1", on="a", revision="old", ready=False), pod("2", to="a", ready=False)], "a", **SURGE), [], ["1"]),
        (step([pod("1", on="a", revision="old")], "a", **SURGE), [], []),
        (step([pod("1", on="a", revision="old", ready=False)], "a", **SURGE), [], []),
        (
            step(
                [
                    pod("1", on="a", revision="old"),
                    pod("2", on="a", revision="old", at=1),
                    pod("3", on="a", ready=False, at=2),
                    pod("4", on="a", ready=False, at=3),
                ],
                "a",
                **SURGE,
            ),
            [],
            ["4", "2"],
        ),
        (step([pod("1", on="a", leaving=True)], "a", **SURGE), ["a"], []),
        (step([pod("1", on="a", leaving=True)], "a", {"a": "NoSchedule"}, **SURGE), [], []),
        (step([pod("1", on="a"), pod("2", on="a", at=1)], "a", **rolling(maxSurge="50%")), [], ["2"]),
        (step([pod("1", on="a", revision="old"), pod("2", on="a", ready=False)], "a", **rolling(maxSurge=0)), [], ["2"]),
        (
            step(
                [pod("1", on="a", revision="old"), pod("2", on="a", ready=False)],
                "a",
                updateStrategy={"type": "OnDelete", "rollingUpdate": {"maxSurge": 1}},
            ),
            [],
            ["2"],
        ),
    ],
)
def test_what_each_node_lacks_and_has_too_much_of(one: Step, create: list[str], delete: list[str]) -> None:
    """Given nodes and pods / then these nodes get a pod and these pods go."""
    assert managed(one) == (create, delete, [])


def test_ended_pods_are_deleted_and_told_of() -> None:
    """Given a pod that failed and one that succeeded / then both go, with these Events / when the
    next one fails before a second is over / then it stays as long, and does not grow in number.
    """
    backoff, failed = Backoff(), pod("1", on="a", phase="Failed")
    told = [
        ("Warning", "FailedDaemonPod", "Found failed daemon pod x/1 on node a, will try to kill it"),
        ("Normal", "SucceededDaemonPod", "Found succeeded daemon pod x/2 on node b, will try to delete it"),
    ]
    first = step([failed, pod("2", on="b", phase="Succeeded")], "ab")
    assert managed(first, backoff) == ([], ["1", "2"], told)
    assert first.wait_seconds is None
    again = step([failed], "a")
    assert managed(again, backoff) == ([], [], [])
    assert again.wait_seconds == 1.0
    observed = step([failed], "a", status={"observedGeneration": 4})
    assert managed(observed, backoff) == ([], ["1"], told[:1])


def test_the_shortest_wait_of_all_nodes_counts() -> None:
    """Given nodes whose failed pods wait for a while / then the shortest is when to look again."""
    backoff = Backoff()
    for name in "aab":
        backoff.failed(("u", 0, name), NOW)
    for nodes in ("ab", "ba"):
        one = step([pod("1", on="a", phase="Failed"), pod("2", on="b", phase="Failed")], nodes)
        assert managed(one, backoff) == ([], [], [])
        assert one.wait_seconds == 1.0


def test_waits_double_up_to_fifteen_minutes_and_are_forgotten() -> None:
    """Given one failure after the other / then waits double up to 900 s, each is over at its end,
    and half an hour without a failure begins anew.
    """
    backoff = Backoff()
    assert backoff.remaining_seconds("k", 0.0) is None
    waits = []
    for _ in range(12):
        backoff.failed("k", 10.0)
        waits.append(backoff.remaining_seconds("k", 10.0))
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    assert (backoff.remaining_seconds("k", 909.9), backoff.remaining_seconds("k", 910.0)) == (900, None)
    backoff.failed("other", 1810.0)
    backoff.failed("k", 1810.0)
    assert backoff.remaining_seconds("k", 1810.0) == 900
    backoff.failed("k", 3610.1)
    assert backoff.remaining_seconds("k", 3610.1) == 1


def updated(one: Step) -> tuple[list[str], list[str]]:
    plan = one.rolling_update()
    return plan.create, [gone["metadata"]["name"] for gone in plan.delete]


def old(name: str, on: str, **more: Any) -> Tree:
    return pod(name, on=on, revision="old", **more)


@pytest.mark.parametrize(
    ("one", "create", "delete"),
    [
        (step([old("1", "a"), old("2", "b"), old("3", "c")]), [], ["1"]),
        (step([old("1", "a"), old("2", "b"), old("3", "c")], **rolling(maxUnavailable=2)), [], ["1", "2"]),
        (step([old("1", "a"), old("2", "b"), old("3", "c")], **rolling(maxUnavailable="34%")), [], ["1", "2"]),
        (step([old("1", "a"), old("2", "b"), old("3", "c")], **rolling(maxUnavailable=0)), [], ["1"]),
        (step([pod("1", on="a", ready=False), old("2", "b"), old("3", "c")]), [], []),
        (step([pod("1", on="a"), old("2", "b"), old("3", "c")]), [], ["2"]),
        # those that are not available go whatever the limit
        (step([old("1", "a"), old("2", "b", ready=False), old("3", "c", ready=False)]), [], ["2", "3"]),
        (step([old("1", "a", leaving=True), old("2", "b"), old("3", "c")]), [], []),
        (step([old("2", "b"), old("3", "c")]), [], []),
        (step([old("2", "b"), old("3", "c")], **rolling(maxUnavailable=2)), [], ["2"]),
        # too many on a node is for others to mend
        (step([old("1", "a"), old("4", "a"), old("2", "b"), old("3", "c")]), [], []),
        (step([old("1", "a"), pod("4", on="a"), old("2", "b")], "ab"), [], []),
        (step([pod("1", on="a"), pod("4", on="a"), old("2", "b")], "ab"), [], []),
        (step([pod("1", on="a", since="1970-01-01T00:16:31Z"), old("2", "b")], "ab", minReadySeconds=10), [], []),
        (step([pod("1", on="a", since="1970-01-01T00:16:30Z"), old("2", "b")], "ab", minReadySeconds=10), [], ["2"]),
        (step([]), [], []),
        # surging
        (step([old("1", "a"), old("2", "b"), old("3", "c")], **SURGE), ["a"], []),
        (step([old("1", "a"), old("2", "b"), old("3", "c")], **rolling(maxSurge="34%")), ["a", "b"], []),
        (step([old("1", "a"), pod("4", on="a", ready=False), old("2", "b"), old("3", "c")], **SURGE), [], []),
        (step([old("1", "a"), pod("4", on="a"), old("2", "b"), old("3", "c")], **SURGE), ["b"], ["1"]),
        (step([old("1", "a"), old("4", "a"), old("2", "b"), old("3", "c")], **SURGE), [], []),
        (step([old("1", "a"), old("2", "b", ready=False), old("3", "c")], **SURGE), ["b", "a"], []),
        (step([pod("1", on="a"), pod("2", on="b"), pod("3", on="c")], **SURGE), [], []),
        (step([], **SURGE), [], []),
        # more are down or surging than may be, after some that could have gone
        (step([old("1", "a"), old("2", "b"), pod("3", on="c", ready=False), pod("4", on="d", ready=False)], "abcd"), [], []),
        (
            step(
                [old("1", "a"), old("2", "b"), old("3", "c"), pod("4", on="c", ready=False), old("5", "d"),
                 pod("6", on="d", ready=False)], "abcd", **SURGE),
            [], []),
        (step([old("1", "a"), old("2", "b")], "abcde", {"a": "NoSchedule", "b": "NoSchedule"}, **SURGE), [], []),
        # nodes that daemons are to leave
        (step([old("1", "a", ready=False), old("2", "b")], "ab", {"a": "NoSchedule"}, **SURGE), ["b"], ["1"]),
        (step([old("1", "a"), old("2", "b")], "ab", {"a": "NoSchedule"}, **SURGE), ["b"], ["1"]),
        (step([old("1", "a"), old("2", "b", ready=False)], "ab", {"a": "NoSchedule"}, **SURGE), ["b"], []),
        (
            step([old("1", "a"), old("3", "c"), old("2", "b")], "abc", {"a": "NoSchedule", "c": "NoSchedule"}, **SURGE),
            ["b"],
            ["1", "3"],
        ),
    ],
)
def test_which_old_pods_give_way(one: Step, create: list[str], delete: list[str]) -> None:
    """Given old and new pods / then these nodes get a new one beside the old, and these pods go."""
    assert updated(one) == (create, delete)


ZEROS = {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0}


def test_the_numbers_of_the_status() -> None:
    """Given pods at every stage / then they are counted by node, the most senior one of each, and
    what is 0 is left out where the type has it so.
    """
    found = [
        pod("1", on="a", at=5),
        old("2", "b", since="1970-01-01T00:16:31Z"),
        pod("3", on="c", ready=False),
        pod("4", to="d"),
        pod("5", on="m"),
        old("0", "a", ready=False, at=6),
    ]
    one = step(found, "abcdem", {"m": "NoSchedule"}, minReadySeconds=10, status={"collisionCount": 2, "numberUnavailable": 9})
    expected = {
        "collisionCount": 2,
        "currentNumberScheduled": 4,
        "numberMisscheduled": 1,
        "desiredNumberScheduled": 5,
        "numberReady": 3,
        "updatedNumberScheduled": 3,
        "numberAvailable": 2,
        "numberUnavailable": 3,
    }
    assert one.status(observed=True) == {**expected, "observedGeneration": 4}
    assert one.status(observed=False) == expected
    assert step([], "").status(observed=True) == {**ZEROS, "observedGeneration": 4}
    assert step([], "", status={"observedGeneration": 3}).status(observed=False) == {**ZEROS, "observedGeneration": 3}


def test_when_the_next_pod_becomes_available() -> None:
    """Given minReadySeconds / then the next ready pod is told in seconds; nothing without them."""
    found = [pod("1", on="a", since="1970-01-01T00:16:35Z"), pod("2", on="b", since="1970-01-01T00:16:33Z")]
    assert step(found, minReadySeconds=10).seconds_until_available() == 3
    assert step(found).seconds_until_available() is None


def test_the_seniority_of_pods() -> None:
    """Given pods on a node and some that wait / then those on it come first, old before new."""
    found = [pod("d", to="a"), pod("c", on="a", at=2), pod("b", on="a", at=1), pod("a", on="a", at=1)]
    assert [one["metadata"]["name"] for one in sorted(found, key=seniority)] == ["a", "b", "c", "d"]

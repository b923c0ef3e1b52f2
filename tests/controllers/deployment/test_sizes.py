"""Which sizes the sets of a Deployment get in one step, whatever the statuses of its sets say."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import pytest

from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.deployment import facts, strategies

if TYPE_CHECKING:
    from fakekube_controllers.deployment.rollout import Rollout

MAX = "deployment.kubernetes.io/max-replicas"
DESIRED = "deployment.kubernetes.io/desired-replicas"


class Steps:
    """A rollout that notes what is scaled, made and cleaned up."""

    def __init__(self, deployment: Tree, sets: Sequence[Tree], new: Tree | None) -> None:
        self.deployment, self.sets, self.new = deployment, list(sets), new
        self.done: list[Any] = []

    @property
    def old(self) -> list[Tree]:
        return [one for one in self.sets if one is not self.new]

    async def find_new(self, *, create: bool = False) -> Tree | None:
        if create:
            self.done.append("make")
            if self.new is None:
                self.new = one("made", 0, at=9)
                self.sets.append(self.new)
        return self.new

    async def scale(self, found: Tree, size: int, *, always: bool = False) -> bool:
        before = facts.wanted(found)
        if before == size and not always:
            return False
        self.done.append((found["metadata"]["name"], size))
        found["spec"]["replicas"] = size
        return before != size

    async def clean_up(self) -> None:
        self.done.append("clean up")


def one(name: str, size: int, available: int | None = None, at: Any = 0, **annotations: str) -> Tree:
    status = {} if available is None else {"status": {"availableReplicas": available, "replicas": size}}
    metadata = {"name": name, "uid": name, "creationTimestamp": f"2026-01-01T00:00:{at:02}Z", "annotations": annotations}
    return {"metadata": metadata, "spec": {"replicas": size}, **status}


def deployment(count: int, surge: Any = 0, unavailable: Any = 0, /, kind: Any = "RollingUpdate", **status: int) -> Tree:
    rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}} if kind == "RollingUpdate" else {}
    return {
        "metadata": {"name": "d", "generation": 1},
        "spec": {"replicas": count, "strategy": {"type": kind, **rolling}},
        "status": status,
    }


COMPLETE = {"replicas": 4, "updatedReplicas": 4, "availableReplicas": 4, "observedGeneration": 1}


@pytest.mark.parametrize(
    ("owner", "sets", "done"),
    [
        # the new set grows before an old one shrinks
        (deployment(4, 1, 1), [one("new", 0), one("old", 4, 4)], [("new", 1)]),
        (deployment(4, 2, 0), [one("new", 1, 0), one("old", 4, 4)], [("new", 2)]),
        (deployment(4, 1, 0), [one("new", 6, 0), one("old", 4, 4)], [("new", 4)]),
        # then old ones shrink: what is not available, the oldest first, then what is not needed
        (deployment(4, 1, 1), [one("new", 1, 0), one("old", 4, 4)], [("old", 3)]),
        (deployment(4, 1, 1), [one("new", 1, 1), one("old", 4, 4)], [("old", 2)]),
        (deployment(4, 1, 0), [one("new", 1, 0), one("old", 4, 4)], []),
        (deployment(4, 1, 1), [one("new", 1, 1), one("old", 4, 3)], [("old", 3), ("old", 2)]),
        (deployment(4, 1, 1), [one("new", 1, 0), one("old", 4, 2)], [("old", 3)]),
        (deployment(9, 1, 2), [one("new", 1, 1), one("a", 3, 1), one("b", 6, 6)], [("a", 1), ("a", 0)]),
        (deployment(9, 1, 4), [one("new", 1, 1), one("a", 3, 1), one("b", 6, 6)], [("a", 1), ("a", 0), ("b", 4)]),
        (deployment(9, 1, 2), [one("new", 1, 1), one("a", 4, 1), one("b", 5, 3)], [("a", 1)]),
        (deployment(4, 4, 0), [one("new", 4, 4), one("old", 4, 4)], [("old", 0)]),
        (deployment(4, 1, 1, **COMPLETE), [one("new", 4, 4), one("old", 1, 0)], [("old", 0)]),
        # nothing is left to do
        (deployment(4, 1, 1, **COMPLETE), [one("new", 4, 4), one("old", 0)], ["clean up"]),
        (deployment(4, 1, 1), [one("new", 4, 4), one("old", 0)], []),
        (deployment(4, 1, 1), [one("new", 4, 4)], []),
    ],
)
async def test_one_step_of_a_rolling_update(owner: Tree, sets: list[Tree], done: list[Any]) -> None:
    """Given sizes and available pods / when a step is made / then these sets get these sizes."""
    rollout = Steps(owner, sets, sets[0])
    await strategies.roll(cast("Rollout", rollout))
    assert rollout.done == ["make", *done]


RUNNING: Tree = {"metadata": {"name": "p"}, "status": {"phase": "Running"}}
FAILED: Tree = {"metadata": {"name": "p"}, "status": {"phase": "Failed"}}


@pytest.mark.parametrize(
    ("owner", "sets", "pods", "done"),
    [
        (deployment(4, kind="Recreate"), [one("new", 0), one("a", 2, 2), one("b", 1), one("c", 0)], [], [("a", 0), ("b", 0)]),
        (deployment(4, kind="Recreate"), [one("new", 0), one("a", 0)], [FAILED, RUNNING], []),
        (deployment(4, kind="Recreate"), [one("new", 0), one("a", 0)], [FAILED], [("new", 4)]),
        (deployment(4, kind="Recreate"), [one("a", 0)], [], ["make", ("made", 4)]),
        (deployment(4, kind="Recreate", **COMPLETE), [one("new", 4), one("a", 0)], [], ["clean up"]),
        (deployment(4, kind="Recreate"), [one("new", 4), one("a", 0)], [], []),
    ],
)
async def test_one_step_of_recreation(owner: Tree, sets: list[Tree], pods: list[Any], done: list[Any]) -> None:
    """Given old and new sets / when a step is made / then old ones lose all pods, and only once
    none of them runs the new one gets its own.
    """
    rollout = Steps(owner, sets, next((each for each in sets if each["metadata"]["name"] == "new"), None))

    def pods_of(found: ReadOnlyTree) -> list[Any]:
        return pods if found["metadata"]["name"] == "a" else []

    await strategies.recreate(cast("Rollout", rollout), pods_of)
    assert rollout.done == done


async def test_pods_that_an_old_set_reports_are_waited_for() -> None:
    """Given an old set that is to have none and reports a pod / then no new one comes yet."""
    old = {**one("a", 0), "status": {"replicas": 1}}
    rollout = Steps(deployment(4, kind="Recreate"), [one("new", 0), old], None)
    rollout.new = rollout.sets[0]
    await strategies.recreate(cast("Rollout", rollout), lambda _: [])
    assert rollout.done == []


def noted(name: str, size: int, most: str, at: int = 0) -> Tree:
    return one(name, size, size, at, **{MAX: most})


@pytest.mark.parametrize(
    ("owner", "sets", "done"),
    [
        # one set alone
        (deployment(6, 1, 1), [one("new", 2)], [("new", 6)]),
        (deployment(6, 1, 1), [one("new", 0), one("a", 2)], [("a", 6)]),
        # a set that has all pods
        (deployment(4, 1, 1), [one("new", 4, 4, **{DESIRED: "4"}), one("a", 2), one("b", 1), one("c", 0)], [("a", 0), ("b", 0)]),
        # in proportion, what is left over for the first
        (deployment(30, 3, 2), [noted("new", 5, "13"), noted("a", 8, "13")], [("a", 20), ("new", 13)]),
        (deployment(5, 1, 1), [noted("new", 4, "11"), noted("a", 7, "11")], [("a", 4), ("new", 2)]),
        (deployment(20, 0, 1), [noted("new", 5, "10"), noted("a", 5, "10", at=1)], [("a", 10), ("new", 10)]),
        (deployment(11, 0, 1), [noted("new", 5, "10"), noted("a", 5, "10", at=1)], [("a", 6), ("new", 5)]),
        (deployment(9, 0, 1), [noted("new", 5, "10"), noted("a", 5, "10", at=1)], [("new", 4), ("a", 5)]),
        (deployment(0, 3, 2), [noted("new", 5, "13"), noted("a", 8, "13")], [("a", 0), ("new", 0)]),
        (deployment(10, 0, 1), [noted("new", 5, "10"), noted("a", 5, "10")], [("a", 5), ("new", 5)]),
        # without a note of the size before, the status says it, and without that the first gets all
        (deployment(20, 0, 1, replicas=10), [noted("new", 2, "x"), noted("a", 8, "0")], [("a", 16), ("new", 4)]),
        (deployment(20, 0, 1, replicas=10), [noted("new", 2, "2147483648"), noted("a", 8, "-1")], [("a", 16), ("new", 4)]),
        (deployment(20, 0, 1), [noted("new", 2, "x"), noted("a", 8, "0")], [("a", 18), ("new", 2)]),
        (deployment(1, 0, 1), [noted("new", 3, "x"), noted("a", 8, "x")], [("a", 0), ("new", 3)]),
        (
            deployment(13, 0, 1),
            [noted("a", 1, "4"), noted("b", 2, "4", at=1), noted("c", 1, "4", at=2)],
            [("b", 7), ("c", 3), ("a", 3)],
        ),
        # who recreates waits with it
        (deployment(6, kind="Recreate"), [one("new", 1), one("a", 2)], []),
    ],
)
async def test_a_new_number_is_spread_over_the_sets(owner: Tree, sets: list[Tree], done: list[Any]) -> None:
    """Given several sets with pods / when the number changes / then each gets its share, the
    largest first, of equals the newest when it grows and the oldest when it shrinks.
    """
    rollout = Steps(owner, sets, sets[0])
    await strategies.resize(cast("Rollout", rollout))
    assert rollout.done == done

"""Which DaemonSets are looked at when nodes come and change, and one turn of the controller."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DAEMON_SETS, NODES, PODS
from fakekube.runtime import revisions
from fakekube.runtime.reconcile import Result
from fakekube_controllers.daemonset.controller import DaemonSetReconciler
from tests.controllers.daemonset.test_steps import node, pod
from tests.controllers.daemonset.test_steps import owner as daemon_set
from tests.controllers.scene import Scene

KEY = ObjectKey("x", "d")
STAMP = "1970-01-01T00:00:01Z"


class Turns(Scene):
    """One DaemonSet, nodes and pods."""

    version = "1.37"

    def __init__(self, *objects: tuple[Any, Tree]) -> None:
        super().__init__(objects, now=1000.0)

    def lister(self, resource: Any) -> Any:
        found = super().lister(resource)
        found.add_index("node", lambda each: [each["spec"].get("nodeName", "")])
        return found

    async def claim(self, _: Tree, candidates: Any = (), **__: Any) -> Any:
        return list(candidates) if candidates is not None else []

    def candidates(self, _: Tree) -> list[Tree]:
        return [obj for plural, obj in self.objects if plural == "pods"]

    async def delete_oldest(self, *_: Any) -> None:
        """Nothing is past."""


class Past:
    """The revisions that are claimed."""

    def __init__(self, scene: Turns, known: list[Tree]) -> None:
        self.known, self.delete_oldest = known, scene.delete_oldest

    async def claim(self, _: Tree, *, releases: bool) -> list[Tree]:
        assert releases
        return self.known


def controller(scene: Turns, *, past: bool = True) -> DaemonSetReconciler:
    one = DaemonSetReconciler(cast("Any", scene))
    one.queue = one.children = cast("Any", scene)
    data = revisions.template_patch(daemon_set()["spec"]["template"])
    known = {"revision": 1, "data": data, "metadata": {
        "name": "r", "namespace": "x", "creationTimestamp": STAMP, "labels": {"controller-revision-hash": "new"}}}
    one.history = cast("Any", Past(scene, [known] if past else []))
    return one


async def turn(found: Tree, *others: tuple[Any, Tree]) -> tuple[list[Any], Result | None]:
    scene = Turns((DAEMON_SETS, found), *others)
    result = await controller(scene).reconcile(cast("Any", KEY))
    return [each[2:] if each[0] == "event" else each[:3] for each in scene.done], result


STATUS = ("update", "daemonsets/status", "d")
SELECTING = ("Warning", "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")


def going() -> Tree:
    found = daemon_set()
    return {**found, "metadata": {**found["metadata"], "deletionTimestamp": "t"}}


def live(name: str, on: str, **more: Any) -> tuple[Any, Tree]:
    return PODS, pod(name, on=on, **more)


FULL = {"currentNumberScheduled": 1, "numberMisscheduled": 0, "desiredNumberScheduled": 1, "numberReady": 1,
        "updatedNumberScheduled": 1, "numberAvailable": 1, "observedGeneration": 4}
MADE = ("Normal", "SuccessfulCreate", "Created pod: made")


@pytest.mark.parametrize(("found", "others", "done"), [
    (daemon_set(selector={}), [(NODES, node("a"))], [SELECTING]), (going(), [(NODES, node("a"))], []),
    (daemon_set(), [(NODES, node("a"))], [("create", "pods", ""), MADE, STATUS]),
    (daemon_set(), [(NODES, node("a")), live("p", "a")], [STATUS]),
    (daemon_set(status=FULL), [(NODES, node("a")), live("p", "a")], []),
    (daemon_set(status={**FULL, "observedGeneration": 3}), [(NODES, node("a")), live("p", "a")], [STATUS]),
    (daemon_set(), [(NODES, node("a")), live("p", "a"), live("q", "a", at=9)], [
        ("delete", "pods", "q"), STATUS])])
async def test_one_turn(found: Tree, others: list[Any], done: list[Any]) -> None:
    """Given a DaemonSet, nodes and pods / then this is written and said in one turn."""
    written = (await turn(found, *others))[0]
    assert written == done


@pytest.mark.parametrize(("found", "others", "seconds"), [
    (daemon_set(), [(NODES, node("a")), live("p", "a")], None),
    (daemon_set(minReadySeconds=10**9), [(NODES, node("a")), live("p", "a", since=STAMP)], 10**9 - 999.0)])
async def test_when_to_look_again(found: Tree, others: list[Any], seconds: float | None) -> None:
    """Given a pod that is not ready for long enough / then the set is looked at when it is."""
    assert (await turn(found, *others))[1] == (None if seconds is None else Result.after(seconds))


async def test_what_goes_wrong_is_raised_after_the_status() -> None:
    """Given pods that cannot be made / then the status is written and the error raised."""
    scene = Turns((DAEMON_SETS, daemon_set()), (NODES, node("a")))
    scene.refuse["create", "pods"] = APIError(403, "Forbidden", "no")
    with pytest.raises(APIError, match="no"):
        await controller(scene).reconcile(cast("Any", KEY))
    assert [each[:3] for each in scene.done] == [("event", "d", "Warning"), STATUS]


async def test_what_the_caches_do_not_show_is_waited_for() -> None:
    """Given a status that was just written / then the set is looked at five milliseconds later; one
    that is gone is forgotten.
    """
    scene = Turns((DAEMON_SETS, daemon_set()), (NODES, node("a")), (PODS, pod("p", on="a")))
    one = controller(scene)
    await one.reconcile(cast("Any", KEY))
    scene.done.clear()
    scene.caught_up = False
    result = await one.reconcile(cast("Any", KEY))
    assert result is not None
    assert (cast("Any", result.requeue_after).total_seconds(), scene.done) == (0.005, [])
    objects, scene.objects = scene.objects, []
    assert await one.reconcile(cast("Any", KEY)) is None
    scene.objects = objects
    await one.reconcile(cast("Any", KEY))
    assert scene.done != []


@pytest.mark.parametrize(("found", "pods", "changed", "queued"), [
    (daemon_set(), [], node("a"), True), (daemon_set(), [pod("p", on="a")], node("a"), False),
    (daemon_set(), [], node("a", "NoSchedule"), False), (daemon_set(), [pod("p", on="a")], node("a", "NoSchedule"), False),
    (daemon_set(), [pod("p", on="a")], node("a", "NoExecute"), True), (daemon_set(), [], node("a", "NoExecute"), False),
    (daemon_set(status={"numberMisscheduled": 1}), [pod("p", on="a")], node("a"), True),
    (daemon_set(status={"numberMisscheduled": 0}), [pod("p", on="a")], node("a"), False),
    (daemon_set(), [pod("p", on="b")], node("a"), True)])
def test_which_sets_are_looked_at_for_a_node(found: Tree, pods: list[Tree], changed: Tree, queued: bool) -> None:
    """Given a node that comes or changes / then sets are looked at that want a pod there and have
    none, or have one that may have to go.
    """
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}
    owned = [(PODS, {**each, "metadata": {**each["metadata"], "ownerReferences": [owner]}}) for each in pods]
    scene = Turns((DAEMON_SETS, found), *owned)
    one = controller(scene)
    one._node_changed(changed)
    assert scene.queued == ([KEY] if queued else [])
    scene.queued.clear()
    one._node_updated(changed, changed)
    assert scene.queued == []
    for before in ({**changed, "metadata": {**changed["metadata"], "labels": {"old": "l"}}}, node("a", "Other")):
        one._node_updated(before, changed)
    assert scene.queued == ([KEY] * 2 if queued else [])


def test_pods_of_others_do_not_count() -> None:
    """Given a node with a pod of another set / then the set wants its own."""
    other = pod("p", on="a")
    other["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "e", "uid": "v",
        "controller": True}]
    scene = Turns((DAEMON_SETS, daemon_set()), (PODS, other))
    controller(scene)._node_changed(node("a"))
    assert scene.queued == [KEY]

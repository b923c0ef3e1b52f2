"""Revisions, status and history of a StatefulSet in one turn of its controller."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONTROLLER_REVISIONS, STATEFUL_SETS
from fakekube.runtime import revisions
from fakekube.runtime.reconcile import Result
from fakekube_controllers.statefulset.controller import StatefulSetReconciler
from tests.controllers.scene import Scene
from tests.controllers.statefulset.test_steps import owner, pod

KEY = ObjectKey("x", "web")
STATUS = ("update", "statefulsets/status", "web")


def revision(name: str, number: int, *, data: Tree | None = None) -> Tree:
    current = revisions.template_patch(owner()["spec"]["template"])
    return {"revision": number, "data": current if data is None else data, "metadata": {
        "name": name, "namespace": "x", "creationTimestamp": f"2026-01-01T00:00:0{number}Z"}}


PAST: Tree = {"spec": {"template": {"spec": {"containers": []}}}}


class Turns(Scene):
    """One set, its pods and its revisions."""

    version = "1.37"

    def __init__(self, found: Tree, pods: list[Tree], known: list[Tree], *, version: str = "1.37") -> None:
        super().__init__([(STATEFUL_SETS, found), *((CONTROLLER_REVISIONS, each) for each in known)], now=1000.0)
        self.pods_there, self.known, self.version = pods, known, version
        self.dropped: list[Any] = []

    async def claim(self, _: Tree, candidates: Any = (), belongs: Any = None, *, releases: bool = True) -> list[Tree]:
        if belongs is None:
            assert releases is False
            return self.known
        return [each for each in candidates if belongs(each)]

    def candidates(self, _: Tree) -> list[Tree]:
        return self.pods_there

    async def delete_oldest(self, past: list[Tree], count: int) -> None:
        self.dropped.append(([each["metadata"]["name"] for each in past], count))

    async def turn(self) -> Result | None:
        one = StatefulSetReconciler(cast("Any", self))
        one.children = one.history = cast("Any", self)
        return await one.reconcile(cast("Any", KEY))

    def told(self) -> list[tuple[Any, ...]]:
        return [each[2:] if each[0] == "event" else each[:3] for each in self.done]

    def status(self) -> Tree:
        found: Tree = next(each[3]["status"] for each in self.done if each[1] == "statefulsets/status")
        return found


READY = [pod(number, "new") for number in range(3)]
FULL = {"observedGeneration": 3, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "currentReplicas": 3,
        "updatedReplicas": 3, "currentRevision": "new", "updateRevision": "new", "collisionCount": 0}


async def test_a_set_at_rest_is_let_alone() -> None:
    """Given a set that has all / then nothing is written; a new generation is observed."""
    world = Turns(owner(status=FULL), READY, [revision("new", 1)])
    assert (await world.turn(), world.told()) == (None, [])
    world = Turns(owner(status={**FULL, "observedGeneration": 2}), READY, [revision("new", 1)])
    await world.turn()
    assert (world.told(), world.status()) == ([STATUS], FULL)


async def test_pods_of_other_names_are_not_its_own() -> None:
    """Given a pod of another name / then it does not count."""
    other = {**pod(0), "metadata": {**pod(0)["metadata"], "name": "other-0"}}
    world = Turns(owner(status=FULL, replicas=0), [other], [revision("new", 1)])
    await world.turn()
    assert world.status()["replicas"] == 0


@pytest.mark.parametrize(("known", "status", "done", "current", "update"), [
    ([revision("old", 1, data=PAST), revision("new", 2)], {"currentRevision": "old"}, [], "old", "new"),
    ([revision("old", 1, data=PAST), revision("new", 2)], {}, [], "new", "new"),
    ([revision("old", 1, data=PAST), revision("new", 2)], {"currentRevision": "gone"}, [], "new", "new"),
    ([revision("new", 1), revision("old", 2, data=PAST)], {"currentRevision": "old"}, [3], "old", "new")])
async def test_which_revisions_there_are(known: list[Tree], status: Tree, done: list[int], current: str, update: str) -> None:
    """Given revisions / then that of the template is the last one, or is numbered so, and the
    current one is that of the status while it is there.
    """
    world = Turns(owner(strategy="OnDelete", status=status), READY, known, version="1.36")
    await world.turn()
    numbered = [each for each in world.done if each[1] == "controllerrevisions"]
    assert len(numbered) == len(done)
    found = world.status()
    assert found["currentRevision"] in (current, "made")
    assert found["updateRevision"] in (update, "made")


async def test_a_revision_is_made_of_a_new_template() -> None:
    """Given a set without the revision of its template / then it is made after the last one."""
    world = Turns(owner(status={"collisionCount": 0}), [], [revision("old", 4, data=PAST)])
    await world.turn()
    [(verb, plural, name, body), *_] = world.done
    assert (verb, plural, body["revision"]) == ("create", "controllerrevisions", 5)
    assert name.startswith("web-")
    assert body["metadata"]["ownerReferences"][0]["uid"] == "set"
    assert world.status()["updateRevision"] == name


@pytest.mark.parametrize(("version", "strategy", "current"), [
    ("1.37", "OnDelete", "new"), ("1.36", "OnDelete", "old"), ("1.36", "RollingUpdate", "new"),
    ("2.0", "OnDelete", "new")])
async def test_who_completes_a_rollout(version: str, strategy: str, current: str) -> None:
    """Given all pods new and ready / then the new revision is the current one, before 1.37 of
    rolling updates alone.
    """
    known = [revision("old", 1, data=PAST), revision("new", 2)]
    world = Turns(owner(strategy=strategy, status={"currentRevision": "old"}), READY, known, version=version)
    await world.turn()
    assert world.status()["currentRevision"] == current


@pytest.mark.parametrize(("limit", "dropped"), [(None, (["a", "b"], -8)), (1, (["a", "b"], 1)), (0, (["a", "b"], 2)), (-1, None)])
async def test_past_revisions_go_beyond_the_limit(limit: int | None, dropped: Any) -> None:
    """Given past revisions / then those that no pod has go beyond the limit, ten by default; those
    of pods and of the status stay.
    """
    known = [revision("a", 1, data=PAST), revision("b", 2, data=PAST), revision("c", 3, data=PAST), revision("d", 4, data=PAST),
             revision("new", 5)]
    spec = {} if limit is None else {"revisionHistoryLimit": limit}
    found = owner(status={"currentRevision": "d"}, strategy="OnDelete", **cast("Any", spec))
    world = Turns(found, [pod(0, "c"), pod(1), pod(2)], known)
    await world.turn()
    assert world.dropped == ([dropped] if dropped else [])


async def test_what_goes_wrong_is_raised_after_the_status() -> None:
    """Given a pod that cannot be made / then status and history are written, and the error raised.
    """
    world = Turns(owner(), [], [revision("new", 1)])
    world.refuse["create", "pods"] = APIError(403, "Forbidden", "no")
    with pytest.raises(APIError, match="no"):
        await world.turn()
    assert world.told() == [("Warning", "FailedCreate", "Create Pod web-0 in StatefulSet web failed error: no"), STATUS]
    assert world.dropped == [([], -10)]


@pytest.mark.parametrize(("pods", "seconds"), [
    (READY, None), ([*READY[:2], pod(2, since=993)], 3.0), ([*READY[:2], pod(2, ready=False)], None)])
async def test_when_to_look_again(pods: list[Tree], seconds: float | None) -> None:
    """Given minReadySeconds 10 / then the set is looked at when the next ready pod is available."""
    world = Turns(owner(minReadySeconds=10), pods, [revision("new", 1)])
    assert await world.turn() == (None if seconds is None else Result.after(seconds))


async def test_what_the_caches_do_not_show_is_waited_for() -> None:
    """Given a status that was just written / then the set is looked at five milliseconds later."""
    world = Turns(owner(), READY, [revision("new", 1)])
    one = StatefulSetReconciler(cast("Any", world))
    one.children = one.history = cast("Any", world)
    await one.reconcile(cast("Any", KEY))
    world.done.clear()
    world.caught_up = False
    result = await one.reconcile(cast("Any", KEY))
    assert result is not None
    assert (cast("Any", result.requeue_after).total_seconds(), world.done) == (0.005, [])
    objects, world.objects = world.objects, []
    assert await one.reconcile(cast("Any", KEY)) is None
    world.objects = objects
    await one.reconcile(cast("Any", KEY))
    assert world.told() == [STATUS]

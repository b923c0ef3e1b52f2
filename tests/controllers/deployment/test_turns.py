"""Which Deployments are looked at when pods go, and one turn of the controller."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DEPLOYMENTS, REPLICA_SETS
from fakekube.runtime.reconcile import Result
from fakekube_controllers.deployment.controller import DeploymentReconciler
from tests.controllers.deployment.test_writes import deployment, made
from tests.controllers.scene import Scene

KEY = ObjectKey("x", "web")
GATE = "DeploymentReplicaSetTerminatingReplicas"


class Turns(Scene):
    """One Deployment and its sets; keys that are taken back are noted."""

    version = "1.37"

    def __init__(self, *objects: tuple[Any, Tree], gates: tuple[str, ...] = ()) -> None:
        super().__init__(objects, now=1000.0, gates=gates)
        self.withdrawn: list[Any] = []

    def withdraw(self, key: Any) -> None:
        self.withdrawn.append(key)

    async def claim(self, _: Tree, candidates: list[Tree]) -> list[Tree]:
        return candidates

    def candidates(self, _: Tree) -> list[Tree]:
        return [obj for plural, obj in self.objects if plural == "replicasets"]

    def owner_of(self, one: Tree) -> Tree | None:
        return next((obj for plural, obj in self.objects if plural == "deployments"), None) if one else None


def controller(scene: Turns) -> DeploymentReconciler:
    one = DeploymentReconciler(cast("Any", scene))
    one.queue = one.children = cast("Any", scene)
    return one


async def turn(found: Tree, *sets: Tree, gates: tuple[str, ...] = ()) -> tuple[list[Any], Result | None]:
    """What is written and said, shortened, and when to look again."""
    scene = Turns((DEPLOYMENTS, found), *((REPLICA_SETS, each) for each in sets), gates=gates)
    result = await controller(scene).reconcile(cast("Any", KEY))
    assert scene.withdrawn == [KEY]
    return [each[2:] if each[0] == "event" else each[:3] for each in scene.done], result


STATUS = ("update", "deployments/status", "web")
SELECTING = ("Warning", "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")


async def test_a_deployment_that_selects_everything_is_refused() -> None:
    """Given an empty selector / then a warning, and its generation is observed, once."""
    assert await turn(deployment(selector={}, status={"replicas": 1})) == ([SELECTING, STATUS], None)
    assert await turn(deployment(selector={}, status={"observedGeneration": 2})) == ([SELECTING], None)


SIZES = {"desired": "3", "most": "4", "revision": "1"}
UP = "Scaled up replica set new from 2 to 3"


@pytest.mark.parametrize(("found", "sets", "done"), [
    # a size that is new is given before anything is rolled out
    (deployment(), [made("new", size=2, revision="1", desired="2", most="3")], [
        STATUS, ("update", "replicasets", "new"), ("Normal", "ScalingReplicaSet", UP), STATUS]),
    # paused: sizes alone
    (deployment(paused=True), [made("new", size=2, **SIZES)], [
        STATUS, STATUS, ("update", "replicasets", "new"), ("Normal", "ScalingReplicaSet", UP), STATUS]),
    (deployment(paused=True), [], [STATUS, STATUS]),
    # back to a revision
    (deployment(annotations={"deprecated.deployment.rollback.to": "7"}), [made("new", **SIZES)], [
        STATUS, ("Warning", "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to."),
        ("update", "deployments", "web")]),
    (deployment(annotations={"deprecated.deployment.rollback.to": "x"}), [made("new", **SIZES)], [STATUS, STATUS]),
])
async def test_one_turn(found: Tree, sets: list[Tree], done: list[Any]) -> None:
    """Given a Deployment and its sets / then this is written and said in one turn."""
    assert (await turn(found, *sets))[0] == done


async def test_a_deployment_that_goes_is_told_of_alone() -> None:
    """Given a Deployment that is to go / then its status is kept, and nothing is made."""
    going = deployment(annotations={"deployment.kubernetes.io/revision": "1"})
    going["metadata"]["deletionTimestamp"] = "t"
    assert await turn(going) == ([STATUS], None)
    assert await turn(going, made("old", "zero", 1, revision="1")) == ([STATUS], None)


def progressing(updated: str) -> Tree:
    return {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": "m", "lastUpdateTime": updated,
            "lastTransitionTime": updated}


AVAILABLE = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "m",
             "lastUpdateTime": "t", "lastTransitionTime": "t"}


@pytest.mark.parametrize(("updated", "seconds"), [("1970-01-01T00:16:30Z", 591.0), ("1970-01-01T00:06:40Z", 1.0)])
async def test_a_rollout_that_stands_still_is_looked_at_after_its_deadline(updated: str, seconds: float) -> None:
    """Given a rollout in which nothing is new / then it is looked at a second after its deadline.
    """
    conditions = [progressing(updated), AVAILABLE]
    known = {"observedGeneration": 2, "unavailableReplicas": 3, "conditions": conditions}
    found = deployment(annotations={"deployment.kubernetes.io/revision": "1"}, status=known)
    assert await turn(found, made("new", **SIZES)) == ([], Result.after(seconds))


@pytest.mark.parametrize(("gates", "told"), [((), None), ((GATE,), 0)])
async def test_terminating_pods_by_gate(gates: tuple[str, ...], told: int | None) -> None:
    """Given the gate / then the status tells of terminating pods."""
    scene = Turns((DEPLOYMENTS, deployment()), (REPLICA_SETS, made("new", **SIZES)), gates=gates)
    await controller(scene).reconcile(cast("Any", KEY))
    assert scene.done[-1][3]["status"].get("terminatingReplicas") == told


@pytest.mark.parametrize(("causes", "raised"), [([], True), ([{"reason": "NamespaceTerminating"}], False)])
async def test_a_namespace_that_goes(causes: list[Tree], raised: bool) -> None:
    """Given a set that cannot be made / then the error is raised, unless the namespace goes."""
    scene = Turns((DEPLOYMENTS, deployment()))
    scene.refuse["create", "replicasets"] = APIError(403, "Forbidden", "no", {"causes": causes})
    if raised:
        with pytest.raises(APIError, match="no"):
            await controller(scene).reconcile(cast("Any", KEY))
    else:
        assert await controller(scene).reconcile(cast("Any", KEY)) is None


async def test_a_deployment_is_not_looked_at_before_its_writes_are_seen() -> None:
    """Given a write that the caches do not show / then nothing is done; one that is gone is
    forgotten.
    """
    scene = Turns((DEPLOYMENTS, deployment()))
    one = controller(scene)
    await one.reconcile(cast("Any", KEY))
    scene.done.clear()
    scene.caught_up = False
    assert (await one.reconcile(cast("Any", KEY)), scene.done) == (None, [])
    objects, scene.objects = scene.objects, []
    assert await one.reconcile(cast("Any", KEY)) is None
    scene.objects = objects
    await one.reconcile(cast("Any", KEY))
    assert scene.done != []


def pod(kind: str = "ReplicaSet", uid: str = "u-new") -> Tree:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "new", "uid": uid, "controller": True}
    return {"metadata": {"name": "p", "namespace": "x", "ownerReferences": [owner] if kind else []}}


@pytest.mark.parametrize(("gone", "strategy", "known", "queued"), [
    (pod(), "Recreate", True, True), (pod(), "RollingUpdate", True, False), (pod(uid="former"), "Recreate", True, False),
    (pod("Other"), "Recreate", True, False), (pod(""), "Recreate", True, False), (pod(), "Recreate", False, False)])
def test_who_recreates_waits_for_pods_that_go(gone: Tree, strategy: str, known: bool, queued: bool) -> None:
    """Given a pod of a set / when it goes / then its Deployment is looked at if it recreates."""
    scene = Turns(*([(DEPLOYMENTS, deployment(strategy={"type": strategy}))] if known else []), (REPLICA_SETS, made("new")))
    controller(scene)._pod_deleted(gone)
    assert scene.queued == ([KEY] if queued else [])
    assert SimpleNamespace(done=scene.done).done == []

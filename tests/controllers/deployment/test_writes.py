"""What a rollout writes of sets and of its Deployment, and what it says."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import REPLICA_SETS
from fakekube_controllers.deployment.rollout import Rollout, RolloutContext
from tests.controllers.scene import Scene

NOW, STAMP = 1000.0, "1970-01-01T00:16:40Z"
REVISION, HISTORY = "deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"
DESIRED, MAX = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"
SIZES = {DESIRED: "3", MAX: "4"}


def template(image: str = "one", **labels: str) -> Tree:
    return {"metadata": {"labels": {"app": "a", **labels}}, "spec": {"containers": [{"name": "c", "image": image}]}}


def deployment(*, name: str = "web", annotations: Tree | None = None, status: Tree | None = None, **spec: Any) -> Tree:
    metadata: Tree = {"name": name, "namespace": "x", "uid": "ud", "resourceVersion": "5", "generation": 2}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": metadata | ({"annotations": annotations} if annotations else {}),
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "a"}}, "template": template(), "progressDeadlineSeconds": 600,
                 "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, **spec},
        **({"status": status} if status is not None else {})}


def made(
    name: str, image: str = "one", size: Any = 3, at: Any = 0, *, deleting: Any = False, status: Any = None, spec: Any = None,
    **annotations: str,
) -> Tree:
    """A ReplicaSet of the Deployment, with its annotations."""
    named = {"revision": REVISION, "history": HISTORY, "desired": DESIRED, "most": MAX}
    metadata: Tree = {
        "name": name, "namespace": "x", "uid": f"u-{name}", "creationTimestamp": f"2026-01-01T00:00:{at:02}Z", "generation": 1,
        "annotations": {named.get(key, key): value for key, value in annotations.items()}, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "ud", "controller": True}]}
    return {"metadata": metadata | ({"deletionTimestamp": "t"} if deleting else {}), "status": status or {}, "spec": {
        "replicas": size, "template": template(image, **{"pod-template-hash": "h"}), **(spec or {})}}


def rollout(found: Tree, *sets: Tree) -> tuple[Scene, Rollout, list[str]]:
    scene, wrote = Scene([(REPLICA_SETS, each) for each in sets]), list[str]()
    context = RolloutContext(
        cast("Any", scene), cast("Any", scene), lambda resource, _: wrote.append(resource.plural), counts_terminating=False,
        release="1.37")
    return scene, Rollout(found, sets, context, NOW), wrote


def progressing(status: str, reason: str, message: str) -> Tree:
    return {"type": "Progressing", "status": status, "lastUpdateTime": STAMP, "lastTransitionTime": STAMP, "reason": reason,
            "message": message}


async def test_a_new_set_is_made() -> None:
    """Given a Deployment without its set / then it is made with labels, selector, sizes, revision
    and owner; that is told, and the Deployment says which revision it is.
    """
    scene, one, wrote = rollout(
        deployment(annotations={"mine": "m"}, minReadySeconds=7), made("old", "zero", 2, revision="4"))
    await one.find_new(create=True)
    [create, event, update] = scene.done
    body = create[3]
    name = body["metadata"]["name"]
    pod_hash = name.removeprefix("web-")
    labels = {"app": "a", "pod-template-hash": pod_hash}
    assert create[:2] == ("create", "replicasets")
    assert body == {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {
            "name": name, "namespace": "x", "labels": labels, "annotations": {"mine": "m", REVISION: "5", **SIZES},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "ud", "controller": True,
                                 "blockOwnerDeletion": True}]},
        "spec": {"replicas": 2, "minReadySeconds": 7, "selector": {"matchLabels": labels}, "template": {
            **template(), "metadata": {"labels": labels}}}}
    assert event == ("event", "web", "Normal", "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 2")
    assert update[:3] == ("update", "deployments/status", "web")
    assert update[3]["metadata"]["annotations"] == {"mine": "m", REVISION: "5"}
    assert update[3]["status"]["conditions"] == [
        progressing("True", "NewReplicaSetCreated", f'Created new replica set "{name}"')]
    assert (wrote, one.deployment["metadata"]["resourceVersion"]) == (["replicasets", "deployments"], "9")
    assert [each["metadata"]["name"] for each in one.old] == ["old"]


async def test_long_names_and_sets_without_pods() -> None:
    """Given a name of 253 letters, no pods and no deadline / then the set's name is cut to fit, and
    nothing is told of pods or progress.
    """
    scene, one, _ = rollout(deployment(name="n" * 253, replicas=0, progressDeadlineSeconds=2**31 - 1))
    await one.find_new(create=True)
    assert [each[:2] for each in scene.done] == [("create", "replicasets"), ("update", "deployments/status")]
    assert len(scene.done[0][2]) == 253
    assert scene.done[1][3]["status"] == {}


async def test_the_set_that_is_there_is_found_and_numbered() -> None:
    """Given the set of the template / then it gets revision, annotations and minReadySeconds, or,
    where it has them, the Deployment says so; an old one that it becomes again keeps its history.
    """
    old = made("old", "zero", at=1, revision="4")
    scene, one, wrote = rollout(deployment(minReadySeconds=7, annotations={"mine": "m"}), made("new", revision="2"), old)
    found = await one.find_new()
    assert [each[:3] for each in scene.done] == [("update", "replicasets", "new")]
    sent = scene.done[0][3]
    assert sent["metadata"]["annotations"] == {"mine": "m", REVISION: "5", HISTORY: "2"}
    assert sent["spec"]["minReadySeconds"] == 7
    assert (found, one.new, wrote) == ({**sent, "metadata": {**sent["metadata"], "resourceVersion": "9"}}, found, ["replicasets"])
    scene, one, _ = rollout(deployment(), made("new", spec={"minReadySeconds": 7}, revision="1"))
    await one.find_new()
    assert "minReadySeconds" not in scene.done[0][3]["spec"]


@pytest.mark.parametrize(("annotations", "status", "written"), [
    ({REVISION: "1"}, None, True), ({}, {"conditions": [progressing("True", "R", "m")]}, True),
    ({REVISION: "1"}, {"conditions": [progressing("True", "R", "m")]}, False)])
async def test_what_the_deployment_says_of_its_set(annotations: Tree, status: Tree | None, written: bool) -> None:
    """Given a set that is right / then the Deployment says its revision and that it was found,
    once.
    """
    scene, one, _ = rollout(deployment(annotations=annotations, status=status), made("new", revision="1"))
    await one.find_new(create=True)
    assert [each[:3] for each in scene.done] == ([("update", "deployments/status", "web")] if written else [])
    if written:
        [condition] = scene.done[0][3]["status"]["conditions"]
        assert scene.done[0][3]["metadata"]["annotations"] == {REVISION: "1"}
        told = ("FoundNewReplicaSet", 'Found new replica set "new"') if status is None else ("R", "m")
        assert condition == progressing("True", *told)


class Taken(Scene):
    """A name that is taken, by ``there``."""

    there: Tree

    async def get(self, *_: Any, **__: Any) -> Tree:
        return self.there


async def test_a_name_that_is_taken() -> None:
    """Given a set of the name / then it is taken if it is the Deployment's with its template; else
    a collision is counted and the error raised.
    """
    other_owner = made("new")
    other_owner["metadata"]["ownerReferences"] = []
    for there, known in ((made("new"), True), (made("new", "zero"), False), (other_owner, False)):
        _, one, wrote = rollout(deployment(status={"collisionCount": 1}))
        scene = Taken()
        scene.there = there
        scene.refuse["create", "replicasets"] = APIError(409, "AlreadyExists", "taken")
        one.context = one.context._replace(client=cast("Any", scene), recorder=cast("Any", scene))
        if known:
            assert await one.find_new(create=True) is there
            assert [each[:2] for each in scene.done] == [("update", "deployments/status")]
            assert scene.done[0][3]["status"] == {"collisionCount": 1}
        else:
            with pytest.raises(APIError, match="taken"):
                await one.find_new(create=True)
            assert [each[3]["status"]["collisionCount"] for each in scene.done] == [2]
        assert wrote == ["deployments"]


@pytest.mark.parametrize(("causes", "deadline", "told"), [
    ([], 600, True), ([], 2**31 - 1, True), ([{"reason": "NamespaceTerminating"}], 600, False)])
async def test_a_set_that_cannot_be_made(causes: list[Tree], deadline: int, told: bool) -> None:
    """Given a set that cannot be made / then that is told, unless the namespace goes, and raised.
    """
    scene, one, _ = rollout(deployment(progressDeadlineSeconds=deadline))
    scene.refuse["create", "replicasets"] = APIError(403, "Forbidden", "no", {"causes": causes})
    with pytest.raises(APIError, match="no"):
        await one.find_new(create=True)
    assert [each[0] for each in scene.done] == ([*(["event"] if told else []), *(["update"] if told and deadline == 600 else [])])
    if told:
        kind, reason, text = scene.done[0][2:]
        assert (kind, reason) == ("Warning", "ReplicaSetCreateError")
        assert text.startswith('Failed to create new replica set "web-')
        assert text.endswith('": no')
        if deadline == 600:
            assert scene.done[1][3]["status"]["conditions"] == [progressing("False", "ReplicaSetCreateError", text)]


@pytest.mark.parametrize(("notes", "size", "always", "written", "event"), [
    (SIZES, 5, False, True, "Scaled up replica set new from 3 to 5"),
    (SIZES, 0, False, True, "Scaled down replica set new from 3 to 0"),
    (SIZES, 3, False, False, ""), ({}, 3, False, False, ""), ({}, 3, True, True, ""), (SIZES, 3, True, False, ""),
    ({**SIZES, "k": "v"}, 3, True, False, ""), ({DESIRED: "3"}, 3, True, True, "")])
async def test_a_set_is_scaled(notes: dict[str, str], size: int, always: bool, written: bool, event: str) -> None:
    """Given a set / then it gets its size and what it was scaled for, where either is new, and a
    new size is told.
    """
    scene, one, _ = rollout(deployment(), made("new", **notes))
    assert await one.scale(one.sets[0], size, always=always) is bool(event)
    updates = [each[3] for each in scene.done if each[0] == "update"]
    assert [(each["spec"]["replicas"], each["metadata"]["annotations"]) for each in updates] == (
        [(size, {**notes, **SIZES})] if written else [])
    assert [each[1:] for each in scene.done if each[0] == "event"] == ([("web", "Normal", "ScalingReplicaSet",
        event)] if event else [])
    assert one.sets[0]["spec"]["replicas"] == size


SEEN = {"observedGeneration": 1}


@pytest.mark.parametrize(("limit", "gone"), [(0, ["a", "d"]), (1, ["a"]), (2, ["a"]), (4, ["a"]), (5, []), (None, []), (9, [])])
async def test_old_sets_beyond_the_limit_go(limit: int | None, gone: list[str]) -> None:
    """Given old sets / then the oldest revisions go that are empty and were seen so, and none
    beside the limit; one that goes already does not count.
    """
    sets = [
        made("a", "a", 0, revision="1", status=SEEN), made("b", "b", 1, revision="2", status=SEEN),
        made("c", "c", 0, revision="3", status={**SEEN, "replicas": 1}), made("e", "e", 0, revision="4"),
        made("d", "d", 0, revision="5", status=SEEN), made("f", "f", 0, revision="0", status=SEEN, deleting=True),
        made("new", revision="6")]
    scene, one, _ = rollout(deployment(**cast("Any", {} if limit is None else {"revisionHistoryLimit": limit})), *sets)
    one.new = one.sets[-1]
    await one.clean_up()
    assert [each[1:] for each in scene.done] == [("replicasets", name, {"missing_ok": True}) for name in gone]


async def test_a_status_is_written_where_it_is_new() -> None:
    """Given a status / then it is written where it differs."""
    scene, one, _ = rollout(deployment(status={"replicas": 1}))
    assert await one.write_status_if_new({"replicas": 1}) is False
    assert scene.done == []
    assert await one.write_status_if_new({"replicas": 2}) is True
    assert [each[3]["status"] for each in scene.done] == [{"replicas": 2}]
    scene, one, _ = rollout(deployment())
    assert await one.write_status_if_new({}) is False

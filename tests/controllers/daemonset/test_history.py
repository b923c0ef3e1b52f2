"""What is written of a DaemonSet's revisions."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONTROLLER_REVISIONS, DAEMON_SETS
from fakekube.runtime import revisions
from fakekube_controllers.daemonset import history
from tests.controllers.scene import Scene

HASH = "controller-revision-hash"
TEMPLATE: Tree = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}}
DATA = revisions.template_patch(TEMPLATE)
OWNER: Tree = {
    "apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {"template": TEMPLATE}, "status": {"numberReady": 1}, "metadata": {
        "name": "d", "namespace": "x", "uid": "ud", "annotations": {"k": "v"}}}


def revision(name: str, number: int, *, data: Tree | None = None, labelled: bool = True, at: int = 0) -> Tree:
    labels = {"app": "a", **({HASH: f"h{name}"} if labelled else {})}
    stamp = f"2026-01-01T00:00:{at:02}Z"
    return {"metadata": {"name": name, "namespace": "x", "labels": labels, "creationTimestamp": stamp}, "revision": number,
            "data": DATA if data is None else data}


OLD = revision("old", 4, data={"other": 1})


def pod(name: str, pod_hash: str) -> Tree:
    return {"metadata": {"name": name, "namespace": "x", "labels": {HASH: pod_hash}}}


async def found(known: list[Tree], pods: list[Tree], scene: Scene | None = None) -> tuple[Tree, list[Tree], list[Any],
        list[Tree]]:
    """The current revision, the others, what is done, and what was said to be written."""
    scene, wrote = scene or Scene(), list[Tree]()
    current, old = await history.current_and_old(cast("Any", scene), OWNER, known, pods, wrote.append, "1.37")
    return current, old, scene.done, wrote


async def test_a_revision_is_made_of_a_new_template() -> None:
    """Given no revision of the template / then one is made after the last one, with the set's hash,
    labels, annotations and owner.
    """
    current, old, done, wrote = await found([OLD], [])
    [(verb, plural, name, body)] = done
    assert (verb, plural, old, wrote) == ("create", "controllerrevisions", [OLD], [current])
    pod_hash = name.removeprefix("d-")
    assert body == {"data": DATA, "revision": 5, "metadata": {
        "name": name, "namespace": "x", "labels": {"app": "a", HASH: pod_hash}, "annotations": {"k": "v"}, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "ud", "controller": True,
                "blockOwnerDeletion": True}]}}


@pytest.mark.parametrize(("known", "current", "done"), [
    ([revision("a", 5), OLD], "a", []), ([revision("a", 4), OLD], "a", [("patch", 5)]),
    ([revision("a", 3), OLD], "a", [("patch", 5)]),
    ([revision("a", 1)], "a", []), ([revision("a", 9), OLD], "a", [])])
async def test_the_revision_of_a_template_is_the_last_one(known: list[Tree], current: str, done: list[Any]) -> None:
    """Given a revision of the template / then it has a higher number than all others, and is given
    one where it has not.
    """
    one, old, written, wrote = await found(known, [])
    assert (one["metadata"]["name"], [each["metadata"]["name"] for each in old]) == (current, ["old"] * (len(known) - 1))
    assert len(written) == len(wrote) == len(done)
    for each in written:
        assert (each[1], each[2]) == ("controllerrevisions", "a")
        assert 5 in (each[3].get("revision"), *each[3].values())


async def test_revisions_without_their_label_get_it() -> None:
    """Given a revision without the hash among its labels / then its name is it."""
    one, _, done, wrote = await found([revision("a", 1, labelled=False)], [])
    assert [(each[0], each[1], each[3]["metadata"]["labels"]) for each in done] == [
        ("update", "controllerrevisions", {"app": "a", HASH: "a"})]
    assert wrote == [one]


async def test_of_revisions_alike_one_is_kept() -> None:
    """Given several revisions of the template / then the last one is kept and gets the pods of the
    others, which go.
    """
    same = [revision("b", 2), revision("a", 3), revision("c", 3, at=1)]
    one, old, done, _ = await found(same, [pod("p", "ha"), pod("q", "hc"), pod("r", "hb")])
    kept = one["metadata"]["name"]
    others = [name for name in ("b", "a", "c") if name != kept]
    assert kept in ("a", "c")
    body = {"metadata": {"labels": {HASH: f"h{kept}"}}}
    moved = [each for each in (("p", "ha"), ("q", "hc"), ("r", "hb")) if each[1] != f"h{kept}"]
    assert done == [
        *(("patch", "pods", name, body) for name, _ in moved),
        *(("delete", "controllerrevisions", name, {"missing_ok": True}) for name in others)]
    assert old == []


@pytest.mark.parametrize(("data", "status", "counted"), [
    (DATA, {}, None), ({"x": 1}, {}, 1), ({"x": 1}, {"collisionCount": 1}, None)])
async def test_a_name_that_is_taken(data: Tree, status: Tree, counted: int | None) -> None:
    """Given a revision of the name / then it is taken if it is the same; else a collision is
    counted, unless somebody did so already, and the error raised.
    """
    name = (await found([], []))[2][0][2]
    there = {**revision(name, 1, data=data), "metadata": {"name": name, "namespace": "x"}}
    scene = Scene([(CONTROLLER_REVISIONS, there), (DAEMON_SETS, {**OWNER, "status": status})])
    scene.refuse["create", "controllerrevisions"] = APIError(409, "AlreadyExists", "taken")
    if data == DATA:
        assert (await found([], [], scene))[0] is there
        assert scene.done == []
        return
    with pytest.raises(APIError, match="taken"):
        await found([], [], scene)
    assert [(each[1], each[3]["status"]) for each in scene.done] == (
        [] if counted is None else [("daemonsets/status", {"collisionCount": counted})])


async def test_a_revision_that_cannot_be_made() -> None:
    """Given a revision that cannot be made / then the error is raised."""
    scene = Scene()
    scene.refuse["create", "controllerrevisions"] = APIError(403, "Forbidden", "no")
    with pytest.raises(APIError, match="no"):
        await found([], [], scene)
    assert scene.done == []


class Deleting:
    """What is to be deleted of which revisions."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def delete_oldest(self, unused: list[Tree], count: int) -> None:
        self.asked.append(([each["metadata"]["name"] for each in unused], count))


@pytest.mark.parametrize(("limit", "count"), [(None, -7), (0, 3), (2, 1)])
async def test_revisions_beyond_the_limit_go(limit: int | None, count: int) -> None:
    """Given past revisions / then the oldest that no pod has go beyond the limit, ten by default.
    """
    owner = {**OWNER, "spec": {**OWNER["spec"], **({} if limit is None else {"revisionHistoryLimit": limit})}}
    deleting, past = Deleting(), [revision("c", 3), revision("a", 1), revision("b", 2)]
    await history.truncate(cast("Any", deleting), owner, past, [pod("p", "hb")])
    assert deleting.asked == [(["a", "c"], count)]

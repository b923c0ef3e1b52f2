"""What the garbage collector writes for an object, by what its owners are, to the letter."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.runtime.reconcile import Result
from fakekube_controllers.garbagecollector.collector import GarbageCollector
from fakekube_controllers.garbagecollector.graph import Graph, Identity, Node
from tests.controllers.scene import Scene

THINGS = SimpleNamespace(plural="things", namespaced=True)
WIDE = SimpleNamespace(plural="wides", namespaced=False)
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


def reference(name: str, *, kind: str = "Thing", uid: str = "", blocks: bool | None = None) -> Tree:
    found = {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid or name}
    return found if blocks is None else {**found, "blockOwnerDeletion": blocks}


def thing(name: str, *owners: Tree, finalizers: tuple[str, ...] = (), deleting: bool = False, namespace: str = "x",
          uid: str = "") -> Tree:
    metadata: Tree = {"name": name, "uid": uid or name, "resourceVersion": "7"} | ({"namespace": namespace} if namespace else {})
    metadata |= ({"ownerReferences": list(owners)} if owners else {}) | ({"finalizers": list(finalizers)} if finalizers else {})
    return {"metadata": metadata | ({"deletionTimestamp": "t"} if deleting else {})}


class Collected(Scene):
    """Things, wide ones, and a server that knows no other kinds."""

    async def for_kind(self, kind: Any) -> Any:
        if kind.kind not in ("Thing", "Wide"):
            raise KeyError(kind)
        return THINGS if kind.kind == "Thing" else WIDE

    async def get(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool = False) -> Tree | None:
        assert namespace or not resource.namespaced, "the server knows no such path"
        return await super().get(resource, name, namespace if resource.namespaced else "", missing_ok=missing_ok)


async def looked_at(name: str, *objects: Tree, unseen: tuple[str, ...] = ()) -> tuple[list[Any], Result | None, list[Any]]:
    """What is done when an object is looked at, when it is again, and what is to be looked at."""
    wide = [(WIDE, each) for each in objects if "namespace" not in each["metadata"]]
    scene = Collected([*wide, *((THINGS, each) for each in objects if "namespace" in each["metadata"])])
    one = GarbageCollector()
    one.client, one.recorder, one._resources = cast("Any", scene), cast("Any", scene), {}
    one.to_delete, one.to_orphan = cast("Any", Scene()), cast("Any", Scene())
    one.graph = Graph(one.to_delete.add, one.to_orphan.add, one._report_invalid_namespace)
    for each in objects:
        if each["metadata"]["name"] not in unseen:
            one.graph.observe(each, "v1", "Wide" if "namespace" not in each["metadata"] else "Thing")
    queued = cast("Any", one.to_delete).queued
    queued.clear()
    result = await one._attempt_to_delete(name)
    return scene.done, result, queued


def deleted(name: str, policy: str) -> tuple[Any, ...]:
    return "delete", "things", name, {
        "propagation_policy": policy, "uid": name, "resource_version": "7", "missing_ok": True}


def patched(name: str, **changes: Any) -> tuple[Any, ...]:
    return "patch", "things", name, {"metadata": {"resourceVersion": "7", **changes}}


GONE, HERE = reference("gone"), reference("here")
WAITING = thing("going", deleting=True, finalizers=(FOREGROUND,))
GOING = reference("going")


@pytest.mark.parametrize(("found", "others", "done"), [
    (thing("a"), [], []), (thing("a", HERE), [thing("here")], []), (thing("a", GONE), [], [deleted("a", "Background")]),
    (thing("a", reference("here", uid="former")), [thing("here")], [deleted("a", "Background")]),
    (thing("a", GONE, finalizers=(ORPHAN,)), [], [deleted("a", "Orphan")]),
    (thing("a", GONE, finalizers=("x/y", FOREGROUND)), [], [deleted("a", "Foreground")]),
    (thing("a", GONE, finalizers=(ORPHAN, FOREGROUND)), [], [deleted("a", "Orphan")]),
    (thing("a", HERE, GONE), [thing("here")], [patched("a", ownerReferences=[HERE])]),
    (thing("a", HERE, GOING), [thing("here"), WAITING], [patched("a", ownerReferences=[HERE])]),
    (thing("a", HERE), [thing("here", deleting=True)], []),
    # owners that wait for it
    (thing("a", GOING), [WAITING], [deleted("a", "Background")]),
    (thing("a", GOING), [WAITING, thing("child", reference("a"))], [deleted("a", "Foreground")]),
    (thing("a", reference("going", blocks=True)), [WAITING, thing("child", reference("a"), deleting=True,
        finalizers=(FOREGROUND,))], [
        patched("a", ownerReferences=[reference("going", blocks=False)]),
        ("delete", "things", "a", {"propagation_policy": "Foreground", "uid": "a", "resource_version": "9",
            "missing_ok": True})]),
    # what is on its way out itself
    (thing("a", GONE, deleting=True), [], []),
    (thing("a", deleting=True, finalizers=(FOREGROUND, "x/y")), [], [patched("a", finalizers=["x/y"])]),
    (thing("a", deleting=True, finalizers=(FOREGROUND,)), [thing("child", reference("a"))], [patched("a", finalizers=None)]),
    # what is in no namespace
    (thing("a", reference("wide", kind="Wide")), [thing("wide", namespace="")], []),
    (thing("a", reference("wide", kind="Wide")), [], [deleted("a", "Background")]),
    (thing("a", HERE, namespace=""), [thing("here")], [("event", "a", "Warning", "OwnerRefInvalidNamespace", (
        'ownerRef [v1/Thing, namespace: , name: here, uid: here] does not exist in namespace ""'))]),
])
async def test_what_becomes_of_an_object(found: Tree, others: list[Tree], done: list[Any]) -> None:
    """Given an object and its owners / then it is deleted, loses references, or stays."""
    assert (await looked_at("a", found, *others))[:2] == (done, None)


async def test_dependents_that_block_are_looked_at() -> None:
    """Given an object that waits for its dependents / then those that block it and are not going
    themselves are looked at.
    """
    blocks = reference("a", blocks=True)
    done, _, queued = await looked_at(
        "a", thing("a", deleting=True, finalizers=(FOREGROUND,)), thing("b", blocks), thing("c", reference("a")),
        thing("d", blocks, deleting=True, finalizers=(FOREGROUND,)))
    assert (done, queued) == ([], ["b"])


async def test_owners_that_cannot_be_told() -> None:
    """Given an owner of an unknown kind / then the object is looked at again after half a minute;
    an object that nobody knows is not.
    """
    found = thing("a", reference("b", kind="Unknown"))
    assert (await looked_at("a", found))[:2] == ([], Result.after(30, daemon=True))
    assert (await looked_at("none", found)) == ([], None, [])


async def test_an_owner_that_nobody_saw() -> None:
    """Given an owner that no informer has shown / when it is looked at / then, if it is not there,
    its dependents are.
    """
    done, result, queued = await looked_at("gone", thing("a", GONE), thing("b", GONE))
    assert (done, result, queued) == ([], None, ["a", "b"])
    done, result, queued = await looked_at("gone", thing("a", GONE, namespace=""))
    assert (done, result, queued) == ([], None, ["a"])
    done, result, queued = await looked_at("here", thing("a", HERE), thing("here"), unseen=("here",))
    assert (done, result, queued) == ([], None, [])


@pytest.mark.parametrize(("code", "raised"), [(404, False), (409, True)])
async def test_orphans_lose_their_references(code: int, raised: bool) -> None:
    """Given an owner that leaves its dependents / then these lose it, and then it its finalizer;
    one that goes meanwhile is all right.
    """
    owner = thing("a", deleting=True, finalizers=(ORPHAN, "x/y"))
    objects = owner, thing("b", reference("a"), HERE), thing("c", reference("a")), thing("here")
    scene = Collected([(THINGS, each) for each in objects])
    one = GarbageCollector()
    one.client, one._resources = cast("Any", scene), {}
    one.graph = Graph(lambda _: None, lambda _: None, lambda *_: None)
    for each in objects:
        one.graph.observe(each, "v1", "Thing")
    await one._attempt_to_orphan("a")
    await one._attempt_to_orphan("none")
    assert scene.done == [
        patched("b", ownerReferences=[HERE]), patched("c", ownerReferences=None), patched("a", finalizers=["x/y"])]
    scene.done.clear()
    scene.refuse["patch", "things"] = APIError(code, "x", "no")
    if raised:
        with pytest.raises(APIError, match="no"):
            await one._attempt_to_orphan("a")
    else:
        await one._attempt_to_orphan("a")
    assert scene.done == []


def test_references_into_another_namespace_are_told() -> None:
    """Given a reference to an object of another namespace / then a warning, in upstream's words."""
    scene, one = Scene(), GarbageCollector()
    one.recorder = cast("Any", scene)
    node = Node(Identity("v1", "Thing", "x", "a", "ua"))
    one._report_invalid_namespace(node, cast("Any", SimpleNamespace(api_version="w/v2", kind="Other", name="o", uid="uo")))
    assert scene.done == [("event", "a", "Warning", "OwnerRefInvalidNamespace", (
        'ownerRef [w/v2/Other, namespace: x, name: o, uid: uo] does not exist in namespace "x"'))]

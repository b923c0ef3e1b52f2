"""What a terminating namespace says of what is left in it, and what is deleted of it."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, PODS, REPLICA_SETS, SECRETS, Resource
from fakekube.client.transport import TransportError
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.namespace import conditions
from fakekube_controllers.namespace.conditions import Remaining
from fakekube_controllers.namespace.controller import NamespaceReconciler
from tests.controllers.scene import Scene

WELL = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    ("NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
]


def told(bad: dict[str, tuple[str, str]], at: str = "now") -> list[Tree]:
    """All conditions, those that are bad with their reason and message."""
    found = []
    for kind, reason, message in WELL:
        shown = bad.get(kind, (reason, message))
        found.append({"type": kind, "status": "True" if kind in bad else "False", "lastTransitionTime": at, "reason": shown[0],
                      "message": shown[1]})
    return found


STALE = "a/v1: stale GroupVersion discovery: a/v1, b/v1: stale GroupVersion discovery: b/v1"
ITEM, HELD, TWICE = ({"metadata": {"name": "n", "finalizers": names}} for names in ([], ["a/b"], ["a/b", "c/d"]))


def left(*notes: tuple[Resource, list[Tree]]) -> Remaining:
    found = Remaining()
    for resource, items in notes:
        found.note(resource, items, len(items))
    return found


@pytest.mark.parametrize(("remaining", "failures", "stale", "bad"), [
    (Remaining(), [], [], {}),
    (Remaining(), [], ["b/v1", "a/v1"], {"NamespaceDeletionDiscoveryFailure": (
        "DiscoveryFailed",
        f"Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: {STALE}")}),
    (Remaining(), ["b", "a"], [], {"NamespaceDeletionContentFailure": (
        "ContentDeletionFailed", "Failed to delete all resource types, 2 remaining: a, b")}),
    (left((CONFIG_MAPS, [ITEM, ITEM]), (REPLICA_SETS, [ITEM])), [], [], {"NamespaceContentRemaining": (
        "SomeResourcesRemain",
        "Some resources are remaining: configmaps. has 2 resource instances, replicasets.apps has 1 resource instances")}),
    (left((REPLICA_SETS, [TWICE, ITEM]), (CONFIG_MAPS, [HELD])), [], [], {
        "NamespaceContentRemaining": (
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances, replicasets.apps has 2 resource instances"),
        "NamespaceFinalizersRemaining": ("SomeFinalizersRemain", (
            "Some content in the namespace has finalizers remaining: a/b in 2 resource instances, "
            "c/d in 1 resource instances"))}),
    (left((PODS, [HELD])), ["x"], [], {"NamespaceDeletionContentFailure": (
        "ContentDeletionFailed", "Failed to delete all resource types, 1 remaining: x")}),
])
def test_what_is_told_of_what_is_left(
    remaining: Remaining, failures: list[str], stale: list[str], bad: dict[str, tuple[str, str]],
) -> None:
    """Given what is left, what failed and who was away / then five conditions tell it in upstream's
    words; where only pods were looked at nothing is told of what is left.
    """
    status: Tree = {}
    assert conditions.update(status, remaining, failures, stale, "now") is True
    assert status == {"conditions": told(bad)}
    assert conditions.update(status, remaining, failures, stale, "later") is False
    assert status == {"conditions": told(bad)}


def test_conditions_change_with_what_is_left() -> None:
    """Given conditions / when more or nothing is left / then text and time change as they do
    upstream, and what others have put there stays.
    """
    other = {"type": "Other", "status": "True"}
    status: Tree = {"conditions": [other]}
    conditions.update(status, left((CONFIG_MAPS, [ITEM])), [], [], "first")
    assert conditions.update(status, left((CONFIG_MAPS, [ITEM, ITEM])), [], [], "second") is True
    text = "Some resources are remaining: configmaps. has 2 resource instances"
    more = told({"NamespaceContentRemaining": ("SomeResourcesRemain", text)}, "first")
    assert status["conditions"] == [other, *more]
    assert conditions.update(status, Remaining(), [], [], "third") is True
    done = told({}, "first")
    done[3]["lastTransitionTime"] = "third"
    assert status["conditions"] == [other, *done]


def test_what_is_noted_of_what_is_left() -> None:
    """Given resources with something left / then the longest estimate counts."""
    found = Remaining()
    for resource, seconds in ((CONFIG_MAPS, 3), (PODS, 9), (SECRETS, 5)):
        found.note(resource, [TWICE], seconds)
    assert (found.counts, found.finalizers, found.only_pods, found.estimate_seconds) == (
        {"configmaps.": 1, "pods.": 1, "secrets.": 1}, {"a/b": 3, "c/d": 3}, False, 9)
    assert left((PODS, [ITEM])).only_pods is True


class Emptying(Scene):
    """A namespace ``team``; what is deleted of it goes, but for what is ``kept``."""

    def __init__(self, *objects: tuple[Any, Tree], finalizers: tuple[str, ...] = ("kubernetes", "x/y"), kept: str = "") -> None:
        namespace = {"metadata": {"name": "team", "deletionTimestamp": "t"}, "spec": {"finalizers": list(finalizers)}}
        super().__init__([(NAMESPACES, namespace), *objects])
        self.kept, self.stale_versions = kept, list[str]()

    async def resources(self, *, verbs: tuple[str, ...]) -> list[Resource]:
        assert verbs == ("delete", "list")
        return [NAMESPACES, PODS, CONFIG_MAPS, SECRETS]

    async def delete_collection(self, resource: Resource, namespace: str, **options: str) -> None:
        assert options == {"propagation_policy": "Background"}
        self._write("delete all", resource, {"metadata": {"name": namespace}}, "")
        if resource.plural != self.kept:
            self._drop(resource.plural, "")

    async def delete(self, resource: Resource, name: str, namespace: str = "", **options: Any) -> None:
        assert (namespace, options) == ("team", {"propagation_policy": "Background", "missing_ok": True})
        self._write("delete", resource, {"metadata": {"name": name}}, "")
        self._drop(resource.plural, name)

    def _drop(self, plural: str, name: str) -> None:
        self.objects = [(each, obj) for each, obj in self.objects if each != plural or name not in ("", obj["metadata"]["name"])]

    async def reconcile(self) -> Result | None:
        return await NamespaceReconciler(cast("Any", self)).reconcile(Request("", "team"))

    def verbs(self) -> list[tuple[Any, ...]]:
        return [each[:3] for each in self.done]


def content(name: str = "n", **metadata: Any) -> Tree:
    return {"metadata": {"name": name, "namespace": "team", **metadata}}


STATUS, FINALIZE = ("update", "namespaces/status", "team"), ("update", "namespaces/finalize", "team")


async def test_an_empty_namespace_is_let_go() -> None:
    """Given a namespace with content that goes / then all of it is deleted, and its own finalizer
    taken off, and no other.
    """
    world = Emptying((PODS, content()), (SECRETS, content()))
    assert await world.reconcile() is None
    assert world.verbs() == [("delete all", "pods", "team"), ("delete all", "secrets", "team"), STATUS, FINALIZE]
    assert world.done[-1][3]["spec"] == {"finalizers": ["x/y"]}
    assert [each["status"] for each in world.done[2][3]["status"]["conditions"]] == ["False"] * 5


@pytest.mark.parametrize(("kept", "item", "seconds", "verbs"), [
    ("secrets", content(), 8, [("delete all", "pods", "team"), ("delete all", "secrets", "team"), STATUS]),
    ("pods", content(deletionTimestamp="1970-01-01T00:00:20Z"), 11, [("delete all", "pods", "team"), STATUS])])
async def test_what_is_left_is_looked_at_later(kept: str, item: Tree, seconds: int, verbs: list[Any]) -> None:
    """Given content that stays / then the namespace stays, and is looked at after half of the time
    that it may take; while pods are left nothing else is deleted.
    """
    world = Emptying((PODS, item), (SECRETS, item), kept=kept)
    assert await world.reconcile() == Result.after(seconds)
    assert world.verbs() == verbs


@pytest.mark.parametrize(("error", "raised"), [
    (APIError(404, "NotFound", "x"), False), (APIError(500, "InternalError", "x"), True), (TransportError("x"), True)])
async def test_what_fails_is_told_and_raised_after_the_rest(error: Any, raised: bool) -> None:
    """Given a resource that cannot be deleted / then the rest is, and the failure is told and
    raised; one that is not there is none.
    """
    world = Emptying((CONFIG_MAPS, content()), (SECRETS, content()))
    world.refuse["delete all", "configmaps"] = error
    if raised:
        with pytest.raises(type(error), match="x"):
            await world.reconcile()
        failed = world.done[1][3]["status"]["conditions"][2]
        assert failed["message"] == "Failed to delete all resource types, 1 remaining: x"
    else:
        assert await world.reconcile() is None
    assert world.verbs() == [("delete all", "secrets", "team"), STATUS, *([] if raised else [FINALIZE])]


async def test_what_cannot_be_deleted_together_is_deleted_one_by_one() -> None:
    """Given a resource whose collection cannot be deleted / then each object of it is."""
    world = Emptying((SECRETS, content("a")), (SECRETS, content("b")))
    world.refuse["delete all", "secrets"] = APIError(405, "MethodNotAllowed", "x")
    assert await world.reconcile() is None
    assert world.verbs() == [("delete", "secrets", "a"), ("delete", "secrets", "b"), STATUS, FINALIZE]


async def test_group_versions_that_nobody_can_tell_of() -> None:
    """Given a server that was away / then that is told and raised, and the namespace stays."""
    world = Emptying()
    world.stale_versions.append("a/v1")
    text = "unable to retrieve the complete list of server APIs: a/v1: stale GroupVersion discovery: a/v1"
    with pytest.raises(APIError, match=text) as failed:
        await world.reconcile()
    assert (failed.value.code, failed.value.reason, world.verbs()) == (503, "ServiceUnavailable", [STATUS])


@pytest.mark.parametrize(("verb", "code", "raised"), [("update", 404, False), ("update", 409, False), ("update", 500, True)])
async def test_conditions_that_cannot_be_written(verb: str, code: int, raised: bool) -> None:
    """Given a namespace that somebody changes or that goes / then its conditions are not insisted
    on; other errors are.
    """
    world = Emptying((SECRETS, content()), kept="secrets")
    world.refuse[verb, "namespaces"] = APIError(code, "x", "x")
    if raised:
        with pytest.raises(APIError):
            await world.reconcile()
    else:
        assert await world.reconcile() == Result.after(8)


async def test_a_namespace_that_is_not_to_go() -> None:
    """Given a namespace without the finalizer, one that stays, or none / then nothing is done, and
    only one that is to go and is held is looked at, five seconds later.
    """
    world = Emptying((SECRETS, content()), finalizers=("x/y",))
    assert (await world.reconcile(), world.done) == (None, [])
    staying = {"metadata": {"name": "team"}, "spec": {"finalizers": ["kubernetes"]}}
    for objects in ([], [("namespaces", staying)]):
        world.objects = objects
        assert (await world.reconcile(), world.done) == (None, [])
    later: list[tuple[Any, float]] = []
    queue = type("Queue", (), {"add_after": lambda _, key, seconds: later.append((key, seconds))})()
    NamespaceReconciler(cast("Any", world)).setup(queue)
    added, updated, gone = world.handlers["namespaces"]
    going = {**staying, "metadata": {"name": "team", "deletionTimestamp": "t"}}
    for namespace in (staying, going, {"metadata": going["metadata"]}, {**going, "spec": {"finalizers": ["x/y"]}}):
        added(namespace)
    updated(staying, going)
    assert (later, gone) == ([(Request("", "team"), 5.0)] * 2, None)

"""How many pods a budget lets go and what it says of it, and disruptions that were called off."""

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DEPLOYMENTS, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS, STATEFUL_SETS
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.disruption.controller import DisruptionReconciler
from fakekube_controllers.disruption.expected import Expected, UnknownScale, expected
from tests.controllers.scene import Scene

NOW, STAMP = 1000.0, "1970-01-01T00:16:40Z"
WIDGETS = SimpleNamespace(plural="widgets", group="x.io", api_version="x.io/v1", group_resource="widgets.x.io")


def owned(kind: str = "ReplicaSet", name: str = "r", uid: str = "", version: str = "apps/v1") -> Tree:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid or f"u-{name}", "controller": True}


def pod(name: str, *owners: Tree, ready: bool = True, leaving: bool = False, labels: Tree | None = None, **status: Any) -> Tree:
    metadata: Tree = {"name": name, "namespace": "x", "uid": f"u-{name}", "labels": labels or {"app": "a"},
        "ownerReferences": [*owners]}
    return {"metadata": metadata | ({"deletionTimestamp": "t"} if leaving else {}), "spec": {}, "status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}], **status}}


def scaled(resource: Any, name: str, replicas: int, *owners: Tree) -> tuple[Any, Tree]:
    metadata = {"name": name, "namespace": "x", "uid": f"u-{name}", "ownerReferences": [*owners]}
    return resource, {"metadata": metadata, "spec": {"replicas": replicas}}


class Scaled(Scene):
    """Widgets have a scale, or none as ``has_scale`` says."""

    has_scale = True

    async def for_kind(self, kind: Any) -> Any:
        if tuple(kind) != ("x.io", "v1", "Widget"):
            raise KeyError(kind)
        return WIDGETS

    async def get(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool = False, **_: Any) -> Tree | None:
        return await super().get(resource, name, namespace, missing_ok=missing_ok)

    async def request(self, verb: str, path: str) -> Any:
        assert (verb, path) == ("GET", "/apis/x.io/v1")
        names = ["widgets", "widgets/scale"] if self.has_scale else ["widgets", "others/scale"]
        return SimpleNamespace(body=orjson.dumps({"resources": [{"name": name} for name in names]}))


WIDGET = owned("Widget", "w", version="x.io/v1")


@pytest.mark.parametrize(("spec", "pods", "objects", "wanted"), [
    ({"minAvailable": 2}, [pod("a"), pod("b"), pod("c")], [], Expected(3, 2)), ({}, [pod("a")], [], Expected(0, 0)),
    ({"minAvailable": "50%"}, [pod("a", owned()), pod("b", owned())], [scaled(REPLICA_SETS, "r", 5)], Expected(5, 3)),
    ({"maxUnavailable": 2}, [pod("a", owned())], [scaled(REPLICA_SETS, "r", 5)], Expected(5, 3)),
    ({"maxUnavailable": "21%"}, [pod("a", owned())], [scaled(REPLICA_SETS, "r", 5)], Expected(5, 3)),
    ({"maxUnavailable": 9}, [pod("a", owned())], [scaled(REPLICA_SETS, "r", 5)], Expected(5, 0)),
    ({"maxUnavailable": 1}, [pod("a"), pod("b", owned())], [scaled(REPLICA_SETS, "r", 5)], Expected(5, 4, ("a",))),
    ({"minAvailable": "50%"}, [pod("a"), pod("b")], [], Expected(0, 0, ("a", "b"))),
    ({"maxUnavailable": 1}, [pod("a", owned()), pod("b", owned("StatefulSet", "s"))],
     [scaled(REPLICA_SETS, "r", 2), scaled(STATEFUL_SETS, "s", 3)], Expected(5, 4)),
    # a Deployment above counts once
    ({"maxUnavailable": 1}, [pod("a", owned()), pod("b", owned(name="q"))],
     [scaled(REPLICA_SETS, "r", 2, owned("Deployment", "d")), scaled(REPLICA_SETS, "q", 9, owned("Deployment", "d")),
      scaled(DEPLOYMENTS, "d", 4)], Expected(4, 3)),
    ({"maxUnavailable": 1}, [pod("a", owned())], [scaled(REPLICA_SETS, "r", 2, owned("Other", "d"))], Expected(2, 1)),
    ({"maxUnavailable": 1}, [pod("a", WIDGET)], [scaled(WIDGETS, "w", 7)], Expected(7, 6)),
])
async def test_what_a_budget_wants(spec: Tree, pods: list[Tree], objects: list[Any], wanted: Expected) -> None:
    """Given a budget and pods / then the scales of all that control them are added, once each."""
    assert await expected(cast("Any", Scaled(objects)), {"spec": spec}, pods) == wanted


@pytest.mark.parametrize(("owner", "objects", "has_scale", "text"), [
    (owned(), [], True, 'found no controllers for pod "a"'),
    (owned(uid="former"), [scaled(REPLICA_SETS, "r", 1)], True, 'found no controllers for pod "a"'),
    (owned(), [scaled(REPLICA_SETS, "r", 1, owned("Deployment", "d"))], True, 'found no controllers for pod "a"'),
    (WIDGET, [], True, 'found no controllers for pod "a"'),
    ({**WIDGET, "uid": "former"}, [scaled(WIDGETS, "w", 1)], True, 'found no controllers for pod "a"'),
    (WIDGET, [], False, "widgets.x.io does not implement the scale subresource"),
    (owned("Thing", version="y.io/v1"), [], True, 'no matches for kind "Thing" in version "y.io/v1"')])
async def test_scales_that_nobody_knows(owner: Tree, objects: list[Any], has_scale: bool, text: str) -> None:
    """Given a pod whose controller is gone, is another, or has no scale / then upstream's error."""
    scene = Scaled(objects)
    scene.has_scale = has_scale
    with pytest.raises(UnknownScale) as failed:
        await expected(cast("Any", scene), {"spec": {"maxUnavailable": 1}}, [pod("a", owner)])
    assert str(failed.value) == text


def budget(*, status: Tree | None = None, selector: Any = "", **spec: Any) -> Tree:
    chosen = {"matchLabels": {"app": "a"}} if selector == "" else selector
    return {"metadata": {"name": "b", "namespace": "x", "generation": 2}, "spec": {"selector": chosen, **spec},
            **({"status": status} if status else {})}


async def reconcile(found: Tree, *pods: Tree) -> tuple[Scaled, Result | None]:
    scene = Scaled([(POD_DISRUPTION_BUDGETS, found), *((PODS, each) for each in pods)], now=NOW)
    cast("Any", scene).queue = lambda _: scene
    return scene, await DisruptionReconciler(cast("Any", scene)).reconcile(Request("x", "b"))


def allowed(status: str, reason: str, message: str = "", since: str = STAMP, generation: int = 2) -> Tree:
    found = {"type": "DisruptionAllowed", "status": status, "reason": reason, "message": message, "lastTransitionTime": since}
    return found | ({"observedGeneration": generation} if generation else {})


ENOUGH, TOO_FEW = allowed("True", "SufficientPods"), allowed("False", "InsufficientPods")
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{},MatchExpressions:"
    "[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated "
    'correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of '
    "the PDB to an integer value."
)
COUNTED = {"observedGeneration": 2, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
SAID = {"a": "1970-01-01T00:14:41Z"}


@pytest.mark.parametrize(("found", "pods", "done", "again"), [
    (budget(minAvailable=1), [pod("a"), pod("b")], [{**COUNTED, "conditions": [ENOUGH]}], None),
    (budget(minAvailable=1, status={**COUNTED, "disruptedPods": {}, "conditions": [ENOUGH]}), [pod("a"), pod("b")], [], None),
    (budget(minAvailable=1, status={**COUNTED, "conditions": [TOO_FEW]}), [pod("a"), pod("b")], [
        {**COUNTED, "conditions": [ENOUGH]}], None),
    (budget(minAvailable=1, status={**COUNTED, "expectedPods": 3,
        "conditions": [{"type": "x"}, {**ENOUGH, "lastTransitionTime": "t"}]}),
     [pod("a"), pod("b")], [{**COUNTED, "conditions": [{"type": "x"}, {**ENOUGH, "lastTransitionTime": "t"}]}], None),
    (budget(minAvailable=2), [pod("a"), pod("b", ready=False), pod("c", leaving=True), pod("d", labels={"app": "z"})], [
        {**COUNTED, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 2, "expectedPods": 3,
            "conditions": [TOO_FEW]}],
     None),
    (budget(), [pod("a")], [{**COUNTED, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 0,
                             "conditions": [TOO_FEW]}], None),
    # pods that are about to go
    (budget(minAvailable=1, status={"disruptedPods": SAID}), [pod("a"), pod("b")], [
        {**COUNTED, "disruptionsAllowed": 0, "currentHealthy": 1, "disruptedPods": SAID, "conditions": [TOO_FEW]}], 1.0),
    (budget(minAvailable=1, status={"disruptedPods": {**SAID, "b": "1970-01-01T00:15:00Z"}}), [pod("a"), pod("b")], [
        {**COUNTED, "disruptionsAllowed": 0, "currentHealthy": 0, "disruptedPods": {**SAID, "b": "1970-01-01T00:15:00Z"},
         "conditions": [TOO_FEW]}], 1.0),
    (budget(minAvailable=1, status={"disruptedPods": {"a": "1970-01-01T00:14:40Z"}}), [pod("a"), pod("b")], [
        ("event", "a", "Warning", "NotDeleted", "Pod was expected by PDB x/x to be deleted but it wasn't"),
        {**COUNTED, "conditions": [ENOUGH]}], None),
    (budget(minAvailable=0, status={"disruptedPods": SAID}), [pod("a", leaving=True)], [
        {**COUNTED, "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 1,
            "conditions": [TOO_FEW]}],
     None),
    # none, and such as cannot be counted
    (budget(minAvailable=1), [], [("event", "b", "Normal", "NoPods", "No matching pods found"), {
        **COUNTED, "disruptionsAllowed": 0, "currentHealthy": 0, "expectedPods": 0, "conditions": [TOO_FEW]}], None),
    (budget(maxUnavailable=1, status={"observedGeneration": 1}), [pod("a", owned())], [
        ("event", "b", "Warning", "CalculateExpectedPodCountFailed",
         'Failed to calculate the number of expected pods: found no controllers for pod "a"'),
        {"observedGeneration": 1, "disruptionsAllowed": 0, "conditions": [
            allowed("False", "SyncFailed", 'found no controllers for pod "a"', generation=1)]}], None),
    (budget(maxUnavailable=1, selector={}), [pod("a")], [
        ("event", "b", "Warning", "UnmanagedPods",
         UNMANAGED),
        {**COUNTED, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 0,
            "conditions": [TOO_FEW]}],
     None),
])
async def test_what_is_said_of_a_budget(found: Tree, pods: list[Tree], done: list[Any], again: float | None) -> None:
    """Given a budget and pods / then this is written and said, and looked at again when the first
    pod that was to go counts again.
    """
    scene, result = await reconcile(found, *pods)
    assert [each if each[0] == "event" else each[3]["status"] for each in scene.done] == done
    assert result == (None if again is None else Result.after(again, daemon=True))


@pytest.mark.parametrize("reason", ["Conflict", "Other"])
async def test_a_status_that_cannot_be_written(reason: str) -> None:
    """Given a budget that cannot be written / then the error is raised."""
    scene = Scaled([(POD_DISRUPTION_BUDGETS, budget(minAvailable=1)), (PODS, pod("a"))], now=NOW)
    cast("Any", scene).queue = lambda _: scene
    scene.refuse["update", "poddisruptionbudgets"] = APIError(409, reason, "no")
    with pytest.raises(APIError, match="no"):
        await DisruptionReconciler(cast("Any", scene)).reconcile(Request("x", "b"))
    assert await DisruptionReconciler(cast("Any", scene)).reconcile(Request("x", "none")) is None


def target(status: str = "True", reason: str = "R", since: str = "1970-01-01T00:14:40Z") -> Tree:
    return {"type": "DisruptionTarget", "status": status, "reason": reason, "lastTransitionTime": since}


@pytest.mark.parametrize(("condition", "more", "again", "taken_back"), [
    (target(), {}, None, True), (target(since="1970-01-01T00:14:41Z"), {}, 1.0, False), (target("False"), {}, None, False),
    (target(reason="TerminationByKubelet"), {}, None, False), (target(), {"leaving": True}, None, False),
    (target(), {"phase": "Failed"}, None, False), ({"type": "Other"}, {}, None, False)])
async def test_a_disruption_that_was_called_off(condition: Tree, more: Tree, again: float | None, taken_back: bool) -> None:
    """Given a pod that says that it is about to go / when it is there after two minutes / then it
    says so no more, unless its kubelet ends it, or it goes or has ended.
    """
    found = pod("a", conditions=[{"type": "x"}, condition], **more)
    scene = Scaled([(PODS, found)], now=NOW, gates=())
    cast("Any", scene).queue = lambda _: scene
    result = await DisruptionReconciler(cast("Any", scene))._sync_stale(Request("x", "a"))
    assert result == (None if again is None else Result.after(again, daemon=True))
    kept = [each[3]["status"]["conditions"] for each in scene.done]
    assert [[(one["type"], one.get("status")) for one in each] for each in kept] == (
        [[("x", None), ("DisruptionTarget", "False")]] if taken_back else [])


def test_pods_of_several_budgets() -> None:
    """Given two budgets that select a pod / when it changes / then both are looked at, and a
    warning names the first; without a selector none is, and an empty one is for all.
    """
    others = [{**budget(selector=chosen), "metadata": {"name": name, "namespace": "x"}} for name, chosen in (
        ("all", {}), ("none", None))]
    scene = Scaled([(POD_DISRUPTION_BUDGETS, each) for each in (budget(), *others)], now=NOW)
    cast("Any", scene).queue = lambda _: scene
    one = DisruptionReconciler(cast("Any", scene))
    one.queue = cast("Any", scene)
    one._enqueue_budgets_of(pod("a"))
    assert [key.name for key in scene.queued] == ["b", "all"]
    assert scene.done == [("event", "a", "Warning", "MultiplePodDisruptionBudgets", (
        'Pod "x"/"a" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.'))]
    one._enqueue_budgets_of(pod("z", labels={"app": "z"}))
    assert ([key.name for key in scene.queued], len(scene.done)) == (["b", "all", "all"], 1)

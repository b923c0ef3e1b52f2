"""What one reconcile of an autoscaler decides, scales, writes and says."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fakekube.apimachinery import labels
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import DEPLOYMENTS, PODS
from fakekube_controllers.podautoscaler.specs import MetricFailed, MetricResult
from fakekube_controllers.podautoscaler.sync import Sync, SyncFailed
from tests.controllers.scene import Scene

if TYPE_CHECKING:
    from fakekube_controllers.podautoscaler.behavior import ScaleHistory

NOW, STAMP = 1000.0, "1970-01-01T00:16:40Z"
KEY = ObjectKey("x", "web")


def autoscaler(*metrics: str, status: Tree | None = None, least: int | None = 1, most: int = 10, target: Tree | None = None,
               behavior: Tree | None = None) -> Tree:
    spec: Tree = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", **(target or {})}, "maxReplicas": most,
        "metrics": [{"type": "External" if name.startswith("out") else "Resource", "name": name} for name in metrics or ("m",)]}
    spec |= ({"minReplicas": least} if least is not None else {}) | ({"behavior": behavior} if behavior else {})
    return {"metadata": {"name": "web", "namespace": "x", "generation": 4}, "spec": spec, "status": status or {}}


class Target(Scene):
    """A scale of some pods, and metrics that say how many there should be, or fail."""

    def __init__(self, current: int | None = 2, *, selector: str = "app=a", says: Tree | None = None,
                 gates: tuple[str, ...] = ("HPAGeneration",), minor: int = 37) -> None:
        pod = {"metadata": {"name": "p", "namespace": "x", "labels": {"app": "a"}}}
        super().__init__([(PODS, pod)], gates=gates, now=NOW)
        self.current, self.selector, self.says, self.minor = current, selector, says or {"m": 2}, minor
        self.error: APIError | None = None
        self.ctx, self.events, self.specs, self.own_writes = self, self, self, self
        self.pods, self.noted = self.lister(PODS), list[Any]()
        self.selectors: dict[ObjectKey, labels.Selector] = {KEY: labels.NOTHING}
        self.histories: dict[ObjectKey, ScaleHistory] = {}

    async def for_kind(self, kind: Any) -> Any:
        if kind.kind != "Deployment":
            raise KeyError(kind)
        assert tuple(kind) == ("apps", "", "Deployment")
        return DEPLOYMENTS

    async def get(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool = False,
            subresource: str = "") -> Tree:
        assert (resource, name, namespace, subresource) == (DEPLOYMENTS, "d", "x", "scale")
        if self.error is not None:
            raise self.error
        spec = {} if self.current is None else {"replicas": self.current}
        return {"metadata": {"name": "d", "namespace": "x"}, "spec": spec, "status": {"replicas": 5, "selector": self.selector}}

    async def compute(self, spec: Tree, scaled: Any) -> MetricResult:
        self.noted.append((scaled.wanted, scaled.present, str(scaled.selector), tuple(scaled.tolerances)))
        says = self.says[spec["name"]]
        if isinstance(says, str):
            raise MetricFailed(f"Failed{says}", f"why {says}", f"text {says}")
        return MetricResult(says, f"metric {spec['name']}", {"type": spec["name"]})

    def note(self, key: Any, resource: Any, _: Tree) -> None:
        assert (key, resource.plural) == (KEY, "horizontalpodautoscalers")

    async def sync(self, found: Tree) -> str:
        """Do it; the error's text."""
        try:
            await Sync(cast("Any", self), found).run()
        except SyncFailed as error:
            return str(error)
        return ""

    def told(self) -> list[tuple[Any, ...]]:
        """Scales, the status, and Events."""
        return [
            ("scale", each[3]["spec"]["replicas"]) if each[1].endswith("/scale") else
            ("status", each[3]["status"]) if each[0] == "update" else each[2:] for each in self.done]


def condition(kind: str, status: str, reason: str, message: str) -> Tree:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": STAMP}


READY = condition("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
GOT = condition("AbleToScale", "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale")
WITHIN = condition("ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range")


def valid(name: str = "m") -> Tree:
    text = f"the HPA was able to successfully calculate a replica count from metric {name}"
    return condition("ScalingActive", "True", "ValidMetricFound", text)


def rescaled(count: int) -> Tree:
    return condition("AbleToScale", "True", "SucceededRescale",
        f"the HPA controller was able to update the target scale to {count}")


def status(current: int, desired: int, *conditions: Tree, metrics: tuple[str, ...] | None = ("m",), last: bool = False,
           observed: bool = True) -> tuple[str, Tree]:
    return "status", {
        **({"observedGeneration": 4} if observed else {}), **({"lastScaleTime": STAMP} if last else {}),
        **({"currentReplicas": current} if current else {}), "desiredReplicas": desired,
        "currentMetrics": [{"type": name} for name in metrics] if metrics else None, "conditions": list(conditions)}


def event(kind: str, reason: str, message: str) -> tuple[str, str, str]:
    return kind, reason, message


DISABLED = condition(
    "ScalingActive", "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")


@pytest.mark.parametrize(("found", "world", "told"), [
    (autoscaler(), Target(), [status(2, 2, READY, valid(), WITHIN)]),
    (autoscaler(), Target(gates=()), [status(2, 2, READY, valid(), WITHIN, observed=False)]),
    (autoscaler(), Target(says={"m": 3}), [("scale", 3), event("Normal", "SuccessfulRescale",
        "New size: 3; reason: metric m above target"),
                                           status(2, 3, rescaled(3), valid(), WITHIN, last=True)]),
    (autoscaler(behavior={"scaleUp": {"policies": []},
        "scaleDown": {"policies": [{"type": "Pods", "value": 9, "periodSeconds": 1}],
                                                                        "selectPolicy": "Max", "stabilizationWindowSeconds": 0}}),
     Target(says={"m": 1}), [("scale", 1), event("Normal", "SuccessfulRescale", "New size: 1; reason: All metrics below target"),
                             status(2, 1, rescaled(1), valid(), WITHIN, last=True)]),
    # the highest of several
    (autoscaler("m", "n", "o"), Target(says={"m": 1, "n": 2, "o": 2}),
        [status(2, 2, READY, valid("n"), WITHIN, metrics=("m", "n", "o"))]),
    (autoscaler("m", "n"), Target(says={"m": 0, "n": 0}), [status(
        2, 2, {**READY, "reason": "ScaleDownStabilized",
            "message": "recent recommendations were higher than current one, applying "
               "the highest recent recommendation"}, valid("n"), WITHIN, metrics=("m", "n"))]),
    # whatever the metrics say
    (autoscaler(most=1), Target(), [
        ("scale", 1), event("Normal", "SuccessfulRescale",
            "New size: 1; reason: Current number of replicas above Spec.MaxReplicas"),
        status(2, 1, rescaled(1), metrics=None, last=True)]),
    (autoscaler(least=3), Target(), [
        ("scale", 3), event("Normal", "SuccessfulRescale",
            "New size: 3; reason: Current number of replicas below Spec.MinReplicas"),
        status(2, 3, rescaled(3), metrics=None, last=True)]),
    (autoscaler(least=None), Target(0), [status(0, 0, GOT, DISABLED, metrics=None)]),
    (autoscaler(), Target(None), [status(0, 0, GOT, DISABLED, metrics=None)]),
])
async def test_what_an_autoscaler_does(found: Tree, world: Target, told: list[Any]) -> None:
    """Given a scale and what metrics say / then it is scaled, told and written."""
    assert (await world.sync(found), world.told()) == ("", told)


INVALID = "invalid metrics ({} invalid out of {}), first error is: text A"


def failed(reason: str, why: str) -> Tree:
    return condition("ScalingActive", "False", reason, f"the HPA was unable to compute the replica count: {why}")


def wrapped(text: str) -> str:
    return f"failed to compute desired number of replicas based on listed metrics for Deployment/x/d: {text}"


@pytest.mark.parametrize(("found", "says", "error", "told"), [
    (autoscaler(), {"m": "A"}, wrapped(INVALID.format(1, 1)), [
        event("Warning", "FailedA", "why A"), status(2, 0, GOT, failed("FailedA", "why A"), metrics=("",)),
        event("Warning", "FailedComputeMetricsReplicas", INVALID.format(1, 1))]),
    (autoscaler("m", "n"), {"m": "A", "n": "B"}, wrapped(INVALID.format(2, 2)), [
        event("Warning", "FailedA", "why A"), event("Warning", "FailedB", "why B"),
        status(2, 0, GOT, failed("FailedA", "why A"), metrics=("", "")),
        event("Warning", "FailedComputeMetricsReplicas", INVALID.format(2, 2))]),
    # others are trusted unless there should be fewer
    (autoscaler("m", "n"), {"m": "A", "n": 1}, wrapped(INVALID.format(1, 2)), [
        event("Warning", "FailedA", "why A"), status(2, 0, GOT, failed("FailedA", "why A"), metrics=("", "n")),
        event("Warning", "FailedComputeMetricsReplicas", INVALID.format(1, 2))]),
    (autoscaler("m", "n"), {"m": "A", "n": 2}, INVALID.format(1, 2), [
        event("Warning", "FailedA", "why A"), status(2, 2, READY, valid("n"), WITHIN, metrics=("", "n"))])])
async def test_metrics_that_fail(found: Tree, says: Tree, error: str, told: list[Any]) -> None:
    """Given metrics of which some fail / then that is told, and nothing is scaled down."""
    world = Target(says=says)
    assert (await world.sync(found), world.told()) == (error, told)


@pytest.mark.parametrize(("target", "error", "why", "text"), [
    ({"kind": "Nope"}, None, 'no matches for kind "Nope" in group "apps"',
     'unable to determine resource for scale target reference: no matches for kind "Nope" in group "apps"'),
    ({"apiVersion": "a/b/c"}, None, "unexpected GroupVersion string: a/b/c",
     "invalid API version in scale target reference: unexpected GroupVersion string: a/b/c"),
    ({}, APIError(404, "NotFound", "gone"), "gone", "failed to query scale subresource for Deployment/x/d: gone"),
    ({}, APIError(404, "", "gone"), "the server could not find the requested resource",
     "failed to query scale subresource for Deployment/x/d: the server could not find the requested resource")])
async def test_scales_that_cannot_be_read(target: Tree, error: APIError | None, why: str, text: str) -> None:
    """Given a target without a scale / then that is told and written."""
    world = Target()
    world.error = error
    found = autoscaler(target=target)
    unable = condition("AbleToScale", "False", "FailedGetScale",
        f"the HPA controller was unable to get the target's current scale: {why}")
    assert await world.sync(found) == text
    assert world.told() == [event("Warning", "FailedGetScale", why), ("status", {"conditions": [unable]})]


async def test_a_scale_that_cannot_be_written() -> None:
    """Given a scale that cannot be written / then that is told and written."""
    world = Target(says={"m": 3})
    world.refuse["update", "deployments"] = APIError(403, "Forbidden", "no")
    assert await world.sync(autoscaler(status={"desiredReplicas": 7, "lastScaleTime": STAMP})) == (
        "failed to rescale Deployment/x/d: no")
    unable = condition("AbleToScale", "False", "FailedUpdateScale",
        "the HPA controller was unable to update the target scale: no")
    assert world.told() == [
        event("Warning", "FailedRescale", "New size: 3; reason: metric m above target; error: no"),
        status(2, 7, unable, valid(), WITHIN, last=True)]


SHARED = "pods by selector app=a are controlled by "


@pytest.mark.parametrize(("selector", "minor", "others", "reason", "shown", "message"), [
    ("", 37, (), "SelectorRequired", "InvalidSelector", "selector is required"),
    ("a b", 37, (), "InvalidSelector", "InvalidSelector",
        "couldn't convert selector into a corresponding internal selector object: "),
    ("app=a", 37, ("a", "b"), "AmbiguousSelector", "AmbiguousSelector", f"{SHARED}more than one HPA (e.g. [x/a x/b])"),
    ("app=a", 36, ("a", "b"), "AmbiguousSelector", "AmbiguousSelector", f"{SHARED}multiple HPAs: [x/a x/b x/web]")])
async def test_selectors_that_are_of_no_use(
    selector: str, minor: int, others: tuple[str, ...], reason: str, shown: str, message: str,
) -> None:
    """Given a scale without a selector, with none that can be read, or with pods of others / then
    that is told.
    """
    world = Target(selector=selector, minor=minor)
    for name in others:
        world.selectors[ObjectKey("x", name)] = labels.parse("app=a")
        world.selectors[ObjectKey("y", name)] = labels.parse("app=a")
    await world.sync(autoscaler())
    [told, (_, written), _] = world.told()
    assert (told[:2], told[2][:len(message)]) == (("Warning", reason), message)
    [active] = [each for each in written["conditions"] if each["type"] == "ScalingActive"]
    assert (active["status"], active["reason"]) == ("False", shown)
    if reason == "SelectorRequired":
        assert active["message"] == "the HPA target's scale is missing a selector"


async def test_an_autoscaler_that_goes_meanwhile() -> None:
    """Given an autoscaler that is deleted while it is reconciled / then that is the error."""
    world = Target()
    world.selectors.clear()
    assert await world.sync(autoscaler()) == wrapped("HPA x/web was deleted during reconciliation")


@pytest.mark.parametrize(("gates", "behavior", "tolerances"), [
    ((), {"scaleUp": {"tolerance": "50m"}}, (0.1, 0.1)), (("HPAConfigurableTolerance",), None, (0.1, 0.1)),
    (("HPAConfigurableTolerance",), {"scaleUp": {"tolerance": "50m"}}, (0.1, 0.05)),
    (("HPAConfigurableTolerance",), {"scaleUp": {}, "scaleDown": {"tolerance": "250m"}}, (0.25, 0.1))])
async def test_what_metrics_are_asked_with(gates: tuple[str, ...], behavior: Tree | None,
        tolerances: tuple[float, float]) -> None:
    """Given an autoscaler / then its metrics are asked for the pods of the scale, with its
    tolerances where the gate is on.
    """
    world = Target(gates=gates)
    up = {"stabilizationWindowSeconds": 0, "policies": []}
    given = behavior and {"scaleUp": {**up, **behavior.get("scaleUp", {})}, "scaleDown": {**up, **behavior.get("scaleDown", {})}}
    await world.sync(autoscaler(behavior=given))
    assert world.noted == [(2, 5, "app=a", tolerances)]


ZEROED = condition("ScaledToZero", "True", "ScaledToZero", "the HPA controller scaled the workload to zero")
NOT_ZEROED = condition("ScaledToZero", "False", "NotScaledToZero", "the HPA controller did not scale the workload to zero")


@pytest.mark.parametrize(("current", "least", "metric", "says", "known", "gates", "minor", "scale", "kept"), [
    (0, 0, "out", 3, ZEROED, True, 37, 3, NOT_ZEROED), (0, 0, "out", 3, None, True, 37, None, None),
    (0, 0, "out", 3, NOT_ZEROED, True, 37, None, NOT_ZEROED), (0, 0, "m", 3, ZEROED, True, 37, None, ZEROED),
    (0, 2, "m", 3, ZEROED, True, 37, 3, NOT_ZEROED), (0, 2, "m", 0, ZEROED, True, 37, 2, NOT_ZEROED),
    (0, 0, "out", 3, ZEROED, False, 37, None, None), (0, 0, "out", 3, None, False, 35, 3, None),
    (0, 1, "out", 3, None, False, 35, None, None), (2, 0, "out", 5, ZEROED, False, 37, 4, None),
    (2, 1, "m", 3, None, True, 37, 3, NOT_ZEROED)])
async def test_scales_of_none(
    current: int, least: int, metric: str, says: int, known: Tree | None, gates: bool, minor: int, scale: int | None,
        kept: Tree | None,
) -> None:
    """Given a scale of none / then an autoscaler that left it so, or before 1.36 one without a
    minimum, scales it up again; and says whether it was it.
    """
    world = Target(current, says={metric: says}, gates=("HPAScaleToZero",) if gates else (), minor=minor)
    await world.sync(autoscaler(metric, least=least, status={"conditions": [known]} if known else None))
    assert [each[1] for each in world.told() if each[0] == "scale"] == ([] if scale is None else [scale])
    written = [each[1]["conditions"] for each in world.told() if each[0] == "status"][-1]
    assert [each for each in written if each["type"] == "ScaledToZero"] == ([kept] if kept else [])


async def test_a_status_that_says_nothing_new() -> None:
    """Given a status that is right / then it is not written; one that cannot be written is told."""
    right = status(2, 2, READY, valid(), WITHIN)[1]
    world = Target()
    assert (await world.sync(autoscaler(status=right)), world.done) == ("", [])
    world.refuse["update", "horizontalpodautoscalers"] = APIError(409, "Conflict", "no")
    with pytest.raises(APIError, match="no"):
        await Sync(cast("Any", world), autoscaler()).run()
    assert world.told() == [event("Warning", "FailedUpdateStatus", "no")]
    assert SimpleNamespace(**{str(key): True for key in world.histories}) == SimpleNamespace(**{"x/web": True})

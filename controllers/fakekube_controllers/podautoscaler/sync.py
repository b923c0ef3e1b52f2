"""One reconcile of one autoscaler: read the scale, ask the metrics, decide, scale, and say so in
the status.

Upstream: pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler,
computeReplicasForMetrics).
"""

from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import orjson

from fakekube.apimachinery import conditions, labels, meta, quantity
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import HORIZONTAL_POD_AUTOSCALERS, Resource
from fakekube.client.retry import update_with_retry
from fakekube_controllers.podautoscaler.behavior import ReasonAndMessage, ScaleHistory
from fakekube_controllers.podautoscaler.replicas import Tolerances
from fakekube_controllers.podautoscaler.shared import Shared
from fakekube_controllers.podautoscaler.specs import MetricFailed, MetricResult, ScaleState

TOLERANCE = 0.1  # --horizontal-pod-autoscaler-tolerance
TRIES = 5  # of an update of the scale that meets another one
# the minor number of the release that tells a scale of none by an autoscaler from one by a user
ZERO_BY_CONDITION_SINCE = 36
ONE_OWNER_TEXT_SINCE = 37
ABLE, ACTIVE, LIMITED, AT_ZERO = "AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"
BELOW_MINIMUM = "Current number of replicas below Spec.MinReplicas"


class SyncFailed(Exception):
    """A reconcile that came to an error, which the status tells already."""


class Sync:
    """One reconcile."""

    def __init__(self, shared: Shared, autoscaler: Mapping[str, Any]) -> None:
        self._shared, self._now = shared, shared.clock.time()
        self._before: Tree = autoscaler.get("status") or {}
        self._hpa: Tree = orjson.loads(orjson.dumps(autoscaler))
        self._spec: Tree = self._hpa["spec"]
        self._status: Tree = self._hpa.setdefault("status", {})
        self._conditions: list[Tree] = self._status.get("conditions") or []
        self._status["conditions"] = self._conditions
        target = self._spec["scaleTargetRef"]
        self._reference = f"{target['kind']}/{meta.namespace_of(self._hpa)}/{target['name']}"
        minimum = self._spec.get("minReplicas")
        self._least: int = 1 if minimum is None else minimum

    async def run(self) -> None:
        """Do all of it. Raises SyncFailed, APIError."""
        resource, scale = await self._scale()
        current: int = scale["spec"].get("replicas", 0)
        key = meta.key_of(self._hpa)
        self._history = self._shared.histories.setdefault(key, ScaleHistory(current, self._now))
        self._condition(ABLE, "True", ("SucceededGetScale", "the HPA controller was able to get the target's current scale"))
        at_zero = self._left_at_zero()
        forced = self._forced(current, at_zero=at_zero)
        statuses: list[Tree] | None = None
        failure: str | None = None
        if forced is None:
            desired, why, statuses, failure = await self._measured(scale, current, at_zero=at_zero)
        else:
            desired, why = forced
        if desired != current:
            await self._rescale(resource, scale, current, desired, why, statuses)
        self._set_status(current, desired, statuses, rescaled=desired != current)
        await self._write()
        if failure is not None:
            raise SyncFailed(failure)

    # the scale

    async def _scale(self) -> tuple[Resource, Tree]:
        target = self._spec["scaleTargetRef"]
        try:
            group, _ = split_api_version(target.get("apiVersion", ""))
            resource = await self._shared.client.for_kind(GroupVersionKind(group, "", target["kind"]))
        except ValueError as error:
            await self._fail_for_scale(str(error), f"invalid API version in scale target reference: {error}")
        except KeyError:
            text = f'no matches for kind "{target["kind"]}" in group "{group}"'
            await self._fail_for_scale(text, f"unable to determine resource for scale target reference: {text}")
        try:
            return resource, await self._read_scale(resource)
        except APIError as error:
            text = "the server could not find the requested resource" if error.code == 404 and not error.reason else str(error)
            await self._fail_for_scale(text, f"failed to query scale subresource for {self._reference}: {text}")

    async def _read_scale(self, resource: Resource) -> Tree:
        name = self._spec["scaleTargetRef"]["name"]
        return await self._shared.client.get(resource, name, meta.namespace_of(self._hpa), subresource="scale")

    async def _fail_for_scale(self, why: str, text: str) -> NoReturn:
        self._event("Warning", "FailedGetScale", why)
        message = f"the HPA controller was unable to get the target's current scale: {why}"
        self._condition(ABLE, "False", ("FailedGetScale", message))
        await self._write()
        raise SyncFailed(text)

    async def _rescale(
        self, resource: Resource, scale: Tree, current: int, desired: int, why: str, statuses: list[Tree] | None,
    ) -> None:
        try:
            await self._write_scale(resource, scale, desired)
        except APIError as error:
            self._event("Warning", "FailedRescale", f"New size: {desired}; reason: {why}; error: {error}")
            message = f"the HPA controller was unable to update the target scale: {error}"
            self._condition(ABLE, "False", ("FailedUpdateScale", message))
            self._set_status(current, self._status.get("desiredReplicas", 0), statuses, rescaled=False)
            await self._write()
            raise SyncFailed(f"failed to rescale {self._reference}: {error}") from error
        message = f"the HPA controller was able to update the target scale to {desired}"
        self._condition(ABLE, "True", ("SucceededRescale", message))
        self._event("Normal", "SuccessfulRescale", f"New size: {desired}; reason: {why}")
        if self._spec.get("behavior"):
            self._history.note_scaled(self._spec["behavior"], current, desired, self._now)
        self._note_zero(desired)

    async def _write_scale(self, resource: Resource, scale: Tree, desired: int) -> None:
        await update_with_retry(
            self._shared.client, resource, scale, lambda one: {**one, "spec": {**one["spec"], "replicas": desired}},
            subresource="scale", tries=TRIES)

    # a scale of none, and scales out of bounds

    def _left_at_zero(self) -> bool:
        """Whether it was an autoscaler that left nothing."""
        return self._shared.ctx.enabled("HPAScaleToZero") and conditions.is_true(self._conditions, AT_ZERO)

    def _forced(self, current: int, *, at_zero: bool) -> tuple[int, str] | None:
        """What is to be whatever the metrics say, and why; None when they decide."""
        if current == 0 and not self._scales_from_zero(at_zero=at_zero):
            message = "scaling is disabled since the replica count of the target is zero"
            self._condition(ACTIVE, "False", ("ScalingDisabled", message))
            if not self._shared.ctx.enabled("HPAScaleToZero"):
                conditions.remove(self._conditions, AT_ZERO)
            return 0, ""
        if current > self._spec["maxReplicas"]:
            return self._spec["maxReplicas"], "Current number of replicas above Spec.MaxReplicas"
        if 0 < current < self._least:
            return self._least, BELOW_MINIMUM
        return None

    def _scales_from_zero(self, *, at_zero: bool) -> bool:
        if self._shared.minor < ZERO_BY_CONDITION_SINCE:
            return self._least == 0
        return at_zero and (self._least != 0 or self._has_outside_metrics())

    def _has_outside_metrics(self) -> bool:
        """Whether any metric does not come from the pods themselves."""
        return any(spec["type"] in ("Object", "External") for spec in self._spec.get("metrics") or ())

    def _note_zero(self, desired: int) -> None:
        if self._shared.minor < ZERO_BY_CONDITION_SINCE:
            return
        if not self._shared.ctx.enabled("HPAScaleToZero"):
            conditions.remove(self._conditions, AT_ZERO)
        elif desired == 0 and self._least == 0 and self._has_outside_metrics():
            self._condition(AT_ZERO, "True", (AT_ZERO, "the HPA controller scaled the workload to zero"))
        else:
            message = "the HPA controller did not scale the workload to zero"
            self._condition(AT_ZERO, "False", ("NotScaledToZero", message))

    # the metrics

    async def _measured(
        self, scale: Tree, current: int, *, at_zero: bool,
    ) -> tuple[int, str, list[Tree], str | None]:
        """How many the metrics ask for, within all rules; why; what they say; and what is wrong
        with some of them.
        """
        statuses: list[Tree] = []
        try:
            best, failure = await self._compute(scale, statuses)
        except SyncFailed as error:
            self._set_status(current, self._status.get("desiredReplicas", 0), statuses, rescaled=False)
            await self._write()
            self._event("Warning", "FailedComputeMetricsReplicas", str(error))
            raise SyncFailed(
                f"failed to compute desired number of replicas based on listed metrics for {self._reference}: {error}"
            ) from error
        desired, why = best.replicas, ""
        if desired > current:
            why = f"{best.name} above target"
        elif desired < current:
            why = "All metrics below target"
        desired = self._normalized(current, desired)
        if current == 0 and self._least != 0 and at_zero and desired < self._least:
            desired = self._least
        return desired, why, statuses, failure

    async def _compute(self, scale: Tree, statuses: list[Tree]) -> tuple[MetricResult, str | None]:
        """What the metric says that asks for most, and the error of others.

        Raises SyncFailed when none can be trusted.
        """
        wanted = scale["spec"].get("replicas", 0)
        scaled = ScaleState(
            self._hpa, self._selector((scale.get("status") or {}).get("selector", "")), wanted,
            (scale.get("status") or {}).get("replicas", 0), self._tolerances())
        best, first = MetricResult(0, "", {}), None
        failures, specs = 0, self._spec.get("metrics") or []
        for spec in specs:
            try:
                result = await self._shared.specs.compute(spec, scaled)
            except MetricFailed as error:
                self._event("Warning", error.reason, error.why)
                first, failures = first or error, failures + 1
                statuses.append({"type": ""})
                continue
            statuses.append(result.status)
            if best.replicas == 0 or result.replicas > best.replicas:
                best = result
        text = None if first is None else (
            f"invalid metrics ({failures} invalid out of {len(specs)}), first error is: {first}")
        if failures >= len(specs) or (failures and best.replicas < wanted):
            if first is not None:
                message = f"the HPA was unable to compute the replica count: {first.why}"
                self._condition(ACTIVE, "False", (first.reason, message))
            raise SyncFailed(text or "")
        message = f"the HPA was able to successfully calculate a replica count from {best.name}"
        self._condition(ACTIVE, "True", ("ValidMetricFound", message))
        return best, text

    def _selector(self, text: str) -> labels.Selector:
        """The selector of the pods, if no other autoscaler has any of them. Raises SyncFailed."""
        if not text:
            self._bad_selector("SelectorRequired", "selector is required", "the HPA target's scale is missing a selector")
        try:
            selector = labels.parse(text)
        except labels.SelectorError as error:
            why = f"couldn't convert selector into a corresponding internal selector object: {error}"
            self._bad_selector("InvalidSelector", why, why)
        shared, key = self._shared, meta.key_of(self._hpa)
        if key not in shared.selectors:
            raise SyncFailed(f"HPA {key.namespace}/{key.name} was deleted during reconciliation")
        shared.selectors[key] = selector
        pods = shared.pods.list(key.namespace, selector)
        claiming = sorted(
            other for other, claimed in shared.selectors.items()
            if other.namespace == key.namespace and any(claimed.matches(meta.labels_of(pod)) for pod in pods))
        if len(claiming) > 1:
            shown = [f"{other.namespace}/{other.name}" for other in claiming]
            if shared.minor < ONE_OWNER_TEXT_SINCE:
                why = f"pods by selector {text} are controlled by multiple HPAs: [{' '.join(shown)}]"
            else:  # two are enough to tell
                why = f"pods by selector {text} are controlled by more than one HPA (e.g. [{' '.join(shown[:2])}])"
            self._bad_selector("AmbiguousSelector", why, why)
        return selector

    def _bad_selector(self, reason: str, why: str, message: str) -> NoReturn:
        self._event("Warning", reason, why)
        self._condition(ACTIVE, "False", ("AmbiguousSelector" if reason == "AmbiguousSelector" else "InvalidSelector", message))
        raise SyncFailed(why)

    def _tolerances(self) -> Tolerances:
        behavior = self._spec.get("behavior") or {} if self._shared.ctx.enabled("HPAConfigurableTolerance") else {}
        down, up = (
            quantity.quotient(quantity.parse(text).nano, quantity.NANO)
            if (text := (behavior.get(name) or {}).get("tolerance")) else TOLERANCE
            for name in ("scaleDown", "scaleUp"))
        return Tolerances(down, up)

    def _normalized(self, current: int, desired: int) -> int:
        most, behavior = self._spec["maxReplicas"], self._spec.get("behavior")
        if behavior:
            result = self._history.normalize_with_behavior(behavior, current, desired, self._least, most, self._now)
        else:
            result = self._history.normalize(current, desired, self._least, most, self._now)
        self._condition(ABLE, "True", result.able)
        self._condition(LIMITED, "True" if result.is_limited else "False", result.limited)
        return result.replicas

    # what is told

    def _event(self, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        self._shared.events.event(self._hpa, kind, reason, message)

    def _condition(self, kind: str, status: Literal["True", "False"], words: ReasonAndMessage) -> None:
        conditions.set_condition(self._conditions, kind, status, now=format_time(self._now), reason=words[0], message=words[1])

    def _set_status(self, current: int, desired: int, statuses: list[Tree] | None, *, rescaled: bool) -> None:
        last = format_time(self._now) if rescaled else self._status.get("lastScaleTime")
        observes = self._shared.ctx.enabled("HPAGeneration")
        self._status = self._hpa["status"] = {
            **({"observedGeneration": meta.generation_of(self._hpa)} if observes else {}),
            **({"lastScaleTime": last} if last else {}),
            **({"currentReplicas": current} if current else {}),
            "desiredReplicas": desired, "currentMetrics": statuses or None, "conditions": self._conditions}

    async def _write(self) -> None:
        """Write the status if it has changed. Raises APIError."""
        if _told(self._before) == _told(self._status):
            return
        try:
            written = await self._shared.client.update_status(HORIZONTAL_POD_AUTOSCALERS, self._hpa)
        except APIError as error:
            self._event("Warning", "FailedUpdateStatus", str(error))
            raise
        self._shared.own_writes.note(meta.key_of(self._hpa), HORIZONTAL_POD_AUTOSCALERS, written)


def _told(status: Mapping[str, Any]) -> Tree:
    """A status without what is empty, which Go cannot tell from what is not there."""
    return {key: value for key, value in status.items() if value}

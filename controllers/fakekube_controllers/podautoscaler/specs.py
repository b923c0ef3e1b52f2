"""One metric of ``spec.metrics``: how many pods it asks for, what its status says, and how it
fails.

Upstream: pkg/controller/podautoscaler/horizontal.go (computeReplicasForMetric and
computeStatusFor...).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fakekube.apimachinery import labels, meta, quantity
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import Tree
from fakekube.cache.lister import Lister
from fakekube_controllers.podautoscaler import replicas
from fakekube_controllers.podautoscaler.replicas import Proposal, Tolerances
from fakekube_controllers.podautoscaler.sources import MetricError, Sources

# the minor number of the release that names the object before what is wrong with its metric
OBJECT_TEXT_SINCE = 37
MILLI = quantity.NANO // 1000


class MetricFailed(Exception):
    """A metric that says nothing.

    ``reason`` and ``why`` are the condition's and the Event's; the text is the whole error.
    """

    def __init__(self, reason: str, why: str, text: str) -> None:
        self.reason, self.why = reason, why
        super().__init__(text)


class ScaleState(NamedTuple):
    """What is scaled: whose pods, how many there should be, and how many there are."""

    autoscaler: Tree
    selector: Selector
    wanted: int
    present: int
    tolerances: Tolerances


class MetricResult(NamedTuple):
    """What one metric says: replicas, what Events call it, its entry in ``status.currentMetrics``.
    """

    replicas: int
    name: str
    status: Tree


class Specs:
    """Goes through the kinds of metrics. ``now`` gives Unix seconds."""

    def __init__(
        self, sources: Sources, pods: Lister, now: Callable[[], float], *, pod_level: bool, minor: int,
    ) -> None:
        self._sources, self._pods, self._now = sources, pods, now
        self._pod_level, self._minor = pod_level, minor
        self._kinds = {
            "Resource": self._resource, "ContainerResource": self._container, "Pods": self._of_pods, "Object": self._object,
            "External": self._external}

    async def compute(self, spec: Tree, scaled: ScaleState) -> MetricResult:
        """What a metric says now. Raises MetricFailed."""
        of_kind = self._kinds.get(spec["type"])
        if of_kind is None:
            text = f'unknown metric source type "{spec["type"]}"'
            raise MetricFailed("InvalidMetricSourceType", text, text)
        return await of_kind(spec, scaled)

    async def _resource(self, spec: Tree, scaled: ScaleState) -> MetricResult:
        source = spec["resource"]
        name = source["name"]
        try:
            result, current = await self._usage(source, "", scaled)
        except MetricError as error:
            text = f"failed to get {name} resource metric value: {error}"
            raise MetricFailed("FailedGetResourceMetric", str(error), text) from error
        what = f"{name} resource" + (" utilization (percentage of request)" if "averageUtilization" in current else "")
        return MetricResult(result.replicas, what, {"type": "Resource", "resource": {"name": name, "current": current}})

    async def _container(self, spec: Tree, scaled: ScaleState) -> MetricResult:
        source = spec["containerResource"]
        name, container = source["name"], source["container"]
        try:
            result, current = await self._usage(source, container, scaled)
        except MetricError as error:
            text = f"failed to get {container} container metric value: {error}"
            raise MetricFailed("FailedGetContainerResourceMetric", str(error), text) from error
        by_share = "averageUtilization" in current
        what = f"{name} container resource utilization (percentage of request)" if by_share else f"{name} resource"
        status = {"name": name, "container": container, "current": current}
        return MetricResult(result.replicas, what, {"type": "ContainerResource", "containerResource": status})

    async def _usage(self, source: Tree, container: str, scaled: ScaleState) -> tuple[Proposal, Tree]:
        """What pods use of a resource, and how it stands in the status. Raises MetricError."""
        name, target, namespace = source["name"], source["target"], meta.namespace_of(scaled.autoscaler)
        value, share = target.get("averageValue"), target.get("averageUtilization")
        if value is None and share is None:
            raise MetricError(
                "invalid resource metric source: neither an average utilization target nor an average value (usage) target "
                "was set")
        try:
            try:
                samples = await self._sources.resource(name, namespace, scaled.selector, container)
            except MetricError as error:
                raise MetricError(f"unable to get metrics for resource {name}: {error}") from error
            pods = self._pods.list(namespace, scaled.selector)
            if value is not None:
                target_value = quantity.parse(value).milli_value
                result = replicas.by_value(pods, samples, target_value, scaled.wanted, scaled.tolerances, name, self._now())
                return result, {"averageValue": _amount(result.usage, name)}
            result = replicas.by_utilization(
                pods, samples, lambda: replicas.requests_of(pods, container, name, pod_level=self._pod_level),
                int(share), scaled.wanted, scaled.tolerances, name, self._now())
            return result, {"averageUtilization": result.utilization, "averageValue": _amount(result.usage, name)}
        except MetricError as error:
            raise MetricError(f"failed to get {name} {'usage' if value is not None else 'utilization'}: {error}") from error

    async def _of_pods(self, spec: Tree, scaled: ScaleState) -> MetricResult:
        metric, namespace = spec["pods"]["metric"], meta.namespace_of(scaled.autoscaler)
        name, target = metric["name"], quantity.parse(spec["pods"]["target"]["averageValue"]).milli_value
        try:
            asked = _selector(metric)
            try:
                samples = await self._sources.pods(name, namespace, scaled.selector, asked)
            except MetricError as error:
                raise MetricError(f"unable to get metric {name}: {error}") from error
            pods = self._pods.list(namespace, scaled.selector)
            result = replicas.by_value(pods, samples, target, scaled.wanted, scaled.tolerances, "", self._now())
        except MetricError as error:
            raise MetricFailed("FailedGetPodsMetric", str(error), f"failed to get pods metric value: {error}") from error
        status = {"metric": metric, "current": {"averageValue": _amount(result.usage)}}
        return MetricResult(result.replicas, f"pods metric {name}", {"type": "Pods", "pods": status})

    async def _object(self, spec: Tree, scaled: ScaleState) -> MetricResult:
        source = spec["object"]
        metric, target, described = source["metric"], source["target"], source["describedObject"]
        name, by_value = metric["name"], target["type"] == "Value"
        wrapped = "failed to get object metric value: {}"
        if not by_value and "averageValue" not in target:
            text = "invalid object metric source: neither a value target nor an average value target was set"
            raise MetricFailed("FailedGetObjectMetric", text, wrapped.format(text))
        try:
            total = await self._of_object(metric, described, meta.namespace_of(scaled.autoscaler))
            result, current = self._shared(total, target, scaled, by_value=by_value)
        except MetricError as error:
            text = str(error) if by_value else f"failed to get {name} object metric: {error}"
            raise MetricFailed("FailedGetObjectMetric", str(error), wrapped.format(text)) from error
        what = f"{described['kind']} metric {name}" if by_value else _external_name(metric)
        status = {"metric": metric, "current": current, "describedObject": described}
        return MetricResult(result.replicas, what, {"type": "Object", "object": status})

    async def _of_object(self, metric: Tree, described: Tree, namespace: str) -> int:
        name, what, asked = metric["name"], f"{described['kind']} {namespace}/{described['name']}", _selector(metric)
        try:
            return await self._sources.object(name, namespace, described, asked)
        except MetricError as error:
            if self._minor < OBJECT_TEXT_SINCE:
                raise MetricError(f"unable to get metric {name}: {error} on {what}") from error
            raise MetricError(f"unable to get metric {name} on {what}: {error}") from error

    async def _external(self, spec: Tree, scaled: ScaleState) -> MetricResult:
        metric, target = spec["external"]["metric"], spec["external"]["target"]
        name, by_value = metric["name"], "averageValue" not in target
        wrapped = f"failed to get {name} external metric value: {{}}"
        if by_value and "value" not in target:
            text = "invalid external metric source: neither a value target nor an average value target was set"
            raise MetricFailed("FailedGetExternalMetric", text, wrapped.format(text))
        try:
            asked = _selector(metric)
            try:
                total = sum(await self._sources.external(scaled.autoscaler, name, asked))
            except MetricError as error:
                where = f"{meta.namespace_of(scaled.autoscaler)}/{name}/{labels.go_text(metric.get('selector'))}"
                raise MetricError(f"unable to get external metric {where}: {error}") from error
            result, current = self._shared(total, target, scaled, by_value=by_value)
        except MetricError as error:
            text = f"failed to get external metric {name}: {error}" if by_value else (
                f"failed to get {name} external metric: {error}")
            raise MetricFailed("FailedGetExternalMetric", str(error), wrapped.format(text)) from error
        return MetricResult(result.replicas, _external_name(metric), {"type": "External", "external": {
            "metric": metric, "current": current}})

    def _shared(self, total: int, target: Tree, scaled: ScaleState, *, by_value: bool) -> tuple[Proposal, Tree]:
        """What one number for all pods says, and how it stands in the status. Raises MetricError.
        """
        if by_value:
            pods = self._pods.list(meta.namespace_of(scaled.autoscaler), scaled.selector)
            result = replicas.by_total(
                pods, total, quantity.parse(target["value"]).milli_value, scaled.wanted, scaled.tolerances)
            return result, {"value": _amount(result.usage)}
        result = replicas.by_share(
            total, quantity.parse(target["averageValue"]).milli_value, scaled.present, scaled.tolerances)
        return result, {"averageValue": _amount(result.usage)}


def _selector(metric: Mapping[str, Any]) -> Selector:
    """What is asked of the metric's own labels; without a selector nothing. Raises MetricError."""
    try:
        return labels.from_label_selector(metric.get("selector") or {})
    except labels.SelectorError as error:
        raise MetricError(str(error)) from error


def _external_name(metric: Mapping[str, Any]) -> str:
    return f"external metric {metric['name']}({labels.go_text(metric.get('selector'))})"


def _amount(milli: int, resource: str = "") -> str:
    """Thousandths as a quantity: of memory whole bytes, written as memory is."""
    if resource != "memory" or abs(milli) < 1024 * 1000:
        return quantity.render(milli * MILLI)
    return quantity.render(-(-milli // 1000) * quantity.NANO, quantity.BINARY)

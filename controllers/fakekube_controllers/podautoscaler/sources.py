"""Where metrics come from: the resource metrics API, and for all others a callback or annotations.

No adapter for custom and external metrics runs here. A callback, ``Cluster(on_metric=...)``, plays
it; where there is none, or it says nothing, the annotation ``fakekube.dev/metric.NAME`` of a pod,
of the described object or, for external metrics, of the autoscaler does. If nobody says anything,
the errors are those of a cluster to which no adapter was added.
Upstream: pkg/controller/podautoscaler/metrics/client.go, custom-metrics-apiserver.
"""

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client import users
from fakekube.client.resources import NAMESPACES, POD_METRICS, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt
from fakekube.util import durations
from fakekube_controllers.podautoscaler.queries import MetricQuery

log = logging.getLogger(__name__)

ANNOTATION = "fakekube.dev/metric."
WINDOW_SECONDS = 60.0  # of a metric that does not say over which time it was measured
RESOURCE_API, CUSTOM_API, EXTERNAL_API = (
    f"unable to fetch metrics from {name} metrics API" for name in ("resource", "custom", "external"))


class MetricError(Exception):
    """A metric that cannot be had; the text is upstream's."""


class Sample(NamedTuple):
    """One pod's metric: ``value`` in thousandths, when it was measured (Unix seconds) and over how
    many seconds.
    """

    value: int
    timestamp: float
    window_seconds: float


Samples = dict[str, Sample]


class Sources:
    """Asks for metrics. Every method raises MetricError."""

    def __init__(self, ctx: Context) -> None:
        self._client, self._clock, self._pods = ctx.client, ctx.clock, ctx.lister(PODS)
        self._adapter = ctx.client.with_options(user=users.admin("custom-metrics-adapter"))
        self._callback = ctx.options.get("on_metric")

    async def resource(self, resource: str, namespace: str, selector: Selector, container: str) -> Samples:
        """What each pod uses of a resource, or one container in each; by name of the pod."""
        try:
            items = (await self._client.list(POD_METRICS, namespace, label_selector=str(selector))).items
        except APIError as error:
            raise MetricError(f"{RESOURCE_API}: {_as_clients_say(error)}") from error
        if not items:
            raise MetricError("no metrics returned from resource metrics API")
        found: Samples = {}
        for item in items:
            shown = [each["usage"].get(resource) for each in item["containers"] if container in ("", each["name"])]
            if shown and None not in shown:
                total = sum(quantity.parse(amount).milli_value for amount in shown)
                window = durations.seconds_of(item["window"])
                found[meta.name_of(item)] = Sample(total, parse_time(item["timestamp"]), window)
        return found

    async def pods(self, name: str, namespace: str, selector: Selector, metric_selector: Selector) -> Samples:
        """A custom metric of each pod that has it."""
        found: Samples = {}
        for pod in self._pods.list(namespace, selector):
            values = self._values(MetricQuery("Pods", name, namespace, pod, metric_selector), pod, CUSTOM_API)
            if values:
                found[meta.name_of(pod)] = Sample(values[0], self._clock.time(), WINDOW_SECONDS)
        if not found and self._callback is None:
            raise _not_registered()
        if not found:
            raise MetricError("no metrics returned from custom metrics API")
        return found

    async def object(self, name: str, namespace: str, reference: Tree, metric_selector: Selector) -> int:
        """A custom metric of one object, in thousandths."""
        try:
            obj = await self._described(reference, namespace)
        except MetricError:
            if self._callback is None:  # there is no adapter that would read objects
                raise _not_registered() from None
            raise
        values = self._values(MetricQuery("Object", name, namespace, obj, metric_selector), obj, CUSTOM_API)
        if values:
            return values[0]
        if self._callback is None:
            raise _not_registered()
        what = f"the server could not find the metric {name} for {reference['kind']} {reference['name']}"
        raise MetricError(f"{CUSTOM_API}: {what}")

    async def external(self, autoscaler: Tree, name: str, metric_selector: Selector) -> Sequence[int]:
        """The values of a metric that no object has, in thousandths."""
        query = MetricQuery("External", name, meta.namespace_of(autoscaler), None, metric_selector)
        values = self._values(query, autoscaler, EXTERNAL_API)
        if values:
            return values
        if self._callback is None:
            what = f"the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
            raise MetricError(f"{EXTERNAL_API}: {what}")
        raise MetricError("no metrics returned from external metrics API")

    async def _described(self, reference: Tree, namespace: str) -> Tree:
        kind = reference["kind"]
        try:
            group, _ = split_api_version(reference.get("apiVersion", ""))
            if kind == "Namespace" and not group:
                return await self._adapter.get(NAMESPACES, namespace)
            resource = await self._client.for_kind(GroupVersionKind(group, "", kind))
            return await self._adapter.get(resource, reference["name"], namespace)
        except KeyError:
            raise MetricError(f'{CUSTOM_API}: no matches for kind "{kind}" in group "{group}"') from None
        except (APIError, ValueError) as error:
            raise MetricError(f"{CUSTOM_API}: {error}") from error

    def _values(self, query: MetricQuery, carrier: Tree, api: str) -> list[int]:
        """What the callback or an annotation says, in thousandths; nothing when nobody says
        anything.
        """
        result: Any = None
        if self._callback is not None:
            result, error = attempt(self._callback, query)
            if error is not None:
                log.warning("the callback for metrics raised on %s", query.name, exc_info=error)
                raise MetricError(f"{api}: the callback for metrics raised {type(error).__name__}: {error}")
        if result is None:
            result = meta.annotations_of(carrier).get(ANNOTATION + query.name)
        if result is None:
            return []
        try:
            return [quantity.parse(amount).milli_value for amount in (result if isinstance(result, list | tuple) else [result])]
        except quantity.QuantityError as error:
            raise MetricError(f"{api}: {query.name} is {result!r}: {error}") from error


def _not_registered() -> MetricError:
    return MetricError(f"{CUSTOM_API}: no custom metrics API (custom.metrics.k8s.io) registered")


def _as_clients_say(error: APIError) -> str:
    """Go's clients word what is no Status of the resource's own server."""
    if error.code == 404 and not error.reason:
        return f"the server could not find the requested resource (get {POD_METRICS.group_resource})"
    return f"{error} (get {POD_METRICS.group_resource})" if error.code == 503 else str(error)

"""What each kind of metric asks for, what it is called, what its status says, and how it fails."""

from typing import Any, cast

import pytest

from fakekube.apimachinery import labels
from fakekube.apimachinery.types import Tree
from fakekube_controllers.podautoscaler.replicas import Tolerances
from fakekube_controllers.podautoscaler.sources import MetricError, Sample
from fakekube_controllers.podautoscaler.specs import MetricFailed, MetricResult, ScaleState, Specs

NOW = 10_000.0


class Measured:
    """Metrics and pods, as a test gives them; what was asked is noted."""

    def __init__(self, *values: int, total: int = 0, totals: tuple[int, ...] = (), error: str = "", cpu: str = "100m") -> None:
        self.values, self.total, self.totals, self.error, self.cpu = values, total, totals, error, cpu
        self.asked: list[Any] = []

    def _answer(self, answer: Any, *asked: Any) -> Any:
        self.asked.append(tuple(str(each) if isinstance(each, labels.Selector) else each for each in asked))
        if self.error:
            raise MetricError(self.error)
        return answer

    def _samples(self) -> dict[str, Sample]:
        return {f"p{number}": Sample(value, NOW, 60.0) for number, value in enumerate(self.values)}

    async def resource(self, *asked: Any) -> Any:
        return self._answer(self._samples(), "resource", *asked)

    async def pods(self, *asked: Any) -> Any:
        return self._answer(self._samples(), "pods", *asked)

    async def object(self, *asked: Any) -> Any:
        return self._answer(self.total, "object", *asked)

    async def external(self, autoscaler: Tree, *asked: Any) -> Any:
        assert autoscaler["metadata"]["name"] == "web"
        return self._answer(self.totals, "external", *asked)

    def list(self, namespace: str, selector: labels.Selector) -> Any:
        assert (namespace, str(selector)) == ("x", "app=web")
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "1970-01-01T00:00:01Z"}
        return [
            {
                "metadata": {"name": f"p{number}"},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": self.cpu, "memory": "1Mi"}}}]},
                "status": {"phase": "Running", "startTime": "1970-01-01T00:00:01Z", "conditions": [ready]},
            }
            for number in range(max(2, len(self.values)))
        ]


async def compute(measured: Measured, spec: Tree, *, present: int = 2, minor: int = 37) -> MetricResult:
    scaled = ScaleState(
        {"metadata": {"name": "web", "namespace": "x"}}, labels.parse("app=web"), 2, present, Tolerances(0.1, 0.1)
    )
    specs = Specs(cast("Any", measured), cast("Any", measured), lambda: NOW, pod_level=True, minor=minor)
    return await specs.compute(spec, scaled)


def resource(name: str = "cpu", container: str = "", **target: Any) -> Tree:
    if container:
        return {"type": "ContainerResource", "containerResource": {"name": name, "container": container, "target": target}}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


GET = {"name": "m", "selector": {"matchLabels": {"verb": "GET"}}}
SHOWN = "m(&LabelSelector{MatchLabels:map[string]string{verb: GET,},MatchExpressions:[]LabelSelectorRequirement{},})"
SERVICE = {"kind": "Service", "name": "s", "apiVersion": "v1"}


def of_pods(value: str) -> Tree:
    return {"type": "Pods", "pods": {"metric": GET, "target": {"type": "AverageValue", "averageValue": value}}}


def of_object(**target: Any) -> Tree:
    return {"type": "Object", "object": {"metric": GET, "describedObject": SERVICE, "target": target}}


def external(**target: Any) -> Tree:
    return {"type": "External", "external": {"metric": GET, "target": target}}


def of_container(current: Tree, name: str = "cpu") -> Tree:
    return {"type": "ContainerResource", "containerResource": {"name": name, "container": "c", "current": current}}


def of_resource(current: Tree, name: str = "cpu") -> Tree:
    return {"type": "Resource", "resource": {"name": name, "current": current}}


SHARE = "(percentage of request)"
CASES: list[tuple[Measured, Tree, int, str, Tree]] = [
    (
        Measured(100, 100),
        resource(averageUtilization=50),
        4,
        f"cpu resource utilization {SHARE}",
        of_resource({"averageUtilization": 100, "averageValue": "100m"}),
    ),
    (Measured(100, 50), resource(averageValue="50m"), 3, "cpu resource", of_resource({"averageValue": "75m"})),
    (
        Measured(100, 100),
        resource(container="c", averageUtilization=50),
        4,
        f"cpu container resource utilization {SHARE}",
        of_container({"averageUtilization": 100, "averageValue": "100m"}),
    ),
    (Measured(1000, 3000), resource(container="c", averageValue="1"), 4, "cpu resource", of_container({"averageValue": "2"})),
    # memory is written in whole bytes, as memory is
    (
        Measured(1_048_576_000, 1_048_576_001),
        resource("memory", averageValue="1Mi"),
        2,
        "memory resource",
        of_resource({"averageValue": "1Mi"}, "memory"),
    ),
    (
        Measured(2_048_001, 2_048_001),
        resource("memory", averageValue="2Ki"),
        2,
        "memory resource",
        of_resource({"averageValue": "2049"}, "memory"),
    ),
    (
        Measured(1_024_000, 1_024_000),
        resource("memory", averageValue="1Ki"),
        2,
        "memory resource",
        of_resource({"averageValue": "1Ki"}, "memory"),
    ),
    (
        Measured(1_023_999, 1_023_999),
        resource("memory", averageValue="1Ki"),
        2,
        "memory resource",
        of_resource({"averageValue": "1023999m"}, "memory"),
    ),
    (
        Measured(10_000, 30_000),
        of_pods("10"),
        4,
        "pods metric m",
        {"type": "Pods", "pods": {"metric": GET, "current": {"averageValue": "20"}}},
    ),
    (
        Measured(total=15_000),
        of_object(type="Value", value="5"),
        6,
        "Service metric m",
        {"type": "Object", "object": {"metric": GET, "current": {"value": "15"}, "describedObject": SERVICE}},
    ),
    (
        Measured(total=15_000),
        of_object(type="AverageValue", averageValue="5"),
        3,
        f"external metric {SHOWN}",
        {"type": "Object", "object": {"metric": GET, "current": {"averageValue": "7500m"}, "describedObject": SERVICE}},
    ),
    (
        Measured(totals=(10_000, 5_000)),
        external(type="Value", value="5"),
        6,
        f"external metric {SHOWN}",
        {"type": "External", "external": {"metric": GET, "current": {"value": "15"}}},
    ),
    (
        Measured(totals=(10_000, 5_000)),
        external(type="AverageValue", averageValue="5"),
        3,
        f"external metric {SHOWN}",
        {"type": "External", "external": {"metric": GET, "current": {"averageValue": "7500m"}}},
    ),
]


@pytest.mark.parametrize(("measured", "spec", "replicas", "name", "status"), CASES)
async def test_what_a_metric_asks_for(measured: Measured, spec: Tree, replicas: int, name: str, status: Tree) -> None:
    """Given two pods and a metric / then so many replicas, by this name, with this status."""
    assert await compute(measured, spec) == MetricResult(replicas, name, status)


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        (resource(averageValue="1"), ("resource", "cpu", "x", "app=web", "")),
        (resource(container="c", averageValue="1"), ("resource", "cpu", "x", "app=web", "c")),
        (of_pods("1"), ("pods", "m", "x", "app=web", "verb=GET")),
        (of_object(type="Value", value="1"), ("object", "m", "x", SERVICE, "verb=GET")),
        (external(type="Value", value="1"), ("external", "m", "verb=GET")),
    ],
)
async def test_what_is_asked(spec: Tree, asked: tuple[Any, ...]) -> None:
    """Given a metric / then it is asked for once, by name, namespace and selectors."""
    measured = Measured(1, 1, total=1, totals=(1,))
    await compute(measured, spec)
    assert measured.asked == [asked]


async def test_shares_are_those_of_the_pods_that_are_there() -> None:
    """Given three pods of which two are wanted / then an average is one over the three."""
    found = await compute(Measured(totals=(15_000,)), external(type="AverageValue", averageValue="5"), present=3)
    assert (found.replicas, found.status["external"]["current"]) == (3, {"averageValue": "5"})


NO_TARGET = "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
NOT_THERE = f"unable to get external metric x/m/{SHOWN[2:-1]}: E"
NEITHER = "neither a value target nor an average value target was set"
BAD: Tree = {"name": "m", "selector": {"matchLabels": {"a b": "c"}}}


@pytest.mark.parametrize(
    ("spec", "error", "reason", "why", "text"),
    [
        (
            resource(averageUtilization=50),
            "E",
            "FailedGetResourceMetric",
            "failed to get cpu utilization: unable to get metrics for resource cpu: E",
            "failed to get cpu resource metric value: failed to get cpu utilization: unable to get metrics for resource cpu: E",
        ),
        (
            resource(averageValue="1"),
            "E",
            "FailedGetResourceMetric",
            "failed to get cpu usage: unable to get metrics for resource cpu: E",
            "failed to get cpu resource metric value: failed to get cpu usage: unable to get metrics for resource cpu: E",
        ),
        (
            resource("memory", container="c", averageValue="1"),
            "E",
            "FailedGetContainerResourceMetric",
            "failed to get memory usage: unable to get metrics for resource memory: E",
            "failed to get c container metric value: failed to get memory usage: unable to get metrics for resource memory: E",
        ),
        (
            resource(),
            "",
            "FailedGetResourceMetric",
            NO_TARGET,
            f"failed to get cpu resource metric value: {NO_TARGET}",
        ),
        (
            of_pods("1"),
            "E",
            "FailedGetPodsMetric",
            "unable to get metric m: E",
            "failed to get pods metric value: unable to get metric m: E",
        ),
        (
            of_object(type="Value", value="1"),
            "E",
            "FailedGetObjectMetric",
            "unable to get metric m on Service x/s: E",
            "failed to get object metric value: unable to get metric m on Service x/s: E",
        ),
        (
            of_object(type="AverageValue", averageValue="1"),
            "E",
            "FailedGetObjectMetric",
            "unable to get metric m on Service x/s: E",
            "failed to get object metric value: failed to get m object metric: unable to get metric m on Service x/s: E",
        ),
        (
            of_object(type="AverageValue"),
            "",
            "FailedGetObjectMetric",
            f"invalid object metric source: {NEITHER}",
            f"failed to get object metric value: invalid object metric source: {NEITHER}",
        ),
        (
            external(type="Value", value="1"),
            "E",
            "FailedGetExternalMetric",
            NOT_THERE,
            f"failed to get m external metric value: failed to get external metric m: {NOT_THERE}",
        ),
        (
            external(type="AverageValue", averageValue="1"),
            "E",
            "FailedGetExternalMetric",
            NOT_THERE,
            f"failed to get m external metric value: failed to get m external metric: {NOT_THERE}",
        ),
        (
            external(type="Value"),
            "",
            "FailedGetExternalMetric",
            f"invalid external metric source: {NEITHER}",
            f"failed to get m external metric value: invalid external metric source: {NEITHER}",
        ),
        (
            {"type": "Other"},
            "",
            "InvalidMetricSourceType",
            'unknown metric source type "Other"',
            'unknown metric source type "Other"',
        ),
    ],
)
async def test_how_a_metric_fails(spec: Tree, error: str, reason: str, why: str, text: str) -> None:
    """Given a metric that cannot be had / then reason, message and error are upstream's."""
    with pytest.raises(MetricFailed) as failed:
        await compute(Measured(1, 1, error=error), spec)
    assert (failed.value.reason, failed.value.why, str(failed.value)) == (reason, why, text)


async def test_before_1_37_the_object_is_named_last() -> None:
    """Given 1.36 / then the object stands behind what is wrong with its metric."""
    with pytest.raises(MetricFailed) as failed:
        await compute(Measured(error="E"), of_object(type="Value", value="1"), minor=36)
    assert failed.value.why == "unable to get metric m: E on Service x/s"


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "Pods", "pods": {"metric": BAD, "target": {"averageValue": "1"}}},
        {"type": "External", "external": {"metric": BAD, "target": {"value": "1"}}},
    ],
)
async def test_a_selector_that_is_none(spec: Tree) -> None:
    """Given a metric whose own selector is no selector / then nothing is asked, and that is why."""
    measured = Measured(1, 1, totals=(1,))
    with pytest.raises(MetricFailed, match='key: Invalid value: "a b"'):
        await compute(measured, spec)
    assert measured.asked == []

"""What metrics say, and what is said where they cannot be had."""

from typing import Any, cast

import pytest

from fakekube.apimachinery import labels
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NAMESPACES, POD_METRICS, PODS, SERVICES
from fakekube_controllers.podautoscaler.sources import MetricError, Sample, Sources
from tests.controllers.scene import Scene

EVERYTHING = labels.parse("")
CUSTOM = "unable to fetch metrics from custom metrics API: "
NOT_REGISTERED = f"{CUSTOM}no custom metrics API (custom.metrics.k8s.io) registered"
EXTERNAL = "unable to fetch metrics from external metrics API: "


class Metrics(Scene):
    """Objects, and perhaps a callback; ``error`` is what listing ends in."""

    error: APIError | None = None

    def with_options(self, *, user: Any) -> "Metrics":
        assert user.name == "custom-metrics-adapter"
        return self

    async def for_kind(self, kind: Any) -> Any:
        if tuple(kind) != ("", "", "Service"):
            raise KeyError(kind)
        return SERVICES

    async def list(self, resource: Any, namespace: str = "", **options: str) -> Any:
        if self.error is not None:
            raise self.error
        assert (namespace, options) == ("x", {"label_selector": "app=a"})
        return await super().list(resource, namespace)


def sources(*objects: tuple[Any, Tree], said: Any = "nobody", now: float = 50.0) -> tuple[Metrics, Sources]:
    scene = Metrics(objects, now=now)
    if said != "nobody":
        scene.options["on_metric"] = said
    return scene, Sources(cast("Any", scene))


def used(name: str, *containers: tuple[str, Tree]) -> tuple[Any, Tree]:
    return POD_METRICS, {"metadata": {"name": name, "namespace": "x"}, "timestamp": "1970-01-01T00:00:40Z", "window": "15s",
                         "containers": [{"name": each, "usage": usage} for each, usage in containers]}


USED = (
    used("p", ("a", {"cpu": "100m", "memory": "1Ki"}), ("b", {"cpu": "1"})), used("q", ("a", {"cpu": "1500u"})), used("r"),
    used("s", ("b", {"cpu": "2"})))


@pytest.mark.parametrize(("resource", "container", "values"), [
    ("cpu", "", {"p": 1100, "q": 2, "s": 2000}), ("cpu", "b", {"p": 1000, "s": 2000}), ("memory", "a", {"p": 1024000}),
    ("memory", "", {}), ("cpu", "none", {})])
async def test_what_pods_use(resource: str, container: str, values: dict[str, int]) -> None:
    """Given the metrics of pods / then the sum over their containers, or one of them, where all of
    these say it.
    """
    _, one = sources(*USED)
    found = await one.resource(resource, "x", labels.parse("app=a"), container)
    assert found == {name: Sample(value, 40.0, 15.0) for name, value in values.items()}


@pytest.mark.parametrize(("error", "text"), [
    (APIError(404, "", "no"), "the server could not find the requested resource (get pods.metrics.k8s.io)"),
    (APIError(404, "NotFound", "no"), "no"), (APIError(503, "x", "away"), "away (get pods.metrics.k8s.io)"),
    (APIError(403, "Forbidden", "no"), "no")])
async def test_a_metrics_api_that_does_not_answer(error: APIError, text: str) -> None:
    """Given an API that is away or says no / then that is told as Go's clients do."""
    scene, one = sources()
    scene.error = error
    with pytest.raises(MetricError) as failed:
        await one.resource("cpu", "x", labels.parse("app=a"), "")
    assert str(failed.value) == f"unable to fetch metrics from resource metrics API: {text}"


async def test_no_metrics_of_pods() -> None:
    """Given no pod with metrics / then that is told."""
    _, one = sources()
    with pytest.raises(MetricError, match="no metrics returned from resource metrics API"):
        await one.resource("cpu", "x", labels.parse("app=a"), "")


def obj(name: str, *, namespace: str = "x", **said: str) -> Tree:
    return {"metadata": {"name": name, "namespace": namespace, "labels": {"app": "a"}, "annotations": {
        f"fakekube.dev/metric.{key}": value for key, value in said.items()}}}


async def test_custom_metrics_of_pods() -> None:
    """Given pods of which some have a metric / then these are told, as measured now over a minute;
    a callback comes before annotations.
    """
    objects = (PODS, obj("p", hits="7")), (PODS, obj("q")), (PODS, obj("r", namespace="y", hits="7"))
    _, one = sources(*objects)
    assert await one.pods("hits", "x", labels.parse("app=a"), EVERYTHING) == {"p": Sample(7000, 50.0, 60.0)}
    asked: list[Any] = []

    def measure(query: Any) -> int | None:
        asked.append(query)
        return None if query.object["metadata"]["name"] == "p" else 3

    _, one = sources(*objects, said=measure)
    assert await one.pods("hits", "x", labels.parse("app=a"), labels.parse("v=w")) == {
        "p": Sample(7000, 50.0, 60.0), "q": Sample(3000, 50.0, 60.0)}
    assert [(each.type, each.name, each.namespace, each.object["metadata"]["name"], str(each.selector)) for each in asked] == [
        ("Pods", "hits", "x", "p", "v=w"), ("Pods", "hits", "x", "q", "v=w")]


SERVICE = {"kind": "Service", "name": "s", "apiVersion": "v1"}


@pytest.mark.parametrize(("reference", "objects", "said", "expected"), [
    (SERVICE, [(SERVICES, obj("s", m="2"))], "nobody", 2000), (SERVICE, [(SERVICES, obj("s"))], lambda _: ["500m", 9], 500),
    ({"kind": "Namespace", "name": "any"}, [(NAMESPACES, obj("x", namespace="", m="4"))], "nobody", 4000),
    (SERVICE, [(SERVICES, obj("s"))], "nobody", NOT_REGISTERED), (SERVICE, [], "nobody", NOT_REGISTERED),
    (SERVICE, [(SERVICES, obj("s"))], lambda _: None, f"{CUSTOM}the server could not find the metric m for Service s"),
    (SERVICE, [(SERVICES, obj("s"))], lambda _: [], f"{CUSTOM}the server could not find the metric m for Service s"),
    (SERVICE, [], lambda _: 1, f'{CUSTOM}services "s" not found'),
    ({"kind": "Thing", "name": "t", "apiVersion": "y.io/v1"}, [], lambda _: 1,
        f'{CUSTOM}no matches for kind "Thing" in group "y.io"'),
    ({"kind": "Namespace", "name": "t", "apiVersion": "y.io/v1"}, [(NAMESPACES, obj("x", namespace="", m="4"))], lambda _: 1,
     f'{CUSTOM}no matches for kind "Namespace" in group "y.io"'),
    ({**SERVICE, "apiVersion": "a/b/c"}, [], lambda _: 1, f"{CUSTOM}unexpected GroupVersion string: a/b/c"),
    (SERVICE, [(SERVICES, obj("s", m="much"))], "nobody", f"{CUSTOM}m is 'much': ")])
async def test_a_metric_of_an_object(reference: Tree, objects: list[Any], said: Any, expected: Any) -> None:
    """Given an object and what is said of it / then its metric, or why there is none."""
    _, one = sources(*objects, said=said)
    if isinstance(expected, int):
        assert await one.object("m", "x", reference, EVERYTHING) == expected
        return
    with pytest.raises(MetricError) as failed:
        await one.object("m", "x", reference, EVERYTHING)
    assert str(failed.value)[:len(expected)] == expected


def _raises(_: Any) -> Any:
    raise ValueError("boom")


@pytest.mark.parametrize(("said", "annotated", "expected"), [
    ("nobody", {"m": "2"}, [2000]), (lambda _: ("1", 2), {}, [1000, 2000]), (lambda _: None, {"m": "3"}, [3000]),
    ("nobody", {}, f"{EXTERNAL}the server could not find the requested resource (get m.external.metrics.k8s.io)"),
    (lambda _: None, {}, "no metrics returned from external metrics API"),
    (_raises, {}, f"{EXTERNAL}the callback for metrics raised ValueError: boom"),
    (lambda _: "x", {}, f"{EXTERNAL}m is 'x': ")])
async def test_a_metric_that_no_object_has(said: Any, annotated: dict[str, str], expected: Any) -> None:
    """Given an autoscaler and what is said from outside / then all values, or why there is none."""
    _, one = sources(said=said)
    if isinstance(expected, list):
        assert await one.external(obj("web", **annotated), "m", EVERYTHING) == expected
        return
    with pytest.raises(MetricError) as failed:
        await one.external(obj("web", **annotated), "m", EVERYTHING)
    assert str(failed.value)[:len(expected)] == expected


async def test_no_custom_metrics_of_pods() -> None:
    """Given no pod that has a metric / then what is told depends on whether anybody could."""
    for said, text in (("nobody", NOT_REGISTERED), (lambda _: None, "no metrics returned from custom metrics API")):
        _, one = sources((PODS, obj("p")), said=said)
        with pytest.raises(MetricError) as failed:
            await one.pods("m", "x", EVERYTHING, EVERYTHING)
        assert str(failed.value) == text

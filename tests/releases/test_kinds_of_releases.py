"""Every kind of every release lives: it is created, read in every form, changed in every way and
deleted.
"""

import importlib.util
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest

from fakekube.apimachinery import releases
from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.composition.cluster import Cluster
from fakekube.registry.kind import Kind


def _specimens() -> ModuleType:
    spec = importlib.util.spec_from_file_location("specimens", Path(__file__).with_name("specimens.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


specimens = _specimens()
EVERYTHING: dict[str, Any] = {"runtime_config": "api/all=true", "feature_gates": "AllAlpha=true,AllBeta=true"}
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
FORMS = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf", TABLE)
NOT_DELETED_AT_ONCE = ("Namespace",)  # it is emptied first, by a controller


class Sink:
    def __init__(self) -> None:
        self.types: list[str] = []

    def send(self, frame: Frame) -> None:
        self.types.append(frame.tree["type"] if frame.tree else "")

    def end(self) -> None:
        self.types.append("END")


class Caller:
    """Asks a cluster's API server, and keeps what went wrong."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.wrong: list[str] = []

    async def __call__(
        self, method: str, path: str, body: Any = None, media: str = "application/json", accept: str = "application/json",
        expect: int = 200, **query: str,
    ) -> Response:
        headers = {"content-type": media, "accept": accept}
        data = b"" if body is None else orjson.dumps(body)
        asked = Request(method, path, {name: [value] for name, value in query.items()}, headers, data)
        answer = await self.cluster.apiserver.handle(asked)
        if answer.status != expect:
            self.wrong.append(f"{method} {path} {media} {query}: {answer.status} {answer.body[:300].decode(errors='replace')}")
        return answer


@pytest.fixture(params=releases.TESTED)
async def everything(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster of a release that serves all it has, with all gates on that are not locked."""
    async with Cluster(nodes=0, controllers="", clock="manual", kubernetes_version=request.param, **EVERYTHING) as cluster:
        yield cluster


def kinds(cluster: Cluster, verb: str) -> list[Kind]:
    return [kind for kind in cluster.apiserver.resources.kinds if verb in kind.verbs]


async def test_every_collection_is_read_in_every_form(everything: Cluster) -> None:
    """Given all that a release has, when each collection is listed as JSON, YAML, protobuf and
    Table, then all of them answer.
    """
    ask = Caller(everything)
    for kind in kinds(everything, "list"):
        for form in FORMS:
            await ask("GET", specimens.collection(kind), accept=form)
    assert not ask.wrong, "\n".join(ask.wrong)


@pytest.mark.spec("API-001", "API-004")
async def test_discovery_names_what_is_served(everything: Cluster) -> None:
    """Given all that a release has, when the lists of resources and the aggregated document are
    read, then both name the same groups, versions, resources and verbs, each of which leads
    somewhere.
    """
    ask = Caller(everything)
    plain: dict[tuple[str, str], list[str]] = {}
    for kind in everything.apiserver.resources.kinds:
        root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
        listed = orjson.loads((await ask("GET", root)).body)
        for each in listed["resources"]:
            plain[root, each["name"]] = each["verbs"]
    aggregated: dict[tuple[str, str], list[str]] = {}
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    for root in ("/api", "/apis"):
        for group in orjson.loads((await ask("GET", root, accept=accept)).body)["items"]:
            for version in group["versions"]:
                here = "/".join([root, *filter(None, [group["metadata"].get("name")]), version["version"]])
                for each in version["resources"]:
                    aggregated[here, each["resource"]] = each["verbs"]
                    for sub in each.get("subresources", ()):
                        aggregated[here, f"{each['resource']}/{sub['subresource']}"] = sub["verbs"]
    assert aggregated == plain
    assert not ask.wrong, "\n".join(ask.wrong)


async def test_every_kind_lives(everything: Cluster) -> None:
    """Given a specimen of every kind of a release, when it is created strictly, watched, read, put,
    patched in three ways, applied, and deleted, then each step goes well and the watch has seen it
    come, change and go.
    """
    ask = Caller(everything)
    for kind in kinds(everything, "create"):
        if kind.kind == "Binding":
            continue
        body, where = specimens.specimen(kind), specimens.collection(kind)
        if "get" not in kind.verbs:
            await ask("POST", where, body, expect=201, fieldValidation="Strict")
            continue
        path = f"{where}/{body['metadata']['name']}"
        await ask("DELETE", path, expect=404)
        watched = await ask("GET", where, watch="1", fieldSelector=f"metadata.name={body['metadata']['name']}")
        sink = Sink()
        assert watched.stream, path
        watched.stream.start(sink)
        created = await ask("POST", where, body, expect=201, fieldValidation="Strict")
        if created.status != 201:
            continue
        await _changes(ask, kind, body, path)
        await ask("PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        await ask("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
        gone = kind.kind in NOT_DELETED_AT_ONCE or sink.types[-1] == "DELETED"
        if sink.types[:2] != ["ADDED", "MODIFIED"] or not gone:
            ask.wrong.append(f"{path}: {sink.types}")
        watched.stream.stop()
    assert not ask.wrong, "\n".join(ask.wrong)


async def _changes(ask: Caller, kind: Kind, body: dict[str, Any], path: str) -> None:
    for form in FORMS:
        await ask("GET", path, accept=form)
    found = orjson.loads((await ask("GET", path)).body)
    found["metadata"].setdefault("labels", {})["put"] = "yes"
    await ask("PUT", path, found, fieldValidation="Strict")
    labels = {"metadata": {"labels": {"patched": "yes"}}}
    await ask("PATCH", path, labels, "application/merge-patch+json")
    await ask("PATCH", path, {"metadata": {"labels": {"more": "yes"}}}, "application/strategic-merge-patch+json")
    add = [{"op": "add", "path": "/metadata/labels/last", "value": "yes"}]
    await ask("PATCH", path, add, "application/json-patch+json")
    applied = {**body, "metadata": {**body["metadata"], "annotations": {"applied": "yes"}}}
    answer = await ask("PATCH", path, applied, "application/apply-patch+yaml", fieldManager="specimen", force="true")
    again = await ask("PATCH", path, applied, "application/apply-patch+yaml", fieldManager="specimen", force="true")
    if again.body != answer.body:
        ask.wrong.append(f"applied twice is not applied once: {path}")
    for name in ("status", "scale"):
        sub = kind.subresource(name)
        if sub is not None and "get" in sub.verbs:
            shown = orjson.loads((await ask("GET", f"{path}/{name}")).body)
            await ask("PUT", f"{path}/{name}", shown)

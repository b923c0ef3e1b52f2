"""Custom resources, CEL, webhooks and RBAC: what they add to requests, and what definitions cost.

A custom object is measured in turns with a Pod, a request with a webhook in turns with one without,
so that what is printed is their ratio or difference at the same moment. Loading has a process of
its own, so that its memory is its own: ``python -m benchmarks.custom`` prints it as JSON.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import orjson

from benchmarks import authorization, definitions, shapes
from benchmarks.load import resident_bytes
from benchmarks.percall import Side, added, ratio
from benchmarks.table import Figure, decode_seconds
from benchmarks.table import median as median_rate
from fakekube.apimachinery.http import Request
from fakekube.cel import types
from fakekube.cel.environment import Environment
from fakekube.client import users
from fakekube.client.resources import CONFIG_MAPS, PODS
from fakekube.composition.cluster import Cluster
from fakekube.webhooks import AdmissionRequest

SECTIONS = 5  # sixty fields, thirty rules
LOADED, NEW = 200, 60
EVALUATIONS, ROUNDS = 100_000, 10
RULE = "self.replicas <= self.maxReplicas"


def figures() -> Iterator[Figure]:
    """Hundredths of what is without, microseconds that are added, and CPU time of the rest."""
    yield from asyncio.run(_objects())
    yield from _load()
    yield asyncio.run(_first_object())
    yield _evaluations()
    yield from asyncio.run(_webhooks())
    yield from authorization.figures()


def _cluster() -> Cluster:
    return Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual")


def _post(path: str, body: bytes) -> Request:
    return Request("POST", path, {}, {"content-type": "application/json"}, body, user=users.admin())


def _pod(number: int) -> Request:
    return _post(PODS.path("default"), shapes.body(number))


def _further_pod(number: int) -> Request:
    return _pod(10_000_000 + number)


async def _objects() -> list[Figure]:
    """Custom objects in turns with pods, in one cluster; every body is new."""
    async with _cluster() as cluster:
        await cluster.load([
            definitions.definition("plains", SECTIONS), definitions.definition("rules", SECTIONS, rules=SECTIONS)])

        def create(plural: str) -> Side:
            return Side(cluster, lambda number: _post(definitions.path(plural), definitions.body(number, plural, SECTIONS)))

        fields, rules = definitions.FIELDS_OF_SECTION * SECTIONS, definitions.RULES_OF_SECTION * SECTIONS
        plain = await ratio(f"create of a custom object, {fields} fields, over a Pod", Side(cluster, _pod), create("plains"), 150)
        pods = Side(cluster, _further_pod)
        return [plain, await ratio(f"the same with {rules} CEL rules, over a Pod", pods, create("rules"), 250)]


def _load() -> Iterator[Figure]:
    printed = [
        json.loads(subprocess.run(
            [sys.executable, "-m", "benchmarks.custom"], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)]
    best = min(printed, key=lambda found: found["seconds"] / found["decode"])
    yield Figure(f"{LOADED} definitions loaded", best["seconds"], "s", 1.5, 0.7, f"{best['bytes'] / 1e6:.1f} MB of JSON",
                 decode_seconds=best["decode"])
    yield Figure(f"memory of {LOADED} definitions", min(found["resident"] for found in printed) / 1e6, "MB", 60, 30)


async def _loaded() -> dict[str, float]:
    """What a bundle of definitions takes, of CPU seconds and of memory."""
    trees = definitions.bundle(LOADED)
    texts = [orjson.dumps(tree) for tree in trees]
    async with _cluster() as cluster:
        await cluster.load([definitions.definition("first", 1, rules=1)])  # which also imports and compiles
        before, decode = resident_bytes(), decode_seconds()
        started = time.process_time()
        await cluster.load(trees)
        seconds = time.process_time() - started
        return {"seconds": seconds, "resident": resident_bytes() - before, "decode": (decode + decode_seconds()) / 2,
                "bytes": sum(map(len, texts))}


async def _first_object() -> Figure:
    """From the create of a definition to the answer of the first create of its kind."""
    async with _cluster() as cluster:
        found = []
        for number in range(NEW):
            plural = f"news{number}"
            tree = definitions.definition(plural, SECTIONS, rules=1)
            body = definitions.body(number, plural, SECTIONS)
            started = time.process_time()
            await cluster.load([tree])
            answer = await cluster.apiserver.handle(_post(definitions.path(plural), body))
            found.append((1 / (time.process_time() - started), decode_seconds()))
            assert answer.status == 201, answer.body
        rate, decode = median_rate(found[1:])
        return Figure("a definition to the first object of its kind", 1000 / rate, "ms", 20, 5, decode_seconds=decode)


def _evaluations() -> Figure:
    """One rule on objects that follow each other."""
    fields = {name: types.Field(types.INT, name) for name in ("replicas", "maxReplicas")}
    program = Environment(variables={"self": types.ObjectType(types.Kind.STRUCT, "Scale", fields=fields)}).compile(RULE)
    values = [{"self": {"replicas": number % 100, "maxReplicas": number % 101}} for number in range(EVALUATIONS)]
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for value in values:
            program.evaluate(value)
        found.append((1 / (time.process_time() - started), decode_seconds()))
    rate, decode = median_rate(found)
    return Figure(f"one million evaluations of {RULE}", 1_000_000 / EVALUATIONS / rate, "s", 1.5, decode_seconds=decode)


async def _webhooks() -> list[Figure]:
    """Creates, in turns with a cluster that has no webhook. Every one reads the object."""
    return [
        await _webhook("a validating in-process webhook, of a ConfigMap", "configmaps", _config_map, 30),
        await _webhook("a validating in-process webhook, of a Pod", "pods", _pod, 30),
        await _webhook("a mutating in-process webhook, of a ConfigMap", "configmaps", _config_map, 30, mutating=True),
        await _webhook("a mutating in-process webhook, of a Pod", "pods", _pod, mutating=True),
    ]


async def _webhook(
    name: str, resource: str, make: Callable[[int], Request], must: float | None = None, *, mutating: bool = False,
) -> Figure:
    def called(request: AdmissionRequest) -> None:
        metadata = request.object["metadata"]
        if mutating:
            metadata.setdefault("labels", {})["seen"] = "yes"

    async with _cluster() as without, _cluster() as with_it:
        with_it.webhook(resource, operations=["CREATE"], mutating=mutating)(called)
        return await added(f"{name} adds", Side(without, make), Side(with_it, make), must)


def _config_map(number: int) -> Request:
    return _post(CONFIG_MAPS.path("default"), orjson.dumps(
        {"metadata": {"name": f"c{number}"}, "data": {"a": f"b{number}"}}))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_loaded())))

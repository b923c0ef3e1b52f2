"""What it costs to ask whether users may: the same requests with RBAC and without, in turns.

The user has two roles of their own beside those that everybody has; in the last row there are 2,000
other bindings, and every name that is asked for is new.
"""

import asyncio
from collections.abc import Iterator

from benchmarks import shapes
from benchmarks.percall import Side, ratio
from benchmarks.table import Figure
from fakekube.apimachinery.http import Request, UserInfo
from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, PODS, Resource
from fakekube.composition.cluster import Cluster

GROUP = "rbac.authorization.k8s.io"
BINDINGS = Resource(GROUP, "v1", "rolebindings", "RoleBinding")
USER = UserInfo("system:serviceaccount:default:robot", (
    "system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"))
MUST = 110.0


def figures() -> Iterator[Figure]:
    """How long a request takes, in hundredths of one that nobody is asked about."""
    yield from asyncio.run(_ratios())


async def _ratios() -> list[Figure]:
    async with _cluster("AlwaysAllow") as off, _cluster("RBAC") as on:
        for cluster in (off, on):
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "default"}, "data": {"a": "b"}})
            for role in ("view", "edit"):
                await cluster.client.create(BINDINGS, _binding(role, role, USER.name))
        found = [
            await ratio("get of a ConfigMap, RBAC over none", Side(off, _get, 200), Side(on, _get, 200), MUST),
            await ratio("create of a Pod, RBAC over none", Side(off, _create), Side(on, _create), MUST),
        ]
        for number in range(2_000):
            await _bind(on.client, number)
        return [*found, await ratio(
            "get of what is not there, 2,000 bindings", Side(off, _absent, 404), Side(on, _absent, 404), MUST)]


def _cluster(mode: str) -> Cluster:
    return Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual", authorization_mode=mode)


def _binding(name: str, role: str, user: str) -> dict[str, object]:
    return {
        "metadata": {"name": name, "namespace": "default"}, "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": user}]}


async def _bind(client: Client, number: int) -> None:
    await client.create(BINDINGS, _binding(f"b{number}", "view", f"user-{number}"), read_answer=False)


def _get(_: int) -> Request:
    return Request("GET", CONFIG_MAPS.path("default", "c"), {}, {}, user=USER)


def _absent(number: int) -> Request:
    return Request("GET", CONFIG_MAPS.path("default", f"absent-{number}"), {}, {}, user=USER)


def _create(number: int) -> Request:
    headers = {"content-type": "application/json"}
    return Request("POST", PODS.path("default"), {}, headers, shapes.body(number), user=USER)

"""How many pods there should be, from the scale of what controls them.

Upstream: pkg/controller/disruption/disruption.go (getExpectedPodCount, getExpectedScale and the
finders). Scales are read from the server and not from caches, since few budgets need one: those
with a share or with ``maxUnavailable``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery import intstr, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS, Resource

KNOWN = (REPLICATION_CONTROLLERS, REPLICA_SETS, STATEFUL_SETS)


class UnknownScale(Exception):
    """It cannot be told how many pods there should be; the message is upstream's."""


class Expected(NamedTuple):
    """How many pods there should be, how many of them healthy, and which nobody controls."""

    pods: int
    healthy: int
    unmanaged: tuple[str, ...] = ()


async def expected(client: Client, budget: Tree, pods: Sequence[Tree]) -> Expected:
    """What a budget wants of these pods. Raises UnknownScale, APIError."""
    spec = budget["spec"]
    if "maxUnavailable" in spec:
        total, unmanaged = await _scale(client, pods)
        return Expected(total, max(total - intstr.scaled(spec["maxUnavailable"], total, round_up=True), 0), unmanaged)
    least = spec.get("minAvailable", 0)
    if isinstance(least, int):
        return Expected(len(pods) if "minAvailable" in spec else 0, least)
    total, unmanaged = await _scale(client, pods)
    return Expected(total, intstr.scaled(least, total, round_up=True), unmanaged)


async def _scale(client: Client, pods: Sequence[Tree]) -> tuple[int, tuple[str, ...]]:
    """The sum over all that control any of the pods, and the names of those that nobody controls.
    """
    scales: dict[str, int] = {}
    seen: dict[str, None] = {}
    unmanaged = []
    for pod in pods:
        owner = meta.controller_of(pod)
        if owner is None:
            unmanaged.append(meta.name_of(pod))
        elif owner["uid"] not in seen:
            seen[owner["uid"]] = None
            found = await _scale_of(client, owner, meta.namespace_of(pod))
            if found is None:
                raise UnknownScale(f"found no controllers for pod {go_quote(meta.name_of(pod))}")
            scales[found[0]] = found[1]
    return sum(scales.values()), tuple(unmanaged)


async def _scale_of(client: Client, owner: Tree, namespace: str) -> tuple[str, int] | None:
    """The uid of what scales the pods of an owner, and its scale; None when the owner is gone, or
    is another by now.
    """
    group, version = split_api_version(owner["apiVersion"])
    resource = next((each for each in KNOWN if (each.kind, each.group) == (owner["kind"], group)), None)
    if resource is None:
        return await _scale_of_another(client, owner, group, version, namespace)
    found = await _same(client, resource, owner, namespace)
    above = meta.controller_of(found) if found is not None else None
    if found is not None and resource is REPLICA_SETS and above is not None and above["kind"] == DEPLOYMENTS.kind:
        found = await _same(client, DEPLOYMENTS, above, namespace)
    return None if found is None else (meta.uid_of(found), found["spec"]["replicas"])


async def _same(client: Client, resource: Resource, owner: Tree, namespace: str) -> Tree | None:
    found = await client.get(resource, owner["name"], namespace, missing_ok=True)
    return found if found is not None and meta.uid_of(found) == owner["uid"] else None


async def _has_scale(client: Client, resource: Resource) -> bool:
    """Whether objects of a resource have a scale, as discovery says."""
    root = "apis" if resource.group else "api"
    found: Tree = orjson.loads((await client.request("GET", f"/{root}/{resource.api_version}")).body)
    return any(each["name"] == f"{resource.plural}/scale" for each in found["resources"])


async def _scale_of_another(client: Client, owner: Tree, group: str, version: str, namespace: str) -> tuple[str, int] | None:
    try:
        resource = await client.for_kind(GroupVersionKind(group, version, owner["kind"]))
    except KeyError:
        raise UnknownScale(f'no matches for kind "{owner["kind"]}" in version "{owner["apiVersion"]}"') from None
    try:
        scale = await client.get(resource, owner["name"], namespace, subresource="scale")
    except APIError as error:
        if error.code != 404:
            raise
        if await _has_scale(client, resource):
            return None
        raise UnknownScale(f"{resource.group_resource} does not implement the scale subresource") from None
    if meta.uid_of(scale) != owner["uid"]:
        return None
    return meta.uid_of(scale), scale["spec"].get("replicas", 0)

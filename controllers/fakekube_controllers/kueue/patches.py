"""Writing what changed of an object, as a merge patch against what was read.

Upstream: pkg/util/client.
"""

from collections.abc import Callable
from typing import Any

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.client.retry import is_conflict

TRIES = 5
"""So often is written what others change at the same time. Upstream: retry.DefaultRetry."""

Update = Callable[[Tree], bool]
"""Changes an object that is its own, and tells whether there is something to be written."""


def merge_patch_of(original: ReadOnlyTree, modified: ReadOnlyTree) -> Tree:
    """The merge patch (RFC 7386) that makes ``modified`` of ``original``. Lists are replaced."""
    patch: Tree = {field: None for field in original if field not in modified}
    for field, value in modified.items():
        if field not in original:
            patch[field] = value
        elif original[field] != value:
            both = isinstance(original[field], dict) and isinstance(value, dict)
            patch[field] = merge_patch_of(original[field], value) if both else value
    return patch


async def patch(
    client: Client, resource: Resource, obj: ReadOnlyTree, update: Update, *, subresource: str = "", strict: bool = True,
    retry_on_conflict: bool = False,
) -> Tree | None:
    """Write what ``update`` changes in a copy of ``obj``; what the server answers, read-only, or
    None if that is nothing.

    ``strict``: APIError 409 where the object has changed meanwhile; ``retry_on_conflict`` reads it
    again then and calls ``update`` anew.
    """
    tries = TRIES if retry_on_conflict else 1
    name, namespace = meta.name_of(obj), meta.namespace_of(obj)
    for tries_left in reversed(range(tries)):
        modified: Tree = orjson.loads(orjson.dumps(obj))
        if not update(modified):
            return None
        body: dict[str, Any] = merge_patch_of(obj, modified)
        if strict:
            body.setdefault("metadata", {})["resourceVersion"] = meta.resource_version_of(obj)
        try:
            return await client.patch(resource, name, namespace, body, subresource=subresource, shared=True)
        except APIError as error:
            if not tries_left or not is_conflict(error):
                raise
        obj = await client.get(resource, name, namespace)
    raise AssertionError("the last try returns or raises")


async def patch_status(
    client: Client, resource: Resource, obj: ReadOnlyTree, update: Update, *, strict: bool = True,
    retry_on_conflict: bool = False,
) -> Tree | None:
    """As ``patch``, of the status."""
    return await patch(
        client, resource, obj, update, subresource="status", strict=strict, retry_on_conflict=retry_on_conflict)

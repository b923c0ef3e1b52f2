"""Updating an object that somebody else may update at the same time.

Upstream: client-go/util/retry (RetryOnConflict).
"""

from collections.abc import Callable

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource


def is_conflict(error: APIError) -> bool:
    """Whether an update failed because the object has changed meanwhile."""
    return error.reason == "Conflict"


async def update_with_retry(
    client: Client, resource: Resource, obj: Tree, change: Callable[[Tree], Tree], *, subresource: str = "", tries: int,
    is_retriable: Callable[[APIError], bool] = is_conflict,
) -> Tree:
    """Write ``change(obj)``; after an error that is retriable, read the object and write its
    change, ``tries`` times at most.

    ``obj``: the object as a cache has it, or its subresource. Returns what was written. Raises
    APIError: the last write's, or that of a read.
    """
    name, namespace = meta.name_of(obj), meta.namespace_of(obj)
    while True:
        tries -= 1
        try:
            return await client.update(resource, change(obj), subresource=subresource)
        except APIError as error:
            if tries <= 0 or not is_retriable(error):
                raise
        obj = await client.get(resource, name, namespace, subresource=subresource if subresource != "status" else "")

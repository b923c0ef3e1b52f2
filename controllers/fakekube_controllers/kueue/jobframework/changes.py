"""Changes of objects as merge patches that hold only for the version that was read.

Upstream: pkg/util/client, and createJSONMergePatch of evanphx/json-patch.
"""

from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource


def merge_patch(old: ReadOnlyTree, new: ReadOnlyTree) -> Tree:
    """What makes ``new`` of ``old``; lists are replaced whole."""
    patch: Tree = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            inner = merge_patch(before, value)
            if inner:
                patch[key] = inner
        elif value != before or isinstance(value, bool) != isinstance(before, bool):
            patch[key] = _for_merge(value)
    return patch


def _for_merge(value: Any) -> Any:
    """A new value; within a new object nothing is removed, and null would remove."""
    return {key: _for_merge(each) for key, each in value.items() if each is not None} if isinstance(value, dict) else value


async def patch_changes(
    client: Client, resource: Resource, old: ReadOnlyTree, new: ReadOnlyTree, *, subresource: str = "", strict: bool = True,
) -> Tree:
    """Write what differs, and return the object as it is then.

    APIError; 409 where ``strict`` and somebody else has changed the object since ``old`` was read.
    """
    patch = merge_patch(old, new)
    if strict:
        patch.setdefault("metadata", {})["resourceVersion"] = meta.resource_version_of(old)
    return await client.patch(resource, meta.name_of(old), meta.namespace_of(old), patch, subresource=subresource)

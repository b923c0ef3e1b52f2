"""Which endpoints differ from what their verb says: the one list of them.

Upstream: the storage map of pkg/registry/core/rest/storage_core.go and of its fellows.
"""

from collections.abc import Callable

from fakekube.apiserver.nodeproxy import NodeProxy
from fakekube.apiserver.routes import SpecialRoutes
from fakekube.endpoints import subresources


def special_routes(nodes: Callable[[], NodeProxy]) -> SpecialRoutes:  # noqa: ARG001
    """The endpoints by group, ``resource/subresource`` and method. ``nodes`` gives the agents of the nodes."""
    return {
        ("", "bindings", "POST"): subresources.bind,
        ("", "pods/binding", "POST"): subresources.bind,
        ("", "pods/eviction", "POST"): subresources.evict,
        ("*", "*/scale", "GET"): subresources.get_scale,
        ("*", "*/scale", "PUT"): subresources.update_scale,
        ("*", "*/scale", "PATCH"): subresources.patch_scale,
    }

"""From an object that changed to the requests that it makes.

Upstream: controller-runtime/pkg/handler.
"""

from collections.abc import Callable, Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.gvk import split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube.runtime.predicates import Predicate
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue

Mapper = Callable[[Tree], Iterable[Request]]
"""The requests that an object stands for."""


def to_self(obj: Tree) -> Iterable[Request]:
    """The object itself."""
    metadata = obj["metadata"]
    return (Request(metadata.get("namespace", ""), metadata["name"]),)


def to_owner(resource: Resource, *, controller_only: bool = True) -> Mapper:
    """The owners of a kind; the one that is the controller, or all with ``controller_only=False``.

    Any version fits.
    """
    def owners(obj: Tree) -> Iterable[Request]:
        namespace = meta.namespace_of(obj) if resource.namespaced else ""
        return [
            Request(namespace, reference["name"])
            for reference in meta.owners_of(obj)
            if reference["kind"] == resource.kind and (reference.get("controller") or not controller_only)
            and split_api_version(reference["apiVersion"])[0] == resource.group
        ]

    return owners


def enqueue(
    ctx: Context, resource: Resource, queue: WorkQueue[Request], mapper: Mapper, predicate: Predicate | None = None,
) -> None:
    """Put into ``queue`` what ``mapper`` makes of every event of a resource; of an update, of both
    states.
    """
    def add(obj: Tree) -> None:
        if predicate is None or predicate.create(obj):
            for request in mapper(obj):
                queue.add(request)

    def update(old: Tree, new: Tree) -> None:
        if predicate is None or predicate.update(old, new):
            for request in mapper(new):
                queue.add(request)
            if mapper is not to_self:
                for request in mapper(old):
                    queue.add(request)

    def delete(obj: Tree) -> None:
        if predicate is None or predicate.delete(obj):
            for request in mapper(obj):
                queue.add(request)

    ctx.add_handler(resource, add, update, delete)

"""Where a cluster keeps the objects of a resource, and how they look in its version."""

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.composition.controlplane import served_kinds
from fakekube.composition.options import ClusterOptions
from fakekube.storage.record import Record


class Kinds:
    """How resources are stored, by the options of a cluster.

    What is not built in is stored as it is.
    """

    def __init__(self, options: ClusterOptions) -> None:
        self._kinds = {(kind.group, kind.version, kind.plural): kind for kind in served_kinds(options)}

    def stored_as(self, resource: Resource) -> GroupResource:
        """Where a resource's objects are kept."""
        kind = self._kinds.get((resource.group, resource.version, resource.plural))
        return resource.group_resource if kind is None else kind.storage_resource

    def has(self, stored: GroupResource) -> bool:
        """Whether a resource is built in."""
        return any(kind.storage_resource == stored for kind in self._kinds.values())

    def tree(self, resource: Resource, record: Record) -> Tree:
        """An object in the resource's version, the caller's own."""
        kind = self._kinds.get((resource.group, resource.version, resource.plural))
        tree = record.copy_tree()
        return tree if kind is None or kind.conversion is None else kind.conversion.from_stored(tree)

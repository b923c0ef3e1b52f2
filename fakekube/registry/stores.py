"""The stores of one cluster: one for each kind and version, made when it is first asked for."""

from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind, split_api_version
from fakekube.registry.attributes import Admission, AdmitAll
from fakekube.registry.buckets import Buckets
from fakekube.registry.clusterstate import ClusterState
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.store import Store
from fakekube.registry.write import FieldOwnership
from fakekube.schema.definitions import Definitions
from fakekube.schema.structural import Schema


class Stores:
    """Makes stores, and gives each its bucket, the cluster's state and the admission chain.

    ``admission`` lets every write through until a chain is set.
    """

    def __init__(
        self, resources: ResourceRegistry, buckets: Buckets, definitions: Definitions, *, release: str,
        gates: Callable[[str], bool],
    ) -> None:
        """``release`` is like ``1.37``; ``gates`` says whether a feature gate is on."""
        self.admission: Admission = AdmitAll()
        self.cluster = ClusterState(buckets, self._of_stored, release=release, gates=gates)
        self._resources, self._buckets, self._definitions = resources, buckets, definitions
        self._stores: dict[tuple[str, str, str], Store] = {}
        resources.on_change(self._forget)

    def store(self, kind: Kind) -> Store:
        """The store of a kind."""
        key = (kind.group, kind.version, kind.plural)
        found = self._stores.get(key)
        if found is None:
            found = self._stores[key] = Store(
                kind, self._buckets.bucket(kind.storage_resource), cluster=self.cluster,
                admission=lambda: self.admission, fields=lambda: self._fields(kind))
        return found

    def named(self, group: str, version: str, plural: str) -> Store:
        """The store of the kind that is served under these names. KeyError when there is none."""
        kind = self._resources.kind(group, version, plural)
        if kind is None:
            raise KeyError(plural)
        return self.store(kind)

    def _of_stored(self, resource: GroupResource) -> Store:
        return self.store(self._resources.stored[resource])

    def _fields(self, kind: Kind) -> FieldOwnership:
        from fakekube.managedfields.manager import FieldManager
        from fakekube.managedfields.resetfields import custom_reset_fields, reset_fields_of

        schema = self._definitions.schema(kind.gvk)
        if kind.custom:
            own = custom_reset_fields(has_status=kind.subresource("status") is not None)

            def sibling(api_version: str) -> Schema | None:
                return self._definitions.schema(GroupVersionKind(*split_api_version(api_version), kind.kind))

            return FieldManager(schema, kind.api_version, kind=kind.kind, reset_fields=own, sibling=sibling)
        resets = reset_fields_of(schema, status_keeps_metadata=kind.status_keeps_metadata, declared=kind.reset_fields)

        def is_registered(api_version: str) -> bool:
            group, _, version = api_version.rpartition("/")
            return self._definitions.schema(GroupVersionKind(group, version, kind.kind)) is not None

        return FieldManager(schema, kind.api_version, reset_fields=resets, is_registered=is_registered)

    def _forget(self, kind: Kind, _last: bool) -> None:
        self._stores.pop((kind.group, kind.version, kind.plural), None)

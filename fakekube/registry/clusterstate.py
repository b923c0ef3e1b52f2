"""What strategies and admission plugins may ask of the rest of the cluster, answered from the
storage.
"""

from collections.abc import Callable

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import AlwaysAllow, Authorization
from fakekube.registry.buckets import Buckets
from fakekube.registry.store import Store


class ClusterState:
    """The ``Cluster`` of ``strategy.py``, which says what each answer is.

    ``gate`` is a function of a gate's name.
    """

    def __init__(
        self, buckets: Buckets, store: Callable[[GroupResource], Store], *, release: str, gates: Callable[[str], bool],
    ) -> None:
        """``store`` gives the store of a resource's stored version."""
        self.release, self.gate = release, gates
        self.authorization = Authorization(AlwaysAllow())
        self._buckets, self._store = buckets, store

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Tree | None:
        """The stored object, decoded; never to be changed. None when there is none."""
        record = self._buckets.named(group, resource).get(namespace, name)
        return record.tree() if record is not None else None

    def select(self, group: str, resource: str, namespace: str) -> list[Tree]:
        """All stored objects of a namespace ("" for all), in key order; never to be changed."""
        return [record.tree() for record in self._buckets.named(group, resource).records(namespace)]

    def write_status(self, group: str, resource: str, namespace: str, name: str, status: Tree, *, now: str) -> None:
        """Store a new status of an object at once, past admission and validation; nothing when
        there is none.

        It is the server's own write, at the time ``now``.
        """
        self._store(GroupResource(group, resource)).write_status(namespace, name, status, now=now)

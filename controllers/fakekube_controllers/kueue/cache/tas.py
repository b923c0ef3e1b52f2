"""What the cache asks of the one who knows about topologies: which pods are in which domains.

Upstream: tas_cache.go and tas_flavor.go of pkg/cache/scheduler; ours is in ``topology``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.workload.info import TopologyDomainRequests


class TASFlavorCache(Protocol):
    """Usage in the domains of one flavor."""

    def add_usage(self, key: tuple[str, str], usage: Sequence[TopologyDomainRequests]) -> None:
        """Count the pods of a Workload."""

    def remove_usage(self, key: tuple[str, str]) -> None:
        """Count them no longer."""


class TASFlavorSnapshot(Protocol):
    """The domains of one flavor in one scheduling cycle."""

    def add_usage(self, usage: Sequence[TopologyDomainRequests]) -> None:
        """Count pods in their domains."""

    def remove_usage(self, usage: Sequence[TopologyDomainRequests]) -> None:
        """Count them no longer."""

    def fits(self, usage: Sequence[TopologyDomainRequests]) -> bool:
        """Whether the domains have room for these pods, too."""


class TASCache(Protocol):
    """All flavors with a topology."""

    def get(self, flavor: str) -> TASFlavorCache | None:
        """That of a flavor, if the flavor and its Topology are there."""

    def add_flavor(self, flavor: ReadOnlyTree) -> None:
        """A ResourceFlavor with a topology was added or changed."""

    def delete_flavor(self, name: str) -> None:
        """It is gone."""

    def add_topology(self, topology: ReadOnlyTree) -> None:
        """A Topology was added or changed."""

    def delete_topology(self, name: str) -> None:
        """It is gone."""

    def snapshot(self) -> Mapping[str, Any]:
        """A ``TASFlavorSnapshot`` of every flavor, for one scheduling cycle."""

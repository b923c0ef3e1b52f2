"""What is known of nodes, and of the pods on them, for flavors with a topology.

A flavor is known here once it and its Topology are. A flavor that changes stays as it was, as
upstream's does. Upstream: pkg/cache/scheduler (tas_cache.go, tas_flavor.go, tas_nodes_cache.go, the
part of snapshot.go for topologies).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fakekube.apimachinery import conditions
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import Requests
from fakekube_controllers.kueue.topology.assignments import (
    PODS,
    DomainID,
    domain_id,
    is_lowest_level_hostname,
    levels_of,
    node_matches_flavor,
)
from fakekube_controllers.kueue.topology.domains import DomainTree, minus, plus
from fakekube_controllers.kueue.topology.nontasusage import NonTASUsageCache
from fakekube_controllers.kueue.topology.snapshot import Matching, TASFlavorSnapshot
from fakekube_controllers.kueue.workload.info import TopologyDomainRequests

WorkloadKey = tuple[str, str]


class FlavorInformation(NamedTuple):
    """What of a ResourceFlavor counts here."""

    topology_name: str
    node_labels: Mapping[str, str]
    tolerations: Sequence[ReadOnlyTree]


class NodesCache:
    """The nodes that pods may be put on: ready and not cordoned. ``version`` is raised when what
    counts of one changes.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, ReadOnlyTree] = {}
        self.version = 0

    def sync(self, node: ReadOnlyTree) -> None:
        """Take the newer state of a node."""
        name = node["metadata"]["name"]
        if not _is_usable(node):
            self.delete(name)
            return
        before = self._nodes.get(name)
        if before is None or _counting(before) != _counting(node):
            self.version += 1
        self._nodes[name] = node

    def delete(self, name: str) -> None:
        """A node is gone, or cannot be used."""
        if self._nodes.pop(name, None) is not None:
            self.version += 1

    def find(self, wanted: Mapping[str, str], levels: Sequence[str]) -> list[ReadOnlyTree]:
        """The nodes with the labels of a flavor and those of all levels, by name."""
        return [
            node for _, node in sorted(self._nodes.items())
            if node_matches_flavor(node["metadata"].get("labels") or {}, wanted, levels)]


class TASFlavorCache:
    """Usage in the domains of one flavor, by Workload, so that none is counted twice."""

    def __init__(self, flavor: FlavorInformation, levels: Sequence[str]) -> None:
        self.flavor, self.levels = flavor, levels
        self.usage: dict[DomainID, Requests] = {}
        self._of_workloads: dict[WorkloadKey, Sequence[TopologyDomainRequests]] = {}
        self._matching: Matching | None = None
        self._free: Mapping[DomainID, Requests] = {}
        self._versions = -1, -1

    @property
    def is_lowest_level_hostname(self) -> bool:
        """Whether the lowest domains are nodes."""
        return is_lowest_level_hostname(self.levels)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels belongs to the flavor and its topology."""
        return node_matches_flavor(labels, self.flavor.node_labels, self.levels)

    def add_usage(self, key: WorkloadKey, usage: Sequence[TopologyDomainRequests]) -> None:
        """Count the pods of a Workload, in place of what was counted for it."""
        self.remove_usage(key)
        self._of_workloads[key] = tuple(usage)
        self._update(usage, 1)

    def remove_usage(self, key: WorkloadKey) -> None:
        """Count the pods of a Workload no longer."""
        self._update(self._of_workloads.pop(key, ()), -1)

    def snapshot(
        self, nodes: NodesCache, pods: NonTASUsageCache, usage: Mapping[DomainID, Requests], features: Features,
    ) -> TASFlavorSnapshot:
        """The domains at this moment, with that usage."""
        matching = self._matching
        if matching is None or self._versions[0] != nodes.version:
            matching = self._matching = Matching(DomainTree(self.levels, nodes.find(self.flavor.node_labels, self.levels)))
            self._versions = nodes.version, -1
        if self._versions[1] != pods.version:
            self._free = _free(matching.tree, pods)
            self._versions = nodes.version, pods.version
        return TASFlavorSnapshot(self.flavor.topology_name, self.flavor.tolerations, matching, self._free, usage, features)

    def _update(self, usage: Iterable[TopologyDomainRequests], sign: int) -> None:
        for each in usage:
            own, change = domain_id(each.values), plus(each.total_requests, {PODS: each.count})
            left = plus(self.usage.get(own), change) if sign > 0 else minus(self.usage.get(own), change)
            if any(left.values()):
                self.usage[own] = left
            else:
                self.usage.pop(own, None)


class TASCache:
    """All flavors with a topology, the nodes, and pods of no Workload."""

    def __init__(self, features: Features) -> None:
        self.features, self.nodes, self.pods = features, NodesCache(), NonTASUsageCache()
        self._flavors: dict[str, FlavorInformation] = {}
        self._topologies: dict[str, Sequence[str]] = {}
        self._caches: dict[str, TASFlavorCache] = {}

    def get(self, flavor: str) -> TASFlavorCache | None:
        """That of a flavor, if the flavor and its Topology are there."""
        return self._caches.get(flavor)

    def flavors(self) -> Mapping[str, TASFlavorCache]:
        """All of them, by flavor. Upstream: CloneTASCache."""
        return dict(self._caches)

    def add_flavor(self, flavor: ReadOnlyTree) -> None:
        """A ResourceFlavor with a topology was added, or changed."""
        name, spec = flavor["metadata"]["name"], flavor["spec"]
        if name not in self._flavors:
            found = FlavorInformation(spec["topologyName"], spec.get("nodeLabels") or {}, spec.get("tolerations") or ())
            self._flavors[name] = found
            if found.topology_name in self._topologies:
                self._caches[name] = TASFlavorCache(found, self._topologies[found.topology_name])

    def delete_flavor(self, name: str) -> None:
        """A ResourceFlavor is gone."""
        self._flavors.pop(name, None)
        self._caches.pop(name, None)

    def add_topology(self, topology: ReadOnlyTree) -> None:
        """A Topology was added, or changed."""
        name = topology["metadata"]["name"]
        if name not in self._topologies:
            levels = self._topologies[name] = levels_of(topology)
            for flavor, found in self._flavors.items():
                if found.topology_name == name:
                    self._caches[flavor] = TASFlavorCache(found, levels)

    def delete_topology(self, name: str) -> None:
        """A Topology is gone."""
        self._topologies.pop(name, None)
        self._caches = {flavor: found for flavor, found in self._caches.items() if found.flavor.topology_name != name}

    def snapshot(self) -> dict[str, TASFlavorSnapshot]:
        """All flavors at this moment.

        Where nodes are the lowest level, what is taken in one flavor is taken in all that share a
        node (gate TASHandleOverlappingFlavors).
        """
        shared = self._usage_of_nodes() if self.features.TASHandleOverlappingFlavors else None
        return {
            name: found.snapshot(
                self.nodes, self.pods,
                found.usage if shared is None or not found.is_lowest_level_hostname else shared, self.features)
            for name, found in self._caches.items()}

    def _usage_of_nodes(self) -> Mapping[DomainID, Requests]:
        found = [each.usage for each in self._caches.values() if each.is_lowest_level_hostname and each.usage]
        if len(found) == 1:
            return found[0]
        total: dict[DomainID, Requests] = {}
        for usage in found:
            for own, amounts in usage.items():
                total[own] = plus(total[own], amounts) if own in total else amounts
        return total


def _free(tree: DomainTree, pods: NonTASUsageCache) -> dict[DomainID, Requests]:
    """What the nodes of each domain have, less what pods of no Workload take there."""
    result = dict(tree.capacity)
    for node, usage in pods.node_usage.items():
        own = tree.domain_of_node.get(node)
        if own is not None:
            result[own] = minus(result[own], usage)
    return result


def _is_usable(node: ReadOnlyTree) -> bool:
    is_ready = conditions.is_true((node.get("status") or {}).get("conditions"), "Ready")
    return is_ready and not (node.get("spec") or {}).get("unschedulable")


def _counting(node: ReadOnlyTree) -> tuple[object, ...]:
    """What of a node counts."""
    return (
        node["metadata"].get("labels"), (node.get("spec") or {}).get("taints"), (node.get("status") or {}).get("allocatable"))

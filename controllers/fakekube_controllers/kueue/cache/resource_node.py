"""The arithmetic of quotas in a tree: what is there, what is used, what a node may still take.

A node is a ClusterQueue or a cohort. Its *subtree quota* is its own with what its children lend,
and its *local quota* the part that it does not lend, by a lending limit. Use counts at the node;
what exceeds the local quota counts at its parent, too. Upstream: pkg/cache/scheduler
(resource_node.go, resource.go).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.resources import (
    FlavorResource,
    FlavorResourceQuantities,
    add,
    amount_from_quantity,
    subtract,
)


class ResourceGroup(NamedTuple):
    """Resources that are always taken from the same flavor, and the flavors to choose from."""

    covered_resources: Sequence[str]
    flavors: Sequence[str]


class ResourceQuota(NamedTuple):
    """The quota of one resource in one flavor; limits are None where there are none."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


NO_QUOTA = ResourceQuota(0)
Quotas = Mapping[FlavorResource, ResourceQuota]


def resource_groups(groups: Iterable[ReadOnlyTree]) -> tuple[ResourceGroup, ...]:
    """``resourceGroups`` of a spec, without quotas."""
    return tuple(
        ResourceGroup(tuple(group["coveredResources"]), tuple(flavor["name"] for flavor in group["flavors"]))
        for group in groups)


def create_resource_quotas(groups: Iterable[ReadOnlyTree]) -> dict[FlavorResource, ResourceQuota]:
    """The quotas of ``resourceGroups`` of a spec."""
    return {
        FlavorResource(flavor["name"], quota["name"]): ResourceQuota(
            amount_from_quantity(quota["name"], quota["nominalQuota"]), _limit(quota, "borrowingLimit"),
            _limit(quota, "lendingLimit"))
        for group in groups for flavor in group["flavors"] for quota in flavor["resources"]}


def _limit(quota: ReadOnlyTree, field: str) -> int | None:
    text = quota.get(field)
    return None if text is None else amount_from_quantity(quota["name"], text)


class ResourceNode:
    """Quotas and use of one node.

    ``quotas`` and ``subtree_quota`` are replaced and never changed. ``usage`` changes by
    ``set_usage`` alone, which copies what a ``shared`` node has, too.
    """

    __slots__ = ("is_shared", "quotas", "subtree_quota", "usage")

    def __init__(self) -> None:
        self.quotas: Quotas = {}
        self.subtree_quota: FlavorResourceQuantities = {}
        self.usage: FlavorResourceQuantities = {}
        self.is_shared = False
        """Whether its use is another node's, too: it did not change since ``shared``."""

    def shared(self) -> "ResourceNode":
        """Another node with the same amounts; from now on each changes by itself."""
        result = ResourceNode()
        result.quotas, result.subtree_quota, result.usage = self.quotas, self.subtree_quota, self.usage
        result.is_shared = self.is_shared = True
        return result

    def set_usage(self, fr: FlavorResource, amount: int) -> None:
        """Change the use of one resource."""
        if self.is_shared:
            self.usage, self.is_shared = dict(self.usage), False
        self.usage[fr] = amount

    def replace_usage(self, usage: FlavorResourceQuantities) -> None:
        """Change all use; ``usage`` is the node's from now on."""
        self.usage, self.is_shared = usage, False

    def local_quota(self, fr: FlavorResource) -> int:
        """What is never lent to the parent, because of a lending limit."""
        quota = self.quotas.get(fr)
        if quota is None or quota.lending_limit is None:
            return 0
        return max(0, subtract(self.subtree_quota.get(fr, 0), quota.lending_limit))


class FlatNode(Protocol):
    """What has quotas and use."""

    @property
    def resource_node(self) -> ResourceNode: ...


class HierarchicalNode(FlatNode, Protocol):
    """The same, with a way up."""

    def parent(self) -> "HierarchicalNode | None":
        """The cohort above; None at the top."""


def local_available(node: FlatNode, fr: FlavorResource) -> int:
    """What is left of the local quota: the parent sees nothing of it."""
    own = node.resource_node
    return max(0, subtract(own.local_quota(fr), own.usage.get(fr, 0)))


def available(node: HierarchicalNode, fr: FlavorResource) -> int:
    """What a node may take besides what it uses, of its own and of its cohorts' within its
    borrowing limit. Negative where more is used than there is: quotas were cut, say.
    """
    own, parent = node.resource_node, node.parent()
    subtree, used = own.subtree_quota.get(fr, 0), own.usage.get(fr, 0)
    if parent is None:
        return subtract(subtree, used)
    of_parent = available(parent, fr)
    local, quota = own.local_quota(fr), own.quotas.get(fr)
    if quota is not None and quota.borrowing_limit is not None:
        stored_in_parent = subtract(subtree, local)
        used_in_parent = max(0, subtract(used, local))
        of_parent = min(of_parent, add(subtract(stored_in_parent, used_in_parent), quota.borrowing_limit))
    return add(max(0, subtract(local, used)), of_parent)


def potential_available(node: HierarchicalNode, fr: FlavorResource) -> int:
    """What a node could take if nothing were used."""
    own, parent = node.resource_node, node.parent()
    subtree = own.subtree_quota.get(fr, 0)
    if parent is None:
        return subtree
    result = add(own.local_quota(fr), potential_available(parent, fr))
    quota = own.quotas.get(fr)
    if quota is not None and quota.borrowing_limit is not None:
        return min(add(subtree, quota.borrowing_limit), result)
    return result


def add_usage(node: HierarchicalNode, fr: FlavorResource, amount: int) -> None:
    """Add to the use of a node, and to that of those above it what exceeds the local quota."""
    above: HierarchicalNode | None = node
    while above is not None:
        own = above.resource_node
        left = local_available(above, fr)
        own.set_usage(fr, add(own.usage.get(fr, 0), amount))
        if amount <= left:
            return
        amount, above = subtract(amount, left), above.parent()


def remove_usage(node: HierarchicalNode, fr: FlavorResource, amount: int) -> None:
    """Take away from the use of a node, and from that of those above it what it used there."""
    above: HierarchicalNode | None = node
    while above is not None:
        own = above.resource_node
        used = own.usage.get(fr, 0)
        stored_in_parent = subtract(used, own.local_quota(fr))
        own.set_usage(fr, subtract(used, amount))
        if stored_in_parent <= 0:
            return
        amount, above = min(amount, stored_in_parent), above.parent()


def accumulate_from_child(
    subtree_quota: FlavorResourceQuantities, usage: FlavorResourceQuantities, child: FlatNode,
) -> None:
    """Add to a cohort's amounts what a child lends to it and uses of it."""
    own = child.resource_node
    for fr, quota in own.subtree_quota.items():
        subtree_quota[fr] = add(subtree_quota.get(fr, 0), subtract(quota, own.local_quota(fr)))
    for fr, used in own.usage.items():
        usage[fr] = add(usage.get(fr, 0), max(0, subtract(used, own.local_quota(fr))))


def quantities_fit_in_quota(
    node: FlatNode, requests: FlavorResourceQuantities,
) -> tuple[bool, FlavorResourceQuantities]:
    """Whether requests fit into what a node has of its own, and what remains of them for its parent
    once the local quota is taken.
    """
    own, fits = node.resource_node, True
    remaining: FlavorResourceQuantities = {}
    for fr, amount in requests.items():
        if own.subtree_quota.get(fr, 0) < add(own.usage.get(fr, 0), amount):
            fits = False
        remaining[fr] = max(0, subtract(amount, local_available(node, fr)))
    return fits, remaining


def is_within_nominal_in_resources(node: FlatNode, frs: Collection[FlavorResource]) -> bool:
    """Whether a node uses no more than it has of its own, of each of these."""
    own = node.resource_node
    return all(own.subtree_quota.get(fr, 0) >= own.usage.get(fr, 0) for fr in frs)

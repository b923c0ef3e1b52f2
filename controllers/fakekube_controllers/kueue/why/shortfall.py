"""How much quota a Workload lacks in its ClusterQueue at one moment."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fakekube_controllers.kueue.cache import resource_node
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities
from fakekube_controllers.kueue.scheduler.flavorassigner import fitting
from fakekube_controllers.kueue.topology import flavorassigner as tas
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.resource_node import HierarchicalNode
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot


def asked_of(info: Info) -> dict[str, int]:
    """What all podsets of a Workload ask."""
    asked: dict[str, int] = {}
    for podset in info.total_requests:
        for name, amount in podset.requests.items():
            asked[name] = asked.get(name, 0) + amount
    return asked


def mismatches_of(snapshot: "Snapshot", cq: "ClusterQueueSnapshot", flavor: str, info: Info) -> list[str]:
    """Why the nodes of a flavor do not take the pods of a Workload, once each."""
    tree = snapshot.resource_flavors.get(flavor)
    if tree is None:
        return [f"ResourceFlavor {flavor} is not there"]
    covered = next((group.covered_resources for group in cq.resource_groups if flavor in group.flavors), ())
    podsets = info.obj["spec"]["podSets"]
    found: list[str | None] = [fitting.mismatch(tree, podset["template"].get("spec") or {}) for podset in podsets]
    if cq.tas_flavors or any(podset.get("topologyRequest") for podset in podsets):
        found += [tas.check_podset_and_flavor_match(cq, podset, tree, covered) for podset in podsets]
    return list(dict.fromkeys(text for text in found if text))


def least(snapshot: "Snapshot", cq: "ClusterQueueSnapshot", info: Info) -> FlavorResourceQuantities | None:
    """The least that a Workload lacks, with the flavor of each group that lacks least; empty where
    it lacks none, None where there is no flavor for it.
    """
    asked, found = asked_of(info), dict[FlavorResource, int]()
    for group in cq.resource_groups:
        wanted = {name: asked[name] for name in asked if name in group.covered_resources}
        usable = [flavor for flavor in group.flavors if not mismatches_of(snapshot, cq, flavor, info)]
        if wanted and not usable:
            return None
        if wanted:
            offers = [_lacking(cq, flavor, wanted) for flavor in usable]
            found |= _least_of(offers, asked)
    return found


def _least_of(offers: Sequence[FlavorResourceQuantities], asked: Mapping[str, int]) -> FlavorResourceQuantities:
    """The one that lacks the fewest resources, and of what is asked the smallest part."""
    return min(offers, key=lambda offer: (len(offer), sum(amount / asked[fr.resource] for fr, amount in offer.items())))


def _lacking(cq: "ClusterQueueSnapshot", flavor: str, wanted: dict[str, int]) -> FlavorResourceQuantities:
    lacks = {FlavorResource(flavor, name): amount for name, amount in wanted.items()}
    lacks = {fr: amount - resource_node.available(cq, fr) for fr, amount in lacks.items()}
    return {fr: amount for fr, amount in lacks.items() if amount > 0}


def give(cq: "ClusterQueueSnapshot", fr: FlavorResource, amount: int) -> None:
    """Add to the nominal quota of a ClusterQueue, and to what its cohorts have of it."""
    own = cq.resource_node
    quota = own.quotas.get(fr, resource_node.NO_QUOTA)
    own.quotas = {**own.quotas, fr: quota._replace(nominal=quota.nominal + amount)}
    node: HierarchicalNode | None = cq
    more = amount
    while node is not None:
        own = node.resource_node
        before = own.local_quota(fr)
        own.subtree_quota = {**own.subtree_quota, fr: own.subtree_quota.get(fr, 0) + more}
        more -= own.local_quota(fr) - before
        node = node.parent()

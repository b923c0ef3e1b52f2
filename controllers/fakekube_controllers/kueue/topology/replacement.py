"""Other places for the pods of a node that failed: the rest of the assignment stays.

A required domain binds the new places, too, and slices that lost pods are made whole where they
are. Upstream: findReplacementAssignment and what it calls in
pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from collections.abc import Sequence
from dataclasses import replace

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.topology import assignments, constraints, parameters
from fakekube_controllers.kueue.topology.assignments import DomainID, TopologyAssignment, domain_id
from fakekube_controllers.kueue.topology.constraints import Constraint
from fakekube_controllers.kueue.topology.parameters import NoFit
from fakekube_controllers.kueue.topology.snapshot import (
    PodSetAssignmentResult,
    TASFlavorSnapshot,
    TASPodSetRequests,
    Usages,
    assume,
)
from fakekube_controllers.kueue.workload import states


def replace_nodes(
    snapshot: TASFlavorSnapshot, members: Sequence[TASPodSetRequests], workload: ReadOnlyTree, assumed: Usages,
) -> dict[str, PodSetAssignmentResult]:
    """The assignments of podsets with other places for what was on the first unhealthy node of the
    Workload; what they take anew is added to ``assumed``.
    """
    result: dict[str, PodSetAssignmentResult] = {}
    for each in members:
        existing = _assignment_of(workload, each.name)
        if existing is None:
            continue
        if snapshot.features.SkipReassignmentForPodOwnedWorkloads and states.owned_by_single_pod(workload):
            # the pod cannot move, and the Workload does not outlive it
            result[each.name] = PodSetAssignmentResult(existing)
            continue
        try:
            merged, placed, request = _replaced(snapshot, each, existing, workload, assumed)
        except NoFit as error:
            result[each.name] = PodSetAssignmentResult(failure_reason=str(error))
            return result
        result[each.name] = PodSetAssignmentResult(merged)
        assume(assumed, placed, request)
    return result


def _assignment_of(workload: ReadOnlyTree, name: str) -> TopologyAssignment | None:
    admission = workload["status"].get("admission") or {}
    listed: list[ReadOnlyTree] = admission.get("podSetAssignments") or []
    found = next((each for each in listed if each["name"] == name), meta.EMPTY)
    return assignments.internal_from(found.get("topologyAssignment"))


def _replaced(
    snapshot: TASFlavorSnapshot, request: TASPodSetRequests, existing: TopologyAssignment, workload: ReadOnlyTree,
    assumed: Usages,
) -> tuple[TopologyAssignment, TopologyAssignment, TASPodSetRequests]:
    """The new assignment, what of it is new, and the request for that. Raises NoFit."""
    node = workload["status"]["unhealthyNodes"][0]["name"]
    lost = sum(each.count for each in existing.domains if each.values[-1] == node)
    kept = existing._replace(domains=tuple(each for each in existing.domains if each.values[-1] != node))
    stale = snapshot.stale_domain(kept)
    if stale:
        raise NoFit(
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale domain "
            + stale)
    request = replace(request, count=lost)
    layers = constraints.of_request(request.topology_request)
    size = parameters.slice_size_of(request.topology_request)
    within = _required_domain(snapshot, request, kept, layers)
    wanted = request
    if layers and within and lost % size:
        whole = next((each for each in reversed(layers) if lost % each.size == 0), None)
        wanted = replace(request, podset=_with_slices(request.podset, whole))
    placed = snapshot.place(wanted, None, assumed, within=within)[request.name]
    if not placed.domains:
        raise NoFit(f"cannot find replacement assignment for unhealthy node: {node}")
    return snapshot.merged(placed, kept), placed, request


def _with_slices(podset: ReadOnlyTree, layer: Constraint | None) -> ReadOnlyTree:
    """The podset with slices of that layer alone, or none."""
    asked = {
        name: value for name, value in podset["topologyRequest"].items()
        if name not in ("podsetSliceRequiredTopologyConstraints", "podSetSliceRequiredTopology", "podSetSliceSize")}
    if layer is not None:
        asked |= {"podSetSliceRequiredTopology": layer.topology, "podSetSliceSize": layer.size}
    return {**podset, "topologyRequest": asked}


def _required_domain(
    snapshot: TASFlavorSnapshot, request: TASPodSetRequests, kept: TopologyAssignment, layers: Sequence[Constraint],
) -> DomainID:
    """The domain in which new places must be: that of a slice which lost pods, or that which holds
    all; nothing for any.
    """
    tree, asked = snapshot.tree, request.topology_request
    key = parameters.level_key(asked, tree.levels)
    if key is None and request.implied:
        key = tree.levels[-1]
    if key not in tree.levels or not kept.domains:
        return ""
    if layers and request.count % layers[0].size:
        broken = next(each for each in reversed(layers) if request.count % each.size)
        return _incomplete_slice(snapshot, kept, request.count, broken)
    if not parameters.is_required(asked) or not kept.domains[0].values:
        return ""
    return _above(snapshot, kept.domains[0].values, tree.levels.index(key))


def _incomplete_slice(snapshot: TASFlavorSnapshot, kept: TopologyAssignment, missing: int, layer: Constraint) -> DomainID:
    """The domain of the layer's level in which slices lack so many pods."""
    if layer.topology not in snapshot.tree.levels:
        return ""
    level, counts = snapshot.tree.levels.index(layer.topology), dict[DomainID, int]()
    for each in kept.domains:
        own = _above(snapshot, each.values, level)
        counts[own] = counts.get(own, 0) + each.count
    return next((own for own, count in counts.items() if own and (count + missing) % layer.size == 0), "")


def _above(snapshot: TASFlavorSnapshot, values: Sequence[str], level: int) -> DomainID:
    """The id of the domain of that level in which a lowest one is; nothing for one that is gone."""
    domain = snapshot.tree.leaves.get(domain_id(values))
    while domain is not None and len(domain.level_values) > level + 1:
        domain = domain.parent
    return "" if domain is None else domain.id

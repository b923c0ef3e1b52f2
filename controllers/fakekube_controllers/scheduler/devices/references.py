"""Which claims a pod uses, and for whom they are reserved.

Upstream: dynamic-resource-allocation/resourceclaim.
"""

from collections.abc import Callable, Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree

SOURCES = ("resourceClaimName", "resourceClaimTemplateName")
GROUP_API = "scheduling.k8s.io"

FindClaim = Callable[[str, str], ReadOnlyTree | None]
"""From namespace and name."""


class ClaimProblem(Exception):
    """A pod cannot have a claim; says why as upstream does."""


def group_name_of(pod: ReadOnlyTree) -> str:
    """The PodGroup of a pod; empty for none."""
    return (pod["spec"].get("schedulingGroup") or {}).get("podGroupName") or ""


def claims_of(pod: ReadOnlyTree, find: FindClaim, *, shares: bool) -> Iterator[ReadOnlyTree]:
    """The claims of a pod, in the order of its spec; ``shares``: also those of its PodGroup.

    Raises ClaimProblem for one that is not there, or not for it.
    """
    namespace = meta.namespace_of(pod)
    for entry in pod["spec"].get("resourceClaims") or ():
        where = f'pod "{namespace}/{meta.name_of(pod)}"'
        name, is_generated = _name(pod, entry, "resourceClaimStatuses", where)
        if name is None:
            continue
        claim = find(namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{namespace}/{name}"')
        if meta.is_deleting(claim):
            raise ClaimProblem(f'resourceclaim "{name}" is being deleted')
        if is_generated:
            _check_owner(pod, claim, shares=shares)
        yield claim


def claims_of_group(group: ReadOnlyTree, find: FindClaim) -> Iterator[ReadOnlyTree]:
    """The claims that all pods of a PodGroup share. Raises ClaimProblem for one that is not there.
    """
    namespace = meta.namespace_of(group)
    for entry in group["spec"].get("resourceClaims") or ():
        name, is_generated = _name(group, entry, "resourceClaimStatuses", f"PodGroup {namespace}/{meta.name_of(group)}")
        if name is None:
            continue
        claim = find(namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{namespace}/{name}"')
        if not is_generated or meta.is_controlled_by(claim, group):
            yield claim


def _name(of: ReadOnlyTree, entry: ReadOnlyTree, statuses: str, where: str) -> tuple[str | None, bool]:
    """The claim of an entry (None: it needs none), and whether it was made from a template."""
    if entry.get("resourceClaimName") is not None:
        return entry["resourceClaimName"], False
    for status in (of.get("status") or {}).get(statuses) or ():
        if status["name"] == entry["name"]:
            return status.get("resourceClaimName"), True
    raise ClaimProblem(f"{where}: ResourceClaim not created yet")


def _check_owner(pod: ReadOnlyTree, claim: ReadOnlyTree, *, shares: bool) -> None:
    if meta.is_controlled_by(claim, pod):
        return
    owner, group = meta.controller_of(claim), group_name_of(pod)
    names = f"ResourceClaim {meta.namespace_of(claim)}/{meta.name_of(claim)}", f"Pod {meta.namespace_of(pod)}/{meta.name_of(pod)}"
    if not shares or not group:
        raise ClaimProblem(f"{names[0]} was not created for {names[1]} (Pod is not owner)")
    if (owner is None or owner["name"] != group or owner["kind"] != "PodGroup"
            or not owner["apiVersion"].startswith(f"{GROUP_API}/")):
        raise ClaimProblem(f"{names[0]} was not created for {names[1]} (neither Pod nor PodGroup {group} is the owner)")


def consumers_of(pod: ReadOnlyTree, group: ReadOnlyTree | None) -> list[Tree]:
    """For whom each claim of a pod is to be reserved: its PodGroup, where that has the same entry.
    """
    theirs = [] if group is None else group["spec"].get("resourceClaims") or []
    return [
        _reference(group, GROUP_API, "podgroups") if group is not None and any(_is_same(entry, each) for each in theirs)
        else consumer_of(pod) for entry in pod["spec"].get("resourceClaims") or ()]


def consumer_of(pod: ReadOnlyTree) -> Tree:
    """The reservation for a pod alone."""
    return _reference(pod, "", "pods")


def _is_same(entry: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    return entry["name"] == other["name"] and all(entry.get(source) == other.get(source) for source in SOURCES)


def _reference(to: ReadOnlyTree, api_group: str, resource: str) -> Tree:
    reference = {"resource": resource, "name": meta.name_of(to), "uid": meta.uid_of(to)}
    return {"apiGroup": api_group, **reference} if api_group else reference


def allocation_of(claim: ReadOnlyTree) -> ReadOnlyTree | None:
    """What a claim has; None: it is not allocated."""
    return (claim.get("status") or {}).get("allocation")


def reservations_of(claim: ReadOnlyTree) -> list[Tree]:
    """For whom a claim is reserved."""
    return (claim.get("status") or {}).get("reservedFor") or []


def is_reserved_for(pod: ReadOnlyTree, claim: ReadOnlyTree, *, shares: bool) -> bool:
    """Whether a claim is reserved for a pod; ``shares``: or for its PodGroup, by its name."""
    group = group_name_of(pod) if shares else ""
    return any(
        each["uid"] == meta.uid_of(pod)
        or (bool(group) and each.get("apiGroup") == GROUP_API and each["resource"] == "podgroups" and each["name"] == group)
        for each in reservations_of(claim))

"""Whose claims are: nobody's, the set's, or the pod's, as the retention policy has it when the set
goes or shrinks.

Upstream: pkg/controller/statefulset/stateful_set_utils.go (isClaimOwnerUpToDate and what is around
it).
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.statefulset import identity

DELETE = "Delete"


def policy_of(owner: ReadOnlyTree) -> tuple[bool, bool]:
    """Whether claims are deleted when the set shrinks, and when the set is deleted."""
    policy = owner["spec"].get("persistentVolumeClaimRetentionPolicy") or meta.EMPTY
    return policy.get("whenScaled") == DELETE, policy.get("whenDeleted") == DELETE


def _names(reference: ReadOnlyTree, obj: ReadOnlyTree) -> bool:
    return all(reference[key] == obj[key] for key in ("apiVersion", "kind")) and reference["name"] == meta.name_of(obj)


def has_stale_owner(claim: ReadOnlyTree, obj: ReadOnlyTree) -> bool:
    """Whether the claim belongs to a former object of this kind and name."""
    named = [reference for reference in meta.owners_of(claim) if _names(reference, obj)]
    return bool(named) and named[0]["uid"] != meta.uid_of(obj)


def has_other_controller(claim: ReadOnlyTree, owner: ReadOnlyTree, pod: ReadOnlyTree) -> bool:
    """Whether somebody else controls a claim that the policy is about."""
    if not any(policy_of(owner)):
        return False
    for reference in meta.owners_of(claim):
        if _names(reference, owner) or _names(reference, pod):
            if reference["uid"] != meta.uid_of(owner if _names(reference, owner) else pod):
                return True
        elif reference.get("controller"):
            return True
    return False


def _owns(claim: ReadOnlyTree, obj: ReadOnlyTree) -> bool:
    return any(reference["uid"] == meta.uid_of(obj) for reference in meta.owners_of(claim))


def _wanted_owner(owner: ReadOnlyTree, pod: ReadOnlyTree) -> ReadOnlyTree | None:
    when_scaled, when_deleted = policy_of(owner)
    if when_scaled and identity.ordinal_of(pod) not in identity.ordinals_of(owner):
        return pod
    return owner if when_deleted else None


def is_right(claim: ReadOnlyTree, owner: ReadOnlyTree, pod: ReadOnlyTree) -> bool:
    """Whether the claim's owners are as the policy has them; one that is a stranger's or a former
    set's is left alone.
    """
    if has_stale_owner(claim, owner) or has_stale_owner(claim, pod):
        return True
    if has_other_controller(claim, owner, pod):
        return not _owns(claim, owner) and not _owns(claim, pod)
    ours = (meta.uid_of(owner), meta.uid_of(pod))
    if any(not reference.get("controller") for reference in meta.owners_of(claim) if reference["uid"] in ours):
        return False
    wanted = _wanted_owner(owner, pod)
    return _owns(claim, owner) == (wanted is owner) and _owns(claim, pod) == (wanted is pod)


def with_owners(claim: ReadOnlyTree, owner: ReadOnlyTree, pod: ReadOnlyTree) -> Tree:
    """The claim with its owners as the policy has them."""
    references = [
        reference for reference in meta.owners_of(claim) if not _names(reference, owner) and not _names(reference, pod)]
    wanted = None if has_other_controller(claim, owner, pod) else _wanted_owner(owner, pod)
    if wanted is not None:
        references.append(meta.controller_reference(wanted))
    metadata = {key: value for key, value in claim["metadata"].items() if key != "ownerReferences"}
    return {**claim, "metadata": metadata | ({"ownerReferences": references} if references else {})}

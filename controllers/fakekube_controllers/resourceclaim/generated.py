"""The claim that is made from a template, for a pod or for a PodGroup.

Upstream: pkg/controller/resourceclaim/controller.go (handleClaim, handlePodGroupClaim).
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.cache.lister import Lister
from fakekube.runtime.reconcile import ExpectedError

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
MAX_BASE = 57  # characters of a generated name before its hyphen and suffix


def check_seen(consistency: Consistency, key: ObjectKey) -> None:
    """Raises ExpectedError while the cache does not show the claims that were made last for what
    ``key`` names: others would be made. Upstream keeps them beside its cache (MutationCache).
    """
    if not consistency.satisfied(key):
        raise ExpectedError("the cache does not show yet the claims that were made last")


def claim_from(templates: Lister, owner: ReadOnlyTree, wanted: ReadOnlyTree, reference: Tree) -> Tree:
    """The claim of an entry in the spec of ``owner``, whose reference is given.

    Raises LookupError without the template.
    """
    name, template_name = wanted["name"], wanted["resourceClaimTemplateName"]
    template = templates.get(meta.namespace_of(owner), template_name)
    if template is None:
        missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
        raise LookupError(f'resource claim template "{template_name}": {missing}')
    spec = template["spec"]
    found = spec.get("metadata") or {}
    metadata: Tree = {
        "generateName": _base(meta.name_of(owner), name), "namespace": meta.namespace_of(owner),
        "annotations": {**(found.get("annotations") or {}), POD_CLAIM_NAME: name},
        "ownerReferences": [reference]}
    if found.get("labels"):
        metadata["labels"] = dict(found["labels"])
    return {"metadata": metadata, "spec": spec["spec"]}


def claim_for(claims: Lister, owner: ReadOnlyTree, name: str) -> Tree | None:
    """The claim that was made for an entry already."""
    for claim in claims.controlled_by(meta.uid_of(owner)):
        if meta.annotations_of(claim).get(POD_CLAIM_NAME) == name:
            return claim
    return None


def names_in_status(owner: ReadOnlyTree) -> dict[str, str]:
    """By entry the name of its claim, as the status of a pod or of a PodGroup tells it."""
    statuses = (owner.get("status") or {}).get("resourceClaimStatuses") or ()
    return {each["name"]: each.get("resourceClaimName", "") for each in statuses}


def status_of(owner: ReadOnlyTree, made: dict[str, str]) -> Tree:
    """What is applied to the status of a pod or of a PodGroup that has got claims."""
    statuses = [{"name": name, "resourceClaimName": claim} for name, claim in made.items()]
    return {"metadata": {"name": meta.name_of(owner)}, "status": {"resourceClaimStatuses": statuses}}


def _base(owner: str, name: str) -> str:
    """``owner-name-``, or as much of both as there is room for."""
    base = f"{owner}-{name}-"
    if len(base) <= MAX_BASE:
        return base
    return f"{owner[:len(owner) * MAX_BASE // len(base)]}-{name[:len(name) * MAX_BASE // len(base)]}"

"""Claims for volumes, and which volume is fit for which claim; for all who bind, make or use
volumes.

Upstream: component-helpers/storage/volume and storage/ephemeral.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fakekube.apimachinery import labels, meta, placement, quantity
from fakekube.apimachinery.types import ReadOnlyTree

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
YES = "yes"

FindClass = Callable[[str], ReadOnlyTree | None]
"""The StorageClass of a name, or None."""


def claim_names(pod: ReadOnlyTree) -> Iterator[tuple[str, bool]]:
    """The names of the claims that a pod's volumes use, each with whether the volume is a generic
    ephemeral one.
    """
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"], False
        elif "ephemeral" in volume:
            yield ephemeral_claim_name(pod, volume), True


def ephemeral_claim_name(pod: ReadOnlyTree, volume: ReadOnlyTree) -> str:
    """The name of the claim that is made for a generic ephemeral volume."""
    return f"{meta.name_of(pod)}-{volume['name']}"


def not_for_pod(pod: ReadOnlyTree, claim: ReadOnlyTree) -> str:
    """Why a claim was not made for a pod, in upstream's words; empty when it was."""
    if meta.is_controlled_by(claim, pod):
        return ""
    return f"PVC {meta.key_of(claim)} was not created for pod {meta.key_of(pod)} (pod is not owner)"


def class_of(obj: ReadOnlyTree) -> str:
    """The name of the StorageClass of a claim or of a volume; empty when it has none."""
    annotated = meta.annotations_of(obj).get(BETA_CLASS)
    return annotated if annotated is not None else obj["spec"].get("storageClassName") or ""


def delays_binding(claim: ReadOnlyTree, find_class: FindClass) -> bool:
    """Whether a claim is bound only once a pod that uses it is scheduled."""
    name = class_of(claim)
    found = find_class(name) if name else None
    return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"


def is_fully_bound(claim: ReadOnlyTree) -> bool:
    """Whether the binder is done with a claim."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in meta.annotations_of(claim)


def is_bound_to(volume: ReadOnlyTree, claim: ReadOnlyTree) -> bool:
    """Whether a volume is bound to a claim, or kept for it by its name."""
    reference = volume["spec"].get("claimRef")
    if reference is None:
        return False
    if (reference.get("namespace"), reference.get("name")) != meta.key_of(claim):
        return False
    return reference.get("uid", "") in ("", meta.uid_of(claim))


def claim_reference(claim: ReadOnlyTree) -> dict[str, Any]:
    """The ``claimRef`` of a volume that is bound to a claim."""
    return {
        "kind": "PersistentVolumeClaim", "namespace": meta.namespace_of(claim), "name": meta.name_of(claim),
        "uid": meta.uid_of(claim), "apiVersion": "v1", "resourceVersion": meta.resource_version_of(claim)}


def requested(claim: ReadOnlyTree) -> int:
    """How much storage a claim asks for, in billionths of a byte."""
    amounts = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantity.parse(amounts.get("storage", 0)).nano


def capacity(volume: ReadOnlyTree) -> int:
    """How much storage a volume has, in billionths of a byte."""
    return quantity.parse((volume["spec"].get("capacity") or {}).get("storage", 0)).nano


def has_access_modes(volume: ReadOnlyTree, claim: ReadOnlyTree) -> bool:
    """Whether a volume has every access mode that a claim asks for."""
    modes = volume["spec"].get("accessModes") or ()
    return all(mode in modes for mode in claim["spec"].get("accessModes") or ())


def has_same_mode(volume: ReadOnlyTree, claim: ReadOnlyTree) -> bool:
    """Whether both are file systems, or both block devices."""
    return bool(volume["spec"].get("volumeMode", "Filesystem") == claim["spec"].get("volumeMode", "Filesystem"))


def reaches(volume: ReadOnlyTree, node: str, node_labels: Mapping[str, str]) -> bool:
    """Whether a volume can be used on a node, by its node affinity."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    if required is None:
        return True
    return any(placement.term_matches(term, node, node_labels) for term in required.get("nodeSelectorTerms") or ())


def best_match(
    claim: ReadOnlyTree, volumes: Iterable[ReadOnlyTree], *, delayed: bool = False,
    is_reachable: Callable[[ReadOnlyTree], bool] | None = None, is_taken: Callable[[ReadOnlyTree], bool] | None = None,
) -> ReadOnlyTree | None:
    """The volume for a claim: one that is kept for it, else the smallest that is fit; None when
    there is none.

    ``is_reachable`` is given by the scheduler, for one node. Without it only volumes that are kept
    for the claim are found where its binding is ``delayed``. ``is_taken`` tells of volumes that are
    as good as bound. Upstream: FindMatchingVolume.
    """
    wanted, name, best = requested(claim), class_of(claim), None
    selector = claim["spec"].get("selector")
    matcher = labels.from_label_selector(selector) if selector is not None else None
    for volume in volumes:
        spec = volume["spec"]
        kept = is_bound_to(volume, claim)
        if (is_taken is not None and is_taken(volume)) or (spec.get("claimRef") is not None and not kept):
            continue
        if capacity(volume) < wanted or not has_same_mode(volume, claim) or meta.is_deleting(volume):
            continue
        if (spec.get("volumeAttributesClassName") or "") != (claim["spec"].get("volumeAttributesClassName") or ""):
            continue
        reachable = is_reachable is None or is_reachable(volume)
        if kept:
            return volume if reachable else None
        if is_reachable is None and delayed:
            continue
        if (volume.get("status") or {}).get("phase") != "Available" or class_of(volume) != name:
            continue
        if matcher is not None and not matcher.matches(meta.labels_of(volume)):
            continue
        if reachable and has_access_modes(volume, claim) and (best is None or capacity(volume) < capacity(best)):
            best = volume
    return best

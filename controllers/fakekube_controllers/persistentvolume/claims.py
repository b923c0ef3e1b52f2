"""What becomes of one claim: bound, waiting for a volume, or lost.

Upstream: syncUnboundClaim and syncBoundClaim.
"""

from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS
from fakekube.runtime import pods, volumes
from fakekube.runtime.volumes import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE
from fakekube_controllers.persistentvolume.writes import Writes

DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
LOST_REFERENCE = ("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
LOST_VOLUME = ("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
MISBOUND = ("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
NO_VOLUME = ("FailedBinding", "no persistent volumes available for this claim and no storage class is set")
PROVISIONING = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system administrator. If "
    "volume creation is delayed, please verify that the provisioner is running and correctly registered.")


class ClaimSync:
    """Brings claims a step further. What its methods write may raise APIError."""

    def __init__(self, writes: Writes, volume_lister: Lister, classes: Lister, pod_lister: Lister) -> None:
        self._writes, self._volumes, self._classes, self._pods = writes, volume_lister, classes, pod_lister

    async def sync(self, claim: Tree) -> None:
        """One step."""
        if BIND_COMPLETED in meta.annotations_of(claim):
            await self._sync_bound(claim)
        elif name := claim["spec"].get("volumeName"):
            await self._sync_asked_for(claim, self._volumes.get("", name))
        else:
            await self._sync_unbound(claim)

    async def _sync_unbound(self, claim: Tree) -> None:
        delayed = volumes.delays_binding(claim, self._class)
        volume = self._find(claim, delayed=delayed)
        if volume is not None:
            await self._writes.bind(volume, claim)
            return
        if await self._assign_default_class(claim):
            return
        if delayed and not meta.annotations_of(claim).get(SELECTED_NODE):
            self._writes.event(claim, "Normal", *self._waiting_for(claim))
        elif name := volumes.class_of(claim):
            await self._ask_for_provisioning(claim, name)
            return
        else:
            self._writes.event(claim, "Normal", *NO_VOLUME)
        await self._writes.set_claim_status(claim, "Pending")

    def _find(self, claim: Tree, *, delayed: bool) -> ReadOnlyTree | None:
        """The best volume: of those with the fewest access modes beyond what is asked for the
        smallest.
        """
        by_modes: dict[int, list[Tree]] = {}
        for volume in self._volumes.list():
            if volumes.has_access_modes(volume, claim):
                by_modes.setdefault(len(volume["spec"].get("accessModes") or ()), []).append(volume)
        for _, found in sorted(by_modes.items()):
            best = volumes.best_match(claim, sorted(found, key=meta.name_of), delayed=delayed)
            if best is not None:
                return best
        return None

    def _class(self, name: str) -> ReadOnlyTree | None:
        return self._classes.get("", name)

    def _waiting_for(self, claim: Tree) -> tuple[str, str]:
        using = [
            meta.name_of(pod) for pod in self._pods.list(meta.namespace_of(claim))
            if not pods.is_finished(pod) and not pod["spec"].get("nodeName")
            and any(name == meta.name_of(claim) for name, _ in volumes.claim_names(pod))]
        if not using:
            return "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
        word = "pod" if len(using) == 1 else "pods"
        return "WaitForPodScheduled", f"waiting for {word} {','.join(sorted(using))} to be scheduled"

    async def _assign_default_class(self, claim: Tree) -> bool:
        """Give a claim that says nothing of a class the default one; whether there is one."""
        if "storageClassName" in claim["spec"] or volumes.BETA_CLASS in meta.annotations_of(claim):
            return False
        name = _default_class(self._classes.list())
        if not name:
            return False
        await self._writes.update(PERSISTENT_VOLUME_CLAIMS, {**claim, "spec": {**claim["spec"], "storageClassName": name}})
        return True

    async def _ask_for_provisioning(self, claim: Tree, class_name: str) -> None:
        found = self._class(class_name)
        if found is None:
            self._writes.event(
                claim, "Warning", "ProvisioningFailed", f'storageclass.storage.k8s.io "{class_name}" not found')
            return
        provisioner = found["provisioner"]
        if provisioner == volumes.NO_PROVISIONER:
            self._writes.event(
                claim, "Warning", "ProvisioningFailed", f"no volume plugin matched name: {volumes.NO_PROVISIONER}")
            return
        annotations = meta.annotations_of(claim)
        if annotations.get(volumes.STORAGE_PROVISIONER) == provisioner:
            return  # it was asked for, and its Event was recorded
        asked = {**annotations, volumes.BETA_STORAGE_PROVISIONER: provisioner, volumes.STORAGE_PROVISIONER: provisioner}
        written = await self._writes.update(
            PERSISTENT_VOLUME_CLAIMS, {**claim, "metadata": {**claim["metadata"], "annotations": asked}})
        self._writes.event(written, "Normal", "ExternalProvisioning", PROVISIONING.format(provisioner))

    async def _sync_asked_for(self, claim: Tree, volume: ReadOnlyTree | None) -> None:
        """A claim that names its volume."""
        if volume is None:
            await self._writes.set_claim_status(claim, "Pending")
        elif volume["spec"].get("claimRef") is None:
            if why := _misfit(volume, claim):
                text = f'Cannot bind to requested volume "{meta.name_of(volume)}": {why}'
                self._writes.event(claim, "Warning", "VolumeMismatch", text)
                await self._writes.set_claim_status(claim, "Pending")
            else:
                await self._writes.bind(volume, claim)
        elif volumes.is_bound_to(volume, claim):
            await self._writes.bind(volume, claim)
        else:
            text = f'volume "{meta.name_of(volume)}" already bound to a different claim.'
            self._writes.event(claim, "Warning", "FailedBinding", text)
            if BOUND_BY_CONTROLLER not in meta.annotations_of(claim):
                await self._writes.set_claim_status(claim, "Pending")

    async def _sync_bound(self, claim: Tree) -> None:
        name = claim["spec"].get("volumeName")
        if not name:
            await self._writes.set_claim_status(claim, "Lost", event=LOST_REFERENCE)
            return
        volume = self._volumes.get("", name)
        if volume is None:
            await self._writes.set_claim_status(claim, "Lost", event=LOST_VOLUME)
            return
        reference = volume["spec"].get("claimRef")
        if reference is None or reference.get("uid") == meta.uid_of(claim):
            await self._writes.bind(volume, claim)
        else:
            await self._writes.set_claim_status(claim, "Lost", event=MISBOUND)


def _misfit(volume: ReadOnlyTree, claim: ReadOnlyTree) -> str:
    """Why a claim must not have the volume that it names; empty when it may.

    Upstream: checkVolumeSatisfyClaim.
    """
    if volumes.capacity(volume) < volumes.requested(claim):
        return "requested PV is too small"
    if volumes.class_of(volume) != volumes.class_of(claim):
        return "storageClassName does not match"
    if (volume["spec"].get("volumeAttributesClassName") or "") != (claim["spec"].get("volumeAttributesClassName") or ""):
        return "volumeAttributesClassName does not match"
    if not volumes.has_same_mode(volume, claim):
        return "incompatible volumeMode"
    return "" if volumes.has_access_modes(volume, claim) else "incompatible accessMode"


def _default_class(classes: Sequence[ReadOnlyTree]) -> str:
    """The name of the newest default class, by name of those that are as new; empty when there is
    none.
    """
    found = [each for each in classes if any(meta.annotations_of(each).get(name) == "true" for name in DEFAULT_CLASS)]
    found.sort(key=meta.name_of)
    found.sort(key=lambda each: str(each["metadata"]["creationTimestamp"]), reverse=True)
    return meta.name_of(found[0]) if found else ""

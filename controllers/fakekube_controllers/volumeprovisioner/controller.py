"""Makes a volume for each claim whose class names ``fakekube.dev/provisioner``, deletes it when it
is released, and has it grow with its claim. Nothing is stored anywhere, so that all of this takes
no time.

A claim of a class that waits for the first consumer gets its volume once the scheduler has chosen a
node. Upstream: sig-storage-lib-external-provisioner, external-resizer. Left out: topology,
finalizers of provisioned volumes, snapshots and clones, volumes that are too large.
"""

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from fakekube.runtime import volumes
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.volumeprovisioner import NAME, is_asked_for, is_made_here

DRIVER = "fakekube.dev"


class VolumeProvisioner:
    """A request without a namespace is for a volume, any other for a claim."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.recorder = ctx, ctx.client, ctx.recorder(NAME)
        self.claims, self.volumes = ctx.lister(PERSISTENT_VOLUME_CLAIMS), ctx.lister(PERSISTENT_VOLUMES)
        self.classes = ctx.lister(STORAGE_CLASSES)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch claims, volumes and classes."""
        self.queue = queue
        self.ctx.add_handler(STORAGE_CLASSES, self._class_seen)
        self.ctx.add_handler(PERSISTENT_VOLUME_CLAIMS, self._claim_seen, lambda _, new: self._claim_seen(new))
        self.ctx.add_handler(PERSISTENT_VOLUMES, self._volume_seen, lambda _, new: self._volume_seen(new))

    def _claim_seen(self, claim: Tree) -> None:
        if is_asked_for(claim):
            self.queue.add(meta.key_of(claim))

    def _class_seen(self, found: Tree) -> None:
        """Upstream asks for the class of a claim again and again."""
        for claim in self.claims.list():
            if volumes.class_of(claim) == meta.name_of(found):
                self._claim_seen(claim)

    def _volume_seen(self, volume: Tree) -> None:
        if is_made_here(volume):
            self.queue.add(meta.key_of(volume))

    async def reconcile(self, request: Request) -> None:
        """Make, resize or delete one volume. Raises APIError."""
        if not request.namespace:
            await self._delete_released(self.volumes.get("", request.name))
            return
        claim = self.claims.get(request.namespace, request.name)
        if claim is None or not is_asked_for(claim) or meta.is_deleting(claim):
            return
        if not claim["spec"].get("volumeName"):
            await self._provision(claim)
        elif (volume := self.volumes.get("", claim["spec"]["volumeName"])) is not None and is_made_here(volume):
            await self._resize(claim, volume)

    async def _provision(self, claim: Tree) -> None:
        found = self.classes.get("", volumes.class_of(claim))
        name = f"pvc-{meta.uid_of(claim)}"
        if found is None or self.volumes.get("", name) is not None:
            return
        delayed = found.get("volumeBindingMode") == "WaitForFirstConsumer"
        if delayed and not meta.annotations_of(claim).get(volumes.SELECTED_NODE):
            return
        text = f'External provisioner is provisioning volume for claim "{meta.key_of(claim)}"'
        self.recorder.event(claim, "Normal", "Provisioning", text)
        await self.client.create(PERSISTENT_VOLUMES, _volume(name, claim, found))
        self.recorder.event(claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {name}")

    async def _delete_released(self, volume: Tree | None) -> None:
        if volume is None or meta.is_deleting(volume) or not is_made_here(volume):
            return
        if volume["status"].get("phase") == "Released" and volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete":
            await self.client.delete(PERSISTENT_VOLUMES, meta.name_of(volume), uid=meta.uid_of(volume), missing_ok=True)

    async def _resize(self, claim: Tree, volume: Tree) -> None:
        """Have a volume grow to what its claim asks for by now; how much it is is said in both."""
        status = claim.get("status") or {}
        had = (status.get("capacity") or {}).get("storage")
        if status.get("phase") != "Bound" or had is None or volumes.requested(claim) <= quantity.parse(had).nano:
            return
        amount = claim["spec"]["resources"]["requests"]["storage"]
        if volumes.capacity(volume) < volumes.requested(claim):
            text = f"External resizer is resizing volume {meta.name_of(volume)}"
            self.recorder.event(claim, "Normal", "Resizing", text)
            await self.client.patch(
                PERSISTENT_VOLUMES, meta.name_of(volume), body={"spec": {"capacity": {"storage": amount}}})
        await self.client.patch(
            PERSISTENT_VOLUME_CLAIMS, meta.name_of(claim), meta.namespace_of(claim),
            {"status": {"capacity": {"storage": amount}}}, subresource="status")
        self.recorder.event(claim, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded")


def _volume(name: str, claim: ReadOnlyTree, found: ReadOnlyTree) -> Tree:
    """The volume for a claim of a class."""
    spec = claim["spec"]
    made: Tree = {
        "capacity": {"storage": spec["resources"]["requests"]["storage"]}, "accessModes": list(spec["accessModes"]),
        "claimRef": volumes.claim_reference(claim), "storageClassName": meta.name_of(found),
        "persistentVolumeReclaimPolicy": found.get("reclaimPolicy", "Delete"),
        "volumeMode": spec.get("volumeMode", "Filesystem"), "csi": {"driver": DRIVER, "volumeHandle": name},
    }
    if found.get("mountOptions"):
        made["mountOptions"] = list(found["mountOptions"])
    return {"metadata": {"name": name, "annotations": {volumes.PROVISIONED_BY: NAME}}, "spec": made}

"""What becomes of one volume: available, bound, released, and then as its reclaim policy says.

Upstream: syncVolume and reclaimVolume. Nothing is on a volume, so that deleting and recycling take
no time. Those that something outside of the controller has made are deleted there.
"""

from collections.abc import Callable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube.client.resources import PERSISTENT_VOLUMES
from fakekube.runtime.reconcile import Request
from fakekube.runtime.volumes import PROVISIONED_BY
from fakekube_controllers.persistentvolume.writes import Writes

RECYCLED = ("hostPath", "nfs")  # sources that upstream has a recycler for
DELETED_BELOW = "/tmp/"  # noqa: S108 - where upstream deletes directories of a host


class VolumeSync:
    """Brings volumes a step further. ``look_at(key)`` has a claim looked at.

    What is written may raise APIError.
    """

    def __init__(self, writes: Writes, claims: Lister, look_at: Callable[[Request], object]) -> None:
        self._writes, self._claims, self._look_at = writes, claims, look_at

    async def sync(self, volume: Tree) -> None:
        """One step."""
        reference = volume["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            await self._writes.set_volume_phase(volume, "Available")
            return
        claim = self._claims.get(reference.get("namespace", ""), reference.get("name", ""))
        if claim is None or meta.uid_of(claim) != reference["uid"]:
            await self._release(volume)
            return
        name = claim["spec"].get("volumeName", "")
        if not name:
            self._look_at(meta.key_of(claim))
        elif name == meta.name_of(volume):
            await self._writes.set_volume_phase(volume, "Bound")
        elif PROVISIONED_BY in meta.annotations_of(volume) and _policy(volume) == "Delete":
            await self._release(volume)
        else:
            await self._writes.unbind(volume)

    async def _release(self, volume: ReadOnlyTree) -> None:
        """Its claim is gone, or has another volume."""
        if (volume.get("status") or {}).get("phase") not in ("Released", "Failed"):
            volume = await self._writes.set_volume_phase(volume, "Released")
        if _policy(volume) == "Recycle":
            await self._recycle(volume)
        elif _policy(volume) == "Delete" and PROVISIONED_BY not in meta.annotations_of(volume):
            await self._delete(volume)

    async def _recycle(self, volume: ReadOnlyTree) -> None:
        if any(source in volume["spec"] for source in RECYCLED):
            self._writes.event(volume, "Normal", "VolumeRecycled", "Volume recycled")
            await self._writes.unbind(volume)
        else:
            await self._writes.set_volume_phase(
                volume, "Failed", ("VolumeFailedRecycle", "No recycler plugin found for the volume!"))

    async def _delete(self, volume: ReadOnlyTree) -> None:
        if why := _undeletable(volume):
            await self._writes.set_volume_phase(volume, "Failed", ("VolumeFailedDelete", why))
        elif not meta.is_deleting(volume):
            await self._writes.client.delete(PERSISTENT_VOLUMES, meta.name_of(volume), missing_ok=True)


def _policy(volume: ReadOnlyTree) -> str:
    policy: str = volume["spec"].get("persistentVolumeReclaimPolicy", "Retain")
    return policy


def _undeletable(volume: ReadOnlyTree) -> str:
    """Why upstream's controller cannot delete what is behind a volume; empty when it can."""
    spec = volume["spec"]
    if "hostPath" in spec:
        path = spec["hostPath"]["path"]
        if path.startswith(DELETED_BELOW) and len(path) > len(DELETED_BELOW):
            return ""
        return f"host_path deleter only supports /tmp/.+ but received provided {path}"
    why = "no volume plugin matched" if "csi" in spec else "no deletable volume plugin matched"
    return f'error getting deleter volume plugin for volume "{meta.name_of(volume)}": {why}'

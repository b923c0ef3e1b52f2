"""Takes the finalizer ``kubernetes.io/pv-protection`` off volumes that are to go once they are not
bound.

Admission puts it on; volumes that lack it get it here. Upstream:
pkg/controller/volume/pvprotection.
"""

from fakekube.apimachinery import meta
from fakekube.client.resources import PERSISTENT_VOLUMES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request

FINALIZER = "kubernetes.io/pv-protection"


class VolumeReconciler:
    """Brings the finalizer of one volume in line with its phase."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.volumes = ctx.client, ctx.lister(PERSISTENT_VOLUMES)

    async def reconcile(self, request: Request) -> None:
        """Put the finalizer on a volume that stays, or take it off one that is to go and is not
        bound. Raises APIError.
        """
        volume = self.volumes.get("", request.name)
        if volume is None:
            return
        protected = FINALIZER in meta.finalizers_of(volume)
        if not meta.is_deleting(volume):
            if not protected:
                await self.client.update(PERSISTENT_VOLUMES, meta.with_finalizer(volume, FINALIZER))
        elif protected and (volume.get("status") or {}).get("phase") != "Bound":
            await self.client.update(PERSISTENT_VOLUMES, meta.without_finalizer(volume, FINALIZER))

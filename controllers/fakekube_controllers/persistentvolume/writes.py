"""What the binder writes: a claim and a volume that name each other, and what their status says.

Each function returns the object as the server has it then. Upstream: bind, unbindVolume,
updateClaimStatus, updateVolumePhaseWithEvent in pv_controller.go.
"""

from typing import Literal

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, Resource
from fakekube.runtime.context import Context
from fakekube.runtime.volumes import BIND_COMPLETED, BOUND_BY_CONTROLLER, YES, claim_reference, is_bound_to

RECORDER = "persistentvolume-controller"
ALL = "all"  # one key: the next step needs to see every write

EventType = Literal["Normal", "Warning"]


class Writes:
    """Writes as the binder, with the versions that were read: APIError 409 when somebody else was
    faster.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx, self.client = ctx, ctx.client
        self._recorder, self._consistency = ctx.recorder(RECORDER), Consistency()

    def are_seen(self) -> bool:
        """Whether the caches show all that was written."""
        return self._consistency.satisfied(ALL)

    def event(self, obj: ReadOnlyTree, type_: EventType, reason: str, message: str) -> None:
        """Record an Event of a claim or of a volume."""
        self._recorder.event(obj, type_, reason, message)

    async def update(self, resource: Resource, obj: Tree, *, subresource: str = "") -> Tree:
        """Replace an object, or its status."""
        written = await self.client.update(resource, obj, subresource=subresource)
        self._consistency.wrote(ALL, self._ctx.informer(resource), written)
        return written

    async def bind(self, volume: ReadOnlyTree, claim: ReadOnlyTree) -> None:
        """Have a volume and a claim name each other, and say so in both.

        What is so already is not written.
        """
        volume = await self._bind_volume(volume, claim)
        volume = await self.set_volume_phase(volume, "Bound")
        claim = await self._bind_claim(claim, volume)
        await self.set_claim_status(claim, "Bound", volume)

    async def _bind_volume(self, volume: ReadOnlyTree, claim: ReadOnlyTree) -> ReadOnlyTree:
        spec, annotations = volume["spec"], dict(meta.annotations_of(volume))
        reference = spec.get("claimRef") or {}
        if not is_bound_to(volume, claim):
            annotations.setdefault(BOUND_BY_CONTROLLER, YES)
        if is_bound_to(volume, claim) and reference.get("uid") == meta.uid_of(claim):
            return volume
        spec = {**spec, "claimRef": claim_reference(claim)}
        return await self.update(PERSISTENT_VOLUMES, _changed(volume, spec, annotations))

    async def _bind_claim(self, claim: ReadOnlyTree, volume: ReadOnlyTree) -> ReadOnlyTree:
        spec, annotations = claim["spec"], dict(meta.annotations_of(claim))
        named = spec.get("volumeName") == meta.name_of(volume)
        if named and BIND_COMPLETED in annotations:
            return claim
        if not named:
            spec = {**spec, "volumeName": meta.name_of(volume)}
            annotations.setdefault(BOUND_BY_CONTROLLER, YES)
        annotations.setdefault(BIND_COMPLETED, YES)
        return await self.update(PERSISTENT_VOLUME_CLAIMS, _changed(claim, spec, annotations))

    async def unbind(self, volume: ReadOnlyTree) -> None:
        """Take back a binding of this controller; of one that the user has made only the uid."""
        spec, annotations = dict(volume["spec"]), dict(meta.annotations_of(volume))
        if annotations.pop(BOUND_BY_CONTROLLER, None) is not None:
            spec.pop("claimRef", None)
        else:
            spec["claimRef"] = {name: value for name, value in spec["claimRef"].items() if name != "uid"}
        written = await self.update(PERSISTENT_VOLUMES, _changed(volume, spec, annotations))
        await self.set_volume_phase(written, "Available")

    async def set_claim_status(
        self, claim: ReadOnlyTree, phase: str, volume: ReadOnlyTree | None = None, event: tuple[str, str] | None = None,
    ) -> None:
        """Say how a claim fares; of a bound one what it has got.

        ``event``: reason and message of a Warning, recorded if the phase is a new one.
        """
        before = claim.get("status") or {}
        status = {**before, "phase": phase}
        if volume is None:
            status.pop("accessModes", None)
            status.pop("capacity", None)
        else:
            status["accessModes"] = list(volume["spec"].get("accessModes") or ())
            if before.get("phase") != phase or "capacity" not in before:
                status["capacity"] = dict(volume["spec"].get("capacity") or {})
        if status == before:
            return
        written = await self.update(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": status}, subresource="status")
        if event is not None and before.get("phase") != phase:
            self.event(written, "Warning", *event)

    async def set_volume_phase(
        self, volume: ReadOnlyTree, phase: str, event: tuple[str, str] | None = None,
    ) -> ReadOnlyTree:
        """Say how a volume fares.

        ``event``: reason and message of a Warning that comes with a new phase.
        """
        before = volume.get("status") or {}
        if before.get("phase") == phase:
            return volume
        status = {**before, "phase": phase}
        status.pop("message", None)
        if event is not None:
            status["message"] = event[1]
        written = await self.update(PERSISTENT_VOLUMES, {**volume, "status": status}, subresource="status")
        if event is not None:
            self.event(written, "Warning", *event)
        return written


def _changed(obj: ReadOnlyTree, spec: ReadOnlyTree, annotations: dict[str, str]) -> Tree:
    """A copy with another spec and other annotations."""
    metadata = {name: value for name, value in obj["metadata"].items() if name != "annotations"}
    if annotations:
        metadata["annotations"] = annotations
    return {**obj, "metadata": metadata, "spec": spec}

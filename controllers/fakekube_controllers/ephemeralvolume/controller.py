"""Makes a claim for each generic ephemeral volume of a pod; the garbage collector takes it when the
pod goes.

Upstream: pkg/controller/volume/ephemeral/controller.go. Left out: metrics.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.runtime.volumes import ephemeral_claim_name, not_for_pod
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.ephemeralvolume import has_ephemeral_volumes


class EphemeralVolumes:
    """Reconciles pods."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.recorder = ctx, ctx.client, ctx.recorder("ephemeral_volume")
        self.pods, self.claims = ctx.lister(PODS), ctx.lister(PERSISTENT_VOLUME_CLAIMS)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods, and claims that go."""
        self.queue = queue
        self.ctx.add_handler(PODS, self._pod_seen)
        self.ctx.add_handler(PERSISTENT_VOLUME_CLAIMS, on_delete=self._claim_gone)

    def _pod_seen(self, pod: Tree) -> None:
        if has_ephemeral_volumes(pod):
            self.queue.add(meta.key_of(pod))

    def _claim_gone(self, claim: Tree) -> None:
        """A pod without its claim gets another."""
        owner = meta.controller_of(claim)
        if owner is not None and owner["kind"] == "Pod":
            self.queue.add(Request(meta.namespace_of(claim), owner["name"]))

    async def reconcile(self, request: Request) -> None:
        """Make the claims that a pod lacks.

        Raises APIError, and ValueError for a claim that is somebody else's.
        """
        pod = self.pods.get(request.namespace, request.name)
        if pod is None or meta.is_deleting(pod):
            return
        for volume in pod["spec"].get("volumes") or ():
            if "ephemeral" in volume:
                await self._ensure_claim(pod, volume)

    async def _ensure_claim(self, pod: Tree, volume: Tree) -> None:
        name = ephemeral_claim_name(pod, volume)
        claim = self.claims.get(meta.namespace_of(pod), name)
        try:
            if claim is not None:
                if why := not_for_pod(pod, claim):
                    raise ValueError(why)
                return
            template = volume["ephemeral"]["volumeClaimTemplate"]
            await self.client.create(PERSISTENT_VOLUME_CLAIMS, _claim(pod, name, template))
        except (APIError, ValueError) as error:
            text = f"ephemeral volume {volume['name']}: {'' if claim is not None else f'create PVC {name}: '}{error}"
            self.recorder.event(pod, "Warning", "FailedBinding", text)
            raise


def _claim(pod: ReadOnlyTree, name: str, template: ReadOnlyTree) -> Tree:
    metadata: Tree = {
        "name": name, "namespace": meta.namespace_of(pod), "ownerReferences": [meta.controller_reference(pod)]}
    for field in ("labels", "annotations"):
        if found := (template.get("metadata") or {}).get(field):
            metadata[field] = dict(found)
    return {"metadata": metadata, "spec": template["spec"]}

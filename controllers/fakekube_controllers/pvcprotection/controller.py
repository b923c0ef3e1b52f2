"""Takes the finalizer ``kubernetes.io/pvc-protection`` off claims that are to go once no pod on a
node uses them.

Admission puts it on; claims that lack it get it here. Upstream:
pkg/controller/volume/pvcprotection. Left out: the condition Unused of bound claims.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from fakekube.runtime import pods, volumes
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue

FINALIZER = "kubernetes.io/pvc-protection"
INDEX = "claims"


class ClaimReconciler:
    """Brings the finalizer of one claim in line with its use."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.claims, self.pods = ctx.lister(PERSISTENT_VOLUME_CLAIMS), ctx.lister(PODS)
        self.pods.add_index(INDEX, claims_of)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch claims and pods."""
        self.queue = queue
        self.ctx.add_handler(PERSISTENT_VOLUME_CLAIMS, self._claim_seen, lambda _, new: self._claim_seen(new))
        self.ctx.add_handler(PODS, self._pod_seen, lambda _, new: self._pod_seen(new), self._pod_gone)

    def _claim_seen(self, claim: Tree) -> None:
        if meta.is_deleting(claim) == (FINALIZER in meta.finalizers_of(claim)):
            self.queue.add(meta.key_of(claim))

    def _pod_seen(self, pod: Tree) -> None:
        if pods.is_finished(pod) or not pod["spec"].get("nodeName"):
            self._pod_gone(pod)

    def _pod_gone(self, pod: Tree) -> None:
        for name in _claim_names(pod):
            self.queue.add(Request(meta.namespace_of(pod), name))

    async def reconcile(self, key: Request) -> None:
        """Put the finalizer on a claim that stays, or take it off one that is to go and is not
        used. Raises APIError.
        """
        claim = self.claims.get(key.namespace, key.name)
        if claim is None:
            return
        protected = FINALIZER in meta.finalizers_of(claim)
        if not meta.is_deleting(claim):
            if not protected:
                await self.client.update(PERSISTENT_VOLUME_CLAIMS, meta.with_finalizer(claim, FINALIZER))
        elif protected and not await self._is_used(key):
            await self.client.update(PERSISTENT_VOLUME_CLAIMS, meta.without_finalizer(claim, FINALIZER))

    async def _is_used(self, key: Request) -> bool:
        """Whether a pod on a node has the claim; where the cache knows none, the server is asked.
        """
        if any(_uses(pod, key.name) for pod in self.pods.by_index(INDEX, str(key))):
            return True
        return any(_uses(pod, key.name) for pod in (await self.client.list(PODS, key.namespace)).items)


def claims_of(pod: Tree) -> list[str]:
    """The claims of a pod by namespace and name, for an index."""
    return [f"{meta.namespace_of(pod)}/{name}" for name in _claim_names(pod)]


def _claim_names(pod: Tree) -> dict[str, None]:
    return dict.fromkeys(name for name, _ in volumes.claim_names(pod))


def _uses(pod: Tree, name: str) -> bool:
    """Only a pod on a node does; a kubelet starts none whose claim is on its way out."""
    return bool(pod["spec"].get("nodeName")) and name in _claim_names(pod)

"""Writes the status of pods to the API, and deletes pods whose containers have stopped.

Upstream: pkg/kubelet/status/status_manager.go. Left out: the batching of updates.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import PODS
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.clients import NodeClients
from fakekube_controllers.kubelet.outcomes.annotations import PREFIX
from fakekube_controllers.kubelet.pods import status
from fakekube_controllers.kubelet.pods.run import PodRun

HOLD_STATUS = PREFIX + "hold-status"


class StatusManager:
    """``observed_generation``: whether a status says which generation of the pod it speaks of.

    ``removal_seconds``: how long a deleted pod is there after its containers have stopped, while
    its kubelet cleans up.
    """

    def __init__(self, clients: NodeClients, addresses: Addresses, *, observed_generation: bool, removal_seconds: float) -> None:
        self._clients, self._addresses = clients, addresses
        self._observed_generation, self._removal_seconds = observed_generation, removal_seconds

    def is_held(self, pod: ReadOnlyTree) -> bool:
        """Whether a pod is to look as on a dead node: nothing is written of it, and it is not
        deleted.
        """
        return meta.annotations_of(pod).get(HOLD_STATUS) == "true"

    async def sync(self, run: PodRun, now: float) -> bool:
        """Write what has changed; whether the API showed all of it already. Raises APIError."""
        pod = run.pod
        present, node, uid = pod.get("status") or {}, pod["spec"]["nodeName"], meta.uid_of(pod)
        run.status = wanted = status.render(
            run, present, host_ip=self._addresses.of_node(node), now=now, observed_generation=self._observed_generation,
            pod_ip=self._addresses.of_pod(node, uid, bool(pod["spec"].get("hostNetwork"))))
        changes = status.changes(wanted, present)
        if not changes:
            return True
        body = {"metadata": {"uid": uid, "resourceVersion": meta.resource_version_of(pod)}, "status": changes}
        try:
            await self._clients.of(node).patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), body, subresource="status", read_answer=False)
        except APIError as error:
            if error.code != 404:
                raise
        return False

    def seconds_until_removal(self, run: PodRun, now: float) -> float:
        """How long a pod that has stopped is still to be seen. One that had ended before it was
        deleted goes at once.
        """
        if run.deleting_since is None:
            return 0.0
        ended = max((c.finished_at or 0.0 for c in run.containers if c.ran), default=0.0)
        return ended + self._removal_seconds - now

    async def remove(self, pod: ReadOnlyTree) -> None:
        """Delete a pod for good if it is being deleted. Raises APIError."""
        if not meta.is_deleting(pod):
            return
        try:
            await self._clients.of(pod["spec"]["nodeName"]).delete(
                PODS, meta.name_of(pod), meta.namespace_of(pod), grace_period_seconds=0, uid=meta.uid_of(pod), missing_ok=True)
        except APIError as error:
            if error.code != 409:
                raise

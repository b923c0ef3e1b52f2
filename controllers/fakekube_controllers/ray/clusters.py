"""One reconcile of one RayCluster: the head, its Service, the workers of each group, the status.

Upstream: ray-operator/controllers/ray/raycluster_controller.go.
"""

from datetime import timedelta

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import PODS, SERVICES
from fakekube.runtime.context import Context
from fakekube.runtime.pods import is_finished, phase
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.ray import clusterstatus, names, pods, validation
from fakekube_controllers.ray.names import RAY_CLUSTERS
from fakekube_controllers.ray.validation import Invalid

CATCH_UP = timedelta(milliseconds=5)
FAILURE_REASONS = {"head": "FailedCreateHeadPod", "worker": "FailedCreateWorkerPod"}


class NotDone(Exception):
    """Pods could not be made or were just deleted: there is more to do. ``reason`` is that of the
    condition ReplicaFailure, or empty.
    """

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason


class RayClusterReconciler:
    """Reconciles one RayCluster."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self._client = ctx, ctx.client
        self._clusters, self._pods, self._services = ctx.lister(RAY_CLUSTERS), ctx.lister(PODS), ctx.lister(SERVICES)
        self._recorder = ctx.recorder("raycluster-controller")
        self._consistency = Consistency()

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a cluster a step forward and write its status. Raises APIError and NotDone."""
        cluster = self._clusters.get(request.namespace, request.name)
        if cluster is None:
            self._consistency.forget(request)
            return None
        manager = cluster["spec"].get("managedBy") or names.MANAGED_BY_OPERATOR
        if manager != names.MANAGED_BY_OPERATOR or meta.is_deleting(cluster):
            return None
        if not self._consistency.satisfied(request):
            return Result(requeue_after=CATCH_UP)
        if not self._is_valid(cluster):
            return None
        failed: NotDone | None = None
        try:
            await self._create_service(request, cluster)
            await self._reconcile_pods(request, cluster)
        except NotDone as error:
            failed = error
        failure = (failed.reason, str(failed)) if failed is not None and failed.reason else None
        if not self._consistency.satisfied(request):
            return Result(requeue_after=CATCH_UP)
        await self._write_status(request, cluster, failure)
        if failed is not None and failed.reason:
            raise failed
        return None

    def _is_valid(self, cluster: ReadOnlyTree) -> bool:
        what, where = "metadata", f"{meta.namespace_of(cluster)}/{meta.name_of(cluster)}"
        try:
            validation.check_cluster_metadata(cluster)
            what = "spec"
            validation.check_cluster_spec(cluster["spec"])
        except Invalid as error:
            reason = "InvalidRayClusterMetadata" if what == "metadata" else "InvalidRayClusterSpec"
            self._recorder.event(cluster, "Warning", reason, f"The RayCluster {what} is invalid {where}: {error}")
            return False
        return True

    def _pods_of(self, cluster: ReadOnlyTree, **labels: str) -> list[Tree]:
        wanted = {names.CLUSTER_LABEL: meta.name_of(cluster), **labels}
        found = self._pods.labelled(names.CLUSTER_LABEL, meta.name_of(cluster))
        return [
            pod for pod in found
            if meta.namespace_of(pod) == meta.namespace_of(cluster) and wanted.items() <= meta.labels_of(pod).items()]

    async def _create_service(self, request: Request, cluster: ReadOnlyTree) -> None:
        if self._services.get(request.namespace, names.head_service(request.name)) is None:
            try:
                made = await self._client.create(SERVICES, pods.head_service(cluster), request.namespace)
            except APIError as error:
                if error.reason != "AlreadyExists":
                    raise
                return
            self._consistency.wrote(request, self._ctx.informer(SERVICES), made)
            self._recorder.event(
                cluster, "Normal", "CreatedService", f"Created service {request.namespace}/{meta.name_of(made)}")

    async def _reconcile_pods(self, request: Request, cluster: ReadOnlyTree) -> None:
        """Make and delete pods. Raises APIError, NotDone."""
        suspended, where = clusterstatus.suspend_status(cluster), f"{request.namespace}/{request.name}"
        if suspended == clusterstatus.SUSPENDING:
            present = [pod for pod in self._pods_of(cluster) if not meta.is_deleting(pod)]
            for pod in present:
                await self._client.delete(PODS, meta.name_of(pod), request.namespace, missing_ok=True)
            if present:
                self._recorder.event(
                    cluster, "Normal", "DeletedPod", f"Deleted Pods for RayCluster {where} due to suspension")
            return
        if suspended or cluster["spec"].get("suspend"):
            return
        await self._reconcile_head(request, cluster)
        for group in pods.groups_of(cluster):
            await self._reconcile_group(request, cluster, group)

    async def _reconcile_head(self, request: Request, cluster: ReadOnlyTree) -> None:
        found = self._pods_of(cluster, **{names.NODE_TYPE_LABEL: names.HEAD})
        if len(found) > 1:
            told = " ".join(meta.name_of(pod) for pod in found)
            raise NotDone(f"{len(found)} head pods found [{told}]. Please delete extra head pods", "FailedCreateHeadPod")
        if not found:
            await self._create(request, cluster, pods.head_pod(cluster), names.HEAD)
        elif _is_over(found[0]) and not meta.is_deleting(found[0]):
            await self._delete(request, cluster, found[0], "head")
            raise NotDone("the head Pod was deleted")

    async def _reconcile_group(self, request: Request, cluster: ReadOnlyTree, group: ReadOnlyTree) -> None:
        name = group["groupName"]
        found = sorted(
            self._pods_of(cluster, **{names.NODE_TYPE_LABEL: names.WORKER, names.GROUP_LABEL: name}), key=meta.name_of)
        if group.get("suspend"):
            for pod in found:
                await self._delete(request, cluster, pod, "worker")
            return
        over = [pod for pod in found if _is_over(pod)]
        for pod in over:
            if not meta.is_deleting(pod):
                await self._delete(request, cluster, pod, "worker")
        if over:
            raise NotDone(f"delete {len(over)} unhealthy worker Pods")
        chosen = set((group.get("scaleStrategy") or {}).get("workersToDelete") or ())
        for pod in [pod for pod in found if meta.name_of(pod) in chosen]:
            await self._delete(request, cluster, pod, "")
            found.remove(pod)
        missing = pods.desired_workers(group) - len(found)
        for _ in range(missing):
            await self._create(request, cluster, pods.worker_pod(cluster, group), names.WORKER)
        if missing < 0 and not cluster["spec"].get("enableInTreeAutoscaling"):
            for pod in found[:-missing]:
                await self._delete(request, cluster, pod, "")

    async def _create(self, request: Request, cluster: ReadOnlyTree, pod: Tree, node_type: str) -> None:
        kind, where = node_type.capitalize(), f"{request.namespace}/{request.name}"
        try:
            made = await self._client.create(PODS, pod, request.namespace)
        except APIError as error:
            self._recorder.event(
                cluster, "Warning", f"FailedToCreate{kind}Pod",
                f"Failed to create {node_type} Pod for the cluster {where}, {error.message}")
            raise NotDone(f"failed to create {node_type} pod\n{error.message}", FAILURE_REASONS[node_type]) from error
        self._consistency.wrote(request, self._ctx.informer(PODS), made)
        self._recorder.event(
            cluster, "Normal", f"Created{kind}Pod", f"Created {node_type} Pod {request.namespace}/{meta.name_of(made)}")

    async def _delete(self, request: Request, cluster: ReadOnlyTree, pod: ReadOnlyTree, node_type: str) -> None:
        if await self._client.delete(PODS, meta.name_of(pod), request.namespace, missing_ok=True) is None:
            return
        where, told = f"{request.namespace}/{meta.name_of(pod)}", ""
        if node_type:
            terminated = _terminated(pod)
            told = (
                f"; Pod status: {phase(pod)}; Pod restart policy: {pod['spec'].get('restartPolicy')}; "
                f"Ray container terminated status: {'nil' if terminated is None else terminated.get('reason', '')}")
        kind = "Head" if node_type == names.HEAD else "Worker"
        text = f"Deleted {node_type} Pod {where}{told}" if node_type else f"Deleted Pod {where}"
        self._recorder.event(cluster, "Normal", f"Deleted{kind}Pod", text)

    async def _write_status(self, request: Request, cluster: ReadOnlyTree, failure: tuple[str, str] | None) -> None:
        status = clusterstatus.status_of(cluster, self._pods_of(cluster), failure, self._ctx.clock.time())
        if status == (cluster.get("status") or {}):
            return
        written = await self._client.update(RAY_CLUSTERS, {**cluster, "status": status}, subresource="status")
        self._consistency.wrote(request, self._ctx.informer(RAY_CLUSTERS), written)


def _terminated(pod: ReadOnlyTree) -> ReadOnlyTree | None:
    """How Ray's container, the first one, ended."""
    ray = pod["spec"]["containers"][0]["name"]
    for container in (pod.get("status") or meta.EMPTY).get("containerStatuses") or ():
        if container["name"] == ray:
            found: ReadOnlyTree | None = (container.get("state") or meta.EMPTY).get("terminated")
            return found
    return None


def _is_over(pod: ReadOnlyTree) -> bool:
    """Whether a pod will do no more, and is to be replaced."""
    if is_finished(pod):
        return True
    return phase(pod) == "Running" and _terminated(pod) is not None and pod["spec"].get("restartPolicy") == "Never"

"""Nodes that fail: Workloads with pods assigned to them are told to get others, or evicted when a
second one fails before that.

Upstream: pkg/controller/tas/node_controller.go. That a Workload gets another node is the
scheduler's second pass.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue import names, patches, pods
from fakekube_controllers.kueue.names import RESOURCE_FLAVORS
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from fakekube_controllers.kueue.topology.indexes import TASObjects
from fakekube_controllers.kueue.topology.nodehealth import Health, health_of
from fakekube_controllers.kueue.topology.requests import is_tas
from fakekube_controllers.kueue.workload import evict, patching, reasons, states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue

NODE_FAILURE_DELAY_SECONDS = 30.0
RECONCILE_BATCH_SECONDS = 0.1
MULTIPLE_FAILURES = "Workload eviction triggered due to multiple TAS assigned node failures, including: {}"
TERMINATED_MESSAGE = "Pod terminated by Kueue NodeController due to node taint"


class NodeReconciler:
    """Reconciles one node, whether it is there or not."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self.kueue, self.ctx, self.client = kueue, ctx, kueue.client
        self._objects, self._nodes = TASObjects(ctx), ctx.lister(NODES)
        self._flavors = ctx.lister(RESOURCE_FLAVORS)
        self._recorder = kueue.recorder("tas-resource-flavor-controller")

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow nodes, and pods that end or never begin."""
        self.queue = queue
        if self.kueue.features.TASFailedNodeReplacement:
            self.ctx.add_handler(NODES, self._node, self._node_changed, self._node)
        self.ctx.add_handler(PODS, self._pod, lambda _, new: self._pod(new), self._pod)

    def _node(self, node: ReadOnlyTree) -> None:
        self.queue.add(Request("", meta.name_of(node)))

    def _node_changed(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if _is_ready(old) != _is_ready(new) or (
            self.kueue.features.TASReplaceNodeOnNodeTaints and _taints_of(old) != _taints_of(new)
        ):
            self._node(new)

    def _pod(self, pod: ReadOnlyTree) -> None:
        if not is_tas(pod):
            return
        node, selected = pod["spec"].get("nodeName"), (pod["spec"].get("nodeSelector") or meta.EMPTY).get(HOSTNAME)
        if not node and selected:
            self.queue.add_after(Request("", selected), RECONCILE_BATCH_SECONDS)
        if node and (meta.is_deleting(pod) or pods.is_terminated(pod)):
            self.queue.add_after(Request("", node), RECONCILE_BATCH_SECONDS)

    async def reconcile(self, request: Request) -> Result | None:
        """Tell the Workloads of a node that it has failed, or that it has not. Raises APIError."""
        name, features = request.name, self.kueue.features
        node = self._nodes.get("", name)
        ready = None if node is None else conditions.find((node.get("status") or meta.EMPTY).get("conditions"), "Ready")
        expired = False
        if ready is not None and ready["status"] != "True":
            passed = self.kueue.clock.time() - times.parse_time(ready["lastTransitionTime"])
            expired = passed >= NODE_FAILURE_DELAY_SECONDS
            if not expired and not features.TASReplaceNodeOnPodTermination:
                return Result.after(NODE_FAILURE_DELAY_SECONDS - passed)
        affected = {meta.key_of(each): None for each in self._objects.workloads_on(name)}
        if node is None or ready is None:
            await self._handle_unhealthy(name, affected)
            return None
        if features.TASReplaceNodeDueToNotReadyOverFixedTime and expired:
            evicted = await self._handle_unhealthy(name, affected)
            affected = {key: None for key in affected if key not in evicted}
        selecting: dict[ObjectKey, list[ReadOnlyTree]] = {}
        for pod in self._objects.pods_selecting(name):
            workload = meta.annotations_of(pod).get(names.WORKLOAD_ANNOTATION)
            if workload is not None:
                selecting.setdefault(ObjectKey(meta.namespace_of(pod), workload), []).append(pod)
        for key in selecting:
            late = self._objects.workloads.get(*key)
            if late is not None and not states.is_finished(late) and not states.is_evicted(late):
                affected[key] = None
        await self._reconcile_workloads(node, affected, selecting)
        return None

    async def _reconcile_workloads(
        self, node: ReadOnlyTree, affected: Iterable[ObjectKey], selecting: dict[ObjectKey, list[ReadOnlyTree]],
    ) -> None:
        name, found = meta.name_of(node), dict[ObjectKey, Health]()
        for key in affected:
            workload = self._objects.workloads.get(*key)
            if workload is not None:
                found[key] = health_of(
                    workload, node, self._objects.pods_of(workload), selecting.get(key, ()), self._flavor, self.kueue.features)
        evicted = await self._handle_unhealthy(name, [key for key, health in found.items() if health.is_unhealthy])
        for key, health in found.items():
            if not health.is_unhealthy:
                await self._handle_healthy(name, key)
        for key, health in found.items():
            if key not in evicted:
                await self._mark_failed(health.pods_to_terminate)

    def _flavor(self, name: str) -> Tree | None:
        return self._flavors.get("", name)

    # Workloads

    async def _handle_unhealthy(self, node: str, affected: Iterable[ObjectKey]) -> list[ObjectKey]:
        """Tell Workloads that a node has failed; the keys of those that are evicted, as another one
        has, too.
        """
        gone: list[ObjectKey] = []
        for key in affected:
            workload = self._objects.workloads.get(*key)
            if workload is None:
                continue
            unhealthy = states.unhealthy_node_names(workload)
            if unhealthy and node not in unhealthy and not states.is_evicted(workload):
                text = MULTIPLE_FAILURES.format(", ".join([*unhealthy, node]))
                exposes = self.kueue.should_expose_local_queue_metrics_for_workload(workload)
                await evict.evict(
                    self.client, self._recorder, workload, reasons.EVICTED_DUE_TO_NODE_FAILURES, text,
                    now=self.kueue.clock.time(), features=self.kueue.features, metrics=self.kueue.metrics,
                    expose_local_queue_metrics=exposes)
                gone.append(key)
            elif states.is_evicted(workload):
                gone.append(key)
            elif node not in unhealthy:
                await self._set_unhealthy(workload, [*unhealthy, node])
        return gone

    async def _handle_healthy(self, node: str, key: ObjectKey) -> None:
        workload = self._objects.workloads.get(*key)
        unhealthy = [] if workload is None else states.unhealthy_node_names(workload)
        if workload is not None and node in unhealthy:
            await self._set_unhealthy(workload, [each for each in unhealthy if each != node])

    async def _set_unhealthy(self, workload: ReadOnlyTree, unhealthy: Sequence[str]) -> None:
        def update(changed: Tree) -> bool:
            changed["status"]["unhealthyNodes"] = [{"name": each} for each in unhealthy]
            return True

        await patching.patch_admission_status(self.client, workload, update, features=self.kueue.features)

    # pods

    async def _mark_failed(self, stuck: Iterable[ReadOnlyTree]) -> None:
        """Let pods fail that will never be on their node."""
        for pod in stuck:
            try:
                await patches.patch_status(self.client, PODS, pod, self._failed)
            except APIError as error:
                if error.code != 404:
                    raise
            else:
                self._recorder.report(pod, "Normal", "PodTerminatedByKueue", "PodTerminated", TERMINATED_MESSAGE)

    def _failed(self, pod: Tree) -> bool:
        pod["status"]["phase"] = "Failed"
        pod["status"]["conditions"] = [*(pod["status"].get("conditions") or ()), {
            "type": "TerminatedByKueue", "status": "True", "reason": "UnschedulableOnAssignedNode",
            "message": TERMINATED_MESSAGE, "lastTransitionTime": times.format_time(self.kueue.clock.time())}]
        return True


def _is_ready(node: ReadOnlyTree) -> bool:
    return conditions.is_true((node.get("status") or meta.EMPTY).get("conditions"), "Ready")


def _taints_of(node: ReadOnlyTree) -> Sequence[ReadOnlyTree]:
    found: Sequence[ReadOnlyTree] = (node.get("spec") or meta.EMPTY).get("taints") or ()
    return found

"""Deletes pods from nodes with NoExecute taints: at once, or when the time for which they tolerate
the taints is over.

A pod that goes is marked as the target of a disruption first. Whoever takes the taint away in time,
or tolerates it after all, calls the deletion off. A toleration's time runs from when this
controller first saw taint and pod together, as upstream's does.
Upstream: pkg/controller/tainteviction. Left out: its metrics, and retries every ten milliseconds
(the queue retries).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import conditions, meta, placement, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import by_node_name
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.util.durations import of_whole_seconds
from fakekube.workqueue.queue import WorkQueue

NAME = "taint-eviction-controller"
NODE_INDEX = "node"
MAX_INT64 = 2**63 - 1
REASON, MESSAGE = "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"

Taint = Mapping[str, str]


class Eviction(NamedTuple):
    """A deletion to come. Unix seconds."""

    since: float
    due: float


class TaintEvictionReconciler:
    """Evicts one pod, if its node's taints say so.

    After a restart the time that a pod is tolerated begins anew.
    """

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self._evictions: dict[Request, Eviction] = {}
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.events = ctx.recorder(NAME)
        self.pods, self.nodes = ctx.lister(PODS), ctx.lister(NODES)
        ctx.informer(PODS).add_index(NODE_INDEX, by_node_name)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch nodes with taints, and of pods that come to one or tolerate something else."""
        self.queue = queue
        self.ctx.add_handler(NODES, self._node_seen, self._node_changed)
        self.ctx.add_handler(PODS, self._pod_seen, self._pod_changed, self._pod_gone)

    # what is heard

    def _node_seen(self, node: Tree) -> None:
        if _no_execute(node):
            self._look_at_pods_on(node)

    def _node_changed(self, old: Tree, new: Tree) -> None:
        if _no_execute(old) != _no_execute(new):
            self._look_at_pods_on(new)

    def _look_at_pods_on(self, node: Tree) -> None:
        for pod in self.pods.by_index(NODE_INDEX, meta.name_of(node)):
            self.queue.add(meta.key_of(pod))

    def _pod_seen(self, pod: Tree) -> None:
        name = pod["spec"].get("nodeName")
        node = self.nodes.get("", name) if name else None
        if node is not None and _no_execute(node):
            self.queue.add(meta.key_of(pod))

    def _pod_changed(self, old: Tree, new: Tree) -> None:
        before, after = old["spec"], new["spec"]
        if before.get("nodeName") != after.get("nodeName") or before.get("tolerations") != after.get("tolerations"):
            self._pod_seen(new)

    def _pod_gone(self, pod: Tree) -> None:
        self._call_off(meta.key_of(pod))

    # what is done

    async def reconcile(self, key: Request) -> None:
        """Evict a pod, or plan when to. Raises APIError."""
        pod = self.pods.get(key.namespace, key.name)
        if pod is None:
            return
        node = self.nodes.get("", pod["spec"].get("nodeName", ""))
        taints = _no_execute(node) if node is not None else []
        wait = _tolerated_seconds(taints, pod["spec"].get("tolerations") or ())
        if wait is None:
            self._call_off(key)
            return
        now = self.clock.time()
        since = self._evictions[key].since if key in self._evictions and wait > 0 else now
        due = since + wait
        if due > now:
            if (planned := self._evictions.get(key)) is None or planned.due != due:
                self._evictions[key] = Eviction(since, due)
            self.queue.add_after(key, due - now)
            return
        self._evictions.pop(key, None)
        await self._evict(pod)

    def _call_off(self, key: Request) -> None:
        if self._evictions.pop(key, None) is not None:
            self._tell(key, f"Cancelling deletion of Pod {key}")

    async def _evict(self, pod: Tree) -> None:
        key = meta.key_of(pod)
        if meta.is_deleting(pod):
            return
        self._tell(key, f"Marking for deletion Pod {key}")
        try:
            await self._mark(key)
            await self.client.delete(PODS, key.name, key.namespace, uid=meta.uid_of(pod))
        except APIError as error:
            if error.code != 404:
                raise

    async def _mark(self, key: Request) -> None:
        pod = await self.client.get(PODS, key.name, key.namespace)
        status = pod.setdefault("status", {})
        generation = meta.generation_of(pod) if status.get("observedGeneration") else 0
        if conditions.set_condition(
                status.setdefault("conditions", []), "DisruptionTarget", "True", now=times.format_time(self.clock.time()),
                reason=REASON, message=MESSAGE, observed_generation=generation):
            await self.client.update_status(PODS, pod)

    def _tell(self, key: Request, text: str) -> None:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": key.name, "namespace": key.namespace}}
        self.events.event(pod, "Normal", "TaintManagerEviction", text)


def _no_execute(node: Tree) -> list[Taint]:
    return [taint for taint in node["spec"].get("taints") or () if taint["effect"] == "NoExecute"]


def _tolerated_seconds(taints: Sequence[Taint], tolerations: Sequence[Mapping[str, Any]]) -> float | None:
    """How long a pod may stay: 0 for not at all, None for ever.

    Of several tolerations that are used the shortest counts.
    """
    used: list[Mapping[str, Any]] = []
    for taint in taints:
        match = next((toleration for toleration in tolerations if placement.tolerates(toleration, taint)), None)
        if match is None:
            return 0.0
        used.append(match)
    limits = [max(0, limit) for toleration in used if (limit := toleration.get("tolerationSeconds")) is not None]
    shortest = of_whole_seconds(min(limits, default=MAX_INT64))
    return None if shortest < 0 else shortest  # what Go's durations do not hold is for ever, too

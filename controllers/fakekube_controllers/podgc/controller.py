"""Removes pods of nodes that are gone, pods that end on nodes that are out of service or that never
had one, and finished pods once there are too many.

Rounds are 20 seconds apart, as upstream's, but there is one only when some event has made something
to do in it, so that time in which nothing happens costs nothing. Who waits for pods of a lost node
is helped: that wait pulls virtual time, since it ends.
Upstream: pkg/controller/podgc/gc_controller.go.
"""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import errors, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import by_node_name
from fakekube.client.resources import NODES, PODS
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.podconditions import DISRUPTION_TARGET, OBSERVED_GENERATION, condition_patch, pod_condition
from fakekube.workqueue.queue import WorkQueue

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

PERIOD_SECONDS = 20.0
QUARANTINE_SECONDS = 40.0
TERMINATED_POD_THRESHOLD = 12500
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
ORPHANED = ("DeletionByPodGC", "PodGC: node no longer exists")
NODE_NAME = "node"
ROUND, CHECK = "round", "look"


log = logging.getLogger(__name__)


class PodGarbageCollector:
    """Its queue has two keys: a round, and a check for nodes that seem to be missing.

    Of finished pods ``terminated_pod_threshold`` are kept; 0 or less: all.
    """

    queue: WorkQueue[str]

    def __init__(self, ctx: Context, terminated_pod_threshold: int = TERMINATED_POD_THRESHOLD) -> None:
        self.threshold = terminated_pod_threshold
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.pods, self.nodes = ctx.lister(PODS), ctx.lister(NODES)
        self.pods.add_index(NODE_NAME, by_node_name)
        self._finished: dict[str, None] = {}  # uids of pods
        self._missing_until: dict[str, float] = {}  # nodes in quarantine
        self._suspects: dict[str, None] = {}  # nodes that pods name and that the cache did not show
        self._next: Timer | None = None
        self._has_run = False
        self._began = self.clock.time()

    def setup(self, queue: WorkQueue[str]) -> None:
        """Watch pods and nodes; the first round is now."""
        self.queue = queue
        self.ctx.add_handler(PODS, self._pod_seen, lambda _, new: self._pod_seen(new), self._pod_gone)
        self.ctx.add_handler(NODES, None, lambda _, new: self._node_changed(new), self._node_changed)
        self.ctx.on_close(self._cancel_round)
        queue.add(ROUND)

    def _cancel_round(self) -> None:
        if self._next is not None:
            self._next.cancel()

    # when there is something to do

    def _pod_seen(self, pod: Tree) -> None:
        finished = pods.is_finished(pod)
        if finished:
            self._finished[pod["metadata"]["uid"]] = None
        terminating = pods.is_terminating(pod)
        if finished and terminating and _is_removed(pod):
            return
        node = pod["spec"].get("nodeName")
        if node and self.nodes.get("", node) is None:
            self._suspects[node] = None
            self.queue.add(CHECK)
        elif terminating:
            if not node or self._is_out_of_service(node):
                self._plan_round()
        elif finished and self._surplus() > 0:
            self._plan_round()

    def _pod_gone(self, pod: Tree) -> None:
        self._finished.pop(pod["metadata"]["uid"], None)

    def _node_changed(self, node: Tree) -> None:
        name = meta.name_of(node)
        if (self.nodes.get("", name) is None or self._is_out_of_service(name)) and self.pods.by_index(NODE_NAME, name):
            self._plan_round()

    def _plan_round(self, *, daemon: bool = False) -> None:
        if not self._has_run:
            return
        if self._next is not None and not self._next.cancelled:
            if daemon or not self._next.daemon:
                return
            self._next.cancel()
        rounds = (self.clock.time() - self._began) // PERIOD_SECONDS + 1
        self._next = self.clock.call_at(self._began + rounds * PERIOD_SECONDS, self.queue.add, ROUND, daemon=daemon)

    def _is_out_of_service(self, name: str) -> bool:
        node = self.nodes.get("", name)
        if node is None or meta.is_condition_true(node, "Ready"):
            return False
        return any(taint["key"] == OUT_OF_SERVICE for taint in (node.get("spec") or {}).get("taints") or ())

    def _surplus(self) -> int:
        return len(self._finished) - self.threshold if self.threshold > 0 else 0

    # what is done

    async def reconcile(self, key: str) -> None:
        """Make a round, or see whether one is needed."""
        if key == ROUND:
            await self._round()
        elif any(self.nodes.get("", name) is None for name in self._suspects):
            self._plan_round()
        self._suspects.clear()

    async def _round(self) -> None:
        self._has_run, failed = True, False
        if (surplus := self._surplus()) > 0:
            finished = [pod for pod in self.pods.list() if pods.is_finished(pod)]
            failed |= await self._remove(sorted(finished, key=_oldest_first)[:surplus])
        out = [name for name in map(meta.name_of, self.nodes.list()) if self._is_out_of_service(name)]
        on_them = [pod for name in out for pod in self.pods.by_index(NODE_NAME, name)]
        ending = [pod for pod in on_them if pods.is_terminating(pod) and not _is_removed(pod)]
        failed |= await self._remove(sorted(ending, key=_oldest_first))
        for name in await self._lost_nodes():
            failed |= await self._remove(self.pods.by_index(NODE_NAME, name), *ORPHANED)
        failed |= await self._remove([pod for pod in self.pods.list() if _is_unscheduled_terminating(pod)])
        if self._missing_until:
            self._plan_round()
        elif failed:
            self._plan_round(daemon=True)

    async def _lost_nodes(self) -> list[str]:
        """The nodes that pods name and that have been missing for long enough; a fresh read has the
        last word.
        """
        now = self.clock.time()
        for pod in self.pods.list():
            name = pod["spec"].get("nodeName")
            if name and name not in self._missing_until and self.nodes.get("", name) is None and not _is_removed(pod):
                self._missing_until[name] = now + QUARANTINE_SECONDS
        over = [name for name, until in self._missing_until.items() if until <= now]
        lost = []
        for name in over:
            del self._missing_until[name]
            if self.nodes.get("", name) is None and await self.client.get(NODES, name, missing_ok=True) is None:
                lost.append(name)
        return lost

    async def _remove(self, victims: Sequence[Tree], reason: str = "", message: str = "") -> bool:
        """Fail what has not finished, and delete it at once; True when something of it has to be
        tried again.
        """
        failed = False
        for pod in victims:
            try:
                await self._fail_and_delete(pod, reason, message)
            except APIError as error:
                if error.code != 404:
                    failed = True
                    level = logging.DEBUG if errors.is_race(error) else logging.WARNING
                    log.log(level, "pod %s is not removed: %s", meta.key_of(pod), error)
        return failed

    async def _fail_and_delete(self, pod: Tree, reason: str, message: str) -> None:
        name, namespace = meta.name_of(pod), meta.namespace_of(pod)
        if not pods.is_finished(pod):
            status: Tree = {"phase": "Failed"}
            if self.ctx.enabled(OBSERVED_GENERATION):
                status["observedGeneration"] = meta.generation_of(pod)
            if reason:
                condition = pod_condition(self.ctx, pod, DISRUPTION_TARGET, "True", reason=reason, message=message)
                status |= condition_patch(pod, condition)
            body = {"metadata": {"uid": meta.uid_of(pod)}, "status": status}
            await self.client.patch(PODS, name, namespace, body, type="strategic", subresource="status")
        await self.client.delete(PODS, name, namespace, grace_period_seconds=0)


def _is_unscheduled_terminating(pod: Tree) -> bool:
    return pods.is_terminating(pod) and not pod["spec"].get("nodeName") and not _is_removed(pod)


def _is_removed(pod: Tree) -> bool:
    """Whether a finalizer is all that keeps the pod."""
    return pods.is_terminating(pod) and pods.is_finished(pod) and not pod["metadata"].get("deletionGracePeriodSeconds")


def _oldest_first(pod: Tree) -> tuple[bool, str, str]:
    """Pods that were evicted by a kubelet go first."""
    status = pod.get("status") or {}
    evicted = status.get("phase") == "Failed" and status.get("reason") == "Evicted"
    return not evicted, pod["metadata"]["creationTimestamp"], meta.name_of(pod)

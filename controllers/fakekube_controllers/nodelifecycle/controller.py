"""Keeps the taints of nodes in step with their conditions, and gives up nodes that are heard of no
more.

A node that neither renews its lease nor posts a status becomes Unknown after a grace period; its
pods become unready, and it gets a NoExecute taint, on which the taint eviction controller acts.
Where all nodes are lost, nobody is moved: the network is to blame, not they. Upstream:
pkg/controller/nodelifecycle, whose passes over all nodes are one queue key here. Left out: metrics.
"""

import copy
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.conditions import find
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.cache.consistency import Consistency
from fakekube.cache.indexer import by_node_name
from fakekube.client.resources import LEASES, NODES, PODS
from fakekube.runtime.context import Context
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.nodelifecycle import taints, zones
from fakekube_controllers.nodelifecycle.health import NodeHealth, NodeHealthMap
from fakekube_controllers.nodelifecycle.zones import Zone

LEASE_NAMESPACE = "kube-node-lease"
GATE = "NodeControllerLeaseCircuitBreaker"
MONITOR_SECONDS = 5.0  # --node-monitor-period
NODE_INDEX = "node"
MONITOR = ("monitor", "")
LABELS = {"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"}
GIVEN_UP = ("False", "Unknown")  # what Ready may say of a node that others must not count on
POSTED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")

Key = tuple[str, Any]


def grace_seconds(version: str) -> float:
    """For how long a node may be silent: 50 s, and 40 s before 1.32."""
    parts = version.split(".")
    return 40.0 if len(parts) > 1 and parts[1].isdecimal() and int(parts[1]) < 32 else 50.0


class NodeLifecycleReconciler:
    """Its queue has three sorts of keys: a node, a pod of a node that is given up, and a pass over
    all nodes.
    """

    queue: WorkQueue[Key]
    health: NodeHealthMap

    def __init__(self, ctx: Context) -> None:
        self._zones: dict[str, Zone] = {}
        self._known: dict[str, Tree] = {}
        self.consistency = Consistency()
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.events = ctx.recorder("node-controller")
        self.nodes, self.pods = ctx.lister(NODES), ctx.lister(PODS)
        ctx.informer(PODS).add_index(NODE_INDEX, by_node_name)

    def setup(self, queue: WorkQueue[Key]) -> None:
        """Watch nodes, leases and pods."""
        ctx, self.queue = self.ctx, queue
        self.health = NodeHealthMap(ctx.clock, grace_seconds(ctx.version), lambda: queue.add(MONITOR))
        ctx.on_close(self.health.disarm)
        ctx.add_handler(NODES, self._node_seen, lambda _, new: self._node_seen(new), self._node_gone)
        ctx.add_handler(LEASES, self._lease_seen, lambda _, new: self._lease_seen(new))
        ctx.add_handler(PODS, self._pod_seen, self._pod_changed)

    # events

    def _node_seen(self, node: Tree) -> None:
        before = self.health.nodes.get(meta.name_of(node))
        was = before.ready if before is not None else ""
        ready = self.health.seen(node).ready
        if meta.name_of(node) not in self._known or any(taints.no_schedule_change(node)) or _labels_to_mend(node):
            self.queue.add(("node", meta.name_of(node)))
        fell_or_rose = ready != was and (ready in GIVEN_UP or was in GIVEN_UP)
        if fell_or_rose or (ready == "True" and _given_up(node)):
            self.queue.add(MONITOR)

    def _node_gone(self, node: Tree) -> None:
        self.health.forget(meta.name_of(node))
        self.queue.add(("node", meta.name_of(node)))
        self.queue.add(MONITOR)

    def _lease_seen(self, lease: Tree) -> None:
        if meta.namespace_of(lease) == LEASE_NAMESPACE:
            self.health.renewed(lease)

    def _pod_seen(self, pod: Tree) -> None:
        health = self.health.nodes.get(pod["spec"].get("nodeName", ""))
        if health is not None and health.ready in GIVEN_UP:
            self.queue.add(("pod", meta.key_of(pod)))

    def _pod_changed(self, old: Tree, new: Tree) -> None:
        if old["spec"].get("nodeName") != new["spec"].get("nodeName"):
            self._pod_seen(new)

    # work

    async def reconcile(self, key: Key) -> None:
        """Work on a node, a pod or all nodes. Raises APIError."""
        kind, name = key
        if kind == "node":
            await self._sync_node(name)
        elif kind == "pod":
            pod = self.pods.get(name.namespace, name.name)
            if pod is not None:
                await self._make_unready(pod)
        else:
            await self._monitor()

    async def _sync_node(self, name: str) -> None:
        node = self.nodes.get("", name)
        known = self._known.get(name)
        if known is not None and (node is None or meta.uid_of(known) != meta.uid_of(node)):
            gone = self._known.pop(name)
            self._record_node_event(gone, "RemovingNode", f"Node {name} event: Removing Node {name} from Controller")
            known = None
        if node is None:
            return
        if known is None:
            self._known[name] = node
            self._record_node_event(node, "RegisteredNode", f"Node {name} event: Registered Node {name} in Controller")
        add, remove = taints.no_schedule_change(node)
        if add or remove:
            await taints.change(self.client, name, self.clock.time(), add=add, remove=remove)
        if labels := _labels_to_mend(node):
            await self.client.patch(NODES, name, body={"metadata": {"labels": labels}})

    async def _monitor(self) -> None:
        """Give up who is silent for too long, and taint or free the others by what they say."""
        nodes, is_behind = self.nodes.list(), False
        for node in nodes:
            health = self.health.nodes.get(meta.name_of(node))
            if health is None or health.ready == "Unknown" or not self.health.is_overdue(health):
                continue
            if await self._is_behind(meta.name_of(node), health):
                is_behind = True
            else:
                await self._give_up(node, health)
        self.health.arm()
        if is_behind:
            self.queue.add_after(MONITOR, MONITOR_SECONDS, daemon=True)
        self._update_zones(nodes)
        for node in nodes:
            await self._taint(node)
        await self._taint_queued()

    async def _is_behind(self, name: str, health: NodeHealth) -> bool:
        """Whether a node's lease is newer than what was heard of it.

        Upstream looks since 1.37, and gives up no node then before its cache of leases has caught
        up. Before, only what was renewed while time leapt is waited for, once: who watches a real
        cluster has heard of earlier renewals. Raises APIError.
        """
        if not self.consistency.satisfied(MONITOR):
            return True
        lease = await self.client.get(LEASES, name, LEASE_NAMESPACE, missing_ok=True)
        if lease is None or meta.resource_version_of(lease) == health.lease_version:
            return False
        if self.ctx.enabled(GATE):
            self.consistency.wrote(MONITOR, self.ctx.informer(LEASES), lease)
            return True
        was_doubted, health.doubted = health.doubted, True
        if not was_doubted:
            health.heard_at = self.clock.time()
        return not was_doubted

    async def _give_up(self, node: Tree, health: NodeHealth) -> None:
        """Nothing was heard of it: what its kubelet last said of it is no longer known to be true.
        """
        name, now = meta.name_of(node), times.format_time(self.clock.time())
        changed = copy.deepcopy(node)
        conditions: list[Tree] = changed.setdefault("status", {}).setdefault("conditions", [])
        for kind in POSTED:
            condition = find(conditions, kind)
            if condition is None:
                conditions.append({
                    "type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.",
                    "lastHeartbeatTime": node["metadata"].get("creationTimestamp"), "lastTransitionTime": now})
            elif condition["status"] != "Unknown":
                condition |= {"status": "Unknown", "reason": "NodeStatusUnknown",
                              "message": "Kubelet stopped posting node status.", "lastTransitionTime": now}
        was = health.ready
        await self.client.update_status(NODES, changed)
        health.ready = "Unknown"
        if was == "True":
            self._record_node_event(node, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
            for pod in self.pods.by_index(NODE_INDEX, name):
                await self._make_unready(pod)

    async def _make_unready(self, pod: Tree) -> None:
        changed = copy.deepcopy(pod)
        ready = meta.find_condition(changed, "Ready")
        if ready is None or ready["status"] == "False":
            return
        ready |= {"status": "False", "lastTransitionTime": times.format_time(self.clock.time())}
        try:
            await self.client.update_status(PODS, changed)
        except APIError as error:
            if error.code != 404:
                raise
            return
        self.events.event(pod, "Warning", "NodeNotReady", "Node is not ready")

    # taints that drive pods away

    def _update_zones(self, nodes: list[Tree]) -> None:
        """Take up in what state the zones are, and how fast nodes may be given up there."""
        ready: dict[str, list[bool]] = {}
        for node in nodes:
            if "node.kubernetes.io/exclude-disruption" not in meta.labels_of(node):
                health = self.health.nodes.get(meta.name_of(node))
                ready.setdefault(zones.zone_of(node), []).append(health is not None and health.ready == "True")
        for node in nodes:
            self._zones.setdefault(zones.zone_of(node), Zone())
        was_lost = all(zone.state == zones.FULL for zone in self._zones.values())
        for name, states in ready.items():
            zone = self._zones[name]
            zone.state = zones.state_of(states)
            zone.slow_to(zones.rate_of(zone.state, len(states)))
        lost = bool(ready) and all(self._zones[name].state == zones.FULL for name in ready)
        if was_lost and not lost:
            # They could not be heard for a reason that is over: all get their time anew.
            for health in self.health.nodes.values():
                health.heard_at = self.clock.time()
        if lost:
            for zone in self._zones.values():
                zone.waiting.clear()
                zone.slow_to(0.0)

    async def _taint(self, node: Tree) -> None:
        name = meta.name_of(node)
        health, zone = self.health.nodes.get(name), self._zones[zones.zone_of(node)]
        present = taints.of(node, "NoExecute")
        ours = [(key, "NoExecute") for key in (taints.UNREACHABLE, taints.NOT_READY) if key in present]
        if health is None or not health.ready:
            return
        if health.ready == "True" or (not zone.rate and zone.state == zones.FULL):
            zone.waiting.pop(name, None)
            if ours:
                await taints.change(self.client, name, self.clock.time(), remove=ours)
            return
        wanted = _taint_for(health)
        if wanted in present:
            return
        if ours:
            await taints.change(self.client, name, self.clock.time(), add=[(wanted, "NoExecute")], remove=ours)
        else:
            zone.waiting[name] = None

    async def _taint_queued(self) -> None:
        now = self.clock.time()
        for zone in self._zones.values():
            while (name := zone.take(now)) is not None:
                health = self.health.nodes.get(name)
                if health is not None and health.ready in GIVEN_UP:
                    await taints.change(self.client, name, now, add=[(_taint_for(health), "NoExecute")])
            if zone.waiting and zone.rate:
                self.queue.add_after(MONITOR, zone.next_at - now)

    def _record_node_event(self, node: Tree, reason: str, text: str) -> None:
        about = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": meta.name_of(node), "uid": meta.uid_of(node)}}
        self.events.event(about, "Normal", reason, text)


def _taint_for(health: NodeHealth) -> str:
    return taints.NOT_READY if health.ready == "False" else taints.UNREACHABLE


def _given_up(node: Tree) -> bool:
    present = taints.of(node, "NoExecute")
    return taints.NOT_READY in present or taints.UNREACHABLE in present


def _labels_to_mend(node: Tree) -> dict[str, str]:
    labels = meta.labels_of(node)
    return {old: labels[new] for new, old in LABELS.items() if new in labels and labels.get(old) != labels[new]}


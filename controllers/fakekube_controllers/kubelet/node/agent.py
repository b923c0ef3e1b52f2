"""The kubelet's word for its nodes: it registers them, posts what they are like, and falls silent when it is told to.

An annotation of the Node, which any client can set, says how its kubelet fares:

    fakekube.dev/kubelet     "stopped": nothing is heard of it, what runs there runs on; "shutdown": it ends its pods, takes no
                             more and is not ready; without it, or "running": it is well
    fakekube.dev/conditions  what it posts besides or instead: "MemoryPressure=True,Ready=False"

Upstream: pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodeshutdown.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.kubelet.node import status
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.leases import Heartbeat

MODE, CONDITIONS = "fakekube.dev/kubelet", "fakekube.dev/conditions"
TERMINATED = ("Terminated", "Pod was terminated in response to imminent node shutdown.")
RUNNING, STOPPED, SHUTDOWN = "running", "stopped", "shutdown"


class NodeAgent:
    """Looks after every node that there is. ``mode_changed(name)`` is called when a node's kubelet fares otherwise.

    ``staged(node)`` is whether somebody else says what a node is like; of such a node only the lease is kept.
    """

    def __init__(
        self, ctx: Context, addresses: Addresses, mode_changed: Callable[[str], None], staged: Callable[[Tree], bool],
    ) -> None:
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.heartbeat = Heartbeat(ctx)
        self.nodes = ctx.lister(NODES)
        self._recorder = ctx.recorder("kubelet")
        self._mode_changed, self._addresses, self._staged = mode_changed, addresses, staged
        self._modes: dict[str, str] = {}
        self._queue = ctx.queue("kubelet_nodes")
        ctx.add_handler(NODES, self._seen, lambda _, new: self._seen(new), self._gone)
        Worker(ctx, self._queue, self._sync).start()

    def mode_of(self, name: str) -> str:
        """How the node's kubelet fares: running, stopped or shutdown."""
        return self._modes.get(name, RUNNING)

    async def register(self, count: int) -> None:
        """Make the first nodes. Raises APIError."""
        for number in range(count):
            name = f"node-{number}"
            try:
                await self.client.create(NODES, status.initial_node(name))
            except APIError as error:
                if error.code != 409:
                    raise
            await self._post(name)

    def close(self) -> None:
        """The component stops: nothing more is heard of any node."""
        self.heartbeat.fall_silent()

    def _seen(self, node: Tree) -> None:
        name = meta.name_of(node)
        mode = meta.annotations_of(node).get(MODE, RUNNING)
        if mode not in (STOPPED, SHUTDOWN):
            mode = RUNNING
        if mode != self.mode_of(name):
            self._modes[name] = mode
            if mode == STOPPED:
                self.heartbeat.fall_silent(name)
            self._mode_changed(name)
        self._queue.add(name)

    def _gone(self, node: Tree) -> None:
        self._addresses.numbers.pop(meta.name_of(node), None)
        self._modes.pop(meta.name_of(node), None)
        self.heartbeat.end(meta.name_of(node))

    async def _sync(self, name: str) -> None:
        """A node that somebody made gets a kubelet too; its lease is renewed from then on."""
        node = self.nodes.get("", name)
        if node is None or self.mode_of(name) == STOPPED:
            return
        if not self._staged(node) and not _says(node, self._wanted_of(node)):
            await self._post(name)
        await self.heartbeat.begin(name)

    def _wanted_of(self, node: Mapping[str, Any]) -> dict[str, str]:
        wanted = {kind: "False" for kind, _, _ in status.PRESSURES} | {"Ready": "True"}
        if self.mode_of(meta.name_of(node)) == SHUTDOWN:
            wanted["Ready"] = "False"
        for part in meta.annotations_of(node).get(CONDITIONS, "").split(","):
            kind, equals, value = part.strip().partition("=")
            if kind:
                wanted[kind] = value if equals and value in ("False", "Unknown") else "True"
        return wanted

    async def _post(self, name: str) -> None:
        """Post the node's status; once it is ready the taint of new nodes goes, as the node lifecycle controller sees to."""
        node = await self.client.get(NODES, name, missing_ok=True)
        if node is None or self._staged(node):
            return
        present, conditions = node.get("status") or {}, self._wanted_of(node)
        given = present.get("capacity") or self.ctx.options.get("node_capacity")
        version = self.ctx.version or "0.0"
        wanted = status.node_status(name, self._addresses.number_of(name), version, self.clock.time(), given, conditions, present)
        kept = {key: value for key, value in present.items() if key == "allocatable" and value}
        node["status"] = {**present, **wanted, **kept}
        node = await self.client.update_status(NODES, node)
        if conditions["Ready"] != "True":
            self._recorder.event(node, "Normal", "NodeNotReady", f"Node {name} status is now: NodeNotReady", host=name)
            return
        taints = node["spec"].get("taints") or []
        left = [taint for taint in taints if taint["key"] != status.NOT_READY_TAINT]
        if len(left) != len(taints):
            await self.client.patch(NODES, name, body={"spec": {"taints": left or None}})


def _says(node: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    present = {c["type"]: c["status"] for c in (node.get("status") or {}).get("conditions") or ()}
    return all(present.get(kind) == value for kind, value in wanted.items())

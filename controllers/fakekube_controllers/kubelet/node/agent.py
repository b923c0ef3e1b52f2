"""The agent of every node: it registers nodes, posts their status and renews their leases, unless
the kubelet is stopped.

``mode.py`` says how a kubelet is stopped or shut down. Another annotation of the Node changes the
conditions that are posted:

    fakekube.dev/conditions  conditions to post besides or instead:
                             "MemoryPressure=True,Ready=False"

Upstream: pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodeshutdown.
"""

from collections.abc import Callable, Mapping

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import NODES
from fakekube.client.transport import TransportError
from fakekube.client.users import controller_account
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.kubelet.node import status
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.clients import NodeClients
from fakekube_controllers.kubelet.node.leases import NodeLeases
from fakekube_controllers.kubelet.node.mode import KubeletModes

PASSING = (401, 409, 429, 500, 503, 504)
"""Refusals of a server that may answer otherwise soon."""
REGISTER_SECONDS, MAX_REGISTER_SECONDS = 0.1, 7.0
DAEMON_TRIES = 8
"""Further ones do not pull virtual time: the server may never take it."""
CONDITIONS = "fakekube.dev/conditions"
MOST_TRIES = 5
"""Upstream: nodeStatusUpdateRetry."""


class NodeAgent:
    """The agent of every Node that there is, whoever made it.

    It keeps ``modes`` up to date, and calls ``mode_changed(name)`` when a node's kubelet is
    stopped, shut down or runs again. ``is_staged(node)`` is whether KWOK's Stages write a node's
    status; of such a node only the lease is renewed.
    """

    def __init__(
        self, ctx: Context, clients: NodeClients, addresses: Addresses, modes: KubeletModes, *,
        mode_changed: Callable[[str], None], is_staged: Callable[[ReadOnlyTree], bool],
    ) -> None:
        self._clients, self._clock, self._activity, self._spawn = clients, ctx.clock, ctx.activity, ctx.tasks.spawn
        self._lifecycle = ctx.client.with_options(user=controller_account("node-controller"))
        self._version, self._capacity = ctx.version or "0.0", ctx.options.get("node_capacity")
        declares = ctx.enabled(status.DECLARATION_GATE)
        self._features = [name for name in status.DECLARED_FEATURES if declares and ctx.enabled(name)]
        self._leases = NodeLeases(ctx, clients)
        self._nodes = ctx.lister(NODES)
        self._recorder = ctx.recorder("kubelet", client_of=clients.of)
        self._addresses, self._modes, self._mode_changed, self._is_staged = addresses, modes, mode_changed, is_staged
        self._queue = ctx.queue("kubelet_nodes")
        self._unschedulable: dict[str, bool] = {}  # by node, as it was told last
        ctx.add_handler(NODES, self._node_changed, lambda _, new: self._node_changed(new), self._node_gone)
        Worker(ctx, self._queue, self._sync).start()

    async def register(self, count: int) -> None:
        """Make the first nodes. What fails for a while is tried again. Raises APIError."""
        for number in range(count):
            name = f"node-{number}"
            if not await self._register(name):
                self._spawn(self._register_later(name), f"registration of {name}")

    async def _register(self, name: str) -> bool:
        """Whether the node is there, with a status. Raises APIError for a refusal that stays."""
        try:
            try:
                await self._clients.of(name).create(NODES, status.initial_node(name))
            except APIError as error:
                if error.code != 409:
                    raise
            await self._post_status(name)
        except TransportError:
            return False
        except APIError as error:
            if error.code not in PASSING:
                raise
            return False
        return True

    async def _register_later(self, name: str) -> None:
        seconds, tries = REGISTER_SECONDS, 0
        while True:
            await self._clock.sleep(seconds, daemon=tries > DAEMON_TRIES)
            with self._activity.busy():
                if await self._register(name):
                    return
            seconds, tries = min(2 * seconds, MAX_REGISTER_SECONDS), tries + 1

    def close(self) -> None:
        """The component stops: no lease is renewed any more."""
        self._leases.stop()

    def _node_changed(self, node: Tree) -> None:
        name = meta.name_of(node)
        if self._modes.read(node):
            if self._modes.is_stopped(name):
                self._leases.stop(name)
            self._mode_changed(name)
        if not self._modes.is_stopped(name):
            self._tell_schedulable(name, node)
        self._queue.add(name)

    def _tell_schedulable(self, name: str, node: Tree) -> None:
        """Record that a node was cordoned or uncordoned, as recordNodeSchedulableEvent does. How a
        node is that has a status already is no news to a kubelet that starts.
        """
        unschedulable = bool(node["spec"].get("unschedulable"))
        has_status = bool((node.get("status") or {}).get("conditions"))
        before = self._unschedulable.setdefault(name, unschedulable and has_status)
        if unschedulable != before:
            reason = "NodeNotSchedulable" if unschedulable else "NodeSchedulable"
            self._recorder.event(node, "Normal", reason, f"Node {name} status is now: {reason}", host=name)
            self._unschedulable[name] = unschedulable

    def _node_gone(self, node: Tree) -> None:
        name = meta.name_of(node)
        self._addresses.forget_node(name)
        self._modes.forget(name)
        self._leases.forget(name)
        self._clients.forget(name)
        self._unschedulable.pop(name, None)

    async def _sync(self, name: str) -> None:
        """A node that somebody made gets an agent too; its lease is renewed from then on."""
        node = self._nodes.get("", name)
        if node is None or self._modes.is_stopped(name):
            return
        if not self._is_staged(node) and not _has_conditions(node, self._wanted_conditions(node)):
            await self._post_status(name)
        await self._leases.begin(name)

    def _wanted_conditions(self, node: ReadOnlyTree) -> dict[str, str]:
        wanted = {kind: "False" for kind, _, _ in status.PRESSURES} | {"Ready": "True"}
        if self._modes.is_shutting_down(meta.name_of(node)):
            wanted["Ready"] = "False"
        for part in meta.annotations_of(node).get(CONDITIONS, "").split(","):
            kind, equals, value = part.strip().partition("=")
            if kind:
                wanted[kind] = value if equals and value in ("False", "Unknown") else "True"
        return wanted

    async def _post_status(self, name: str) -> None:
        """Post the node's status, also where others write to the node at the same time, as
        updateNodeStatus does. Raises APIError.
        """
        for tries in range(1, MOST_TRIES + 1):
            try:
                await self._try_post_status(name)
            except APIError as error:
                if error.code != 409 or tries == MOST_TRIES:
                    raise
            else:
                return

    async def _try_post_status(self, name: str) -> None:
        """Post the node's status; once it is ready the taint of new nodes goes, as the node
        lifecycle controller sees to.
        """
        node = await self._clients.of(name).get(NODES, name, missing_ok=True)
        if node is None or self._is_staged(node):
            return
        present, conditions = node.get("status") or {}, self._wanted_conditions(node)
        capacity = present.get("capacity") or self._capacity
        wanted = status.node_status(
            name, self._addresses.number_of(name), self._version, self._clock.time(), capacity, conditions, present,
            self._features)
        kept = {key: value for key, value in present.items() if key == "allocatable" and value}
        node["status"] = {**present, **wanted, **kept}
        node = await self._clients.of(name).update_status(NODES, node)
        if conditions["Ready"] != "True":
            self._recorder.event(node, "Normal", "NodeNotReady", f"Node {name} status is now: NodeNotReady", host=name)
            return
        taints = node["spec"].get("taints") or []
        left = [taint for taint in taints if taint["key"] != status.NOT_READY_TAINT]
        if len(left) != len(taints):
            await self._lifecycle.patch(NODES, name, body={"spec": {"taints": left or None}})


def _has_conditions(node: ReadOnlyTree, wanted: Mapping[str, str]) -> bool:
    present = {c["type"]: c["status"] for c in (node.get("status") or {}).get("conditions") or ()}
    return all(present.get(kind) == value for kind, value in wanted.items())

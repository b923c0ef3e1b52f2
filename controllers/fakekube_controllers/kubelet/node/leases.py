"""The leases of nodes, renewed for all of them in one round every ten seconds.

Virtual time does not stop for a renewal: the timer is lazy, so that a round is due after every ten
seconds in which anything happened at all, and once where time jumps. Whoever looks, whenever that
is, sees leases that were renewed within the last ten seconds, as with a real kubelet; only the
renewals that nobody could have seen are missing.

When a node's lease is renewed no more, virtual time stops every five seconds for a minute. So the
node lifecycle controller notices it when it would in a real cluster. Upstream:
k8s.io/component-helpers/apimachinery/lease.
"""


from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import LEASES, NODES
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.node.clients import NodeClients

LEASE_NAMESPACE = "kube-node-lease"
LEASE_DURATION_SECONDS = 40
RENEW_SECONDS = 10.0
ROUND = "round"
TICK_SECONDS, TICKS = 5.0, 12


class NodeLeases:
    """Renews the leases of the nodes that were begun with, until the node or the context ends."""

    def __init__(self, ctx: Context, clients: NodeClients) -> None:
        self._ctx, self._clients, self._clock = ctx, clients, ctx.clock
        self._renewed: dict[str, None] = {}
        self._queue = ctx.queue("kubelet_heartbeat")
        self._waiting = False
        Worker(ctx, self._queue, self._round).start()

    async def begin(self, name: str) -> None:
        """Renew a node's lease now and from now on. Raises APIError."""
        if name in self._renewed:
            return
        self._renewed[name] = None
        await self._renew(name)
        self._wait()

    def forget(self, name: str) -> None:
        """A node is gone."""
        self._renewed.pop(name, None)

    def stop(self, *names: str) -> None:
        """The leases of these nodes, or of all, are renewed no more."""
        stopped = [name for name in names or list(self._renewed) if name in self._renewed]
        for name in stopped:
            del self._renewed[name]
        if stopped:
            _tick(self._clock, TICKS)

    def _wait(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._clock.call_later(RENEW_SECONDS, self._queue.add, ROUND, lazy=True)

    async def _round(self, _: str) -> None:
        self._waiting = False
        for name in list(self._renewed):
            await self._renew(name)
        if self._renewed:
            self._wait()

    async def _renew(self, name: str) -> None:
        node = self._ctx.lister(NODES).get("", name)
        if node is None:
            return
        now = self._clock.time()
        try:
            body = {"spec": {"renewTime": times.format_micro_time(now)}}
            await self._clients.of(name).patch(LEASES, name, LEASE_NAMESPACE, body, read_answer=False)
        except APIError as error:
            if error.code != 404:
                raise
            await self._clients.of(name).create(LEASES, _lease(name, meta.uid_of(node), now))


def _tick(clock: Clock, left: int) -> None:
    """Let time stop here, and again; nothing else happens."""
    if left:
        clock.call_later(TICK_SECONDS, _tick, clock, left - 1)


def _lease(name: str, uid: str, now: float) -> Tree:
    """The lease by which a node says that it lives."""
    return {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}]},
        "spec": {
            "holderIdentity": name, "leaseDurationSeconds": LEASE_DURATION_SECONDS, "renewTime": times.format_micro_time(now)},
    }

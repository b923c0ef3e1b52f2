"""When each node was last heard of, and until when that is good.

A node is heard of by its lease, and by a heartbeat in its status. Upstream: nodeHealthData in
pkg/controller/nodelifecycle.
Upstream checks all nodes every five seconds; here a deadline is a timer, and a lazy one where a
node renews its lease, so that virtual time does not stop for nodes that are well.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery import meta
from fakekube.util.clock import Clock

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

STARTUP_GRACE_SECONDS = 60.0


@dataclass(slots=True)
class NodeHealth:
    """What is known of one node.

    ``ready`` is the status of its condition Ready, empty when it has none. ``lease_version`` is the
    version of its lease that was heard of last; ``doubted``: nothing is heard of it, though its
    lease is renewed.
    """

    heard_at: float
    ready: str = ""
    heartbeat: str = ""
    renewals: int = 0
    lease_version: str = ""
    doubted: bool = False


class NodeHealthMap:
    """All nodes. ``overdue()`` is called when one may have been silent for too long.

    Grace in seconds.
    """

    def __init__(self, clock: Clock, grace_seconds: float, overdue: Callable[[], None]) -> None:
        self.nodes: dict[str, NodeHealth] = {}
        self._clock, self._grace, self._overdue = clock, grace_seconds, overdue
        self._timers: dict[bool, Timer] = {}

    def seen(self, node: Mapping[str, Any]) -> NodeHealth:
        """Take up what a node's status says."""
        name, now = meta.name_of(node), self._clock.time()
        condition = meta.find_condition(node, "Ready") or {}
        status, heartbeat = str(condition.get("status", "")), str(condition.get("lastHeartbeatTime", ""))
        health = self.nodes.get(name)
        if health is None:
            health = self.nodes[name] = NodeHealth(now, status, heartbeat)
        elif bool(health.ready) != bool(status) or health.heartbeat != heartbeat:
            health.heard_at = now
        health.ready, health.heartbeat = status, heartbeat
        self._arm(health)
        return health

    def renewed(self, lease: Mapping[str, Any]) -> None:
        """A node's lease says that it lives."""
        health = self.nodes.get(meta.name_of(lease))
        if health is not None:
            health.heard_at = self._clock.time()
            health.renewals += 1
            health.lease_version, health.doubted = meta.resource_version_of(lease), False

    def forget(self, name: str) -> None:
        """The node is gone."""
        self.nodes.pop(name, None)

    def is_overdue(self, health: NodeHealth) -> bool:
        """Whether nothing was heard of it for too long."""
        return self._clock.time() >= self._deadline(health)

    def arm(self) -> None:
        """Be called when the first node is overdue of those that are not so already."""
        for health in self.nodes.values():
            if not self.is_overdue(health):
                self._arm(health)

    def disarm(self) -> None:
        """Be called no more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _deadline(self, health: NodeHealth) -> float:
        return health.heard_at + (self._grace if health.ready else STARTUP_GRACE_SECONDS)

    def _arm(self, health: NodeHealth) -> None:
        if health.ready == "Unknown":
            return
        # Who renews a lease is trusted to do so where time lands; for others time stops.
        lazy, due = health.renewals > 1, self._deadline(health)
        timer = self._timers.get(lazy)
        if timer is None or timer.cancelled or timer.when > due:
            if timer is not None:
                timer.cancel()
            check = self._let_renew if lazy or self._clock.late_seconds else self._check
            self._timers[lazy] = self._clock.call_at(due, check, lazy, daemon=True, lazy=lazy)

    def _check(self, _: bool) -> None:
        self._overdue()

    def _let_renew(self, lazy: bool) -> None:
        """Time may have jumped here over renewals that are still to come: check once they have
        come. Where they may be late time stops for it, so as not to jump over the next ones.
        """
        late_seconds = self._clock.late_seconds
        self._timers[lazy] = self._clock.call_later(late_seconds, self._overdue, daemon=True, lazy=not late_seconds)

"""How many nodes of a zone are lost, and how fast the others of them may be given up.

Many lost nodes in a zone look more like a broken network than like broken nodes. Then pods are
moved slowly, or not at all.
Upstream: pkg/controller/nodelifecycle (handleDisruption) and its scheduler/rate_limited_queue.go.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakekube.apimachinery import meta

RATE, SECONDARY_RATE = 0.1, 0.01  # nodes a second
LARGE_ZONE = 50  # nodes; in smaller ones nothing is moved while the zone is unhealthy
UNHEALTHY_SHARE = 0.55

NORMAL, PARTIAL, FULL = "Normal", "PartialDisruption", "FullDisruption"


@dataclass(slots=True)
class Zone:
    """One zone: nodes that wait for their NoExecute taint, and when the next may get it (Unix
    seconds).
    """

    state: str = "Initial"
    rate: float = RATE
    next_at: float = 0.0
    waiting: dict[str, None] = field(default_factory=dict)

    def take(self, now: float) -> str | None:
        """A node whose turn it is, or None."""
        if not self.waiting or not self.rate or self.next_at > now:
            return None
        self.next_at = now + 1.0 / self.rate
        name = next(iter(self.waiting))
        del self.waiting[name]
        return name

    def slow_to(self, rate: float) -> None:
        """From now on so many nodes a second."""
        self.rate = rate


def zone_of(node: Mapping[str, Any]) -> str:
    """The zone of a node, its region included; empty for a node that says neither."""
    labels = meta.labels_of(node)
    region = labels.get("topology.kubernetes.io/region") or labels.get("failure-domain.beta.kubernetes.io/region", "")
    zone = labels.get("topology.kubernetes.io/zone") or labels.get("failure-domain.beta.kubernetes.io/zone", "")
    return f"{region}:{zone}" if region or zone else ""


def state_of(ready: Iterable[bool]) -> str:
    """The state of a zone with such nodes."""
    known = list(ready)
    lost = known.count(False)
    if lost and lost == len(known):
        return FULL
    if lost > 2 and lost / len(known) >= UNHEALTHY_SHARE:
        return PARTIAL
    return NORMAL


def rate_of(state: str, size: int) -> float:
    """How many nodes a second may be given up in a zone of that state and size."""
    if state == PARTIAL:
        return SECONDARY_RATE if size > LARGE_ZONE else 0.0
    return RATE

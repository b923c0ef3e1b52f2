"""What has changed on the nodes from snapshot to snapshot, for plugins that count pods.

A count over all pods of a cluster is made once, and after that by the pods that came and went.
Upstream counts anew in each cycle, on several processors.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.snapshot import NO_NODES, Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

KEPT = 4096  # changes; whoever is further behind counts anew


class Change(NamedTuple):
    """A Node as it was (None: there was none) and as it is (None: it is gone), and the pods that
    went and came in between.

    Where the Node is another object, all its pods went and came.
    """

    name: str
    old: ReadOnlyTree | None
    new: ReadOnlyTree | None
    gone: Sequence[PodInfo]
    come: Sequence[PodInfo]


class NodeChanges:
    """The latest changes, in order. ``position``: how many there were so far."""

    def __init__(self) -> None:
        self.nodes = NO_NODES
        self.position = 0
        self._changes: list[Change] = []

    def update(self, snapshot: Snapshot) -> None:
        """Take in a snapshot: all its nodes, whatever the placement."""
        known, now = self.nodes, snapshot.all_nodes
        if now is known:
            return
        for name, info in now.changes_since(known):
            self._record(name, known.get(name), info)
        self.nodes = now
        if len(self._changes) > KEPT:
            del self._changes[: -KEPT // 2]

    def _record(self, name: str, old: NodeInfo | None, new: NodeInfo | None) -> None:
        before = old.pods if old is not None else {}
        now = new.pods if new is not None else {}
        if old is not None and new is not None and old.node is new.node:
            gone = [info for uid, info in before.items() if now.get(uid) is not info]
            come = [info for uid, info in now.items() if before.get(uid) is not info]
            if not gone and not come:
                return
        else:
            gone, come = list(before.values()), list(now.values())
        before_node, node = (each.node if each is not None else None for each in (old, new))
        self._changes.append(Change(name, before_node, node, gone, come))
        self.position += 1

    def since(self, position: int) -> Sequence[Change] | None:
        """The changes after a position; None when they are not kept any more."""
        behind = self.position - position
        if behind > len(self._changes):
            return None
        return self._changes[len(self._changes) - behind:] if behind else ()

"""What speaks against every node for a pod, by all plugins, and on which node the least is missing.

What plugins say is missing is tried on a copy of the node, and all plugins are asked again: only
what helps is proposed.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fakekube.runtime.controller import attempt
from fakekube.runtime.why import Change, Changes, Place, Reason
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.runtime import Framework
from fakekube_controllers.scheduler.why import trial

EVERY_NODE = "every node"
MAX_ROUNDS = 4  # of asking again after changes
MAX_TRIED = 256  # candidates


class Found(NamedTuple):
    """A node, and what it lacks."""

    node: NodeInfo
    changes: Changes
    cost: float


class Rejected(NamedTuple):
    """PreFilter plugins reject a pod, whatever the node."""

    reason: Reason
    is_known: bool  # what would help is in the reason


class Prepared(NamedTuple):
    """A pod after PreFilter: the only nodes in question, where some were named."""

    state: CycleState
    names: Mapping[str, None] | None
    named_by: str


class Room:
    """Asks about one pod at a time. ``new_state`` makes the state of a cycle."""

    def __init__(self, framework: Framework, new_state: Callable[[], CycleState] = CycleState) -> None:
        self._framework, self._new_state = framework, new_state

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> Prepared | Rejected:
        """Run the PreFilter plugins."""
        state, framework = self._new_state(), self._framework
        found, raised = attempt(framework.run_pre_filter_plugins, state, pod, snapshot)
        if raised is not None:
            return Rejected(Reason("PreFilter", repr(raised)), is_known=False)
        names, status, named_by = found
        if status is None:
            return Prepared(state, names, " ".join(named_by))
        wanted = self._missing(status.plugin, state, pod, None) if status.is_rejection else None
        return Rejected(Reason(status.plugin or "PreFilter", status.message, tuple(wanted or ())), is_known=bool(wanted))

    def _missing(self, plugin: str, state: CycleState, pod: PodInfo, node: NodeInfo | None) -> list[Change] | None:
        missing = getattr(self._framework.plugins.get(plugin), "missing", None)
        if missing is None:
            return None
        found, raised = attempt(missing, state, pod, node)
        return None if raised is not None or found is None else list(found)

    def reasons(self, prepared: Prepared, pod: PodInfo, node: NodeInfo) -> list[tuple[Reason, bool]]:
        """What every plugin has against a node, and whether it is known what would help."""
        if prepared.names is not None and node.name not in prepared.names:
            text = f"node(s) didn't satisfy plugin(s) [{prepared.named_by}]"
            return [(Reason(prepared.named_by, text), False)]
        found: list[tuple[Reason, bool]] = []
        for plugin in self._framework.filter_plugins:
            if plugin.name in prepared.state.skip_filter_plugins:
                continue
            status, raised = attempt(plugin.filter, prepared.state, pod, node)
            if raised is not None:
                found.append((Reason(plugin.name, repr(raised)), False))
            elif status is not None:
                found.append(self._reason(plugin.name, status, prepared.state, pod, node))
        if not found:
            status = self._framework.run_filter_plugins_with_nominated_pods(prepared.state, pod, node)
            if status is not None:
                text = f"{status.message}, with the pods that are nominated for it"
                found.append((Reason(status.plugin, text), False))
        return found

    def _reason(
        self, plugin: str, status: Status, state: CycleState, pod: PodInfo, node: NodeInfo,
    ) -> tuple[Reason, bool]:
        wanted = self._missing(plugin, state, pod, node) if status.is_rejection else None
        return Reason(plugin, status.message, tuple(wanted or ())), bool(wanted)

    def places(self, pod: PodInfo, snapshot: Snapshot) -> Iterator[Place]:
        """Every node with all that speaks against it."""
        prepared = self.prepare(pod, snapshot)
        if isinstance(prepared, Rejected):
            yield Place(EVERY_NODE, (prepared.reason,))
            return
        for node in snapshot.nodes.values():
            yield Place(changes.node_target(node), tuple(reason for reason, _ in self.reasons(prepared, pod, node)))

    def least(self, pod: PodInfo, snapshot: Snapshot) -> Found | None:
        """The node on which the least is missing; None where nothing that is known helps."""
        prepared = self.prepare(pod, snapshot)
        if isinstance(prepared, Rejected):
            return None
        waiting: list[tuple[float, int, int]] = []
        tried: list[tuple[NodeInfo, list[Change]]] = []
        for node in snapshot.nodes.values():
            wanted = self._wanted(prepared, pod, node)
            if wanted is not None:
                heapq.heappush(waiting, (trial.cost(wanted, pod), len(tried), 0))
                tried.append((node, wanted))
        for _ in range(MAX_TRIED):
            if not waiting:
                return None
            cost, number, round_ = heapq.heappop(waiting)
            node, wanted = tried[number]
            more = self._still_wanted(pod, snapshot, node, wanted)
            if more == []:
                return Found(node, trial.merged(wanted), cost)
            if more is not None and round_ < MAX_ROUNDS:
                wanted += more
                heapq.heappush(waiting, (trial.cost(wanted, pod), number, round_ + 1))
        return None

    def _wanted(self, prepared: Prepared, pod: PodInfo, node: NodeInfo) -> list[Change] | None:
        """What a node lacks; None where that is not known.

        Where plugins want different values of one label, the first has its way, and the others are
        asked again.
        """
        reasons = self.reasons(prepared, pod, node)
        if not all(is_known for _, is_known in reasons):
            return None
        labels: dict[object, object] = {}
        return [
            change for reason, _ in reasons for change in reason.changes
            if change.action != changes.SET_LABEL
            or labels.setdefault(change.details["key"], change.details["value"]) == change.details["value"]]

    def _still_wanted(
        self, pod: PodInfo, snapshot: Snapshot, node: NodeInfo, wanted: list[Change],
    ) -> list[Change] | None:
        """What a node would still lack after changes; nothing: the pod fits it."""
        after = trial.changed(snapshot, wanted)
        prepared = self.prepare(pod, after)
        if isinstance(prepared, Rejected):
            return None
        return self._wanted(prepared, pod, after.all_nodes[node.name])

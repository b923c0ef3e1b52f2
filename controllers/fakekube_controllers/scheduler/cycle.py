"""One pod's way through the extension points, from the snapshot to the chosen node.

Upstream: pkg/scheduler/schedule_one.go, framework/runtime/framework.go. Every node is looked at (upstream samples
large clusters), and of several that are best the first in name order wins, so that one history follows from one seed.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fakekube.util import memory
from fakekube_controllers.scheduler.framework.interface import (
    Bind,
    Filter,
    Hint,
    Permit,
    Plugin,
    PostBind,
    PostFilter,
    PreBind,
    PreEnqueue,
    PreFilter,
    PreScore,
    QueueSort,
    Reserve,
    Score,
    Snapshot,
    State,
)
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.search import Search, total_scores


class Eligible(NamedTuple):
    """The only nodes that come into question (None: all), and which plugins said so."""

    names: dict[str, None] | None = None
    plugins: tuple[str, ...] = ()

    def narrowed(self, names: Sequence[str], plugin: str) -> "Eligible":
        """Only these nodes come into question, says one more plugin."""
        kept = [name for name in names if self.names is None or name in self.names]
        return Eligible(dict.fromkeys(kept), tuple(sorted([*self.plugins, plugin])))


class SchedulingError(Exception):
    """A plugin failed: not a matter of the pod not fitting."""


def _having(plugins: Sequence[Plugin], method: str) -> list[Any]:
    """The plugins of an extension point, told by its method: to ask isinstance of a Protocol takes a hundred times as long."""
    return [plugin for plugin in plugins if hasattr(plugin, method)]


class Framework:
    """The plugins of one profile, by extension point.

    ``shares``: nodes that look the same to a pod are asked once, where plugins say what they look at; else each is asked.
    """

    def __init__(self, plugins: Sequence[Plugin], *, shares: bool = memory.ENABLED) -> None:
        self.queue_sort: QueueSort = _having(plugins, "sort_key")[0]
        self.pre_enqueue: list[PreEnqueue] = _having(plugins, "pre_enqueue")
        self.pre_filter: list[PreFilter] = _having(plugins, "pre_filter")
        self.filter: list[Filter] = _having(plugins, "filter")
        self.post_filter: list[PostFilter] = _having(plugins, "post_filter")
        self.pre_score: list[PreScore] = _having(plugins, "pre_score")
        self.score: list[Score] = _having(plugins, "score")
        self.reserve_plugins: list[Reserve] = _having(plugins, "reserve")
        self.permit_plugins: list[Permit] = _having(plugins, "permit")
        self.pre_bind: list[PreBind] = _having(plugins, "pre_bind")
        self.bind_plugins: list[Bind] = _having(plugins, "bind")
        self.post_bind: list[PostBind] = _having(plugins, "post_bind")
        self.hints: dict[str, Hint] = {plugin.name: plugin for plugin in _having(plugins, "may_help")}
        self._search = Search.of_plugins(self.filter, self.pre_score, self.score) if shares else None

    def schedule(self, state: State, pod: PodInfo, snapshot: Snapshot) -> str:
        """The best node's name. Raises FitError when none fits, SchedulingError when a plugin fails."""
        nodes = snapshot.nodes
        if not nodes:
            raise FitError({}, 0)
        eligible, skipped = self._pre_filter(state, pod, snapshot)
        filters = [plugin for plugin in self.filter if plugin.name not in skipped]
        fitting: list[NodeInfo] = []
        shared = eligible.names is None and self._search is not None and self._search.covers(snapshot, skipped)
        if shared:
            assert self._search is not None
            found = self._search.best(state, pod, snapshot, filters)
            if found is not None:
                return found
        else:
            names = nodes if eligible.names is None else [name for name in eligible.names if name in nodes]
            fitting = [nodes[name] for name in names if self._fits(filters, state, pod, nodes[name]) is None]
        if not fitting:
            raise self._no_fit(state, pod, snapshot, eligible, filters, shared=shared)
        if len(fitting) == 1:
            return fitting[0].name
        totals = total_scores(self.score, self.pre_score, state, pod, fitting)
        best = max(totals.values())
        return min(name for name, total in totals.items() if total == best)

    def _pre_filter(self, state: State, pod: PodInfo, snapshot: Snapshot) -> tuple["Eligible", list[str]]:
        eligible = Eligible()
        skipped: list[str] = []
        for plugin in self.pre_filter:
            result = plugin.pre_filter(state, pod, snapshot)
            if isinstance(result, Status):
                if result.code == Code.SKIP:
                    skipped.append(plugin.name)
                    continue
                self._raise_error(result, plugin.name)
                raise self._fit_error(state, pod, snapshot, FitError(
                    {}, len(snapshot.nodes), early=result, plugins=(plugin.name,)))
            if result is not None:
                eligible = eligible.narrowed(result, plugin.name)
        return eligible, skipped

    def _fits(self, filters: Sequence[Filter], state: State, pod: PodInfo, node: NodeInfo) -> tuple[Status, str] | None:
        """Why a pod does not fit a node, by the first filter that objects, and that filter's name; or None."""
        for plugin in filters:
            status = plugin.filter(state, pod, node)
            if status is not None:
                self._raise_error(status, plugin.name)
                return status, plugin.name
        return None

    def _no_fit(
        self, state: State, pod: PodInfo, snapshot: Snapshot, eligible: "Eligible", filters: Sequence[Filter], *, shared: bool,
    ) -> FitError:
        """What every node has to say. ``shared``: nodes that look the same say it together."""
        nodes = snapshot.nodes
        statuses: dict[str, Status] = {}
        plugins: dict[str, None] = {}
        if eligible.names is not None:
            left_out = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(eligible.plugins)}]")
            statuses = {name: left_out for name in nodes if name not in eligible.names}
            if statuses:
                plugins = dict.fromkeys(eligible.plugins)
        elif shared:
            assert self._search is not None
            statuses, plugins = self._search.statuses(state, pod, filters)
        for name, node in nodes.items():
            if name not in statuses:
                found = self._fits(filters, state, pod, node)
                assert found is not None, "no node fits"
                statuses[name] = found[0]
                plugins[found[1]] = None
        return self._fit_error(state, pod, snapshot, FitError(statuses, len(nodes), plugins=tuple(plugins)))

    def _fit_error(self, state: State, pod: PodInfo, snapshot: Snapshot, error: FitError) -> FitError:
        for plugin in self.post_filter:
            _, text = plugin.post_filter(state, pod, snapshot, error.statuses)
            if text:
                return FitError(error.statuses, error.nodes, error.early, text, error.plugins)
        return error

    def reserve(self, state: State, pod: PodInfo, node_name: str) -> Status | None:
        """Book with every Reserve plugin and ask every Permit plugin; when one objects all bookings are taken back."""
        for plugin in self.reserve_plugins:
            status = plugin.reserve(state, pod, node_name)
            if status is not None:
                self.unreserve(state, pod, node_name)
                return status
        for permit in self.permit_plugins:
            status = permit.permit(state, pod, node_name)
            if status is not None:
                self.unreserve(state, pod, node_name)
                return status
        return None

    def unreserve(self, state: State, pod: PodInfo, node_name: str) -> None:
        """Take all bookings back, the last first."""
        for plugin in reversed(self.reserve_plugins):
            plugin.unreserve(state, pod, node_name)

    async def bind(self, state: State, pod: PodInfo, node_name: str) -> Status | None:
        """Prepare and bind; what went wrong, or None."""
        for plugin in self.pre_bind:
            status = await plugin.pre_bind(state, pod, node_name)
            if status is not None:
                return status
        for binder in self.bind_plugins:
            status = await binder.bind(state, pod, node_name)
            if status is None or status.code != Code.SKIP:
                break
        if status is None:
            for told in self.post_bind:
                told.post_bind(state, pod, node_name)
        return status

    @staticmethod
    def _raise_error(status: Status, plugin: str) -> None:
        if status.code == Code.ERROR:
            raise SchedulingError(f"running {plugin}: {status.message}")

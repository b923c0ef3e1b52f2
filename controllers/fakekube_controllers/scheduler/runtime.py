"""The plugins of one profile, by extension point, and what each point makes of their answers.

``Framework`` is also the ``Handle`` that its plugins are given.

Upstream: pkg/scheduler/framework/runtime/framework.go.
"""

import logging
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fakekube.cache.lister import Lister
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt
from fakekube_controllers.scheduler.framework.events import WILD_CARD, ClusterEventWithHint
from fakekube_controllers.scheduler.framework.extender import EXTENDER_NAME, Extender
from fakekube_controllers.scheduler.framework.handle import NominatingInfo, NominatingMode
from fakekube_controllers.scheduler.framework.interface import Plugin, PluginFactory, PostFilterResult
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, error
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, Usage
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.waiting import MAX_PERMIT_SECONDS, Changes, WaitingPod, WaitingPods

if TYPE_CHECKING:
    from fakekube.client.recorder import Recorder
    from fakekube_controllers.scheduler.framework.placements import PodGroupSchedulingFunc
    from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
    from fakekube_controllers.scheduler.groups.states import GroupStates

log = logging.getLogger(__name__)
T = TypeVar("T")

METHODS = {
    "preEnqueue": "pre_enqueue", "queueSort": "sort_key", "preFilter": "pre_filter", "filter": "filter",
    "postFilter": "post_filter", "preScore": "pre_score", "score": "score", "reserve": "reserve", "permit": "permit",
    "preBind": "pre_bind", "bind": "bind", "postBind": "post_bind", "placementGenerate": "generate_placements",
    "placementScore": "score_placement", "podGroupPostFilter": "pod_group_post_filter",
}
"""The extension points as a configuration names them, with the method that extends each."""
ANY_EVENT = (ClusterEventWithHint(WILD_CARD),)
"""Registered by a plugin that registers nothing."""
WAITING = "one or more plugins asked to wait and no plugin rejected pod"
SIGNATURE = "signature for filters"  # in the memo of a node, the last that was asked for


@dataclass(slots=True)
class Shared:
    """What the profiles of one scheduler have in common."""

    ctx: Context
    snapshot: Snapshot = field(default_factory=Snapshot)
    nominator: Nominator = field(default_factory=Nominator)
    waiting_pods: WaitingPods = field(default_factory=WaitingPods)
    extenders: Sequence[Extender] = ()
    changes: Changes | None = None  # None: plugins alone, in a test
    activate: Callable[[Iterable[str]], None] = lambda _: None
    cancel_pod_in_pre_bind: Callable[[str, str], bool] = lambda _, __: False
    groups: "GroupStates | None" = None  # None: there are no groups
    spawn: Callable[[Coroutine[Any, Any, object], str], None] | None = None
    common: dict[str, Any] = field(default_factory=dict)  # of plugins


class PluginSelection(Protocol):
    """Which plugins a profile has, and where each is called."""

    names: Sequence[str]
    arguments: Mapping[str, Mapping[str, Any]]  # by the plugin's name

    def points(self, plugins: Mapping[str, Plugin]) -> Mapping[str, Sequence[str]]:
        """The names of those that are called at each extension point, in the order of the calls.

        ValueError when they make no profile.
        """

    def weights(self, plugins: Mapping[str, Plugin]) -> Mapping[str, int]:
        """The weights of scores, by name. ValueError for a score without one."""


class Framework:
    """One profile. Raises ValueError where a plugin cannot be made, or the selection is wrong."""

    def __init__(
        self, profile_name: str, shared: Shared, registry: Mapping[str, PluginFactory], selection: PluginSelection, *,
        percentage_of_nodes_to_score: int | None = None,
    ) -> None:
        self.profile_name, self._shared, ctx = profile_name, shared, shared.ctx
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score  # see ``sampling.py``
        self.client, self.clock, self.rng, self.version = ctx.client, ctx.clock, ctx.rng, ctx.version
        self.nominator, self.common = shared.nominator, shared.common
        self.plugins: dict[str, Any] = {}
        for name in selection.names:
            try:
                self.plugins[name] = registry[name](selection.arguments.get(name, {}), self)
            except (ValueError, TypeError) as failure:
                raise ValueError(f'initializing plugin "{name}": {failure}') from failure
        points = selection.points(self.plugins)
        self.weights = selection.weights(self.plugins)
        self.points = {point: [self.plugins[name] for name in points.get(point, ())] for point in METHODS}
        at = self.points.__getitem__
        self.pre_enqueue_plugins, self.queue_sort_plugins = at("preEnqueue"), at("queueSort")
        self.pre_filter_plugins, self.filter_plugins = at("preFilter"), at("filter")
        self.post_filter_plugins, self.pre_score_plugins = at("postFilter"), at("preScore")
        self.score_plugins, self.reserve_plugins = at("score"), at("reserve")
        self.emptier_first = any(getattr(plugin, "emptier_first", False) for plugin in self.score_plugins)
        """Whether of nodes with the same score the one is better of which less is requested."""
        self.permit_plugins, self.pre_bind_plugins = at("permit"), at("preBind")
        self.bind_plugins, self.post_bind_plugins = at("bind"), at("postBind")
        self.placement_generate_plugins, self.placement_score_plugins = at("placementGenerate"), at("placementScore")
        self.pod_group_post_filter_plugins = at("podGroupPostFilter")
        self.placement_feasible_plugins = [each for each in self.plugins.values() if hasattr(each, "placement_feasible")]
        self._extensions = [plugin for plugin in self.pre_filter_plugins if hasattr(plugin, "add_pod")]

    def events(self) -> dict[str, Sequence[ClusterEventWithHint]]:
        """The events that each plugin registers; for one that registers nothing, all of them."""
        extenders: dict[str, Sequence[ClusterEventWithHint]] = {EXTENDER_NAME: ANY_EVENT} if self.extenders else {}
        return extenders | {
            name: list(plugin.events_to_register()) if hasattr(plugin, "events_to_register") else ANY_EVENT
            for name, plugin in self.plugins.items()}

    # the handle

    @cached_property
    def recorder(self) -> "Recorder":
        """Records Events as the profile."""
        return self._shared.ctx.recorder(self.profile_name)

    @property
    def snapshot(self) -> Snapshot:
        """The cluster as the current cycle sees it."""
        return self._shared.snapshot

    @property
    def extenders(self) -> Sequence[Extender]:
        """The extenders."""
        return self._shared.extenders

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self._shared.ctx.enabled(gate)

    def lister(self, resource: Resource) -> Lister:
        """Reads the shared cache of a resource."""
        return self._shared.ctx.lister(resource)

    def add_handler(
        self, resource: Resource, on_add: Callable[[Any], object] | None = None,
        on_update: Callable[[Any, Any], object] | None = None, on_delete: Callable[[Any], object] | None = None,
    ) -> None:
        """Tell these of every change of a resource, before the queue is told."""
        self._shared.ctx.add_handler(resource, on_add, on_update, on_delete)

    def waiting_pods(self) -> Iterator[WaitingPod]:
        """The pods that wait for Permit plugins."""
        return iter(self._shared.waiting_pods)

    def get_waiting_pod(self, uid: str) -> WaitingPod | None:
        """One of them."""
        return self._shared.waiting_pods.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Reject one of them. Whether it was waiting."""
        waiting = self._shared.waiting_pods.get(uid)
        if waiting is None:
            return False
        waiting.reject("", "removed")
        return True

    def cancel_pod_in_pre_bind(self, uid: str, message: str) -> bool:
        """End the binding of a pod whose PreBind plugins still run. Whether it was there."""
        return self._shared.cancel_pod_in_pre_bind(uid, message)

    def activate(self, uids: Iterable[str]) -> None:
        """Try these unscheduled pods now."""
        self._shared.activate(uids)

    @property
    def groups(self) -> "GroupStates | None":
        """What is known of groups and their pods now; None where there are no groups."""
        return self._shared.groups

    def spawn(self, coro: Coroutine[Any, Any, object], name: str) -> None:
        """Run something beside the cycles."""
        assert self._shared.spawn is not None, "a scheduler runs"
        self._shared.spawn(coro, name)

    async def wait_for(self, check: Callable[[], T | None], timeout_seconds: float) -> T:
        """What ``check`` returns once that is not None. Raises TimeoutError."""
        assert self._shared.changes is not None, "a scheduler runs"
        return await self._shared.changes.wait_for(check, timeout_seconds)

    # the scheduling cycle

    def run_pre_filter_plugins(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot,
    ) -> tuple[dict[str, None] | None, Status | None, tuple[str, ...]]:
        """The only nodes that are candidates (None: all), a rejection or an error or None, and the
        names of the plugins that named nodes, sorted.
        """
        names: dict[str, None] | None = None
        named_by: list[str] = []
        skipped: list[str] = []
        rejection: Status | None = None
        for plugin in self.pre_filter_plugins:
            result = plugin.pre_filter(state, pod, snapshot)
            if result is None:
                continue
            if not isinstance(result, Status):
                named_by.append(plugin.name)
                names = dict.fromkeys(name for name in result if names is None or name in names)
                if not names:
                    return names, _no_node_left(named_by), tuple(sorted(named_by))
            elif result.code == Code.SKIP:
                skipped.append(plugin.name)
            elif result.code == Code.UNSCHEDULABLE:
                rejection = result.of_plugin(plugin.name)  # the others are still asked: preemption needs their states
            elif result.is_rejection:
                return None, result.of_plugin(plugin.name), ()
            else:
                return None, error(f'running PreFilter plugin "{plugin.name}": {result.message}'), ()
        state.skip_filter_plugins = frozenset(skipped)
        return names, rejection, tuple(sorted(named_by))

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod: PodInfo, pod_to_add: PodInfo, node: NodeInfo,
    ) -> Status | None:
        """Tell PreFilter plugins that another pod is on a node. An error, or None."""
        for plugin in self._extensions:
            if plugin.name not in state.skip_filter_plugins:
                status: Status | None = plugin.add_pod(state, pod, pod_to_add, node)
                if status is not None:
                    return error(f'running AddPod on PreFilter plugin "{plugin.name}": {status.message}')
        return None

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod: PodInfo, pod_to_remove: PodInfo, node: NodeInfo,
    ) -> Status | None:
        """Tell PreFilter plugins that another pod is gone from a node. An error, or None."""
        for plugin in self._extensions:
            if plugin.name not in state.skip_filter_plugins:
                status: Status | None = plugin.remove_pod(state, pod, pod_to_remove, node)
                if status is not None:
                    return error(f'running RemovePod on PreFilter plugin "{plugin.name}": {status.message}')
        return None

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The first rejection of a node, or None."""
        for plugin in self.filter_plugins:
            if plugin.name in state.skip_filter_plugins:
                continue
            status: Status | None = plugin.filter(state, pod, node)
            if status is not None:
                if status.is_rejection:
                    return status.of_plugin(plugin.name)
                return error(f'running "{plugin.name}" filter plugin: {status.message}')
        return None

    def filter_signer(self, state: CycleState, pod: PodInfo) -> Callable[[NodeInfo], Hashable] | None:
        """What the filters depend on at a node, by the kinds of ``framework/search.py``; see the
        Handle.
        """
        asked: dict[str, tuple[Callable[[Any, NodeInfo], Hashable], Any]] = {}
        for plugin in self.filter_plugins:
            if plugin.name in state.skip_filter_plugins or hasattr(plugin, "resource_score"):
                continue
            if not hasattr(plugin, "sign_node"):
                return None
            fields = plugin.node_fields(pod)
            if fields and getattr(plugin, "counts_pods", False):
                return None
            asked[plugin.name] = plugin.sign_node, fields
        key = self.profile_name, *[(name, fields) for name, (_, fields) in asked.items()]

        def sign(node: NodeInfo) -> Hashable:
            kept = node.memo.get(SIGNATURE)
            if kept is None or kept[0] != key:
                signs = [sign_node(fields, node) for sign_node, fields in asked.values()]
                kept = node.memo[SIGNATURE] = key, (tuple(node.allocatable.items()), node.usage, *signs)
            signature: Hashable = kept[1]
            return signature

        return sign

    def usage_filter(self, state: CycleState, pod: PodInfo, allocatable: dict[str, int]) -> Callable[[Usage], bool]:
        """Whether a pod fits nodes of one capacity by what is used of them; see the Handle."""
        parts = [
            plugin.resource_score(pod, allocatable) for plugin in self.filter_plugins
            if hasattr(plugin, "resource_score") and plugin.name not in state.skip_filter_plugins]
        scores = [part.score for part in parts if part is not None]
        return lambda usage: len(scores) == len(parts) and all(score(usage) >= 0 for score in scores)

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The same with the pods that are nominated for the node and have no less priority, and
        without them: what fits now must also fit then, and the other way round.
        """
        nominated = [
            each for each in self.nominator.nominated_pods_for_node(node.name)
            if each.priority >= pod.priority and each.uid != pod.uid]
        if nominated:
            fuller, fuller_state = node.copy(), state.clone()
            for each in nominated:
                fuller.add(each)
                failed = self.run_pre_filter_extension_add_pod(fuller_state, pod, each, fuller)
                if failed is not None:
                    return failed
            status = self.run_filter_plugins(fuller_state, pod, fuller)
            if status is not None:
                return status
        return self.run_filter_plugins(state, pod, node)

    async def run_post_filter_plugins(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """The first result that makes the pod schedulable; else the reasons of all, and the last
        result that says something.
        """
        last: PostFilterResult | None = None
        reasons: list[str] = []
        rejected_by = ""
        for plugin in self.post_filter_plugins:
            result, status = await plugin.post_filter(state, pod, snapshot, statuses)
            if status is None or status.code == Code.SUCCESS:
                return result, status
            if status.code == Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return result, status.of_plugin(plugin.name)
            if not status.is_rejection:
                return None, Status(Code.ERROR, status.reasons, plugin.name)
            info = result.nominating_info if result is not None else None
            if info is not None and info.mode is not NominatingMode.NOOP:
                last = result
            reasons += status.reasons
            rejected_by = rejected_by or plugin.name
        return last, Status(Code.UNSCHEDULABLE, tuple(reasons), rejected_by)

    async def run_pod_group_post_filter_plugins(
        self, state: CycleState, group: "PodGroupInfo", snapshot: Snapshot, schedule: "PodGroupSchedulingFunc",
    ) -> tuple[Mapping[str, NominatingInfo], Status]:
        """Nominations by uid and SUCCESS of the first plugin that makes the group schedulable; else
        the reasons of all, or an error.
        """
        reasons: list[str] = []
        rejected_by = ""
        for plugin in self.pod_group_post_filter_plugins:
            nominations, status = await plugin.pod_group_post_filter(state, group, snapshot, schedule)
            if status.code == Code.SUCCESS:
                return nominations, status
            if status.code == Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return nominations, status.of_plugin(plugin.name)
            if not status.is_rejection:
                return {}, error(f'error in "{plugin.name}" PodGroupPostFilter plugins: {status.message}')
            reasons += status.reasons
            rejected_by = rejected_by or plugin.name
        return {}, Status(Code.UNSCHEDULABLE, tuple(reasons), rejected_by)

    def run_pre_score_plugins(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """Notes which scores are left out. An error, or None."""
        skipped: list[str] = []
        for plugin in self.pre_score_plugins:
            status: Status | None = plugin.pre_score(state, pod, nodes)
            if status is None:
                continue
            if status.code != Code.SKIP:
                return error(f'running PreScore plugin "{plugin.name}": {status.message}')
            skipped.append(plugin.name)
        state.skip_score_plugins = frozenset(skipped)
        return None

    def total_scores(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """The sum of the plugins' normalized and weighted scores, by name of the node."""
        totals = {node.name: 0 for node in nodes}
        for plugin in self.score_plugins:
            if plugin.name in state.skip_score_plugins:
                continue
            scores: dict[str, int] = {node.name: plugin.score(state, pod, node) for node in nodes}
            if hasattr(plugin, "normalize_score"):
                plugin.normalize_score(state, pod, scores)
            weight = self.weights[plugin.name]
            for name, score in scores.items():
                totals[name] += score * weight
        return totals

    def run_reserve_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """The first rejection or error, or None; what was reserved before stays."""
        for plugin in self.reserve_plugins:
            status: Status | None = plugin.reserve(state, pod, node_name)
            if status is not None:
                if status.is_rejection:
                    return status.of_plugin(plugin.name)
                return error(f'running Reserve plugin "{plugin.name}": {status.message}')
        return None

    def run_unreserve_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo all reservations, the last first; what one of them raises is logged."""
        for plugin in reversed(self.reserve_plugins):
            _, raised = attempt(plugin.unreserve, state, pod, node_name)
            if raised is not None:
                log.error("%s unreserving for %s", plugin.name, pod.uid, exc_info=raised)

    def run_permit_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[dict[str, float], Status | None]:
        """The seconds that each plugin wants to wait for at most, and WAIT; else a rejection, an
        error or None.
        """
        seconds: dict[str, float] = {}
        waits: Status | None = None
        for plugin in self.permit_plugins:
            status, timeout_seconds = plugin.permit(state, pod, node_name)
            if status is None:
                continue
            if status.is_rejection:
                return {}, status.of_plugin(plugin.name)
            if status.code != Code.WAIT:
                return {}, Status(Code.ERROR, (f'running Permit plugin "{plugin.name}": {status.message}',), plugin.name)
            seconds[plugin.name] = min(timeout_seconds, MAX_PERMIT_SECONDS)
            waits = status
        return seconds, waits and Status(Code.WAIT, (*waits.reasons, WAITING))

    # the binding cycle

    def run_pre_bind_pre_flights(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """SKIP where no PreBind plugin has anything to do, an error, or None."""
        skipped: list[str] = []
        for plugin in self.pre_bind_plugins:
            status: Status | None = plugin.pre_bind_pre_flight(state, pod, node_name)
            if status is None:
                continue
            if status.code == Code.ERROR:
                return error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
            if status.code != Code.SKIP:
                return error(
                    f'PreBindPreFlight {plugin.name} returned "{status.code.text}", which is unsupported. '
                    "It is supposed to return Success, Skip, or Error status")
            skipped.append(plugin.name)
        state.skip_pre_bind_plugins = frozenset(skipped)
        return None if len(skipped) < len(self.pre_bind_plugins) else Status(Code.SKIP)

    async def run_pre_bind_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """The first rejection or error, or None."""
        for plugin in self.pre_bind_plugins:
            if plugin.name in state.skip_pre_bind_plugins:
                continue
            status: Status | None = await plugin.pre_bind(state, pod, node_name)
            if status is not None:
                if status.is_rejection:
                    return status.of_plugin(plugin.name)
                return error(f'running PreBind plugin "{plugin.name}": {status.message}')
        return None

    async def run_bind_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """What the first plugin says that does not leave it to the next; None: it is bound."""
        status: Status | None = Status(Code.SKIP)
        for plugin in self.bind_plugins:
            status = await plugin.bind(state, pod, node_name)
            if status is None:
                return None
            if status.code == Code.SKIP:
                continue
            if status.is_rejection:
                return status.of_plugin(plugin.name)
            return error(f'running Bind plugin "{plugin.name}": {status.message}')
        return status

    def run_post_bind_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Tell all of them that the pod is bound."""
        for plugin in self.post_bind_plugins:
            plugin.post_bind(state, pod, node_name)


def _no_node_left(named_by: Sequence[str]) -> Status:
    if len(named_by) == 1:
        text = f"node(s) didn't satisfy plugin {named_by[0]}"
    else:
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(named_by))}] simultaneously"
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))

"""Which events may help a pod that its topology spread constraints kept from all nodes.

Upstream: plugins/podtopologyspread/plugin.go.
"""

from collections.abc import Callable, Mapping, Sequence

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.events import (
    QUEUE,
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.plugins.hints import has_node, hint
from fakekube_controllers.scheduler.plugins.spread_constraints import Constraints

FindConstraints = Callable[[ReadOnlyTree], Constraints]


class SpreadHints:
    """The hints, for pods whose hard constraints a function finds."""

    def __init__(self, find: FindConstraints) -> None:
        self._find = find

    def events(self) -> Sequence[ClusterEventWithHint]:
        """The events, each with its hint."""
        assigned = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        target = ActionType.UPDATE_POD_TOLERATION | ActionType.UPDATE_POD_LABEL
        node = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, assigned), self._after_assigned_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.TARGET_POD, target), self._after_target_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node), self._after_node))

    def _constraints(self, pod: PodInfo) -> Constraints | None:
        try:
            return self._find(pod.pod)
        except labels.SelectorError:
            return None

    def _after_assigned_pod(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        for other in (new, old):
            if other is not None and (not has_node(other) or meta.namespace_of(other) != meta.namespace_of(pod.pod)):
                return SKIP
        constraints = self._constraints(pod)
        if constraints is None:
            return QUEUE
        if old is not None and new is not None:
            return _after_labels(old, new, constraints)
        other = new if new is not None else old
        assert other is not None, "an event has an object"
        return hint(any(each.selector.matches(meta.labels_of(other)) for each in constraints))

    def _after_target_pod(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        constraints = self._constraints(pod)
        if constraints is None or old is None or new is None:
            return QUEUE
        if old["spec"].get("tolerations") != new["spec"].get("tolerations") and any(each.honors_taints for each in constraints):
            return QUEUE
        return _after_labels(old, new, constraints)

    def _after_node(self, pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
        constraints = self._constraints(pod)
        if constraints is None:
            return QUEUE
        had, has = _has_keys(old, constraints), _has_keys(new, constraints)
        if old is None or new is None:
            return hint(had or has)
        if had != has:
            return QUEUE
        before, now = meta.labels_of(old), meta.labels_of(new)
        moved = any(before.get(each.topology_key) != now.get(each.topology_key) for each in constraints)
        return hint(has and (moved or old["spec"].get("taints") != new["spec"].get("taints")))


def _after_labels(old: ReadOnlyTree, new: ReadOnlyTree, constraints: Constraints) -> QueueingHint:
    """Whether a constraint takes a pod now and did not, or the other way round."""
    before: Mapping[str, str] = meta.labels_of(old)
    now: Mapping[str, str] = meta.labels_of(new)
    if before == now:
        return SKIP
    return hint(any(each.selector.matches(before) != each.selector.matches(now) for each in constraints))


def _has_keys(node: ReadOnlyTree | None, constraints: Constraints) -> bool:
    return node is not None and all(each.topology_key in meta.labels_of(node) for each in constraints)

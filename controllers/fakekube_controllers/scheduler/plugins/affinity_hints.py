"""Which events may help a pod that affinity or anti-affinity between pods kept from all nodes.

Upstream: plugins/interpodaffinity/plugin.go.
"""

from collections.abc import Sequence

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
from fakekube_controllers.scheduler.plugins.pod_affinity_terms import NO_TERMS, PodTerms, Terms, terms_of


def events_to_register() -> Sequence[ClusterEventWithHint]:
    """The events, each with its hint."""
    assigned = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
    return (
        ClusterEventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, assigned), _after_assigned_pod),
        # other pods may have a dislike for the labels that it had
        ClusterEventWithHint(ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL)),
        ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL), _after_node))


def _terms(pod: ReadOnlyTree) -> PodTerms | None:
    try:
        return terms_of(pod)
    except labels.SelectorError:
        return None


def _all_take(terms: Terms, pod: ReadOnlyTree) -> bool:
    return bool(terms) and all(term.matches(pod, {}) for term, _ in terms)


def _any_takes(terms: Terms, pod: ReadOnlyTree) -> bool:
    return any(term.matches(pod, {}) for term, _ in terms)


def _after_assigned_pod(pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    if any(other is not None and not has_node(other) for other in (new, old)):
        return SKIP
    terms = _terms(pod.pod)
    if terms is None:
        return QUEUE
    if new is not None:
        if old is None:
            return hint(_all_take(terms.affinity, new))
        if not _all_take(terms.affinity, old) and _all_take(terms.affinity, new):
            return QUEUE
        return hint(_any_takes(terms.anti_affinity, old) and not _any_takes(terms.anti_affinity, new))
    assert old is not None, "an event has an object"
    return hint(
        _any_takes(terms.anti_affinity, old) or _any_takes((_terms(old) or NO_TERMS).anti_affinity, pod.pod))


def _after_node(pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    terms = _terms(pod.pod)
    if terms is None or new is None:
        return QUEUE
    now = meta.labels_of(new)
    if old is None:
        return hint(bool(terms.anti_affinity) or any(term.topology_key in now for term, _ in terms.affinity))
    before = meta.labels_of(old)
    for term, _ in terms.affinity:
        if term.topology_key in now and before.get(term.topology_key) != now[term.topology_key]:
            return QUEUE
    for term, _ in terms.anti_affinity:
        if term.topology_key in before and before[term.topology_key] != now.get(term.topology_key):
            return QUEUE
    return SKIP

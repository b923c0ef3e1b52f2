"""What a pod lacks by affinity and anti-affinity between pods."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.why import Change
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.missing import domains
from fakekube_controllers.scheduler.plugins.pod_affinity_terms import Term, terms_of
from fakekube_controllers.scheduler.plugins.topology_counts import HOSTNAME, Labels, node_labels

AFFINITY = 0  # of the three that are counted

Takes = Callable[[ReadOnlyTree], bool]


class Matches(Protocol):
    """What the filter knows: see ``inter_pod_affinity.FilterState``."""

    pod: ReadOnlyTree
    namespace_labels: Labels
    affinity: Sequence[Term]
    takes: Takes
    takes_anti: list[tuple[str, Takes]]
    counted: list[Mapping[str, Sequence[Mapping[str, int]]]]
    total: int

    def count(self, which: int, key: str, domain: str) -> int:
        """How often one of the three is matched in a domain."""


def missing(found: Matches, node: NodeInfo, snapshot: Snapshot) -> Sequence[Change] | None:
    """The node is to be in a domain with the pods that are wanted, or to have one; pods that are in
    the way are to go.
    """
    wanted = _wanted(found, node) if found.affinity else []
    if wanted is None:
        return None
    joined = {str(each.details["key"]): str(each.details["value"]) for each in wanted if each.action == changes.SET_LABEL}
    own = {**node_labels(node), **joined}
    going: dict[str, tuple[PodInfo, NodeInfo]] = {}
    for key, selects in _conflicts(found, snapshot):
        domain = own.get(key)
        if domain is not None:
            going.update((pod.uid, (pod, place)) for pod, place in domains.pods_of(snapshot, key, domain, selects))
    deleted = domains.delete(list(going.values()), "which is not to be near it")
    return None if deleted is None else [*wanted, *deleted]


def _conflicts(found: Matches, snapshot: Snapshot) -> Iterator[tuple[str, domains.Selects]]:
    """By topology key, which pods must not be near: by the pod's terms, and by their own."""
    yield from ((key, _taken_by(takes)) for key, takes in found.takes_anti)
    keys = {
        term.topology_key: None for node in snapshot.nodes_with_required_anti_affinity()
        for other in node.pods_with_required_anti_affinity.values() for term, _ in terms_of(other.pod).anti_affinity}
    yield from ((key, _taking(key, found)) for key in keys)


def _taken_by(takes: Takes) -> domains.Selects:
    """Pods that a term takes."""
    return lambda other: takes(other.pod)


def _taking(key: str, found: Matches) -> domains.Selects:
    """Pods whose own anti-affinity in a topology takes the pod."""
    return lambda other: other.has_required_anti_affinity and any(
        term.topology_key == key and term.matches(found.pod, found.namespace_labels)
        for term, _ in terms_of(other.pod).anti_affinity)


def _wanted(found: Matches, node: NodeInfo) -> list[Change] | None:
    """So that the pod's affinity is matched on the node; None where nothing is known."""
    own, wanted = dict(node_labels(node)), list[Change]()
    for key in dict.fromkeys(term.topology_key for term in found.affinity):
        if key not in own:
            wanted.append(domains.join(node, key, _matched_domain(found, key)))
            own[key] = str(wanted[-1].details["value"])
    if all(found.count(AFFINITY, term.topology_key, own[term.topology_key]) > 0 for term in found.affinity):
        return wanted
    if found.total == 0 and found.takes(found.pod):
        return wanted
    pod = _pod_that_matches(found)
    if pod is None:
        return None
    return [*wanted, changes.create_pod(node, meta.namespace_of(pod), meta.labels_of(pod))]


def _matched_domain(found: Matches, key: str) -> str | None:
    """A domain with pods that all terms take."""
    if key == HOSTNAME:
        return None
    known = [domain for domains_ in found.counted[AFFINITY].get(key, ()) for domain in domains_]
    return next((domain for domain in sorted(known) if found.count(AFFINITY, key, domain) > 0), None)


def _pod_that_matches(found: Matches) -> Tree | None:
    """A pod that all terms of the affinity take."""
    labels = domains.labels_for([term.selector for term in found.affinity])
    if labels is None:
        return None
    names = dict.fromkeys([meta.namespace_of(found.pod), *(name for term in found.affinity for name in term.namespaces)])
    pods: Iterator[Tree] = ({"metadata": {"name": "", "namespace": name, "labels": labels}} for name in names)
    return next((pod for pod in pods if found.takes(pod)), None)

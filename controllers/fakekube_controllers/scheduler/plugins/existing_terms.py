"""The affinity terms of the pods that are on nodes, with the domains where these pods are.

Pods of one template share their terms, so a pod that comes is compared with few of them. Upstream
asks every pod with affinity in each cycle.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum

from fakekube.apimachinery import labels
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.plugins.node_changes import NodeChanges
from fakekube_controllers.scheduler.plugins.pod_affinity_terms import WeightedTerm, terms_of
from fakekube_controllers.scheduler.plugins.topology_counts import Labels, labels_of


class TermKind(IntEnum):
    """The kinds of terms, in the order of PodTerms."""

    AFFINITY = 0
    ANTI_AFFINITY = 1
    PREFERRED_AFFINITY = 2
    PREFERRED_ANTI_AFFINITY = 3


KINDS = tuple(TermKind)

Key = tuple[TermKind, WeightedTerm]


class ExistingTerms:
    """Terms of pods on nodes, by what they are; of each, how often a domain has it.

    A node without the topology key of a term does not count.
    """

    def __init__(self) -> None:
        self._seen = -1
        self._clear()

    def _clear(self) -> None:
        self._domains: dict[Key, dict[str, int]] = {}
        self._given: dict[Key, None] = {}  # their domains are not changed any more
        self._by_namespace: dict[str, dict[Key, None]] = {}
        self._selecting: dict[Key, None] = {}  # those with a selector of namespaces

    def update(self, changes: NodeChanges) -> None:
        """Take in what has changed since the last time."""
        if self._seen == changes.position:
            return
        found = changes.since(self._seen) if self._seen >= 0 else None
        if found is None:
            self._clear()
            for info in changes.nodes.infos():
                for pod in info.pods_with_affinity.values():
                    self._put(pod, info.node, 1)
        else:
            for change in found:
                for pod in change.gone:
                    self._put(pod, change.old, -1)
                for pod in change.come:
                    self._put(pod, change.new, 1)
        self._seen = changes.position

    def _put(self, pod: PodInfo, node: ReadOnlyTree | None, more: int) -> None:
        if not pod.has_affinity or node is None:
            return
        try:
            terms = terms_of(pod.pod)
        except labels.SelectorError:
            return
        found = labels_of(node)
        for kind in KINDS:
            for weighted in terms[kind]:
                domain = found.get(weighted.term.topology_key)
                if domain is not None:
                    self._count((kind, weighted), domain, more)

    def _count(self, key: Key, domain: str, more: int) -> None:
        domains = self._domains.get(key)
        if domains is None:
            domains = self._domains[key] = {}
            self._list(key)
        elif key in self._given:
            domains = self._domains[key] = dict(domains)
            del self._given[key]
        count = domains.get(domain, 0) + more
        if count:
            domains[domain] = count
        else:
            del domains[domain]
        if not domains:
            del self._domains[key]
            self._given.pop(key, None)
            self._unlist(key)

    def _list(self, key: Key) -> None:
        term = key[1].term
        if not term.namespace_selector.nothing:
            self._selecting[key] = None
            return
        for namespace in term.namespaces:
            self._by_namespace.setdefault(namespace, {})[key] = None

    def _unlist(self, key: Key) -> None:
        term = key[1].term
        if not term.namespace_selector.nothing:
            del self._selecting[key]
            return
        for namespace in term.namespaces:
            listed = self._by_namespace[namespace]
            del listed[key]
            if not listed:
                del self._by_namespace[namespace]

    def count(self, key: Key, domain: str) -> int:
        """How often a domain has a term."""
        domains = self._domains.get(key)
        return domains.get(domain, 0) if domains is not None else 0

    def taking(
        self, pod: ReadOnlyTree, namespace: str, namespace_labels: Labels,
    ) -> Iterator[tuple[Key, Mapping[str, int]]]:
        """The terms that take a pod, and how often each domain has each."""
        for listed in (self._by_namespace.get(namespace, {}), self._selecting):
            for key in listed:
                if key[1].term.matches(pod, namespace_labels):
                    self._given[key] = None
                    yield key, self._domains[key]

"""The terms of affinity and anti-affinity between pods.

Upstream: kube-scheduler/framework/types.go (AffinityTerm), interpodaffinity/plugin.go
(mergeAffinityTermNamespacesIfNotEmpty). matchLabelKeys and mismatchLabelKeys need no care here:
the API server has made requirements of the label selector of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util.memory import memoized
from fakekube_controllers.scheduler.plugins.topology_counts import Labels, selecting

REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"


class Term(NamedTuple):
    """Pods of some namespaces that a selector takes, in one domain of a topology.

    A namespace is one of ``namespaces``, or has labels that ``namespace_selector`` takes.
    """

    topology_key: str
    namespaces: tuple[str, ...]
    namespace_selector: labels.Selector
    selector: labels.Selector

    def matches(self, pod: ReadOnlyTree, namespace_labels: Labels) -> bool:
        """Whether it takes a pod whose namespace has these labels."""
        metadata = pod["metadata"]
        namespace = metadata.get("namespace", "")
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(metadata.get("labels") or {})


class WeightedTerm(NamedTuple):
    """A term and its weight; that of one that is required is 1."""

    term: Term
    weight: int


Terms = tuple[WeightedTerm, ...]


class PodTerms(NamedTuple):
    """All terms of a pod."""

    affinity: Terms = ()
    anti_affinity: Terms = ()
    preferred_affinity: Terms = ()
    preferred_anti_affinity: Terms = ()

    @property
    def prefers(self) -> bool:
        """Whether any of them is only preferred."""
        return bool(self.preferred_affinity or self.preferred_anti_affinity)


NO_TERMS = PodTerms()


def terms_of(pod: ReadOnlyTree) -> PodTerms:
    """The terms of a pod. Raises SelectorError."""
    affinity = pod["spec"].get("affinity")
    if not affinity:
        return NO_TERMS
    both = affinity.get("podAffinity"), affinity.get("podAntiAffinity")
    if not both[0] and not both[1]:
        return NO_TERMS
    return _parsed(orjson.dumps(both), meta.namespace_of(pod))


@memoized(4096, longest=8192)
def _parsed(text: bytes, namespace: str) -> PodTerms:
    affinity, anti_affinity = (each or {} for each in orjson.loads(text))

    def required(terms: Sequence[ReadOnlyTree] | None) -> Terms:
        return tuple(WeightedTerm(_term(each, namespace), 1) for each in terms or ())

    def preferred(terms: Sequence[ReadOnlyTree] | None) -> Terms:
        return tuple(WeightedTerm(_term(each["podAffinityTerm"], namespace), each["weight"]) for each in terms or ())

    return PodTerms(
        required(affinity.get(REQUIRED)), required(anti_affinity.get(REQUIRED)),
        preferred(affinity.get(PREFERRED)), preferred(anti_affinity.get(PREFERRED)))


def _term(term: ReadOnlyTree, namespace: str) -> Term:
    namespaces, selector = term.get("namespaces") or (), term.get("namespaceSelector")
    if not namespaces and selector is None:
        namespaces = (namespace,)
    return Term(
        term.get("topologyKey", ""), tuple(sorted(dict.fromkeys(namespaces))), labels.from_label_selector(selector),
        labels.from_label_selector(term.get("labelSelector")))


def with_namespaces(term: Term, find: Callable[[labels.Selector], Sequence[ReadOnlyTree]]) -> Term:
    """The term with the namespaces named that its selector takes now; that of all stays."""
    selector = term.namespace_selector
    if selector.empty or selector.nothing:
        return term
    names = dict.fromkeys([*term.namespaces, *(meta.name_of(each) for each in find(selector))])
    return term._replace(namespaces=tuple(sorted(names)), namespace_selector=labels.NOTHING)


def taking(terms: Sequence[Term]) -> Callable[[ReadOnlyTree], bool]:
    """Whether a pod is taken by all of these terms, whose namespaces are named; there is one at
    least.
    """
    checks: list[tuple[frozenset[str] | None, Callable[[Mapping[str, str]], bool]]] = [
        (None if term.namespace_selector.empty else frozenset(term.namespaces), selecting(term.selector)) for term in terms]

    def takes(pod: ReadOnlyTree) -> bool:
        metadata = pod["metadata"]
        namespace, found = metadata.get("namespace", ""), metadata.get("labels") or {}
        for namespaces, selects in checks:
            if namespaces is not None and namespace not in namespaces:
                return False
            if not selects(found):
                return False
        return True

    return takes

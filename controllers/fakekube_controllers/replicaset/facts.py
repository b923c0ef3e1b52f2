"""What matters of a ReplicaSet's pods, found out once for each state of a pod.

A set is looked at whenever one of its pods changes, and then counts all of them: with a thousand pods that start one after
the other, what is known of the others must not be found out again. Upstream has nothing of the kind.
"""

from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.runtime import pods
from fakekube.runtime.owned import selector_of


class Facts(NamedTuple):
    """One pod as the cache shows it.

    ``settled``: the set controls and selects it; ``labelled``: it has all labels of the set's template; ``ready_since`` is in
    Unix seconds.
    """

    settled: bool
    active: bool
    terminating: bool
    labelled: bool
    ready: bool
    ready_since: float

    def is_available(self, min_ready_seconds: int, now: float) -> bool:
        """Whether the pod has been ready for so long."""
        if not self.ready or not min_ready_seconds:
            return self.ready
        return 0 < self.ready_since <= now - min_ready_seconds


class PodFacts:
    """The facts about the pods of one set in one generation."""

    def __init__(self, owner: Tree) -> None:
        self.generation = meta.generation_of(owner)
        self._uid, self._selector = meta.uid_of(owner), selector_of(owner)
        self._labels = meta.labels_of(owner["spec"]["template"]).items()
        self._known: dict[str, tuple[Tree, Facts]] = {}

    def of(self, pod: Tree) -> Facts:
        """The facts about a pod."""
        uid = pod["metadata"]["uid"]
        known = self._known.get(uid)
        if known is not None and known[0] is pod:
            return known[1]
        facts = self._found_out(pod)
        self._known[uid] = pod, facts
        return facts

    def forget(self, pod: Tree) -> None:
        """The pod is gone."""
        self._known.pop(meta.uid_of(pod), None)

    def _found_out(self, pod: Tree) -> Facts:
        own, reference = meta.labels_of(pod), meta.controller_of(pod)
        settled = reference is not None and reference["uid"] == self._uid and self._selector.matches(own)
        return Facts(
            settled, pods.is_active(pod), pods.is_terminating(pod) and not pods.is_finished(pod), self._labels <= own.items(),
            pods.is_ready(pod), pods.ready_since(pod))

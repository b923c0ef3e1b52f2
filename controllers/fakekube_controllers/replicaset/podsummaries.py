"""What matters of a ReplicaSet's pods, worked out once for each state of a pod.

A set is reconciled whenever one of its pods changes, and then counts all of them: with a thousand pods that start one after
the other, the summaries of the others must not be worked out again. Upstream has nothing of the kind.
"""

from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.runtime import pods
from fakekube.runtime.owned import selector_of


class PodSummary(NamedTuple):
    """One pod as the cache shows it.

    ``claimed``: the set controls and selects it; ``labelled``: it has all labels of the set's template; ``ready_since`` is in
    Unix seconds.
    """

    claimed: bool
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


class PodSummaries:
    """The summaries of the pods of one set in one generation."""

    def __init__(self, owner: Tree) -> None:
        self.generation = meta.generation_of(owner)
        self._uid, self._selector = meta.uid_of(owner), selector_of(owner)
        self._labels = meta.labels_of(owner["spec"]["template"]).items()
        self._known: dict[str, tuple[Tree, PodSummary]] = {}

    def of(self, pod: Tree) -> PodSummary:
        """The summary of a pod."""
        uid = pod["metadata"]["uid"]
        known = self._known.get(uid)
        if known is not None and known[0] is pod:
            return known[1]
        summary = self._summarized(pod)
        self._known[uid] = pod, summary
        return summary

    def forget(self, pod: Tree) -> None:
        """The pod is gone."""
        self._known.pop(meta.uid_of(pod), None)

    def _summarized(self, pod: Tree) -> PodSummary:
        own, reference = meta.labels_of(pod), meta.controller_of(pod)
        claimed = reference is not None and reference["uid"] == self._uid and self._selector.matches(own)
        return PodSummary(
            claimed, pods.is_active(pod), pods.is_terminating(pod) and not pods.is_finished(pod), self._labels <= own.items(),
            pods.is_ready(pod), pods.ready_since(pod))

"""What of a ReplicaSet's pods the controller counts, computed once for each state of a pod."""

from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cache.summaries import Summaries
from fakekube.runtime import pods
from fakekube.runtime.owned import selector_of


class PodSummary(NamedTuple):
    """One pod as the cache shows it.

    ``claimed``: the set controls and selects it; ``labelled``: it has all labels of the set's
    template; ``ready_since`` is in Unix seconds.
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


class PodSummaries(Summaries[PodSummary]):
    """The summaries of the pods of one set in one generation."""

    def __init__(self, owner: Tree) -> None:
        super().__init__()
        self.generation = meta.generation_of(owner)
        self._uid, self._selector = meta.uid_of(owner), selector_of(owner)
        self._labels = meta.labels_of(owner["spec"]["template"]).items()

    def summarize(self, tree: Tree) -> PodSummary:
        """The summary of one pod."""
        own, reference = meta.labels_of(tree), meta.controller_of(tree)
        claimed = reference is not None and reference["uid"] == self._uid and self._selector.matches(own)
        return PodSummary(
            claimed, pods.is_active(tree), pods.is_terminating(tree) and not pods.is_finished(tree),
            self._labels <= own.items(), pods.is_ready(tree), pods.ready_since(tree))

"""What each pod of a Job is to it: active, ready, finished, tracked, and its index."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import Tree
from fakekube.cache.summaries import Summaries
from fakekube_controllers.job import indexes, pods


class PodSummary(NamedTuple):
    """What one pod is to its Job. Equal summaries of pods without an index are one object."""

    selected: bool  # the Job's selector matches it
    active: bool
    ready: bool
    terminating: bool  # and not finished yet
    tracked: bool  # it has the tracking finalizer
    ended: bool  # tracked, and finished or being deleted
    completion_index: int | None


class JobPods(NamedTuple):
    """The pods of a Job that its selector matches, in the order in which the cache has them, and
    their summaries.
    """

    pods: Sequence[Tree]
    summaries: Sequence[PodSummary]

    def select(self, chosen: Iterable[bool]) -> list[Tree]:
        """The pods for which ``chosen``, one value a pod, is true."""
        return [pod for pod, wanted in zip(self.pods, chosen, strict=True) if wanted]


class PodSummaries(Summaries[PodSummary]):
    """The summaries of the pods that one Job controls, for one selector."""

    def __init__(self, selector: Selector) -> None:
        super().__init__()
        self.selector = selector
        self._shared: dict[PodSummary, PodSummary] = {}

    def summarize(self, tree: Tree) -> PodSummary:
        """The summary of one pod."""
        finished, deleting = pods.is_finished(tree), pods.is_terminating(tree)
        tracked = pods.is_tracked(tree)
        active = not finished and not deleting
        summary = PodSummary(
            self.selector.matches(meta.labels_of(tree)), active, active and pods.is_ready(tree),
            deleting and not finished, tracked, tracked and not active, indexes.index_of(tree))
        return self._shared.setdefault(summary, summary) if summary.completion_index is None else summary

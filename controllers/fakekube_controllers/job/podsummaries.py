"""What each pod of a Job is to it (active, ready, finished, tracked, its index), computed once for
each state of a pod.

A Job of ten thousand pods is synced again and again while only some of them change. The summaries
of the others are kept: to read so many trees again takes longer than the rest of a sync. Upstream
has nothing of the kind.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import Tree
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


class PodSummaries:
    """The summaries of the pods that one Job controls, for one selector."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self._shared: dict[PodSummary, PodSummary] = {}
        self._trees: Sequence[Tree] = ()  # kept alive: the keys of _known are their identities
        self._known: dict[int, PodSummary] = {}

    def of(self, trees: Sequence[Tree]) -> list[PodSummary]:
        """The summaries of these pods, in the same order.

        The trees are a cache's: a pod that changed is another tree.
        """
        known = self._known
        summaries = [known.get(id(pod)) or self.summarize(pod) for pod in trees]
        self._known = dict(zip(map(id, trees), summaries, strict=True))
        self._trees = trees
        return summaries

    def summarize(self, pod: Tree) -> PodSummary:
        """The summary of one pod."""
        finished, deleting, tracked = pods.is_finished(pod), pods.is_terminating(pod), pods.is_tracked(pod)
        active = not finished and not deleting
        summary = PodSummary(
            self.selector.matches(meta.labels_of(pod)), active, active and pods.is_ready(pod), deleting and not finished,
            tracked, tracked and not active, indexes.index_of(pod))
        return self._shared.setdefault(summary, summary) if summary.completion_index is None else summary

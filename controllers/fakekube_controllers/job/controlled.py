"""The pods of a Job, by what they are to it: found out once for each state of a pod.

A Job of ten thousand pods is looked at again and again while some of them change. What is known of the others is not found out
anew: to look into so many trees takes longer than everything else that a sync does. Upstream has nothing of the kind.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import Tree
from fakekube_controllers.job import indexes, pods


class Fact(NamedTuple):
    """What one pod is to its Job. Pods without an index that are alike share one."""

    selected: bool
    active: bool
    ready: bool
    terminating: bool  # not finished yet
    tracked: bool
    ended: bool  # tracked, and finished or on its way out
    completion_index: int | None


class JobPods(NamedTuple):
    """The pods that a Job's selector matches, in the order in which they came, and the facts about them."""

    pods: Sequence[Tree]
    facts: Sequence[Fact]

    def those(self, chosen: Iterable[bool]) -> list[Tree]:
        """The pods for which ``chosen``, which goes along with them, is true."""
        return [pod for pod, wanted in zip(self.pods, chosen, strict=True) if wanted]


class Facts:
    """What is known of the pods that one Job controls, of a selector that stays the same."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self._shared: dict[Fact, Fact] = {}
        self._trees: Sequence[Tree] = ()  # what the keys of _known are the identities of
        self._known: dict[int, Fact] = {}

    def of(self, trees: Sequence[Tree]) -> list[Fact]:
        """The facts about these pods, which are trees of a cache: another state of a pod is another tree."""
        known = self._known
        facts = [known.get(id(pod)) or self.find_out(pod) for pod in trees]
        self._known = dict(zip(map(id, trees), facts, strict=True))
        self._trees = trees
        return facts

    def find_out(self, pod: Tree) -> Fact:
        """The facts about one pod."""
        finished, leaving, tracked = pods.is_finished(pod), pods.is_terminating(pod), pods.is_tracked(pod)
        active = not finished and not leaving
        fact = Fact(
            self.selector.matches(meta.labels_of(pod)), active, active and pods.is_ready(pod), leaving and not finished, tracked,
            tracked and not active, indexes.index_of(pod))
        return self._shared.setdefault(fact, fact) if fact.completion_index is None else fact

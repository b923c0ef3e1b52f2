"""What is computed from each object of a cache, once for each state of the object.

A controller that counts thousands of pods is called again and again while only some of them change.
To read the trees of all others again would take longer than the rest of the work. Upstream has
nothing of the kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from fakekube.apimachinery.types import Tree

S = TypeVar("S")


class Summaries(ABC, Generic[S]):
    """Summaries of objects. A subclass says what they are, by ``summarize``."""

    def __init__(self) -> None:
        self._trees: Sequence[Tree] = ()  # kept alive: the keys of _known are their identities
        self._known: dict[int, S] = {}

    @abstractmethod
    def summarize(self, tree: Tree) -> S:
        """The summary of one object, which depends on nothing but the object and is never false."""

    def of(self, trees: Sequence[Tree]) -> list[S]:
        """The summaries of objects of a cache, in the same order.

        An object that changed is another tree. Those of the last call that are not among ``trees``
        are forgotten.
        """
        known, summarize = self._known, self.summarize
        summaries = [known.get(id(tree)) or summarize(tree) for tree in trees]
        self._known = dict(zip(map(id, trees), summaries, strict=True))
        self._trees = trees
        return summaries

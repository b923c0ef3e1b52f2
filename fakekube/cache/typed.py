"""Reading a cache as models: ``ctx.lister(Pod)``. Upstream: the generated listers of client-go."""

from collections.abc import Sequence
from typing import Generic

from fakekube.cache.lister import Lister, Selector, Trees
from fakekube.client.typed import M


class TypedLister(Generic[M]):
    """What a cache holds, as models.

    Each is made anew and the caller's own; ``trees`` reads without making any.
    """

    def __init__(self, trees: Lister, model: type[M]) -> None:
        self.trees, self.model = trees, model

    def get(self, namespace: str, name: str) -> M | None:
        """One object, or None. The namespace of what is in none is empty."""
        found = self.trees.get(namespace, name)
        return None if found is None else self.model.from_tree(found)

    def list(self, namespace: str = "", selector: Selector = None) -> Sequence[M]:
        """The objects of one namespace, or of all, that a selector matches."""
        return self._made(self.trees.list(namespace, selector))

    def by_index(self, index: str, value: str) -> Sequence[M]:
        """What an index has under a value. KeyError when nobody added the index."""
        return self._made(self.trees.by_index(index, value))

    def controlled_by(self, uid: str) -> Sequence[M]:
        """The objects whose controller has this uid; indexed on first use."""
        return self._made(self.trees.controlled_by(uid))

    def _made(self, trees: Trees) -> Sequence[M]:
        return [self.model.from_tree(tree) for tree in trees]

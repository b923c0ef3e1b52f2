"""Reading a cache. Upstream: the generated listers of client-go, here one for every resource."""

from collections.abc import Mapping
from typing import Protocol

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import (
    Indexer,
    IndexFunction,
    by_controller_uid,
    by_label,
    by_namespace_without_controller,
    by_owner_uid,
)


class LabelMatcher(Protocol):
    """A label selector."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are selected."""


Selector = LabelMatcher | Mapping[str, str] | None
"""A parsed selector, labels that must be there, or everything."""

Trees = list[Tree]

CONTROLLER_UID = "controller-uid"
OWNER_UID = "owner-uid"
WITHOUT_CONTROLLER = "without-controller"


class Lister:
    """What a cache holds.

    All results are shared, read-only trees, of which ``mutation.py`` takes care; lists are new
    lists.
    """

    def __init__(self, indexer: Indexer) -> None:
        self.indexer = indexer

    def get(self, namespace: str, name: str) -> Tree | None:
        """One object, or None. The namespace of what is in none is empty."""
        return self.indexer.get(namespace, name)

    def list(self, namespace: str = "", selector: Selector = None) -> Trees:
        """The objects of one namespace, or of all, that a selector matches."""
        objects = self.indexer.list(namespace)
        if selector is None:
            return [*objects]
        if isinstance(selector, Mapping):
            wanted = selector.items()
            return [obj for obj in objects if wanted <= meta.labels_of(obj).items()]
        return [obj for obj in objects if selector.matches(meta.labels_of(obj))]

    def by_index(self, index: str, value: str) -> Trees:
        """What an index has under a value. KeyError when nobody added the index."""
        return [*self.indexer.by_index(index, value)]

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index by a function; what is there is indexed too."""
        self.indexer.add_index(name, function)

    def controlled_by(self, uid: str) -> Trees:
        """The objects whose controller has this uid; indexed on first use."""
        self.indexer.add_index(CONTROLLER_UID, by_controller_uid)
        return [*self.indexer.by_index(CONTROLLER_UID, uid)]

    def orphans(self, namespace: str) -> Trees:
        """The objects of a namespace that nobody controls; indexed on first use."""
        self.indexer.add_index(WITHOUT_CONTROLLER, by_namespace_without_controller)
        return [*self.indexer.by_index(WITHOUT_CONTROLLER, namespace)]

    def owned_by(self, uid: str) -> Trees:
        """The objects that have an owner with this uid; indexed on first use."""
        self.indexer.add_index(OWNER_UID, by_owner_uid)
        return [*self.indexer.by_index(OWNER_UID, uid)]

    def labelled(self, label: str, value: str) -> Trees:
        """The objects with a label of this value; indexed on first use of the label."""
        name = f"label:{label}"
        self.indexer.add_index(name, by_label(label))
        return [*self.indexer.by_index(name, value)]

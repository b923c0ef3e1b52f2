"""Metadata as Go prints it: fields in the order of its struct, maps sorted.

Upstream: ObjectMeta, encoding/json.
"""

from fakekube.apimachinery.types import Tree
from fakekube.util import memory

METADATA_FIELDS = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
)
"""Go's ObjectMeta in the order in which it prints."""
MAX_ORDERS = 1_000


class MetadataOrder:
    """Metadata in the order of Go's fields.

    Objects have few different sets of fields, so each is sorted once.
    """

    def __init__(self) -> None:
        # by the fields of an object; no names where they are in order already
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    def stamp(self, meta: Tree, revision: str) -> Tree:
        """A copy with a resourceVersion, the fields in order, and maps sorted by their keys as Go
        prints them.
        """
        names = tuple(meta)
        order = self._orders.get(names)
        if order is None:
            order = self._remember(names)
        result = {name: meta.get(name) for name in order} if order else meta.copy()
        result["resourceVersion"] = revision
        for name in ("labels", "annotations"):
            texts = meta.get(name)
            if texts and len(texts) > 1:
                keys = sorted(texts)
                if keys != list(texts):
                    result[name] = {key: texts[key] for key in keys}
        return result

    def _remember(self, names: tuple[str, ...]) -> tuple[str, ...]:
        rank = {name: number for number, name in enumerate(METADATA_FIELDS)}
        order = tuple(sorted(dict.fromkeys((*names, "resourceVersion")), key=lambda name: rank.get(name, len(rank))))
        order = () if order == names else order
        if memory.ENABLED:
            if len(self._orders) >= MAX_ORDERS:
                self._orders.clear()
            self._orders[names] = order
        return order

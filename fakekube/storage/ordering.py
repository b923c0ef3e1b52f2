"""Metadata as Go prints it: fields in the order of its struct, maps sorted. Upstream: ObjectMeta, encoding/json."""

from fakekube.apimachinery.types import Tree

METADATA_FIELDS = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
)
"""Go's ObjectMeta in the order in which it prints."""
MAX_ORDERS = 1_000


class MetadataOrder:
    """Metadata in the order of Go's fields. Objects have few different sets of fields, so each is sorted once."""

    def __init__(self) -> None:
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    def apply(self, meta: Tree) -> Tree:
        """The same fields in order, and maps sorted by their keys as Go prints them. ``meta`` itself may change."""
        for name in ("labels", "annotations"):
            texts = meta.get(name)
            if texts and len(texts) > 1:
                keys = sorted(texts)
                if keys != list(texts):
                    meta[name] = {key: texts[key] for key in keys}
        names = tuple(meta)
        order = self._orders.get(names)
        if order is None:
            if len(self._orders) >= MAX_ORDERS:
                self._orders.clear()
            rank = {name: number for number, name in enumerate(METADATA_FIELDS)}
            order = self._orders[names] = tuple(sorted(names, key=lambda name: rank.get(name, len(rank))))
        return meta if order == names else {name: meta[name] for name in order}

"""Trees to records: an object is stamped with its version, put in the order in which it is printed,
and encoded once.

Upstream: the encoding of apiserver/pkg/storage/etcd3 and of the serializers, in one: what is stored
is what is answered.
"""

from collections.abc import Callable, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.storage.record import PastRecord, Record, Row, SharedTree
from fakekube.util.jsonbytes import encode_to_keep

if TYPE_CHECKING:
    from fakekube.storage.ordering import MetadataOrder
    from fakekube.storage.trees import TreeCache

Fields = Callable[[Tree], Mapping[str, str]]
"""The selectable texts of an object, by label."""

HEAD = ["kind", "apiVersion", "metadata"]


class Encoder:
    """Makes the records of one resource.

    ``sort_keys`` prints objects as upstream prints custom resources: keys sorted at every level,
    list items whole.
    """

    def __init__(self, fields: Fields | None, sort_keys: bool, order: "MetadataOrder", trees: "TreeCache") -> None:
        self.fields, self.sort_keys = fields, sort_keys
        self._order, self._trees = order, trees
        # those of the latest object, shared by all that have the same
        self._field_names: tuple[str, ...] = ()
        self._option = orjson.OPT_SORT_KEYS if sort_keys else 0

    def record(self, tree: Tree, revision: int, previous: Record | None = None) -> Record:
        """The record of a tree, which supersedes ``previous``.

        Raises TypeError for what JSON cannot hold.
        """
        stamped = self._stamp(tree, revision)
        row = self._row(stamped, revision, encode_to_keep(stamped, self._option))
        if previous is not None:  # equal parts are one object: less memory, and indexes see at once
            row = _with_parts_of(row, previous.row)
        record = Record(row, self._trees)
        self._trees.hold(record, stamped, previous)
        return record

    def decode(self, data: bytes) -> Record:
        """The record that encoded bytes were. KeyError, ValueError for what is no object."""
        tree: Tree = orjson.loads(data)
        return Record(self._row(tree, int(tree["metadata"]["resourceVersion"]), data), self._trees)

    def past_record(self, namespace: str, name: str, revision: int, data: bytes) -> PastRecord:
        """The record of a state that was superseded."""
        return PastRecord(namespace, name, revision, data, self._row)

    def deleted_record(self, before: Record, revision: int) -> PastRecord:
        """What a deletion at the revision left of an object that was deleted as it was."""
        return PastRecord(
            before.namespace, before.name, revision,
            lambda: encode_to_keep(self._stamp(before.tree(), revision), self._option), self._row)

    def _stamp(self, tree: Tree, revision: int) -> SharedTree:
        meta, version = tree["metadata"], str(revision)
        meta = {**meta, "resourceVersion": version} if self.sort_keys else self._order.stamp(meta, version)
        if [*islice(tree, 3)] == HEAD:  # what was stored before is in order
            stamped = SharedTree(tree)
        else:
            stamped = SharedTree({"kind": "", "apiVersion": "", "metadata": meta, **tree})
        stamped["metadata"] = meta
        return stamped

    def _row(self, tree: Tree, revision: int, data: bytes) -> Row:
        meta = tree["metadata"]
        labels = meta.get("labels")
        texts: tuple[Any, ...] = ()
        if self.fields is not None:
            fields = self.fields(tree)
            names = tuple(fields)
            if names != self._field_names:
                self._field_names = names
            texts = (self._field_names, *fields.values())
        return (
            meta.get("namespace", ""), meta["name"], revision, meta.get("uid", ""),
            tuple(chain.from_iterable(labels.items())) if labels else (), bool(meta.get("ownerReferences")), texts,
            data, 0 if self.sort_keys else data.index(b'"metadata":'))


def _with_parts_of(row: Row, previous: Row) -> Row:
    """A row of the same object, with the very parts of the previous one where they are equal."""
    uid, labels, has_owners, fields = row[3:7]
    return (
        previous[0], previous[1], row[2], previous[3] if uid == previous[3] else uid,
        previous[4] if labels == previous[4] else labels, has_owners,
        previous[6] if fields == previous[6] else fields, row[7], row[8])

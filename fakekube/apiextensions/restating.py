"""Stored objects of a definition that has changed since they were written.

Upstream reads each from etcd by the schema that holds now: what it no longer knows is not shown,
new defaults are. Here bytes are shown as they are stored. So when a definition changes, its objects
are brought into the form in which they are to be read, at the revision that they have. What they
were is remembered, since the definition may change again. A few objects are done within the commit;
the rest of many in portions, before the definition's writer has its answer, and others on the loop
have their turn between two. Who asks for these objects meanwhile waits. Upstream:
crdConversionRESTOptionsGetter in apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
Left out: a field that only another version than the stored one knows, which upstream shows in that
version until the object is written.
"""

from typing import TYPE_CHECKING

import orjson

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery.gvk import split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket, Record
from fakekube.util import tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

PORTION, PORTION_BYTES = 100, 256 * 1024

Written = dict[tuple[str, str], tuple[int, bytes]]
"""By namespace and name: the revision of an object, and what was written then."""


class Restating:
    """Brings the objects of a bucket into the form in which a definition has them read.

    ``written`` remembers what they were; it gets those that change, and loses those that were
    written anew. ``selects`` says that other texts are selected by than when they were written.
    """

    def __init__(
        self, bucket: Bucket, written: Written, definition: Tree, definitions: Definitions, *, selects: bool,
    ) -> None:
        self._bucket, self._written, self._selects = bucket, written, selects
        self._versions = {
            entry["name"]: DefinedVersion(definition, entry, definitions) for entry in definition["spec"]["versions"]}
        self._stored = next(version for version in self._versions.values() if version.entry["storage"])
        self._rest: Iterator[Record] = iter(bucket.records())
        self.is_done, self._has_worker = False, False

    def portion(self) -> None:
        """Do some of what is left."""
        size = 0
        for _ in range(PORTION):
            record = next(self._rest, None)
            if record is None:
                self.is_done = True
                return
            if self._bucket.get(record.namespace, record.name) is record:  # else it was written by what holds now
                self._restate(record)
            size += len(record.data)
            if size > PORTION_BYTES:
                return

    def stop(self) -> None:
        """Leave the rest as it is: the definition has changed again, or is gone."""
        self.is_done = True

    async def finish(self) -> None:
        """Do all that is left, or wait until who does it is done."""
        while not self.is_done:
            if self._has_worker:
                await tasks.turn()
                continue
            self._has_worker = True
            try:
                while not self.is_done:
                    self.portion()
                    await tasks.turn()
            finally:
                self._has_worker = False

    def _restate(self, record: Record) -> None:
        key = (record.namespace, record.name)
        revision, data = self._written.pop(key, (0, b""))
        if revision != record.revision:
            data = record.data
        tree = self._as_read(orjson.loads(data))
        if tree != record.tree():
            present = self._bucket.restate(tree, record)
        else:
            present = self._bucket.select_anew(record) if self._selects else record
        if data != present.data:
            self._written[key] = record.revision, data

    def _as_read(self, tree: Tree) -> Tree:
        _, name = split_api_version(tree["apiVersion"])
        version, stored = self._versions.get(name), self._stored
        if version is not stored and stored.definition["spec"]["conversion"]["strategy"] == "Webhook":
            return tree  # each read has it converted
        if version is not None:
            tree = version.reader.read_stored(tree)
        return tree if version is stored else stored.reader.converted(tree)

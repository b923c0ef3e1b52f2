"""Stored objects of a definition that has changed since they were written.

Upstream reads each from etcd by the schema that holds now: what it no longer knows is not shown,
new defaults are. Here bytes are shown as they are stored. So when a definition changes, its objects
are brought into the form in which they are to be read, at the revision that they have. What they
were is remembered, since the definition may change again. Upstream: crdConversionRESTOptionsGetter
in apiextensions-apiserver/pkg/apiserver/customresource_handler.go. Left out: a field that only
another version than the stored one knows, which upstream shows in that version until the object is
written.
"""

import orjson

from fakekube.apiextensions.version import DefinedVersion
from fakekube.apimachinery.gvk import split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket

Written = dict[tuple[str, str], tuple[int, bytes]]
"""By namespace and name: the revision of an object, and what was written then."""


def restate(bucket: Bucket, written: Written, definition: Tree, definitions: Definitions) -> None:
    """Bring the objects of a bucket into the form in which a definition has them read.

    ``written`` remembers what they were; it gets those that change, and loses those that were
    written anew.
    """
    versions = {entry["name"]: DefinedVersion(definition, entry, definitions) for entry in definition["spec"]["versions"]}
    stored = next(version for version in versions.values() if version.entry["storage"])
    for record in bucket.records():
        key = (record.namespace, record.name)
        revision, data = written.pop(key, (0, b""))
        if revision != record.revision:
            data = record.data
        tree = _as_read(orjson.loads(data), versions, stored)
        present = record if tree == record.tree() else bucket.restate(tree, record)
        if data != present.data:
            written[key] = record.revision, data


def _as_read(tree: Tree, versions: dict[str, DefinedVersion], stored: DefinedVersion) -> Tree:
    _, name = split_api_version(tree["apiVersion"])
    version = versions.get(name)
    if version is not stored and stored.definition["spec"]["conversion"]["strategy"] == "Webhook":
        return tree  # each read has it converted
    if version is not None:
        tree = version.reader.read_stored(tree)
    return tree if version is stored else stored.reader.converted(tree)

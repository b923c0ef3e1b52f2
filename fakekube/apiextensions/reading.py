"""Reading bodies of a custom kind: what upstream's decoder makes of one, before its defaults.

Kind, apiVersion and metadata are typed as those of built-ins are; of the rest, what the schema does
not know is taken out, and so are nulls that may not be. Values of the wrong type stay: they are for
the validation. Upstream: unstructuredSchemaCoercer in
apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
"""

import json
from typing import Any

import orjson

from fakekube.apiextensions.objects.defaulting import defaulter
from fakekube.apiextensions.objects.metadata import MetadataReader, coerce_embedded
from fakekube.apiextensions.objects.pruning import drop_nulls, is_clean_object, prune, with_go_numbers
from fakekube.apimachinery.duplicates import Members, repeated_keys
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.strategy import LEFT_OUT, shared_parts
from fakekube.schema.decode import Decoded
from fakekube.schema.structural import Schema
from fakekube.util.memory import memoized

REMEMBERED = 64


class CustomReader:
    """A BodyReader of one version of a definition.

    ``schema`` is the structural schema, ``metadata`` that of ObjectMeta. Bodies of another kind get
    their metadata read and no more: their kind is for the validation.
    """

    def __init__(self, gvk: GroupVersionKind, schema: Schema, metadata: Schema) -> None:
        self.schema = schema
        self._kind, self._api_version = gvk.kind, gvk.api_version
        self.fill = defaulter(schema)
        """What fills in defaults; None without any."""
        self._metadata = MetadataReader(metadata)
        self._is_clean = is_clean_object(schema)

    def decode(
        self, tree: Tree, body: bytes | None = None, *, old: Tree | None = None, converter: bool = False,
    ) -> Decoded:
        """As ``Codec.decode``: the object and the fields that are not known, in upstream's order.

        With ``old``, what is not shared with it is copied, so that the tree stays as it is.
        ``converter`` is for what an apply made, which nobody decodes: nulls stay where none may be,
        for the validation. Raises DecodeError.
        """
        if old is not None:
            return self._decode_changed(tree, old, converter=converter)
        unknown: list[str] = []
        if "metadata" in tree:
            tree["metadata"] = self._metadata.read(tree["metadata"], "metadata", unknown)
        if tree.get("kind") == self._kind and not self._is_clean(tree):
            self._clean(tree, unknown, nulls=converter)
        return Decoded(tree, unknown)

    def _decode_changed(self, tree: Tree, old: Tree, *, converter: bool) -> Decoded:
        """The same of what is not the old object's own, directly below the object and as metadata.
        """
        kept = shared_parts(tree, old)
        kept.pop("metadata", None)
        left: Tree = {**tree, **dict.fromkeys(kept, LEFT_OUT)}
        metadata, before = tree.get("metadata"), old["metadata"]
        own: Tree = {}
        if isinstance(metadata, dict):
            if _is_as_read(metadata, before):
                own, left["metadata"] = metadata, {}
            elif (managed := metadata.get("managedFields")) and managed is before.get("managedFields"):
                own = {"managedFields": managed}
                left["metadata"] = {name: value for name, value in metadata.items() if name != "managedFields"}
        decoded = self.decode(orjson.loads(orjson.dumps(left)), converter=converter)
        read = decoded.tree
        read.update(kept)
        if own:
            read["metadata"] = {**own} if own is metadata else {**read["metadata"], **own}
        return decoded

    def _clean(self, tree: Tree, unknown: list[str], *, nulls: bool) -> None:
        metadata = tree.pop("metadata", None)
        with_go_numbers(tree)
        unknown += prune(tree, self.schema)
        if not nulls:
            drop_nulls(tree, self.schema)
        unknown += coerce_embedded(tree, self.schema, self._metadata)
        if metadata is not None:
            tree["metadata"] = metadata

    def strict(self, body: bytes) -> list[str]:
        """As ``Codec.strict``: keys given twice, wherever they are, then unknown fields."""
        parsed: Tree = json.loads(body, object_pairs_hook=Members)
        repeated = [f"duplicate field {go_quote(path)}" for path in repeated_keys(parsed)]
        unknown = self.decode(_plain(parsed)).unknown
        return repeated + [f"unknown field {go_quote(path)}" for path in unknown]

    def converted(self, tree: Tree, *, defaults: bool = False) -> Tree:
        """An object of another version in this one, which may share parts with it.

        What this version does not know is gone; its defaults come where ``defaults`` says so.
        """
        here = {**tree, "apiVersion": self._api_version}
        fills = defaults and self.fill is not None
        is_clean = self._is_clean(here)
        if is_clean and not fills:
            return here
        here = dict(orjson.loads(orjson.dumps(here)))
        if not is_clean:
            self._clean(here, [], nulls=False)
        if fills and self.fill is not None:
            self.fill(here)
        return here

    def read_stored(self, tree: Tree) -> Tree:
        """A stored object of this version as the schema has it now, with its defaults: what cannot
        be read of metadata is gone, what the schema no longer knows is, too.

        The tree may be changed in place.
        """
        metadata = tree.pop("metadata", None)
        prune(tree, self.schema)
        drop_nulls(tree, self.schema)
        coerce_embedded(tree, self.schema, self._metadata, lenient=True)
        read = self._metadata.read_leniently(metadata)
        tree["metadata"] = metadata if read is None else read
        if self.fill is not None:
            self.fill(tree)
        return tree


def _is_as_read(metadata: Tree, before: Tree) -> bool:
    """Whether metadata is that of the stored object, with or without who owns what.

    What is empty may be left out when it is read.
    """
    if len(metadata) - ("managedFields" in metadata) != len(before) - ("managedFields" in before):
        return False
    return all(value and value is before.get(name) for name, value in metadata.items())


def _plain(value: Any) -> Json:
    if isinstance(value, Members):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@memoized(REMEMBERED)
def reader_of(gvk: GroupVersionKind, schema: Schema, metadata: Schema) -> CustomReader:
    """The reader of a kind, which clusters share as they share its schema."""
    return CustomReader(gvk, schema, metadata)

"""Metadata of custom objects, and of objects embedded in them: always upstream's ObjectMeta,
whatever a schema says of it.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from fakekube.apiextensions.objects.goprinting import as_shown
from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry import metadata as objectmeta
from fakekube.registry.kind import Kind
from fakekube.schema.decode import Codec, DecodeError
from fakekube.schema.structural import Schema

SOME_NAME = "fakename"


class MetadataReader:
    """Reads metadata; ``schema`` is that of ObjectMeta in the release."""

    def __init__(self, schema: Schema) -> None:
        self._codec = Codec(schema)

    def read(self, metadata: Json, path: str, unknown: list[str]) -> Tree:
        """What Go makes of metadata that stands at ``path``; ``unknown`` gets the fields that it
        does not know. Raises DecodeError.
        """
        if metadata is None:
            return {}
        decoded = self._codec.decode(metadata)
        unknown.extend(f"{path}.{name}" for name in decoded.unknown)
        return decoded.tree

    def read_leniently(self, metadata: Json) -> Tree | None:
        """The same of stored metadata, without the fields that cannot be read; None when it is no
        object at all.
        """
        if not isinstance(metadata, dict):
            return None
        fitting: Tree = {}
        for name, value in metadata.items():
            try:
                self._codec.decode({name: orjson.loads(orjson.dumps(value))})
            except DecodeError:
                continue
            fitting[name] = value
        return self._codec.decode(fitting).tree


class BadMetadata(DecodeError):
    """Kind, apiVersion or metadata of an embedded object cannot be read."""


def coerce_embedded(tree: Tree, schema: Schema, reader: MetadataReader, *, lenient: bool = False) -> list[str]:
    """Read the metadata of embedded objects anew, in place. The fields of it that are not known.

    ``lenient`` drops what cannot be read, as for stored objects; else raises BadMetadata.
    """
    unknown: list[str] = []
    for embedded, path in _embedded(tree, schema, ""):
        for name in ("apiVersion", "kind"):
            if name in embedded and not isinstance(embedded[name], str):
                if not lenient:
                    raise BadMetadata(str(field_errors.invalid(f"{path}.{name}", as_shown(embedded[name]), "must be a string")))
                del embedded[name]
        if "metadata" in embedded:
            _coerce_metadata(embedded, path, reader, unknown, lenient=lenient)
    return sorted(unknown)


def _coerce_metadata(embedded: Tree, path: str, reader: MetadataReader, unknown: list[str], *, lenient: bool) -> None:
    given = embedded["metadata"]
    here = f"{path}.metadata" if path else "metadata"
    if lenient:
        read = reader.read_leniently(given)
        if read is None:
            return
    else:
        shown = as_shown(given)  # before reading changes it
        try:
            read = reader.read(given, here, unknown)
        except DecodeError as error:
            raise BadMetadata(str(field_errors.invalid(here, shown, str(error)))) from None
    if read.get("creationTimestamp") is None:
        read.pop("creationTimestamp", None)
    embedded["metadata"] = read


def validate_embedded(tree: Tree, schema: Schema) -> list[FieldError]:
    """What is wrong with kind, apiVersion and metadata of embedded objects."""
    found: list[FieldError] = []
    for embedded, path in _embedded(tree, schema, ""):
        found += [field_errors.required(f"{path}.{name}") for name in ("apiVersion", "kind") if name not in embedded]
        if "apiVersion" in embedded:
            found += _about_version(embedded["apiVersion"], f"{path}.apiVersion")
        if "kind" in embedded:
            found += _about_kind(embedded["kind"], f"{path}.kind")
        if isinstance(metadata := embedded.get("metadata"), dict):
            found += _about_metadata(metadata, path)
    return found


def has_embedded(schema: Schema | None) -> bool:
    """Whether anywhere below a node objects are embedded."""
    if schema is None or schema.name:
        return False
    below = [schema.items, schema.additional, *schema.properties.values()]
    return schema.embedded or any(map(has_embedded, below))


def _about_version(value: Json, path: str) -> list[FieldError]:
    if not isinstance(value, str):
        return [field_errors.invalid(path, as_shown(value), "must be a string")]
    if not value:
        return [field_errors.invalid(path, value, "must not be empty")]
    if value.count("/") > 1:
        return [field_errors.invalid(path, value, f"unexpected GroupVersion string: {value}")]
    return []


def _about_kind(value: Json, path: str) -> list[FieldError]:
    if not isinstance(value, str):
        return [field_errors.invalid(path, as_shown(value), "must be a string")]
    if not value:
        return [field_errors.invalid(path, value, "must not be empty")]
    complaints = names.dns1035_label(value.lower())
    if not complaints:
        return []
    return [field_errors.invalid(path, value, "may have mixed case, but should otherwise match: " + ",".join(complaints))]


def _about_metadata(metadata: Tree, path: str) -> list[FieldError]:
    named = {**metadata, "name": metadata.get("name") or SOME_NAME}
    kind = Kind(
        group="", version="", kind="", plural="", singular="", namespaced=bool(metadata.get("namespace")), custom=True,
        name_rule="path_segment")
    return [
        error._replace(field=field_errors.child(path, error.field))
        for error in objectmeta.validate_object_meta({"metadata": named}, kind)]


def _embedded(value: Any, schema: Schema | None, path: str) -> Iterator[tuple[Tree, str]]:
    """The embedded objects in a value, each before those in it, with their paths."""
    if schema is None:
        return
    if isinstance(value, dict):
        if schema.embedded:
            yield value, path
        fields, additional = schema.properties, schema.additional
        for name, item in list(value.items()):
            below = fields.get(name)
            if below is not None:
                yield from _embedded(item, below, f"{path}.{name}" if path else name)
            elif additional is not None:
                yield from _embedded(item, additional, f"{path}[{name}]")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _embedded(item, schema.items, f"{path}[{place}]")

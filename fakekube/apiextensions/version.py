"""One version of a CustomResourceDefinition, and what follows from it.

Everything is made when it is first asked for: most kinds of a bundle are never used.
Upstream: ``crdInfo`` in apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import conditions
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.schema.definitions import Definitions
from fakekube.schema.structural import OBJECT_META, OF_EVERY_OBJECT, Schema, from_openapi
from fakekube.util.memory import memoized

if TYPE_CHECKING:
    from fakekube.apiextensions.reading import CustomReader
    from fakekube.apiextensions.rules.checking import Checker

REMEMBERED_SCHEMAS, REMEMBERED_BYTES = 64, 256 * 1024
"""Enough for the bundles of several operators, which the clusters of a process all have."""


class DefinedVersion:
    """One entry of ``spec.versions``, of a definition whose names were accepted.

    ``definition`` and ``entry`` are read-only. They may be bare of schemas if ``data`` has the
    definition in JSON: as trees, those of a bundle take three times the room, and most are never
    asked for.
    """

    def __init__(self, definition: Tree, entry: Tree, definitions: Definitions, data: bytes = b"") -> None:
        self.definition, self.entry, self.definitions = definition, entry, definitions
        self.name: str = entry["name"]
        self._data = data

    @property
    def gvk(self) -> GroupVersionKind:
        """What its objects are."""
        return GroupVersionKind(
            self.definition["spec"]["group"], self.name, self.definition["status"]["acceptedNames"]["kind"])

    @property
    def plural(self) -> str:
        """What its resource is called."""
        name: str = self.definition["status"]["acceptedNames"]["plural"]
        return name

    @property
    def is_terminating(self) -> bool:
        """Whether the definition is being deleted."""
        return conditions.is_true(self.definition["status"]["conditions"], "Terminating")

    @property
    def namespaced(self) -> bool:
        """Whether its objects are in namespaces."""
        scope: str = self.definition["spec"]["scope"]
        return scope == "Namespaced"

    @property
    def subresources(self) -> Tree:
        """``status`` and ``scale``, as far as they are declared."""
        declared: Tree = self.entry.get("subresources") or {}
        return declared

    @property
    def has_status(self) -> bool:
        """Whether the status is written by an endpoint of its own."""
        return "status" in self.subresources

    @cached_property
    def openapi(self) -> Tree:
        """The openAPIV3Schema as it stands in the definition; read-only."""
        return self.read_openapi()

    def read_openapi(self) -> Tree:
        """The same for somebody who asks once: it is not held."""
        entry = self.entry
        if self._data:
            versions = orjson.loads(self._data)["spec"]["versions"]
            entry = next(entry for entry in versions if entry["name"] == self.name)
        schema: Tree = (entry.get("schema") or {}).get("openAPIV3Schema") or {}
        return schema

    @cached_property
    def _text(self) -> bytes:
        return orjson.dumps(self.openapi)

    @cached_property
    def schema(self) -> Schema:
        """The structural schema, with the fields that every object has."""
        return _schema_of(self._text, self.definitions.shared)

    def load_schema(self) -> Schema:
        """The structural schema, made at the first call."""
        return self.schema

    @cached_property
    def reader(self) -> "CustomReader":
        """What reads its objects."""
        from fakekube.apiextensions.reading import reader_of

        return reader_of(self.gvk, self.schema, self.metadata)

    def checker(self, minor: int) -> "Checker | None":
        """What checks the rules in CEL, in the release of a minor number; None without rules."""
        from fakekube.apiextensions.rules.checking import checker_of

        return checker_of(self._text, self.schema, minor)

    @cached_property
    def metadata(self) -> Schema:
        """The schema of ObjectMeta."""
        return self.definitions.named(OBJECT_META)


@memoized(REMEMBERED_SCHEMAS, longest=REMEMBERED_BYTES)
def _schema_of(text: bytes, definitions: Definitions) -> Schema:
    """The structural schema of an openAPIV3Schema in JSON."""
    def resolve(name: str) -> Schema:
        return definitions.named(name) if "." in name else Schema({"type": name}, resolve)

    return from_openapi(orjson.loads(text), resolve, OF_EVERY_OBJECT)

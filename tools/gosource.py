"""Reads the type declarations of Go packages: structs with their fields and tags, named types and
aliases.

No Go toolchain is needed, so that tables are built and checked in seconds. Enough of the language
is read for the API types: declarations at the beginning of a line, a field a line. Left out:
functions, interfaces, generic types, structs without names.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

BASIC = {
    "string", "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "any", "error",
}  # fmt: skip

STRUCT = re.compile(r"^type (\w+) struct ?\{(?:\n(.*?)^)?\}", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^type (\w+) (= )?((?!struct\b|interface\b)\S.*)$", re.MULTILINE)
BUILD_TAG = re.compile(r"^//go:build \w", re.MULTILINE)
IMPORT = re.compile(r'^\s*(?:import )?(\w+ )?"([^"]+)"$', re.MULTILINE)
FIELD = re.compile(r"^\s*((?:\w+, )*\w+)\s+([^\s`][^`]*?)\s*(?:`([^`]*)`)?\s*$")
EMBEDDED = re.compile(r"^\s*(\*?)([\w.]+)\s*(?:`([^`]*)`)?\s*$")
TAG = re.compile(r'(\w+):"([^"]*)"')
QUALIFIED = re.compile(r"[\w./-]+\.\w+")


class Field(NamedTuple):
    """A field of a struct.

    ``name`` is Go's, of an embedded one its type's; ``tags`` are by key, as in ``json:"name"``;
    ``type`` has full import paths: ``*k8s.io/api/core/v1.Affinity``.
    """

    name: str
    tags: dict[str, str]
    type: str
    embedded: bool

    @property
    def json(self) -> list[str]:
        """The parts of the json tag, the name first; one empty part without a tag."""
        return self.tags.get("json", "").split(",")


class Package:
    """The types that one folder declares; tests and generated files are not read."""

    def __init__(self, path: str, directory: Path) -> None:
        self.path = path
        self.name = path.rsplit("/", 1)[-1]
        self.structs: dict[str, list[Field]] = {}
        self.named: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        for file in sources(directory):
            self._read(file.read_text())

    def _read(self, text: str) -> None:
        text = without_comments(text)
        imports = {}
        for alias, path in IMPORT.findall(text):
            imports[alias.strip() or path.rsplit("/", 1)[-1]] = path
        for name, alias, target in NAMED.findall(text):
            (self.aliases if alias else self.named)[name] = self._qualified(target.strip(), imports)
        for name, body in STRUCT.findall(text):
            self.structs[name] = [field for line in body.splitlines() for field in self._fields(line, imports)]

    def _fields(self, line: str, imports: dict[str, str]) -> list[Field]:
        if match := EMBEDDED.match(line):
            pointer, type_text, tag = match.groups()
            qualified = pointer + self._qualified(type_text, imports)
            return [Field(type_text.split(".")[-1], dict(TAG.findall(tag or "")), qualified, True)]
        if match := FIELD.match(line):
            names, type_text, tag = match.groups()
            tags = dict(TAG.findall(tag or ""))
            return [Field(name, tags, self._qualified(type_text, imports), False) for name in names.split(", ")]
        return []

    def _qualified(self, type_text: str, imports: dict[str, str]) -> str:
        """The type with full import paths: ``k8s.io/api/core/v1.Pod``."""

        def full(match: re.Match[str]) -> str:
            alias, name = match.groups()
            if alias:
                return f"{imports.get(alias[:-1], alias[:-1])}.{name}"
            if name == "byte":
                return "uint8"
            return name if name in BASIC or name in ("map", "interface", "func") else f"{self.path}.{name}"

        return re.sub(r"(\w+\.)?(\b[A-Za-z_]\w*\b)", full, type_text)


class Packages(dict[str, Package]):
    """Packages by import path, and what follows from their types together.

    A type of another package stays a name.
    """

    @classmethod
    def below(cls, roots: Iterable[tuple[str, Path, Iterable[str]]]) -> "Packages":
        """Of modules, each by its path, its folder, and patterns of the folders in it that are
        read.
        """
        found = cls()
        for module, root, patterns in roots:
            for pattern in patterns:
                for directory in sorted(root.glob(pattern)):
                    path = f"{module}/{directory.relative_to(root)}"
                    found[path] = Package(path, directory)
        return found

    def unaliased(self, type_text: str) -> str:
        """The type that an alias stands for; any other as it is."""
        package, _, name = type_text.rpartition(".")
        found = self.get(package)
        return self.unaliased(found.aliases[name]) if found and name in found.aliases else type_text

    def struct(self, type_text: str) -> list[Field] | None:
        """The fields of a struct by its full name; None for what is none, or is not read."""
        package, _, name = self.unaliased(type_text).rpartition(".")
        return self[package].structs.get(name) if package in self else None

    def underlying(self, type_text: str) -> str:
        """What a named type is made of: ``map[...]...``, ``[]...`` or a basic type; a struct stays
        its name.
        """
        text = self.unaliased(type_text)
        package, _, name = text.rpartition(".")
        found = self.get(package) if QUALIFIED.fullmatch(text) else None
        return self.underlying(found.named[name]) if found and name in found.named else text

    def short(self, type_text: str) -> str:
        """A type as reflection prints it: ``[]v1.Container``."""
        return QUALIFIED.sub(lambda match: _short(self.unaliased(match[0])), type_text)

    def made_of(self, type_text: str) -> str:
        """As reflection prints it, with named lists and maps opened:
        ``map[v1.ResourceName]resource.Quantity``.
        """

        def opened(match: re.Match[str]) -> str:
            text = self.unaliased(match[0])
            package, _, name = text.rpartition(".")
            found = self.get(package)
            inner = found.named.get(name, "") if found else ""
            return self.made_of(inner) if inner.startswith(("[", "map")) else _short(text)

        return QUALIFIED.sub(opened, type_text)


def sources(directory: Path) -> list[Path]:
    """The Go files of a folder that people wrote, by name; without those that only a build with a
    tag has.
    """
    return [
        file for file in sorted(directory.glob("*.go"))
        if not file.name.endswith("_test.go") and not file.name.startswith(("zz_generated", "generated.pb"))
        and not BUILD_TAG.search(file.read_text())
    ]


def without_comments(text: str) -> str:
    """Go without its comments; those within literals are none."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r'^((?:[^"`\n]|"[^"\n]*"|`[^`\n]*`)*?)//.*$', r"\1", text, flags=re.MULTILINE)


def _short(type_text: str) -> str:
    package, _, name = type_text.rpartition(".")
    return f"{package.rsplit('/', 1)[-1]}.{name}"

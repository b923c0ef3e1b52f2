#!/usr/bin/env python3
"""Collect what Go's structs say of the API types and OpenAPI does not, into tools/go-facts.json.gz.

    tools/build_go_facts.py                    read the module cache of the Go toolchain
    tools/build_go_facts.py --download         fetch the modules of all releases into it first
    tools/build_go_facts.py --modules DIR      read api@v0.37.1, apimachinery@v0.37.1 ... below DIR

For each OpenAPI definition: the struct's name and package, its fields in order, and for each field the type as
reflection prints it, whether it is a pointer, omitempty, omitzero, and the embedded struct it comes from. A definition
is kept once for each shape it had: ``{definition: [[minor, facts], ...]}``, where minor is the first release of the
shape. Only these facts are taken, no text.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

OUTPUT = Path(__file__).resolve().parent / "go-facts.json.gz"
MINORS = range(25, 38)
MODULES = {
    "api": ["*/v*"],
    "apimachinery": ["pkg/apis/meta/v1", "pkg/runtime", "pkg/version"],
    "apiextensions-apiserver": ["pkg/apis/apiextensions/v1"],
    "kube-aggregator": ["pkg/apis/apiregistration/v1"],
}
BASIC = {
    "string", "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "any", "error",
}  # fmt: skip

STRUCT = re.compile(r"^type (\w+) struct ?\{(?:\n(.*?)^)?\}", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^type (\w+) (= )?((?!struct\b|interface\b)\S.*)$", re.MULTILINE)
IMPORT = re.compile(r'^\s*(?:import )?(\w+ )?"([^"]+)"$', re.MULTILINE)
FIELD = re.compile(r'^\s*((?:\w+, )*\w+)\s+(\S.*?)\s+`.*?json:"([^"]*)".*`')
EMBEDDED = re.compile(r'^\s*(\*?)([\w.]+)\s*(?:`.*?json:"([^"]*)".*`)?\s*$')


class Field(NamedTuple):
    name: str  # Go's; the type's own name when it is embedded
    tag: str
    type: str
    embedded: bool


class Package:
    def __init__(self, path: str, directory: Path) -> None:
        self.path = path
        self.name = path.rsplit("/", 1)[-1]
        self.structs: dict[str, list[Field]] = {}
        self.named: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        for file in sorted(directory.glob("*.go")):
            if not file.name.endswith("_test.go") and not file.name.startswith(("zz_generated", "generated.pb")):
                self._read(file.read_text())

    def _read(self, text: str) -> None:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        text = re.sub(r'^((?:[^"`\n]|"[^"\n]*"|`[^`\n]*`)*?)//.*$', r"\1", text, flags=re.MULTILINE)
        imports = {}
        for alias, path in IMPORT.findall(text):
            imports[alias.strip() or path.rsplit("/", 1)[-1]] = path
        for name, alias, target in NAMED.findall(text):
            (self.aliases if alias else self.named)[name] = self._qualified(target.strip(), imports)
        for name, body in STRUCT.findall(text):
            self.structs[name] = [field for line in body.splitlines() for field in self._fields(line, imports)]

    def _fields(self, line: str, imports: dict[str, str]) -> list[Field]:
        if match := FIELD.match(line):
            names, type_text, tag = match.groups()
            return [Field(name, tag, self._qualified(type_text, imports), False) for name in names.split(", ")]
        if match := EMBEDDED.match(line):
            pointer, type_text, tag = match.groups()
            return [Field(type_text.split(".")[-1], tag or "", pointer + self._qualified(type_text, imports), True)]
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


class Release:
    """All packages of one minor release."""

    def __init__(self, roots: dict[str, Path]) -> None:
        self.packages: dict[str, Package] = {}
        for module, root in roots.items():
            for pattern in MODULES[module]:
                for directory in sorted(root.glob(pattern)):
                    path = f"k8s.io/{module}/{directory.relative_to(root)}"
                    self.packages[path] = Package(path, directory)

    def facts(self) -> dict[str, Any]:
        found = {}
        for path, package in self.packages.items():
            prefix = "io." + path.replace("k8s.io/", "k8s.", 1).replace("/", ".")
            for name in package.structs:
                fields = self.flattened(package, name, ())
                found[f"{prefix}.{name}"] = {"name": name, "package": package.name, "fields": fields}
            for name, target in package.named.items():
                # type MatchCondition v1.MatchCondition: the fields of one struct under another name
                owner, _, inner = target.rpartition(".")
                if owner in self.packages and inner in self.packages[owner].structs:
                    fields = self.flattened(self.packages[owner], inner, ())
                    found[f"{prefix}.{name}"] = {"name": name, "package": package.name, "fields": fields}
        return found

    def flattened(self, package: Package, name: str, embedded: tuple[str, ...]) -> list[list[str]]:
        out: list[list[str]] = []
        for field in package.structs[name]:
            tag, *options = field.tag.split(",")
            if tag == "-" or not field.name[:1].isupper():
                continue
            if field.embedded and not tag:
                target, _, inner = self.unaliased(field.type.lstrip("*")).rpartition(".")
                if target in self.packages and inner in self.packages[target].structs:
                    out += self.flattened(self.packages[target], inner, (*embedded, field.name))
                continue
            flags = ("p" if field.type.startswith("*") else "") + "".join(
                letter for word, letter in (("omitempty", "e"), ("omitzero", "z")) if word in options
            )
            out.append([tag or field.name, self.printed(field.type.lstrip("*")), flags, ".".join(embedded)])
        return out

    def unaliased(self, type_text: str) -> str:
        package, _, name = type_text.rpartition(".")
        found = self.packages.get(package)
        return self.unaliased(found.aliases[name]) if found and name in found.aliases else type_text

    def printed(self, type_text: str) -> str:
        """As reflection prints it; a named list or map says after ``=`` what it is made of."""
        short = re.sub(r"[\w./-]+\.\w+", lambda match: self.short(self.unaliased(match[0])), type_text)
        made_of = self.made_of(type_text)
        return f"{short}={made_of}" if made_of != short else short

    def made_of(self, type_text: str) -> str:
        def opened(match: re.Match[str]) -> str:
            text = self.unaliased(match[0])
            package, _, name = text.rpartition(".")
            found = self.packages.get(package)
            inner = found.named.get(name, "") if found else ""
            return self.made_of(inner) if inner.startswith(("[", "map")) else self.short(text)

        return re.sub(r"[\w./-]+\.\w+", opened, type_text)

    @staticmethod
    def short(type_text: str) -> str:
        package, _, name = type_text.rpartition(".")
        return f"{package.rsplit('/', 1)[-1]}.{name}"


def newest(modules: Path, module: str, minor: int) -> Path | None:
    found = [path for path in modules.glob(f"{module}@v0.{minor}.*") if "-" not in path.name.split("@")[1]]
    return max(found, key=lambda path: int(path.name.rsplit(".", 1)[1]), default=None)


def download() -> None:
    for minor in MINORS:
        for module in MODULES:
            # A module that a proxy withholds for one release keeps the facts of the release before.
            subprocess.run(["go", "mod", "download", f"k8s.io/{module}@v0.{minor}"], check=False)


def collect(modules: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    roots: dict[str, Path] = {}
    for minor in MINORS:
        for module in MODULES:
            root = newest(modules, module, minor)
            if root is None:
                print(f"1.{minor}: no {module}, taken from the release before", file=sys.stderr)
            else:
                roots[module] = root
        for definition, facts in Release(roots).facts().items():
            shapes = found.setdefault(definition, [])
            if not shapes or shapes[-1][1] != facts:
                shapes.append([minor, facts])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", type=Path, help="the directory that holds api@v0.37.1 and the others")
    parser.add_argument("--download", action="store_true", help="fetch the modules first")
    options = parser.parse_args()
    if options.download:
        download()
    modules = options.modules
    if modules is None:
        cache = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
        modules = Path(cache) / "k8s.io"
    facts = collect(modules)
    text = json.dumps(facts, separators=(",", ":"), sort_keys=True)
    OUTPUT.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(facts)} definitions, {sum(len(shapes) for shapes in facts.values())} shapes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

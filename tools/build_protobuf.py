#!/usr/bin/env python3
"""Make the table of protobuf messages that ships with fakekube from the sources of the API types.

    tools/build_protobuf.py                    read the module cache of the Go toolchain
    tools/build_protobuf.py --modules DIR      read api@v0.37.1, apimachinery@v0.37.1 ... below DIR
    tools/build_protobuf.py --check            build anew and fail if the table in the tree differs

The .proto files tell each field's number and type, the struct tags in Go what JSON calls it and whether JSON shows it
inline. Every release is read, since later ones drop versions that earlier ones serve; where two disagree, as releases of
an alpha version do, the newest is right. What no kind leads to is left out. Only these facts are taken, no text.
"""

import argparse
import gzip
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakekube.schema import definitions

TABLE = Path(__file__).resolve().parent.parent / "fakekube" / "schema" / "protobuf" / "messages.gz"
MODULES = ("apimachinery", "api", "apiextensions-apiserver", "kube-aggregator")
SCALARS = ("string", "bytes", "bool", "int32", "int64", "double")
ALWAYS = ("apimachinery.pkg.apis.meta.v1.", "api.apidiscovery.", "api.policy.v1beta1.Eviction")
"""Messages that answers and requests have besides kinds: options, Status, discovery, metadata by itself, and evictions as
older clients send them."""

MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s+(optional|repeated|required|map)\s*(?:<string, ([\w.]+)>|([\w.]+)) (\w+) = (\d+);", re.MULTILINE)
STRUCT = re.compile(r"^type (\w+) struct ?\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
TAGS = re.compile(r'`.*?json:"([^",]*)[^"]*".*?protobuf:"\w+,(\d+)[^`]*`')
NAMED = re.compile(r"^type (\w+) (\w+)\.(\w+)$", re.MULTILINE)


class Field(NamedTuple):
    """One field: what JSON calls it, its type as the table writes it, and the message that this names."""

    name: str
    type: str
    message: str


Messages = dict[str, dict[int, Field]]


def read_package(proto: Path) -> Messages:
    """The messages of one package, by their full names."""
    text = re.sub(r"^\s*//.*$", "", proto.read_text(), flags=re.MULTILINE)
    package = re.search(r"^package k8s\.io\.([\w.]+);", text, re.MULTILINE)
    assert package is not None, proto
    prefix = package[1].replace("_", "-")
    tags = read_tags(proto.parent)
    found: Messages = {}
    for message, body in MESSAGE.findall(text):
        known = tags.get(message, {})
        found[f"{prefix}.{message}"] = {
            int(number): field(label, of_map or of_one, prefix, *known.get(int(number), (name, False)))
            for label, of_map, of_one, name, number in FIELD.findall(body)
        }
    return found


def field(label: str, type_: str, prefix: str, name: str, inline: bool) -> Field:
    message = ""
    if type_ not in SCALARS:
        type_ = type_.lstrip(".").removeprefix("k8s.io.").replace("_", "-") if "." in type_ else f"{prefix}.{type_}"
        message = type_
    mark = {"repeated": "[]", "map": "{}"}.get(label, ">" if inline else "")
    return Field(name, mark + type_, message)


def read_tags(directory: Path) -> dict[str, dict[int, tuple[str, bool]]]:
    """By struct and number: what JSON calls a field, and whether it shows it inline."""
    found: dict[str, dict[int, tuple[str, bool]]] = {}
    named: dict[str, str] = {}
    for file in sorted(directory.glob("*.go")):
        if file.name.endswith("_test.go") or file.name.startswith(("zz_generated", "generated.pb")):
            continue
        text = file.read_text()
        for struct, body in STRUCT.findall(text):
            found[struct] = {
                int(number): (name, not name) for name, number in TAGS.findall(body)}
        named |= {name: f"{package}.{target}" for name, package, target in NAMED.findall(text)}
    for name, target in named.items():  # type Variable v1.Variable: the fields of a struct next door
        package, _, struct = target.partition(".")
        neighbour = directory.parent / package
        if name not in found and neighbour.is_dir() and neighbour != directory:
            found[name] = read_tags(neighbour).get(struct, {})
    return found


def newest(modules: Path, module: str, minor: int) -> Path | None:
    found = [path for path in modules.glob(f"{module}@v0.{minor}.*") if "-" not in path.name.split("@")[1]]
    return max(found, key=lambda path: int(path.name.rsplit(".", 1)[1]), default=None)


def collect(modules: Path) -> Messages:
    """Every message of every release, what the newest says of a number being right."""
    found: Messages = {}
    for release in definitions.releases():
        for module in MODULES:
            root = newest(modules, module, int(release.split(".")[1]))
            if root is None:
                print(f"{release}: no {module}, taken from the release before", file=sys.stderr)
                continue
            for proto in sorted(root.rglob("generated.proto")):
                if "testdata" not in proto.parts and "testapigroup" not in proto.parts:
                    for name, fields in read_package(proto).items():
                        found[name] = merged(name, found.get(name, {}), fields)
    return found


def merged(message: str, old: dict[int, Field], new: dict[int, Field]) -> dict[int, Field]:
    """The fields of a message in two releases. A name that has moved to another number leaves the old one."""
    names = {field.name for field in new.values()}
    for number, was in old.items():
        if number in new and new[number].name != was.name:
            print(f"{message}: {number} was {was.name} and is {new[number].name}", file=sys.stderr)
    kept = {number: field for number, field in old.items() if number not in new and field.name not in names}
    return kept | new


def reachable(messages: Messages) -> Iterator[str]:
    """The messages that a kind of some release leads to, and those that are always there."""
    roots = {name for name in messages if name.startswith(ALWAYS)}
    for release in definitions.releases():
        table = definitions.load(release)
        kinds = (table.schema(kind) for kind in table.kinds())
        roots |= {schema.name.removeprefix("io.k8s.") for schema in kinds if schema is not None}
    waiting, seen = sorted(roots & set(messages)), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        waiting += [field.message for field in messages[name].values() if field.message in messages]


def table_of(messages: Messages) -> bytes:
    lines = []
    for name in sorted(reachable(messages)):
        fields = sorted(messages[name].items())
        lines.append("\t".join([name, *(f"{number}:{field.name}:{field.type}" for number, field in fields)]))
    return "\n".join(lines).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", type=Path, help="the directory that holds api@v0.37.1 and the others")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    options = parser.parse_args()
    modules = options.modules
    if modules is None:
        cache = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
        modules = Path(cache) / "k8s.io"
    built = table_of(collect(modules))
    stale = gzip.decompress(TABLE.read_bytes()) != built
    if stale and not options.check:
        TABLE.write_bytes(gzip.compress(built, 9, mtime=0))
    outcome = "unchanged" if not stale else "stale" if options.check else "written"
    print(f"{len(built.splitlines())} messages, {outcome}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes the table of protobuf messages that ships with fakekube:
fakekube/schema/protobuf/messages.gz.

The .proto files tell each field's number and type, the struct tags in Go what JSON calls it and
whether JSON shows it inline. Every release is read, since later ones drop versions that earlier
ones serve; where two disagree, as releases of an alpha version do, the newest is right. What no
kind of the schema tables leads to is left out. Source: the Go modules of every release.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fakekube.schema import definitions
from tools import gosource
from tools.releases import RELEASES, ROOT, Sources

LOG = logging.getLogger("facts")
TABLE = ROOT / "fakekube" / "schema" / "protobuf" / "messages.gz"
MODULES = ("apimachinery", "api", "apiextensions-apiserver", "kube-aggregator")
SCALARS = ("string", "bytes", "bool", "int32", "int64", "double")
ALWAYS = ("apimachinery.pkg.apis.meta.v1.", "api.apidiscovery.", "api.policy.v1beta1.Eviction")
"""Messages that answers and requests have besides kinds: options, Status, discovery, metadata by
itself, and evictions as older clients send them.
"""

MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s+(optional|repeated|required|map)\s*(?:<string, ([\w.]+)>|([\w.]+)) (\w+) = (\d+);", re.MULTILINE)
STRUCT = re.compile(r"^type (\w+) struct ?\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
TAGS = re.compile(r'`.*?json:"([^",]*)[^"]*".*?protobuf:"\w+,(\d+)[^`]*`')
NAMED = re.compile(r"^type (\w+) (\w+)\.(\w+)$", re.MULTILINE)


class Field(NamedTuple):
    """One field: what JSON calls it, its type as the table writes it, and the message that this
    names.
    """

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
    for file in gosource.sources(directory):
        text = file.read_text()
        for struct, body in STRUCT.findall(text):
            found[struct] = {
                int(number): (name, not name) for name, number in TAGS.findall(body)}
        named |= {name: f"{package}.{target}" for name, package, target in NAMED.findall(text)}
    # type Variable v1.Variable: the fields of a struct next door
    for name, target in named.items():
        package, _, struct = target.partition(".")
        neighbour = directory.parent / package
        if name not in found and neighbour.is_dir() and neighbour != directory:
            found[name] = read_tags(neighbour).get(struct, {})
    return found


def build(sources: Sources) -> dict[Path, bytes]:
    """The table of all releases."""
    return {TABLE: table_of(collect(sources))}


def collect(sources: Sources) -> Messages:
    """Every message of every release, what the newest says of a number being right."""
    found: Messages = {}
    for release in RELEASES:
        for module in MODULES:
            for proto in sorted(sources.module(module, release).rglob("generated.proto")):
                if "testdata" not in proto.parts and "testapigroup" not in proto.parts:
                    for name, fields in read_package(proto).items():
                        found[name] = merged(name, found.get(name, {}), fields)
    return found


def merged(message: str, old: dict[int, Field], new: dict[int, Field]) -> dict[int, Field]:
    """The fields of a message in two releases.

    A name that has moved to another number leaves the old one.
    """
    names = {field.name for field in new.values()}
    for number, was in old.items():
        if number in new and new[number].name != was.name:
            LOG.info("%s: %s was %s and is %s", message, number, was.name, new[number].name)
    kept = {number: field for number, field in old.items() if number not in new and field.name not in names}
    return kept | new


def reachable(messages: Messages) -> Iterator[str]:
    """The messages that a kind of some release leads to, and those that are always there."""
    roots = {name for name in messages if name.startswith(ALWAYS)}
    for release in RELEASES:
        table = definitions.load(release.name)
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


#!/usr/bin/env python3
"""Make the table of protobuf messages that ships with fakekube from a list of their fields.

    tools/build_protobuf.py FIELDS.tsv    write fakekube/schema/protobuf/messages.gz

The list has the columns package, message, field, number and type, as the generated.proto files of a release have them;
numbers never change from release to release, so the newest one serves all.
"""

import gzip
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "fakekube" / "schema" / "protobuf" / "messages.gz"
SCALARS = ("string", "bytes", "bool", "int32", "int64")


def main() -> None:
    rows = [line.split("\t") for line in Path(sys.argv[1]).read_text().splitlines()[1:]]
    messages: dict[str, list[str]] = {}
    for package, message, *_ in rows:
        messages[f"{package}.{message}"] = []
    for package, message, field, number, kind in rows:
        messages[f"{package}.{message}"].append(f"{number}:{field}:{resolved(kind, package, messages)}")
    text = "\n".join("\t".join([name, *fields]) for name, fields in sorted(messages.items()))
    TABLE.write_bytes(gzip.compress(text.encode(), mtime=0))


def resolved(kind: str, package: str, messages: dict[str, list[str]]) -> str:
    """A type with its message's full name: ``T``, ``[]T`` or ``{}T`` for a map from strings."""
    if kind.startswith("map<string,"):
        return "{}" + resolved(kind.removeprefix("map<string,").removesuffix(">"), package, messages)
    if kind.startswith("[]"):
        return "[]" + resolved(kind[2:], package, messages)
    if kind in SCALARS:
        return kind
    name = kind.lstrip(".").removeprefix("k8s.io.")
    return name if name in messages else f"{package}.{name}"


if __name__ == "__main__":
    main()

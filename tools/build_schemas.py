#!/usr/bin/env python3
"""Make the schema tables that ship with fakekube from the definitions in the package kubernetes-validate.

    tools/build_schemas.py            write fakekube/schema/tables/*.gz
    tools/build_schemas.py --check    build anew and fail if the tables in the tree differ

What OpenAPI does not say (order of fields, omitempty, Go types) comes from tools/go-facts.json.gz, which
tools/build_go_facts.py makes. The output depends on nothing but the two inputs.
"""

import argparse
import gzip
import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "fakekube" / "schema" / "tables"
FACTS = Path(__file__).resolve().parent / "go-facts.json.gz"
RELEASES = [f"1.{minor}" for minor in range(25, 38)]

SCALARS = ("string", "integer", "number", "boolean")
RENAMED = {
    "format": "format",
    "required": "required",
    "x-kubernetes-list-type": "list_type",
    "x-kubernetes-list-map-keys": "list_map_keys",
    "x-kubernetes-map-type": "map_type",
    "x-kubernetes-patch-merge-key": "merge_key",
    "x-kubernetes-patch-strategy": "patch_strategy",
}


# Objects without fields that hold anything; all others are structs that may get fields some day.
FREE = ("io.k8s.apimachinery.pkg.runtime.RawExtension", "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1")


def definitions_of(release: str) -> dict[str, Any]:
    source = resources.files("kubernetes_validate").joinpath(
        "kubernetes-json-schema", f"v{release}.0-local", "_definitions.json"
    )
    found: dict[str, Any] = json.loads(source.read_text())["$defs"]
    return found


def reduced(node: dict[str, Any], facts: dict[str, Any] | None) -> str | dict[str, Any]:
    """A node without prose. A bare reference becomes the name it refers to, a bare scalar its type and format."""
    out: dict[str, Any] = {}
    if "$ref" in node:
        out["ref"] = node["$ref"].removeprefix("#/$defs/")
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next(item for item in kind if item != "null")
    if kind:
        out["type"] = kind
    out.update({ours: node[theirs] for theirs, ours in RENAMED.items() if theirs in node})
    if "oneOf" in node:
        if any("integer" in item["type"] for item in node["oneOf"]):
            out["int_or_string"] = True
        else:
            out["type"] = "string"  # a quantity, which upstream's document calls a string
    properties = node.get("properties", {})
    if facts is not None:
        order = [field[0] for field in facts["fields"]]
        properties = {name: properties[name] for name in sorted(properties, key=order.index)}
        out["go"] = facts
    if properties:
        out["properties"] = {name: reduced(child, None) for name, child in properties.items()}
    for theirs, ours in (("items", "items"), ("additionalProperties", "additional")):
        if isinstance(node.get(theirs), dict):
            out[ours] = reduced(node[theirs], None)
    if list(out) == ["ref"]:
        return str(out["ref"])
    if facts is None and out.get("type") in SCALARS and set(out) <= {"type", "format"}:
        return " ".join(out.values())
    return out


def facts_of(name: str, release: str, node: dict[str, Any], shapes: list[Any]) -> dict[str, Any] | None:
    """The struct behind a definition, limited to the fields that the release serves. None when it is no struct."""
    properties = node.get("properties", {})
    if not properties and ("object" not in node.get("type", ()) or name in FREE):
        return None
    minor = int(release.split(".")[1])
    known = [facts for since, facts in shapes if since <= minor] or [facts for _, facts in shapes[:1]]
    if not known:
        raise SystemExit(f"{release}: no Go struct is known for {name}, run tools/build_go_facts.py")
    facts = known[-1]
    fields = [field for field in facts["fields"] if field[0] in properties]
    for missing in sorted(set(properties) - {field[0] for field in fields}):
        # A patch release corrected the tag: the definitions are those of the first release of a minor.
        print(f"{release}: {name} has no Go field for {missing}, taken for an optional struct", file=sys.stderr)
        fields.append([missing, "struct", "e", ""])
    return {**facts, "fields": fields}


def kinds_of(node: dict[str, Any]) -> list[list[str]]:
    found = [[item["group"], item["version"], item["kind"]] for item in node.get("x-kubernetes-group-version-kind", [])]
    return sorted(found)


def table(release: str) -> bytes:
    definitions = definitions_of(release)
    facts = json.loads(gzip.decompress(FACTS.read_bytes()))
    kinds: list[list[str]] = []
    lines: list[str] = []
    for name in sorted(definitions):
        node = reduced(definitions[name], facts_of(name, release, definitions[name], facts.get(name, [])))
        raw = dict(zip(("type", "format"), node.split(), strict=False)) if isinstance(node, str) else node
        if named := kinds_of(definitions[name]):
            raw["kinds"] = named
            kinds += [[name, *kind] for kind in named]
        lines.append(f"{name}\t{json.dumps(raw, separators=(',', ':'))}")
    kinds.sort(key=lambda row: row[1:])
    return "\n".join([json.dumps(kinds, separators=(",", ":")), *lines]).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    options = parser.parse_args()
    stale = []
    for release in RELEASES:
        target = TABLES / f"{release}.gz"
        built = table(release)
        # The plain text is compared: compressors may differ in their output from one zlib to the next.
        if target.exists() and gzip.decompress(target.read_bytes()) == built:
            continue
        stale.append(release)
        if not options.check:
            TABLES.mkdir(exist_ok=True)
            target.write_bytes(gzip.compress(built, 9, mtime=0))
    print(f"{'stale' if options.check else 'written'}: {' '.join(stale) or 'none'}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())

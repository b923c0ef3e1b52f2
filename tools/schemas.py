"""Makes the tables of definitions that ship with fakekube, one for each release:
fakekube/schema/tables/*.gz.

Sources: the definitions in the package kubernetes-validate, and what OpenAPI does not say (order of
fields, omitempty, Go types) from tools/go-facts.json.gz, which ``go_facts`` makes. The output
depends on nothing but the two.
"""

import gzip
import json
import logging
from pathlib import Path
from typing import Any

from tools.go_facts import OUTPUT as GO_FACTS
from tools.releases import RELEASES, ROOT, Release, Sources

LOG = logging.getLogger("facts")
TABLES = ROOT / "fakekube" / "schema" / "tables"
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


def build(sources: Sources) -> dict[Path, bytes]:
    """The tables of all releases."""
    facts = json.loads(gzip.decompress(GO_FACTS.read_bytes()))
    return {TABLES / f"{release.name}.gz": table(sources, release, facts) for release in RELEASES}


def reduced(node: dict[str, Any], facts: dict[str, Any] | None) -> str | dict[str, Any]:
    """A node without prose.

    A bare reference becomes the name it refers to, a bare scalar its type and format.
    """
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


def facts_of(name: str, release: Release, node: dict[str, Any], shapes: list[Any]) -> dict[str, Any] | None:
    """The struct behind a definition, limited to the fields that the release serves.

    None when it is no struct.
    """
    properties = node.get("properties", {})
    if not properties and ("object" not in node.get("type", ()) or name in FREE):
        return None
    known = [facts for since, facts in shapes if since <= release.minor] or [facts for _, facts in shapes[:1]]
    if not known:
        raise SystemExit(f"{release.name}: no Go struct is known for {name}, build go-facts first")
    facts = known[-1]
    fields = [field for field in facts["fields"] if field[0] in properties]
    for missing in sorted(set(properties) - {field[0] for field in fields}):
        # A patch release corrected the tag: the definitions are those of the first release of a
        # minor.
        LOG.info("%s: %s has no Go field for %s, taken for an optional struct", release.name, name, missing)
        fields.append([missing, "struct", "e", ""])
    return {**facts, "fields": fields}


def kinds_of(node: dict[str, Any]) -> list[list[str]]:
    found = [[item["group"], item["version"], item["kind"]] for item in node.get("x-kubernetes-group-version-kind", [])]
    return sorted(found)


def table(sources: Sources, release: Release, facts: dict[str, Any]) -> bytes:
    """The table of one release: a line of kinds, then a line for each definition."""
    definitions = sources.definitions(release)
    kinds: list[list[str]] = []
    lines: list[str] = []
    for name in sorted(definitions):
        node = reduced(definitions[name], facts_of(name, release, definitions[name], facts.get(name, [])))
        raw: dict[str, Any] = dict(zip(("type", "format"), node.split(), strict=False)) if isinstance(node, str) else node
        if named := kinds_of(definitions[name]):
            raw["kinds"] = named
            kinds += [[name, *kind] for kind in named]
        lines.append(f"{name}\t{json.dumps(raw, separators=(',', ':'))}")
    kinds.sort(key=lambda row: row[1:])
    return "\n".join([json.dumps(kinds, separators=(",", ":")), *lines]).encode()


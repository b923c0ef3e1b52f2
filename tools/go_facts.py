"""Collects what Go's structs say of the API types and OpenAPI does not, into
tools/go-facts.json.gz; ``schemas`` reads it.

For each OpenAPI definition: the struct's name and package, its fields in order, and for each field
the type as reflection prints it, whether it is a pointer, omitempty, omitzero, and the embedded
struct it comes from. A definition is kept once for each shape it had: ``{definition: [[minor,
facts], ...]}``, where minor is the first release of the shape. Source: the Go modules of every
release. The file stays in the tree, so that schemas can be built and checked without them.
"""

import json
from pathlib import Path
from typing import Any

from tools.gosource import Package, Packages
from tools.releases import RELEASES, ROOT, Release, Sources

OUTPUT = ROOT / "tools" / "go-facts.json.gz"
FOLDERS = {
    "api": ["*/v*"],
    "apimachinery": ["pkg/apis/meta/v1", "pkg/runtime", "pkg/version"],
    "apiextensions-apiserver": ["pkg/apis/apiextensions/v1"],
    "kube-aggregator": ["pkg/apis/apiregistration/v1"],
}


def build(sources: Sources) -> dict[Path, bytes]:
    """The table of all releases."""
    found: dict[str, list[Any]] = {}
    for release in RELEASES:
        for definition, facts in facts_of(packages_of(sources, release)).items():
            shapes = found.setdefault(definition, [])
            if not shapes or shapes[-1][1] != facts:
                shapes.append([release.minor, facts])
    return {OUTPUT: json.dumps(found, separators=(",", ":"), sort_keys=True).encode()}


def packages_of(sources: Sources, release: Release) -> Packages:
    """All packages of API types of one release."""
    return Packages.below((f"k8s.io/{name}", sources.module(name, release), FOLDERS[name]) for name in FOLDERS)


def facts_of(packages: Packages) -> dict[str, Any]:
    """The facts about every struct, by OpenAPI's name of it."""
    found = {}
    for path, package in packages.items():
        prefix = "io." + path.replace("k8s.io/", "k8s.", 1).replace("/", ".")
        for name in package.structs:
            fields = flattened(packages, package, name, ())
            found[f"{prefix}.{name}"] = {"name": name, "package": package.name, "fields": fields}
        for name, target in package.named.items():
            # type MatchCondition v1.MatchCondition: the fields of one struct under another name
            owner, _, inner = target.rpartition(".")
            if owner in packages and inner in packages[owner].structs:
                fields = flattened(packages, packages[owner], inner, ())
                found[f"{prefix}.{name}"] = {"name": name, "package": package.name, "fields": fields}
    return found


def flattened(packages: Packages, package: Package, name: str, embedded: tuple[str, ...]) -> list[list[str]]:
    """The fields that JSON shows of a struct, those of embedded structs in their place."""
    out: list[list[str]] = []
    for field in package.structs[name]:
        tag, *options = field.json
        if tag == "-" or not field.name[:1].isupper() or ("json" not in field.tags and not field.embedded):
            continue
        if field.embedded and not tag:
            target, _, inner = packages.unaliased(field.type.lstrip("*")).rpartition(".")
            if target in packages and inner in packages[target].structs:
                out += flattened(packages, packages[target], inner, (*embedded, field.name))
            continue
        flags = ("p" if field.type.startswith("*") else "") + "".join(
            letter for word, letter in (("omitempty", "e"), ("omitzero", "z")) if word in options
        )
        out.append([tag or field.name, printed(packages, field.type.lstrip("*")), flags, ".".join(embedded)])
    return out


def printed(packages: Packages, type_text: str) -> str:
    """As reflection prints it; a named list or map says after ``=`` what it is made of."""
    short, made_of = packages.short(type_text), packages.made_of(type_text)
    return f"{short}={made_of}" if made_of != short else short

"""Collects what Go knows of a pod template's structs, release by release:
fakekube/runtime/template_types.txt.

A line a struct and shape: the first minor release that had it, the type, then ``Field:type`` in
Go's order, types as reflection prints them; ``Field=name:type`` where the name in JSON is not the
field's with a small first letter, and empty for what is embedded. A map with a name of its own has
``map:`` and the type of its values. Source: the Go modules of every release.
"""

from pathlib import Path

from tools.gosource import Field, Packages
from tools.releases import RELEASES, ROOT, Release, Sources

OUTPUT = ROOT / "fakekube" / "runtime" / "template_types.txt"
HEAD = """\
# The structs of a pod template; tools/template_types.py makes this file and tells its notation, gotemplate.py reads it.
"""
TEMPLATE = "k8s.io/api/core/v1.PodTemplateSpec"
FOLDERS = {
    "api": ["core/v1"],
    "apimachinery": ["pkg/apis/meta/v1", "pkg/types", "pkg/api/resource", "pkg/util/intstr"],
}
PRINTED_BY_HAND = ("resource.Quantity", "intstr.IntOrString", "v1.Time")
"""Types whose inside ``gotemplate.py`` knows."""


def build(sources: Sources) -> dict[Path, bytes]:
    """The table of all releases, oldest first."""
    known: dict[str, str] = {}
    lines = []
    for release in RELEASES:
        for row in sorted(rows_of(sources, release)):
            name = row.partition(" ")[0]
            if known.get(name) != row:
                known[name] = row
                lines.append(f"{release.minor} {row}")
    return {OUTPUT: (HEAD + "\n".join(lines) + "\n").encode()}


def rows_of(sources: Sources, release: Release) -> list[str]:
    """The rows of one release."""
    packages = Packages.below((f"k8s.io/{name}", sources.module(name, release), FOLDERS[name]) for name in FOLDERS)
    rows: dict[str, str] = {}
    walk(TEMPLATE, packages, rows)
    return list(rows.values())


def walk(type_text: str, packages: Packages, rows: dict[str, str]) -> None:
    """Note the row of a type and of those that it leads to."""
    bare = type_text.lstrip("*[]")
    if bare.startswith("map["):
        walk(bare.partition("]")[2], packages, rows)
        return
    name, underlying, fields = packages.short(bare), packages.underlying(bare), packages.struct(bare)
    if name in rows or name in PRINTED_BY_HAND:
        return
    if fields is not None:
        rows[name] = " ".join([name, *(shown(field, packages) for field in fields)])
        for field in fields:
            walk(field.type, packages, rows)
    elif underlying.startswith("map["):
        rows[name] = f"{name} map:{packages.short(underlying.partition(']')[2])}"
        walk(underlying, packages, rows)
    elif underlying.startswith("["):
        walk(underlying, packages, rows)


def shown(field: Field, packages: Packages) -> str:
    """A field as its row writes it."""
    key, type_text = field.json[0], packages.short(field.type)
    usual = key == field.name[:1].lower() + field.name[1:]
    return f"{field.name}:{type_text}" if usual else f"{field.name}={key}:{type_text}"

"""Collects the fields of upstream's internal types that error messages print:
fakekube/apis/internal_types.txt.

A line a struct: its name, then ``Field:kind`` in Go's order. Kinds: ``s`` a text, ``b`` a boolean,
``i`` a number, ``-Name`` a type that prints itself as it does elsewhere, another name a struct;
``*`` in front is a pointer, ``[]`` a list, ``[]=`` a map; ``+`` in front of a field says that it is
embedded and printed with its own name. Bytes are ``*s``. Source: the Go modules of the newest
release.
"""

from pathlib import Path

from tools.gosource import Packages
from tools.releases import NEWEST, ROOT, Sources

OUTPUT = ROOT / "fakekube" / "apis" / "internal_types.txt"
HEAD = """\
# The fields of upstream's internal types; tools/internal_types.py makes this file and tells its notation, internals.py reads it.
"""
INTERNAL = "k8s.io/kubernetes/pkg/apis/"
FOLDERS = {
    "kubernetes": ["pkg/apis/*"],
    "apimachinery": ["pkg/apis/meta/v1", "pkg/types", "pkg/api/resource", "pkg/util/intstr", "pkg/runtime"],
}
PRINTED = (
    "core.PodSpec", "core.PersistentVolumeSource", "core.PersistentVolumeClaimSpec", "core.PodTemplateSpec",
    "core.PersistentVolumeClaim", "core.VolumeNodeAffinity", "core.ScopeSelector", "batch.PodFailurePolicy",
    "batch.SuccessPolicy", "resource.ResourceClaimTemplateSpec", "certificates.CertificateSigningRequestCondition",
    "certificates.PodCertificateRequestSpec",
)


def build(sources: Sources) -> dict[Path, bytes]:
    """The table, by the names of the structs."""
    packages = Packages.below((f"k8s.io/{name}", sources.module(name, NEWEST), FOLDERS[name]) for name in FOLDERS)
    rows: dict[str, list[str]] = {}
    for name in PRINTED:
        kind_of(f"{INTERNAL}{name}", packages, rows)
    lines = sorted(" ".join([name, *fields]) for name, fields in rows.items())
    return {OUTPUT: (HEAD + "\n".join(lines) + "\n").encode()}


def kind_of(type_text: str, packages: Packages, rows: dict[str, list[str]]) -> str:
    """How the table writes a type; the structs that it leads to become rows."""
    if type_text.startswith("*"):
        return "*" + kind_of(type_text[1:], packages, rows)
    if type_text == "[]uint8":
        return "*s"  # a text in JSON, null where there is none
    if type_text.startswith("[]"):
        return "[]" + kind_of(type_text[2:], packages, rows)
    if type_text.startswith("map["):
        return "[]=" + kind_of(type_text.partition("]")[2], packages, rows)
    full_name = packages.unaliased(type_text)
    package, _, name = full_name.rpartition(".")
    if packages.struct(full_name) is not None:
        if not package.startswith(INTERNAL):
            return f"-{name}"
        if name not in rows:
            rows[name] = []  # before its fields, which may lead to it again
            rows[name] += fields_of(full_name, packages, rows)
        return name
    if not package:
        return {"string": "s", "bool": "b"}.get(full_name, "i")
    named = packages[package].named.get(name)
    return "i" if named is None else kind_of(named, packages, rows)


def fields_of(type_text: str, packages: Packages, rows: dict[str, list[str]]) -> list[str]:
    """The fields of a struct, those of embedded structs in their place; kind and version are told
    elsewhere.
    """
    found = []
    for field in packages.struct(type_text) or []:
        if field.embedded and field.name == "ObjectMeta":
            found.append("+ObjectMeta:-ObjectMeta")
        elif field.embedded and field.name != "TypeMeta":
            found += fields_of(field.type, packages, rows)
        elif not field.embedded:
            found.append(f"{field.name}:{kind_of(field.type, packages, rows)}")
    return found

"""Makes the tables of an add-on's custom kinds: definitions, and what Go says of their structs.

``definitions.gz`` has the CustomResourceDefinitions that upstream publishes, as JSON, their
schemas without descriptions, with all of their rules. ``structs.txt`` has a line for each struct
below the kinds, with its fields in their order: ``field:type``. A type is ``s``, ``i``,
``f``, ``b`` (text, whole number, number, boolean), ``q`` (an amount), ``v`` (number or text),
``?`` (anything), a struct as ``core.Container``, or a list (``[]``) or map (``{}``) of one of
these. In front of it ``*`` is a pointer, ``!`` a field that is always written.
Source: the Go modules of the add-on, and of the API types of a release.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.gosource import Packages
from tools.releases import RELEASES, ROOT, MissingSource, Sources

CONTROLLERS = ROOT / "controllers" / "fakekube_controllers"
FOLDERS = {
    "api": ["core/v1", "apps/v1", "batch/v1"],
    "apimachinery": ["pkg/apis/meta/v1", "pkg/types", "pkg/util/intstr", "pkg/api/resource"],
}
WRITTEN_AS = {"Quantity": "q", "IntOrString": "v", "Time": "?", "MicroTime": "?", "RawExtension": "?", "FieldsV1": "?"}
LETTERS = {"string": "s", "bool": "b", "float64": "f", "int": "i", "int32": "i", "int64": "i"}


class AddOnModule(NamedTuple):
    """A Go module with API types: its name, its version, and the folder of the types in it."""

    name: str
    version: str
    types: str

    def folder(self, sources: Sources) -> Path:
        """Where the module lies. Raises MissingSource."""
        if sources.modules is None:
            raise MissingSource("no Go modules")
        found = sources.modules.parent / f"{self.name}@{self.version}"
        if not found.is_dir():
            raise MissingSource(f"no Go module {found.name}")
        return found


class AddOnSource(NamedTuple):
    """Where an add-on's kinds come from.

    ``definitions`` is a pattern of paths in its ``module``. ``structs`` are those to begin with;
    what is not of the module is of one of the ``others``, or of Kubernetes in the ``release`` that
    it was built with.
    """

    package: str
    module: AddOnModule
    definitions: str
    structs: tuple[str, ...]
    release: str
    others: tuple[AddOnModule, ...] = ()


_JOBSET = AddOnModule("sigs.k8s.io/jobset", "v0.12.0", "api/jobset/v1alpha2")
_LWS = AddOnModule("sigs.k8s.io/lws", "v0.9.0", "api/leaderworkerset/v1")
JOBSET = AddOnSource(
    "jobset", _JOBSET, "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
    ("sigs.k8s.io/jobset/api/jobset/v1alpha2.JobSet",), "1.36")
LWS = AddOnSource(
    "leaderworkerset", _LWS, "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
    ("sigs.k8s.io/lws/api/leaderworkerset/v1.LeaderWorkerSet",), "1.36")
KUEUE = AddOnSource(
    "kueue", AddOnModule("sigs.k8s.io/kueue", "v0.19.1", "apis/kueue/v1beta2"), "config/components/crd/bases/*.yaml",
    (*(f"sigs.k8s.io/kueue/apis/kueue/v1beta2.{kind}" for kind in ("Workload", "ClusterQueue", "ResourceFlavor")),
     "k8s.io/api/core/v1.Pod", "k8s.io/api/batch/v1.Job", "k8s.io/api/apps/v1.Deployment", "k8s.io/api/apps/v1.StatefulSet",
     *JOBSET.structs, *LWS.structs), "1.36", others=(_JOBSET, _LWS))
RAY = AddOnSource(
    "ray", AddOnModule("github.com/ray-project/kuberay/ray-operator", "v1.6.2", "apis/ray/v1"),
    "config/crd/bases/ray.io_ray[cj][lo]*.yaml", (), "1.36")


def definitions(addon: AddOnSource, sources: Sources) -> dict[Path, bytes]:
    """The published definitions, in the order of their names."""
    folder = addon.module.folder(sources)
    found = [_definition(path) for path in sorted(folder.glob(addon.definitions))]
    return {CONTROLLERS / addon.package / "definitions.gz": json.dumps(found, separators=(",", ":")).encode()}


def _definition(path: Path) -> Any:
    read = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    del read["metadata"]["annotations"]
    for version in read["spec"]["versions"]:
        version["schema"] = without_descriptions(version["schema"])
    return read


def without_descriptions(node: Any, *, names: bool = False) -> Any:
    """A schema without prose; ``names``: its keys are those of fields."""
    if isinstance(node, list):
        return [without_descriptions(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_descriptions(value, names=key == "properties" and not names)
        for key, value in node.items() if names or key != "description"}


def structs(addon: AddOnSource, sources: Sources) -> dict[Path, bytes]:
    """The structs below the kinds."""
    release = next(each for each in RELEASES if each.name == addon.release)
    roots = [(f"k8s.io/{name}", sources.module(name, release), patterns) for name, patterns in FOLDERS.items()]
    own = [(each.name, each.folder(sources), [each.types]) for each in (addon.module, *addon.others)]
    packages = Packages.below([*roots, *own])
    rows: dict[str, str] = {}
    for name in addon.structs:
        _walk(name, packages, rows)
    kinds = ", ".join(name.rpartition(".")[2] for name in addon.structs)
    head = f"# The structs of {kinds}; tools/addon_tables.py makes this file and tells its notation."
    return {CONTROLLERS / addon.package / "structs.txt": "\n".join([head, *rows.values(), ""]).encode()}


def _walk(name: str, packages: Packages, rows: dict[str, str]) -> None:
    short = _short(name)
    if short in rows:
        return
    rows[short] = ""  # one that holds itself
    shown, inner = [short], list[str]()
    for key, type_text, omits in _fields(name, packages):
        word = _notation(type_text, packages, inner)
        is_whole = word == "q" or ("." in word and not word.startswith(("[", "{")))
        is_pointer = type_text.startswith("*")
        marks = "*" * is_pointer + "!" * (not omits or (is_whole and not is_pointer))
        shown.append(f"{key}:{marks}{word}")
    rows[short] = " ".join(shown)
    for each in inner:
        _walk(each, packages, rows)


def _fields(name: str, packages: Packages) -> Iterator[tuple[str, str, bool]]:
    """The fields that JSON shows of a struct: name, full type, whether it is left out when empty.
    """
    for field in packages.struct(name) or ():
        key, *options = field.json
        if field.embedded and not key:
            yield from _fields(field.type.lstrip("*"), packages)
        elif key != "-" and "json" in field.tags:
            yield key or field.name, packages.unaliased(field.type), "omitempty" in options or "omitzero" in options


def _notation(type_text: str, packages: Packages, inner: list[str]) -> str:
    """A type as ``structs.txt`` has it; structs that it leads to are added to ``inner``."""
    text = packages.underlying(type_text.lstrip("*"))
    if text == "[]uint8":
        return "s"
    if text.startswith("[]"):
        return "[]" + _notation(text[2:], packages, inner)
    if text.startswith("map["):
        return "{}" + _notation(text.partition("]")[2], packages, inner)
    if text in LETTERS:
        return LETTERS[text]
    if (short := text.rpartition(".")[2]) in WRITTEN_AS:
        return WRITTEN_AS[short]
    if packages.struct(text) is None:
        return "?"
    inner.append(text)
    return _short(text)


def _short(name: str) -> str:
    """``core.Container`` for ``k8s.io/api/core/v1.Container``."""
    path, _, struct = name.rpartition(".")
    return f"{path.split('/')[-2]}.{struct}"

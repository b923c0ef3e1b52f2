"""Makes the typed models of fakekube.types from the schema table of the newest release.

The table gives fields, types and what Go says of them; fakekube.apis gives plurals and scopes. A
definition stands in the first module of MODULES whose kinds reach it, after the definitions that it
uses. A field that is a pointer in Go may be None, all others have their zero value.
"""

import keyword
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from fakekube.apis.catalog import catalog
from fakekube.registry.kind import Kind
from fakekube.schema import definitions
from fakekube.schema.structural import GoField, Schema
from fakekube.types.base import wire_name
from tools.releases import ROOT, Sources

TARGET = ROOT / "fakekube" / "types"
GENERATED = "# Made by tools/typed_models.py: change that, and run make facts."
WIDTH = 130  # of imports, which ruff joins up to there

CORE, META = "io.k8s.api.core.v1", "io.k8s.apimachinery.pkg.apis.meta.v1"
API_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

# In the order in which one may use another: module, package of its definitions, and the names to
# start from.
MODULES = (
    ("meta", META, "ObjectMeta LabelSelector Condition ListMeta Status"),
    ("claims", CORE, "PersistentVolumeClaim"),
    ("volumes", CORE, "Volume"),
    ("persistentvolumes", CORE, "PersistentVolume"),
    ("containers", CORE, "Container EphemeralContainer"),
    ("placement", CORE, "Affinity Toleration TopologySpreadConstraint PodSchedulingGate"),
    ("pods", CORE, "Pod PodTemplate ReplicationController"),
    ("core", CORE, "Node Namespace Service Endpoints ConfigMap Secret ServiceAccount Event LimitRange ResourceQuota"),
    ("apps", "io.k8s.api.apps.v1", "Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision"),
    ("batch", "io.k8s.api.batch.v1", "Job CronJob"),
    ("scheduling", "io.k8s.api.scheduling.v1", "PriorityClass"),
    ("scheduling", "io.k8s.api.scheduling.v1beta1", "PodGroup Workload"),
    ("scheduling_v1alpha3", "io.k8s.api.scheduling.v1alpha3", "CompositePodGroup"),
    ("autoscaling", "io.k8s.api.autoscaling.v2", "HorizontalPodAutoscaler"),
    ("policy", "io.k8s.api.policy.v1", "PodDisruptionBudget"),
    ("networking", "io.k8s.api.networking.v1", "Ingress IngressClass NetworkPolicy"),
    ("discovery", "io.k8s.api.discovery.v1", "EndpointSlice"),
    ("rbac", "io.k8s.api.rbac.v1", "Role ClusterRole RoleBinding ClusterRoleBinding"),
    ("storage", "io.k8s.api.storage.v1", "StorageClass CSINode CSIDriver VolumeAttachment"),
    ("resource", "io.k8s.api.resource.v1", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"),
    ("node", "io.k8s.api.node.v1", "RuntimeClass"),
    ("coordination", "io.k8s.api.coordination.v1", "Lease"),
    ("events", "io.k8s.api.events.v1", "Event"),
    ("apiextensions", API_EXTENSIONS, "CustomResourceDefinition"),
)

SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    f"{META}.Time": "Time",
    f"{META}.MicroTime": "MicroTime",
}
SCALARS = {"string": "str", "integer": "Int", "boolean": "Bool", "number": "Number"}
ZERO = {"str": '""', "Quantity": '""', "Int": "0", "Number": "0", "Bool": "False", "IntOrString": "0"}
VALUES = ("Bool", "Int", "IntOrString", "Json", "MicroTime", "Number", "Quantity", "Time")
OF_OBJECT = ("apiVersion", "kind", "metadata")  # fields that the base of all kinds declares

_PLURAL = re.compile(r"[A-Z]{2,}s(?=[A-Z]|$)")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|-")


def attribute_name(name: str) -> str:
    """``clusterIPs`` is ``cluster_ips``, ``from`` is ``from_``: what Python or pydantic calls its
    own gets a dash.
    """
    whole = _PLURAL.sub(lambda found: found[0].capitalize(), name.removeprefix("$").replace("openAPIV3", "openApiV3"))
    made = _WORD.sub("_", whole).lower()
    return f"{made}_" if keyword.iskeyword(made) or hasattr(BaseModel, made) else made


class Definition(NamedTuple):
    """A definition that becomes a class."""

    name: str  # of the class
    module: str
    schema: Schema
    kind: Kind | None


def parts(node: Schema) -> Iterator[Schema]:
    """The structs that a field holds: itself, what a list or a map has in it."""
    if node.is_struct and node.name:
        yield node
    for child in (node.items, node.additional):
        if child is not None:
            yield from parts(child)


class Types:
    """All classes, by the name of their definition, in an order in which each finds what it uses.
    """

    def __init__(self, release: str) -> None:
        self.table = definitions.load(release)
        self.kinds = {(kind.group, kind.version, kind.kind): kind for kind in catalog(
            release, None, {"api/all": True}).kinds}
        self.classes: dict[str, Definition] = {}
        self.users: dict[str, list[str]] = {}
        self._begun: set[str] = set()
        for module, package, names in MODULES:
            for name in names.split():
                self._place(self.table.named(f"{package}.{name}"), module)

    def _place(self, schema: Schema, module: str) -> None:
        name = schema.name
        if name in self._begun:
            return
        self._begun.add(name)
        of_kind = schema.kinds[0] if len(schema.kinds) == 1 else None
        kind = self.kinds.get((of_kind.group, of_kind.version, of_kind.kind)) if of_kind else None
        for field, child in schema.properties.items():
            for part in parts(child):
                user = f"{name.rpartition('.')[2]}.{field}"
                if not (kind and field in OF_OBJECT) and user not in self.users.setdefault(part.name, []):
                    self.users[part.name].append(user)
                self._place(self.table.named(part.name), module)
        self.classes[name] = Definition(name.rpartition(".")[2], module, schema, kind)

    def type_of(self, node: Schema, within: str) -> str:
        """The annotation of a node in the class of a definition, without its being None."""
        if node.name in SPECIAL:
            return SPECIAL[node.name]
        if node.is_struct and node.name:
            order = list(self.classes)
            later = order.index(node.name) >= order.index(within)
            return f'"{self.classes[node.name].name}"' if later else self.classes[node.name].name
        if node.type == "array" and node.items is not None:
            return f"list[{self.type_of(node.items, within)}]"
        if node.additional is not None:
            return f"dict[str, {self.type_of(node.additional, within)}]"
        return "IntOrString" if node.int_or_string else SCALARS.get(node.type, "Json")

    def field(self, definition: Definition, name: str, go: GoField) -> str:
        """The line of a field."""
        node = definition.schema.properties[name]
        type_ = self.type_of(node, definition.schema.name)
        if go.pointer or type_ in ("Json", "Time", "MicroTime"):
            type_, default, factory = (type_ if type_ == "Json" else optional(type_)), "None", False
        elif type_.startswith(("list[", "dict[")):
            default, factory = type_[:4], True
        else:
            default, factory = ZERO.get(type_, type_), type_ not in ZERO
        attribute = attribute_name(name)
        if wire_name(attribute) != name:
            return f'    {attribute}: {type_} = wire("{name}", {default})'
        return f"    {attribute}: {type_} = " + (f"empty({default})" if factory else default)

    def class_(self, definition: Definition) -> str:
        """The source of a class."""
        schema, kind = definition.schema, definition.kind
        assert schema.go is not None
        lines = [f"class {definition.name}({'Object' if kind else 'Model'}):"]
        if kind:
            where = "in a namespace" if kind.namespaced else "in no namespace"
            lines += [f'    """``{kind.plural}`` of {kind.api_version}, {where}."""', ""]
            names = ", ".join(f'"{name}"' for name in (kind.group, kind.version, kind.plural, kind.kind))
            names += "" if kind.namespaced else ", namespaced=False"
            line = f"    resource: ClassVar[Resource] = Resource({names})"
            lines += [line if len(line) <= 100 else line.replace(names, f"\n        {names},\n    "), ""]
        else:
            lines += [f'    """{used_in(self.users.get(schema.name, []))}"""', ""]
        lines += [
            self.field(definition, name, go) for name, go in schema.go.fields.items()
            if not (kind and name in OF_OBJECT)
        ]
        return "\n".join(lines).rstrip()

    def module(self, name: str) -> str:
        """The source of a module."""
        own = [definition for definition in self.classes.values() if definition.module == name]
        body = "\n\n\n".join(self.class_(definition) for definition in own)
        words = set(re.findall(r"\w+", body))
        imports = []
        if "ClassVar" in words:
            imports += ["from typing import ClassVar", ""]
        if "Resource" in words and any(definition.kind for definition in own):
            imports.append("from fakekube.client.resources import Resource")
        imports.append(import_of("base", [name for name in ("Model", "empty", "wire") if name in words]))
        used: dict[str, list[str]] = {}
        for definition in self.classes.values():
            if definition.module != name and self._uses(own, definition):
                used.setdefault(definition.module, []).append(definition.name)
        if any(definition.kind for definition in own):
            used["object"] = ["Object"]
        if values := [value for value in VALUES if re.search(rf"[\[ ]{value}\b", body)]:
            used["values"] = values
        imports += [import_of(module, names) for module, names in sorted(used.items())]
        groups = dict.fromkeys(package for module, package, _ in MODULES if module == name)
        title = f'"""Typed models of {", ".join(group_version(group) for group in groups)}: {title_of(own)}.'
        head = "\n".join(textwrap.wrap(title, 97)) + ('"""' if len(title) <= 97 else '\n"""')
        return "\n".join([head, "", GENERATED, "", *[line for line in imports if line is not None], "", "", body, ""])

    def _uses(self, own: list[Definition], other: Definition) -> bool:
        return any(
            part.name == other.schema.name
            for definition in own for field, child in definition.schema.properties.items()
            if not (definition.kind and field in OF_OBJECT) for part in parts(child)
        )


def optional(type_: str) -> str:
    """A type that may be None."""
    return f'"{type_[1:-1]} | None"' if type_.startswith('"') else f"{type_} | None"


def used_in(users: list[str]) -> str:
    """The fields that hold a struct, in a sentence."""
    if not users:
        return "For programs; no other type holds it."
    named = next(text for count in (3, 2, 1) if len(text := ", ".join(users[:count])) <= 70 or count == 1)
    return f"In {named}{' and others' if len(users) > named.count(',') + 1 else ''}."


def group_version(package: str) -> str:
    """``io.k8s.api.batch.v1`` is ``batch/v1``."""
    return "/".join(package.split(".")[-2:])


def title_of(own: list[Definition]) -> str:
    """The kinds of a module, or its first types."""
    kinds = [definition.name for definition in own if definition.kind]
    return f"{', '.join(kinds)} and their parts" if kinds else "parts that several kinds share"


def import_of(module: str, names: list[str]) -> str:
    """An import statement, wrapped as ruff sorts it."""
    line = f"from fakekube.types.{module} import {', '.join(sorted(names, key=import_order))}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {name},\n" for name in sorted(names, key=import_order))
    return f"from fakekube.types.{module} import (\n{inner})"


def import_order(name: str) -> tuple[bool, str]:
    """ruff's order of imported names: classes first, by letters and not by case."""
    return name[0].islower(), name.lower()


INIT = '''"""Typed models for people who write controllers and tests.

Pod, Job, Workload and all their parts.

``docs/types.md`` shows how to use them; ``base.py`` and ``object.py`` say what they are. A name is
loaded when it is first asked for. Where two groups have a type of one name, it is here that of the
first: the other is in its group's module, as in ``fakekube.types.events``.
"""

{generated}
# ruff: noqa: I001 - one name a line would be too long a list

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
{imports}

_NAMES = {{
{names}
}}
_MODULES = {{name: module for module, names in _NAMES.items() for name in names.split()}}

__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'fakekube.types' has no attribute {{name!r}}")
    return getattr(import_module(f"fakekube.types.{{_MODULES[name]}}"), name)
'''
BY_HAND = (
    ("base", "Model empty wire"), ("definitions", "Definition PrinterColumn ScalePaths definition_of"), ("object", "Object"),
    ("values", "Bool Int IntOrString Json MicroTime Number Quantity Time quantity"),
)


def init(types: Types) -> str:
    """The package's own module: what is exported, and from where.

    Kinds come before parts of the same name.
    """
    exported: dict[str, list[str]] = {module: names.split() for module, names in BY_HAND}
    taken = {name for names in exported.values() for name in names}
    for kinds in (True, False):
        for definition in types.classes.values():
            if bool(definition.kind) == kinds and definition.name not in taken:
                taken.add(definition.name)
                exported.setdefault(definition.module, []).append(definition.name)
    imports, names = [], []
    for module, own in sorted(exported.items()):
        listed = textwrap.wrap(", ".join(f"{name} as {name}" for name in sorted(own)), 120, break_long_words=False)
        imports += [f"    from fakekube.types.{module} import (", *[f"        {line}" for line in listed], "    )"]
        words = textwrap.wrap(" ".join(sorted(own)), 116)
        names += [f'    "{module}": (', *[f'        "{line} "' for line in words], "    ),"]
    return INIT.format(generated=GENERATED, imports="\n".join(imports), names="\n".join(names))


def build(_: Sources) -> dict[Path, bytes]:
    """The generated modules.

    Their sources are tables of the package, so that they can always be built.
    """
    types = Types(definitions.releases()[-1])
    made = {f"{name}.py": types.module(name) for name in dict.fromkeys(module for module, _, _ in MODULES)}
    return {TARGET / name: text.encode() for name, text in (made | {"__init__.py": init(types)}).items()}

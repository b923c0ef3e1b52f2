"""CustomResourceDefinitions as large as those of public projects, and custom objects that a server
never met.

A schema is made of sections of twelve fields each, with patterns, bounds, enums, defaults, a map, a
list by keys and a description of every field, as generators of CRDs write them.
"""

from collections.abc import Sequence

import orjson

from fakekube.apimachinery.types import Tree

GROUP = "load.example.com"
FIELDS_OF_SECTION, RULES_OF_SECTION = 12, 6
SECTIONS = (1, 1, 2, 2, 3, 4, 6, 10, 16, 40)
"""Of a version: of public definitions half are small, a few are large, and the mean has 35 KB."""

DESCRIPTION = (
    "{name} of this section, as it was asked for: what is not given has its default, and what was"
    " given once may be changed at any time.")
RULES: dict[str, Sequence[str]] = {
    "": ("self.replicas <= self.maxReplicas", "self.mode != 'Fixed' || self.replicas == self.maxReplicas",
         "!has(self.labels) || self.labels.all(key, key.size() <= 63)"),
    "name": ("!self.startsWith('-') && !self.endsWith('-')",),
    "items": ("self.all(item, item.weight >= 0)",),
    "item": ("self.name != '' && self.weight <= 100",),
}
"""By where they stand; six in all."""


def definition(plural: str, sections: int, *, rules: int = 0, versions: int = 1) -> Tree:
    """A definition whose versions have so many sections, of which so many have rules."""
    kind = plural.capitalize()
    spec = {f"section{number}": _section(has_rules=number < rules) for number in range(sections)}
    schema: Tree = {"type": "object", "description": DESCRIPTION.format(name=kind), "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": spec},
        "status": {"type": "object", "properties": {"ready": {"type": "integer"}}}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": f"v{number}", "served": True, "storage": number == 1, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
                "additionalPrinterColumns": [{"name": "Ready", "type": "integer", "jsonPath": ".status.ready"}],
            } for number in range(1, versions + 1)]}}


def bundle(count: int, prefix: str = "kinds") -> list[Tree]:
    """So many definitions, small and large, half with two versions, each with some rules."""
    return [definition(f"{prefix}{number}", SECTIONS[number % len(SECTIONS)], rules=1, versions=1 + number // 10 % 2)
            for number in range(count)]


def path(plural: str) -> str:
    """Where objects of a kind are created."""
    return f"/apis/{GROUP}/v1/namespaces/default/{plural}"


def body(number: int, plural: str, sections: int) -> bytes:
    """The body of a create: every field is given, and most values are the number's own."""
    return orjson.dumps({
        "apiVersion": f"{GROUP}/v1", "kind": plural.capitalize(),
        "metadata": {"name": f"object-{number}", "labels": {"run": f"run-{number}"}},
        "spec": {f"section{position}": _values(number, position) for position in range(sections)}})


def _values(number: int, position: int) -> Tree:
    replicas = number % 100
    return {
        "name": f"name-{number}-{position}", "mode": "Fixed" if number % 3 == position % 3 else "Flexible", "replicas": replicas,
        "maxReplicas": replicas if number % 3 == position % 3 else replicas + position, "suspend": number % 2 == 0,
        "port": 1 + number % 60_000 if position % 2 else f"port-{number % 100}",
        "started": f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "labels": {"app": f"app-{number}", "part": f"part-{position}"},
        "items": [{"name": f"item-{item}", "weight": (number + item) % 100} for item in range(1 + (number + position) % 3)]}


def _section(*, has_rules: bool) -> Tree:
    item: Tree = {"type": "object", "required": ["name", "weight"], "properties": {
        "name": {"type": "string", "maxLength": 63}, "weight": {"type": "integer", "format": "int32"}}}
    fields: Tree = {
        "name": {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        "mode": {"type": "string", "enum": ["Fixed", "Flexible"], "default": "Flexible"},
        "replicas": {"type": "integer", "format": "int32", "minimum": 0, "default": 1},
        "maxReplicas": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 10_000},
        "suspend": {"type": "boolean", "default": False},
        "port": {"x-kubernetes-int-or-string": True},
        "started": {"type": "string", "format": "date-time"},
        "labels": {"type": "object", "maxProperties": 16, "additionalProperties": {"type": "string", "maxLength": 63}},
        "items": {"type": "array", "maxItems": 16, "items": item,
                  "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    }
    section: Tree = {"type": "object", "required": ["name", "replicas", "maxReplicas"], "properties": fields}
    if has_rules:
        for where, rules in RULES.items():
            schema = {"": section, "item": item}.get(where) or fields[where]
            schema["x-kubernetes-validations"] = [
                {"rule": rule, "message": f"must hold: {rule.replace('self.', '')}"} for rule in rules]
    for name, schema in (*fields.items(), *item["properties"].items()):
        schema["description"] = DESCRIPTION.format(name=name)
    return section

"""Structural schemas: a type at every node, and value checks only of what has a node.

Two parts as upstream has them: the rules that each node keeps, and that whatever allOf, anyOf,
oneOf and not speak of is there. Upstream:
apiextensions-apiserver/pkg/apiserver/schema/{convert,validation,complete}.go.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid, key, required
from fakekube.apimachinery.types import Json, Tree
from fakekube.util import regex

NOTHING_PLAIN: frozenset[int] = frozenset()
ROOT, ITEM, FIELD = range(3)
EMPTY_TYPE = ("must not be empty at the root", "must not be empty for specified array items",
              "must not be empty for specified object fields")
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
UNSUPPORTED = ("id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions")
PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
INT_STRING = "x-kubernetes-int-or-string"
JUNCTORS = ("allOf", "anyOf", "oneOf")
NOT_IN_JUNCTORS = (  # and what upstream calls their being there
    ("default", "undefined"), ("title", "empty"), ("description", "empty"), ("nullable", "false"), (PRESERVE, "false"),
    (EMBEDDED, "false"), (INT_STRING, "false"), ("x-kubernetes-list-map-keys", "empty"),
    ("x-kubernetes-list-type", "undefined"), ("x-kubernetes-map-type", "undefined"), ("x-kubernetes-validations", "empty"),
)
ONLY_NAMES = "must not specify anything other than name and generateName, but metadata is implicitly specified"


def unsupported(schema: Tree, plain: frozenset[int] = NOTHING_PLAIN) -> str:
    """Why a schema cannot be read as a structural one at all; empty when it can.

    ``plain`` are the parts that need no look (``plain.plain_parts``), here as below.
    """
    for name in UNSUPPORTED:
        value = schema.get(name)
        if value or (name == "additionalItems" and value is not None):
            told = "schema" if name == "$schema" else name
            return f"OpenAPIV3Schema '{told}' is not supported"
    if schema.get(PRESERVE) is False:
        return f"internal error: '{PRESERVE}' must be true or undefined"
    if isinstance(schema.get("items"), list) and schema["items"]:
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    for below in _below(schema):
        if id(below) not in plain and (why := unsupported(below, plain)):
            return why
    return ""


def is_set(value: Json) -> bool:
    """Whether a field is something else than Go's zero value of it; 0 behind a pointer is."""
    return value is not None and value is not False and value not in ("", [], {})


def _below(schema: Tree) -> Iterator[Tree]:
    if "not" in schema:
        yield schema["not"]
    for junctor in JUNCTORS:
        yield from schema.get(junctor) or ()
    if isinstance(schema.get("items"), dict):
        yield schema["items"]
    yield from (schema.get("properties") or {}).values()
    if isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]


def every_schema(schema: Tree, plain: frozenset[int] = NOTHING_PLAIN) -> Iterator[Tree]:
    """A schema and all schemas in it, each before what it holds."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [below for below in reversed(_schemas_in(node)) if id(below) not in plain]


def _schemas_in(schema: Tree) -> list[Tree]:
    """The schemas that a schema holds itself."""
    items = schema.get("items")
    several: Iterable[Tree] = [items] if isinstance(items, dict) else items or ()
    nested: list[Tree] = [*several]
    for junctor in ("allOf", "anyOf", "oneOf"):
        nested += schema.get(junctor) or ()
    for name in ("not", "additionalProperties", "additionalItems"):
        if isinstance(schema.get(name), dict):
            nested.append(schema[name])
    for name in ("properties", "patternProperties", "definitions", "dependencies"):
        nested += [below for below in (schema.get(name) or {}).values() if isinstance(below, dict)]
    return nested


def has_any(schema: Tree, name: str, plain: frozenset[int] = NOTHING_PLAIN) -> bool:
    """Whether a field is set anywhere in a schema."""
    return any(node.get(name) is not None for node in every_schema(schema, plain))


def structural_errors(schema: Tree, path: str, plain: frozenset[int] = NOTHING_PLAIN) -> list[FieldError]:
    """What keeps a schema from being structural, sorted by its text. ``unsupported`` said nothing.
    """
    found = [*_node(schema, ROOT, path, plain), *_completeness(schema, schema, path, path)]
    return sorted(found, key=str)


def _node(schema: Tree, level: int, path: str, plain: frozenset[int]) -> Iterator[FieldError]:
    get = schema.get
    type_, items, properties, additional = get("type", ""), get("items"), get("properties") or {}, get("additionalProperties")
    if type_ == "array" and items is None:
        yield required(child(path, "items"), "must be specified")
    if isinstance(items, dict) and id(items) not in plain:
        yield from _node(items, ITEM, child(path, "items"), plain)
    for name, below in properties.items():
        if id(below) not in plain:
            yield from _node(below, FIELD, key(child(path, "properties"), name), plain)
    if additional is not None:
        if level == ROOT:
            yield forbidden(child(path, "additionalProperties"), "must not be used at the root")
        if isinstance(additional, dict) and id(additional) not in plain:
            yield from _node(additional, FIELD, child(path, "additionalProperties"), plain)
    yield from _extensions(schema, path)
    yield from _junctors(schema, path, skip_any_of=_is_int_or_string(get("anyOf")), skip_first_all_of=_is_int_or_string(
        (get("allOf") or [{}])[0].get("anyOf")))
    yield from _type(schema, level, path)
    checks_metadata = level == ROOT or bool(get(EMBEDDED))
    for name in ("kind", "apiVersion"):
        if checks_metadata and name in properties and properties[name].get("type", "") != "string":
            where = child(key(child(path, "properties"), name), "type")
            yield invalid(where, properties[name].get("type", ""), "must be string")
    if "metadata" in properties:
        yield from _metadata(properties["metadata"], level, key(child(path, "properties"), "metadata"), checked=checks_metadata)
    if get(EMBEDDED) and not get(PRESERVE) and not properties:
        yield required(child(path, "properties"), f"must not be empty if {EMBEDDED} is true without {PRESERVE}")


def _type(schema: Tree, level: int, path: str) -> Iterator[FieldError]:
    get, type_, where = schema.get, schema.get("type", ""), child(path, "type")
    if get(EMBEDDED) and type_ != "object":
        detail = f"must be object if {EMBEDDED} is true"
        yield invalid(where, type_, detail) if type_ else required(where, detail)
    elif not type_ and not get(INT_STRING) and not get(PRESERVE):
        yield required(where, EMPTY_TYPE[level])
    if get(EMBEDDED) and get("additionalProperties") is not None:
        yield forbidden(child(path, "additionalProperties"), f"must not be used if {EMBEDDED} is set")
    if level == ROOT and type_ not in ("", "object"):
        yield invalid(where, type_, "must be object at the root")


def _metadata(schema: Tree, level: int, path: str, *, checked: bool) -> Iterator[FieldError]:
    if checked and schema.get("type", "") != "object":
        yield invalid(child(path, "type"), schema.get("type", ""), "must be object")
    if level == ROOT:
        others = {name: value for name, value in schema.items() if name not in ("type", "default") and is_set(value)}
        names = others.get("properties")
        if names and all(name in ("name", "generateName") for name in names):
            del others["properties"]
        if others:
            yield forbidden(path, ONLY_NAMES)


def _extensions(schema: Tree, path: str) -> Iterator[FieldError]:
    if schema.get(INT_STRING):
        for name in (PRESERVE, EMBEDDED):
            if schema.get(name):
                yield invalid(child(path, name), True, f"must be false if {INT_STRING} is true")


def _is_int_or_string(any_of: Any) -> bool:
    """Whether it is the one place where types may stand in anyOf."""
    return isinstance(any_of, list) and any_of == INT_OR_STRING


def _junctors(schema: Tree, path: str, *, skip_any_of: bool = False, skip_first_all_of: bool = False) -> Iterator[FieldError]:
    """Value checks, and those in junctors below; ``skip_first_all_of`` is about the anyOf in it."""
    if not skip_any_of:
        for number, below in enumerate(schema.get("anyOf") or ()):
            yield from _nested(below, index(child(path, "anyOf"), number))
    for number, below in enumerate(schema.get("allOf") or ()):
        yield from _nested(below, index(child(path, "allOf"), number), skip_any_of=skip_first_all_of and number == 0)
    for number, below in enumerate(schema.get("oneOf") or ()):
        yield from _nested(below, index(child(path, "oneOf"), number))
    if "not" in schema:
        yield from _nested(schema["not"], child(path, "not"))
    if pattern := schema.get("pattern"):
        try:
            regex.compiled(pattern)
        except regex.RegexError as error:
            yield invalid(child(path, "pattern"), pattern, f"must be a valid regular expression, but isn't: {error}")


def _nested(schema: Tree, path: str, *, skip_any_of: bool = False) -> Iterator[FieldError]:
    """A schema in a junctor: value checks alone."""
    get = schema.get
    yield from _junctors(schema, path, skip_any_of=skip_any_of)
    if isinstance(get("items"), dict):
        yield from _nested(schema["items"], child(path, "items"))
    for name, below in (get("properties") or {}).items():
        yield from _nested(below, key(child(path, "properties"), name))
    if get("type"):
        yield forbidden(child(path, "type"), "must be empty to be structural")
    if get("additionalProperties", False) is not False:
        yield forbidden(child(path, "additionalProperties"), "must be undefined to be structural")
    for name, wanted in NOT_IN_JUNCTORS:
        if get(name) if wanted != "undefined" else get(name) is not None:
            yield forbidden(child(path, name), f"must be {wanted} to be structural")
    if "metadata" in (get("properties") or {}):
        yield forbidden(key(child(path, "properties"), "metadata"), "must not be specified in a nested context")


def _completeness(checks: Tree, schema: Tree | None, path: str, at: str) -> Iterator[FieldError]:
    """That what ``checks``, at the path ``at``, speaks of in its junctors is in ``schema``."""
    if "not" in checks:
        yield from _nested_completeness(checks["not"], schema, path, child(at, "not"))
    for junctor in JUNCTORS:
        for number, below in enumerate(checks.get(junctor) or ()):
            yield from _nested_completeness(below, schema, path, index(child(at, junctor), number))


def _nested_completeness(checks: Tree, schema: Tree | None, path: str, at: str) -> Iterator[FieldError]:
    if schema is None:
        yield required(path, f"because it is defined in {at}")
        return
    yield from _completeness(checks, schema, path, at)
    if isinstance(checks.get("items"), dict):
        yield from _nested_completeness(checks["items"], schema.get("items"), child(path, "items"), child(at, "items"))
    properties = schema.get("properties") or {}
    for name, below in (checks.get("properties") or {}).items():
        there, where = key(child(path, "properties"), name), key(child(at, "properties"), name)
        if name in properties:
            yield from _nested_completeness(below, properties[name], there, where)
        else:
            yield required(there, f"because it is defined in {where}")

"""What is wrong with an openAPIV3Schema.

Upstream's order: the root, whether the schema is structural, its defaults, then every node with its
list and map types, and last the rules in CEL, which are looked at only where all else is right.
Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go
(validateCustomResourceDefinitionValidation, ValidateCustomResourceDefinitionOpenAPISchema).
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fakekube.apiextensions.validation import expressions, internal, paths
from fakekube.apiextensions.validation.plain import plain_parts
from fakekube.apiextensions.validation.structural import (
    EMBEDDED,
    PRESERVE,
    has_any,
    structural_errors,
    unsupported,
)
from fakekube.apimachinery.field_errors import FieldError, child, forbidden, index, invalid, key, not_supported, required
from fakekube.apimachinery.releases import minor_of
from fakekube.apimachinery.types import Tree
from fakekube.util.memory import Memo
from fakekube.util.turns import Turn

if TYPE_CHECKING:
    from fakekube.apiextensions.rules.definitions import NodeRules, RuleCosts

TYPES = ("array", "boolean", "integer", "number", "object", "string")
OF_EVERY_OBJECT = ("metadata", "kind", "apiVersion")
LIST_TYPE, LIST_KEYS, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
ATOMIC_ITEMS = "must be atomic as item of a list with x-kubernetes-list-type=set"
KEYS_NEED_MAP = "must be map if x-kubernetes-list-map-keys is non-empty"
KEY_NEEDED = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
KEY_NOT_NULL = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
QUADRATIC = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
EXCLUSIVE = "additionalProperties and properties are mutual exclusive"
AT_ROOT_ALONE = "fields are allowed at the root of the schema if the status subresource is enabled"
NULL_TYPE = "type cannot be set to null, use nullable as an alternative"

REMEMBERED_SCHEMAS = 512


class Rules(NamedTuple):
    """What is asked of schemas.

    Each is False where the stored definition does not keep to it already: nobody is made to mend
    what was accepted once. ``known`` are the CEL expressions that were accepted before,
    ``unchanged`` the versions whose schema is as it was. ``turn`` is ended now and then: raises
    TakesLong in the first.
    """

    valid_types: bool = True
    structural: bool = True
    pruned_defaults: bool = True
    atomic_sets: bool = True
    map_keys: bool = True
    known: frozenset[str] = frozenset()
    unchanged: frozenset[str] = frozenset()
    release: str = ""
    turn: Turn | None = None


class _Place(NamedTuple):
    """What counts of a node's surroundings.

    ``no_defaults`` says why there may be none (None: there may); ``in_metadata`` that the node is
    of a resource's metadata; ``uncorrelated`` is the path of the nearest list or map to whose parts
    an older object's cannot be matched.
    """

    no_defaults: str | None = None
    in_metadata: bool = False
    uncorrelated: str | None = None


_SOUND: Memo[tuple[bytes, bool, bool, Rules], bool] = Memo(REMEMBERED_SCHEMAS)
"""Schemas with which nothing is wrong: the same bundle is loaded in test after test."""


class _Found(NamedTuple):
    """What is wrong with a node and what is below it; rules are told after all else."""

    of_schema: list[FieldError]
    of_rules: list[FieldError]


def schema_errors(
    validation: Tree | None, path: str, rules: Rules, *, status: bool, unchanged: bool = False,
) -> list[FieldError]:
    """What is wrong with one ``schema`` of a definition.

    ``status``: whether a status sub-resource goes with it. ``unchanged``: the stored definition has
    the same schema.
    """
    schema = (validation or {}).get("openAPIV3Schema")
    if schema is None:
        return []
    if rules.known:  # of a change, and they are somebody's texts
        return _errors(schema, path, rules, status=status, unchanged=unchanged)
    asked = fingerprint(schema), status, unchanged, rules._replace(unchanged=frozenset(), turn=None)
    if _SOUND.get(asked):
        return []
    found = _errors(schema, path, rules, status=status, unchanged=unchanged)
    if not found:
        _SOUND.put(asked, True)
    return found


def fingerprint(schema: Tree) -> bytes:
    """What stands for a schema where something about it is remembered: a hundredth of the time that
    a look at all of it takes, and 32 bytes.
    """
    return sha256(orjson.dumps(schema)).digest()


def _errors(schema: Tree, path: str, rules: Rules, *, status: bool, unchanged: bool) -> list[FieldError]:
    where, found, plain = child(path, "openAPIV3Schema"), [], plain_parts(schema)
    if status:
        found += _status_errors(schema, where)
    if schema.get("nullable"):
        found.append(forbidden(child(where, "nullable"), "nullable cannot be true at the root"))
    not_readable = ""
    wrong: list[FieldError] = []
    if rules.structural:
        not_readable = unsupported(schema, plain)
        if not not_readable:
            wrong = structural_errors(schema, where, plain)
            if not wrong and has_any(schema, "default", plain):
                from fakekube.apiextensions.validation import defaults  # few schemas have any

                wrong = defaults.default_errors(
                    schema, where, plain, pruned=rules.pruned_defaults, release=rules.release, turn=rules.turn)
            found += wrong
    of_rules, costs = None, None
    # rules are looked at only in schemas whose values they can rely on
    if rules.structural and not (not_readable or wrong) and has_any(schema, "x-kubernetes-validations", plain):
        of_rules, costs = _rules_of(schema, rules, unchanged=unchanged)
    node = _node(schema, where, _Place(), rules, plain, of_rules, is_root=True)
    found += node.of_schema + node.of_rules
    if not_readable and not found:
        found.append(invalid(where, "", not_readable))
    return found if costs is None else found + costs.errors(where)


def _rules_of(schema: Tree, rules: Rules, *, unchanged: bool) -> "tuple[NodeRules, RuleCosts]":
    """The rules of a schema, and what they cost together."""
    from fakekube.apiextensions.rules.definitions import Circumstances, NodeRules, RuleCosts  # CEL is much to load

    costs = RuleCosts()
    circumstances = Circumstances(minor_of(rules.release), rules.known, unchanged, costs, rules.turn)
    return NodeRules(schema, circumstances, is_root=True), costs


def _status_errors(schema: Tree, path: str) -> list[FieldError]:
    """Beside a status sub-resource the root may only have what stays true of the status alone."""
    other = internal.first_field_not_at_root(schema)
    if schema.get("type", "") != "object" and schema.get("type") and other not in ("ID", "Schema", "Ref"):
        text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(child(path, "type"), schema["type"], text)]
    if other:
        text = f"only [{' '.join(internal.AT_ROOT)}] {AT_ROOT_ALONE}"
        return [invalid(path, internal.printed_schema(schema), text)]
    return []


def _node(
    schema: Tree, path: str, place: _Place, rules: Rules, plain: frozenset[int], node: "NodeRules | None", *,
    is_root: bool = False,
) -> _Found:
    found, of_rules = [*_standard_errors(schema, path, place, rules)], list[FieldError]()
    if schema.get("uniqueItems"):
        found.append(forbidden(child(path, "uniqueItems"), QUADRATIC))
    if schema.get("properties") and schema.get("additionalProperties", True) is not True:
        found.append(forbidden(child(path, "additionalProperties"), EXCLUSIVE))
    for below, where, there, inner in _below(schema, path, place, plain, node, is_root=is_root):
        of_below = _node(below, where, there, rules, plain, inner)
        found += of_below.of_schema
        of_rules += of_below.of_rules
    found += _collection_errors(schema, path, rules)
    if rules.map_keys:
        found += key_errors(schema, path)
    if schema.get("x-kubernetes-validations"):
        found += expressions.form_errors(schema, path)
        if not found and node is not None:
            of_rules += node.errors(path, place.uncorrelated)
    return _Found(found, of_rules)


_Below = Iterator["tuple[Tree, str, _Place, NodeRules | None]"]


def _below(
    schema: Tree, path: str, place: _Place, plain: frozenset[int], node: "NodeRules | None", *, is_root: bool,
) -> _Below:
    """The schemas in a schema that need a look, in upstream's order."""
    get, additional = schema.get, schema.get("additionalProperties")
    properties = get("properties") or {}
    if isinstance(additional, dict) and id(additional) not in plain:
        there = place if not place.in_metadata else place._replace(
            no_defaults="inside additionalProperties applying to object metadata")
        yield additional, child(path, "additionalProperties"), there, node and node.below(additional)
    within = place if get(MAP_TYPE) in (None, "granular") or place.uncorrelated is not None else place._replace(uncorrelated=path)
    for name, below in properties.items():
        if id(below) in plain:
            continue
        there = within
        if name in OF_EVERY_OBJECT and (is_root or get(EMBEDDED)):
            there = there._replace(in_metadata=True)
            if is_root:
                there = there._replace(no_defaults=f"in top-level {name}")
        yield below, key(child(path, "properties"), name), there, node and node.below(below)
    if "not" in schema:
        yield schema["not"], child(path, "not"), place, None
    for junctor in ("allOf", "oneOf", "anyOf"):
        for number, below in enumerate(get(junctor) or ()):
            yield below, index(child(path, junctor), number), place, None
    for name, below in (get("definitions") or {}).items():
        yield below, key(child(path, "definitions"), name), place, None
    if id(get("items")) not in plain:
        yield from _items(schema, path, place, node)
    for name, below in (get("dependencies") or {}).items():
        if isinstance(below, dict):
            yield below, key(child(path, "dependencies"), name), place, None


def _items(schema: Tree, path: str, place: _Place, node: "NodeRules | None") -> _Below:
    items = schema.get("items")
    if schema.get(LIST_TYPE) != "map" and place.uncorrelated is None:
        place = place._replace(uncorrelated=path)
    where = child(path, "items")
    if isinstance(items, dict):
        yield items, where, place, node and node.below(items)
    elif items:
        for number, below in enumerate(items):
            yield below, index(where, number), place, None  # such a schema is not structural


def _standard_errors(schema: Tree, path: str, place: _Place, rules: Rules) -> Iterator[FieldError]:
    """What OpenAPI 3 knows and a definition may not use."""
    get, type_ = schema.get, schema.get("type", "")
    if rules.valid_types and type_ and type_ not in TYPES:
        yield not_supported(child(path, "type"), type_, TYPES)
    if get("default") is not None and place.no_defaults is not None:
        yield forbidden(child(path, "default"), f"must not be set {place.no_defaults}")
    for name in ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"):
        if get(name) or (name in ("additionalItems", "dependencies", "$ref") and get(name) is not None):
            yield forbidden(child(path, name), f"{name} is not supported")
    if type_ == "null":
        yield forbidden(child(path, "type"), NULL_TYPE)
    if isinstance(get("items"), list) and get("items"):
        yield forbidden(child(path, "items"), "items must be a schema object and not an array")
    if place.in_metadata and get(EMBEDDED):
        yield forbidden(child(path, EMBEDDED), "must not be used inside of resource meta")


def _collection_errors(schema: Tree, path: str, rules: Rules) -> Iterator[FieldError]:
    """The types of maps and lists."""
    get, type_ = schema.get, schema.get("type", "")
    if get(PRESERVE) is False:
        yield invalid(child(path, PRESERVE), False, "must be true or undefined")
    map_type, list_type, items = get(MAP_TYPE), get(LIST_TYPE), get("items")
    if map_type is not None and type_ != "object":
        yield _wrong_type(type_, path, f"must be object if {MAP_TYPE} is specified")
    if map_type not in (None, "atomic", "granular"):
        yield not_supported(child(path, MAP_TYPE), map_type, ("atomic", "granular"))
    if list_type is not None and type_ != "array":
        yield _wrong_type(type_, path, f"must be array if {LIST_TYPE} is specified")
    elif rules.atomic_sets and isinstance(items, dict) and has_divisible_items(schema):
        name = LIST_TYPE if items["type"] == "array" else MAP_TYPE
        yield invalid(child(path, "items", name), items.get(LIST_TYPE), ATOMIC_ITEMS)
    if list_type not in (None, "atomic", "set", "map"):
        yield not_supported(child(path, LIST_TYPE), list_type, ("atomic", "set", "map"))
    if get(LIST_KEYS) and list_type != "map":
        where = child(path, LIST_TYPE)
        yield required(where, KEYS_NEED_MAP) if list_type is None else invalid(where, list_type, KEYS_NEED_MAP)
    if list_type == "map":
        yield from _list_map_errors(schema, path)


def _wrong_type(type_: str, path: str, detail: str) -> FieldError:
    where = child(path, "type")
    return invalid(where, type_, detail) if type_ else required(where, detail)


def has_divisible_items(schema: Tree) -> bool:
    """Whether it is a set whose items are not atomic."""
    items = schema.get("items")
    if schema.get(LIST_TYPE) != "set" or not isinstance(items, dict):
        return False
    if items.get("type") == "array":
        return items.get(LIST_TYPE) not in (None, "atomic")
    return items.get("type") == "object" and items.get(MAP_TYPE) != "atomic"


def _list_map_errors(schema: Tree, path: str) -> Iterator[FieldError]:
    keys, items, where = schema.get(LIST_KEYS) or [], schema.get("items"), child(path, LIST_KEYS)
    if not keys:
        yield required(where, f"must not be empty if {LIST_TYPE} is map")
    if items is None:
        yield required(child(path, "items"), f"must have a schema if {LIST_TYPE} is map")
    elif not isinstance(items, dict):
        shown = {"Schema": None, "JSONSchemas": [internal.printed_schema(each) for each in items] or None}
        yield invalid(child(path, "items"), shown, f"must only have a single schema if {LIST_TYPE} is map")
    elif items.get("type", "") != "object":
        yield invalid(child(path, "items", "type"), items.get("type", ""), f"must be object if parent array's {LIST_TYPE} is map")
    else:
        seen: set[str] = set()
        for name in keys:
            found = (items.get("properties") or {}).get(name)
            if found is None:
                yield invalid(where, keys, "entries must all be names of item properties")
            elif found.get("type") in ("array", "object"):
                there = child(key(child(path, "items", "properties"), name), "type")
                yield invalid(there, "object", f"must be a scalar type if parent array's {LIST_TYPE} is map")
            if name in seen:
                yield invalid(where, keys, "must not contain duplicate entries")
            seen.add(name)


def key_errors(schema: Tree, path: str) -> list[FieldError]:
    """That items of sets and maps, and the keys of items, can always be told apart."""
    items, list_type = schema.get("items"), schema.get(LIST_TYPE)
    if not isinstance(items, dict) or list_type not in ("set", "map"):
        return []
    where, found = child(path, "items"), []
    if items.get("nullable"):
        found.append(forbidden(child(where, "nullable"), f"cannot be nullable when {LIST_TYPE} is {list_type}"))
    if list_type == "map":
        for name in schema.get(LIST_KEYS) or ():
            field = (items.get("properties") or {}).get(name)
            if field is None:
                continue
            there = key(child(where, "properties"), name)
            if name not in (items.get("required") or ()) and field.get("default") is None:
                found.append(required(child(there, "default"), KEY_NEEDED))
            if field.get("nullable"):
                found.append(forbidden(child(there, "nullable"), KEY_NOT_NULL))
    return found


def is_structural(schema: Tree) -> bool:
    """Whether a schema keeps to the rules of structural ones."""
    return not unsupported(schema) and not structural_errors(schema, "")


def has_unpruned_defaults(schema: Tree) -> bool:
    """Whether a default has fields that its schema has not."""
    if not has_any(schema, "default") or not is_structural(schema):
        return False
    from fakekube.apiextensions.validation import defaults

    return defaults.has_unpruned(schema)


def selectable_errors(entry: Tree, schema: Tree | None, path: str, *, any_number: bool) -> list[FieldError]:
    """The selectable fields of a version, or those that all versions have."""
    fields = entry.get("selectableFields") or []
    if not fields or schema is None:
        return []
    why = unsupported(schema)
    found = [invalid(child(path, "schema.openAPIV3Schema"), "", why)] if why else []
    return found + paths.selectable_field_errors(fields, schema, child(path, "selectableFields"), any_number=any_number)

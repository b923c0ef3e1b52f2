"""What is wrong with values of custom objects: the words, what is told of several alternatives, and
that the quick answer and the worded one agree.
"""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apiextensions.objects.acceptors import fits
from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apiextensions.objects.correlation import Correlation
from fakekube.apiextensions.objects.violations import is_valid, violations
from fakekube.apimachinery.types import Json, Tree

CHECKED = "Checked value must be of type integer"


def told(schema: Tree, value: Json, *, minor: int = 37) -> list[str]:
    """What is told of a value in ``spec.x``."""
    whole = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": schema}}}}
    return [str(error) for error in violations(Constraints(whole, minor), {"spec": {"x": value}})]


@pytest.mark.spec("API-157")
@pytest.mark.parametrize(
    ("schema", "value", "texts"),
    [
        ({"type": "string"}, 1, ['spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"']),
        ({"type": "integer"}, "a", ['spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"']),
        ({"type": "integer"}, 1.5, [
            'spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"',
            f'<nil>: Invalid value: "": {CHECKED} (default format) in spec.x']),
        ({"type": "integer", "format": "int32"}, 1.5, [
            'spec.x: Invalid value: "float64": spec.x in body must be of type int32: "float64"',
            f'<nil>: Invalid value: "": {CHECKED} with format int32 in spec.x']),
        ({"type": "integer", "format": "int32"}, 3_000_000_000, [
            f'<nil>: Invalid value: "": {CHECKED} with format int32 in spec.x']),
        ({"x-kubernetes-int-or-string": True}, True, [
            'spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"']),
        ({"type": "string"}, None, ['spec.x: Invalid value: "null": spec.x in body must be of type string: "null"']),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], [
            'spec.x[1]: Invalid value: "integer": spec.x[1] in body must be of type string: "integer"']),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"k": "v"}, [
            'spec.x.k: Invalid value: "string": spec.x.k in body must be of type integer: "string"']),
        ({"type": "string", "enum": ["a", "b"]}, "z", ['spec.x: Unsupported value: "z": supported values: "a", "b"']),
        ({"type": "string", "pattern": "^[a-z]+$"}, "Z", [
            "spec.x: Invalid value: \"Z\": spec.x in body should match '^[a-z]+$'"]),
        ({"type": "string", "maxLength": 2, "pattern": "^b"}, "aaa", ["spec.x: Too long: may not be more than 2 bytes"]),
        ({"type": "string", "minLength": 2}, "a", ['spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long']),
        ({"type": "string", "format": "ipv6"}, "1.2.3.4", [
            'spec.x: Invalid value: "1.2.3.4": spec.x in body must be of type ipv6: "1.2.3.4"']),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, 1, [
            "spec.x: Invalid value: 1: spec.x in body should be greater than 1"]),
        ({"type": "number", "maximum": 10}, 10.5, [
            "spec.x: Invalid value: 10.5: spec.x in body should be less than or equal to 10"]),
        ({"type": "number", "multipleOf": 0.5}, 2.3, ["spec.x: Invalid value: 2.3: spec.x in body should be a multiple of 0.5"]),
        ({"type": "number", "multipleOf": 0.5}, 1, [
            "spec.x: Invalid value: 0: factor MultipleOf declared for spec.x must be positive: 0"]),
        ({"type": "array", "minItems": 1}, [], ["spec.x: Invalid value: 0: spec.x in body should have at least 1 items"]),
        ({"type": "array", "maxItems": 1}, [1, 2], ["spec.x: Too many: 2: must have at most 1 item"]),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, ["spec.x: Too many: 2: must have at most 1 item"]),
        ({"type": "object", "required": ["a", "b"]}, {"b": 1}, ["spec.x.a: Required value"]),
        ({"type": "string", "not": {"enum": ["bad"]}}, "bad", [
            '<nil>: Invalid value: "": "spec.x" must not validate the schema (not)']),
    ],
)
def test_a_violation_reads_as_upstreams(schema: Tree, value: Json, texts: list[str]) -> None:
    """Given a value that its schema refuses, then it is told in upstream's words."""
    assert told(schema, value) == texts


@pytest.mark.spec("API-157")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 1.0), ({"type": "number"}, 2), ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+%$"}, 5), ({"type": "string", "maxLength": 3}, "ééé"),
        ({"type": "string", "format": "made-up"}, "anything"), ({"type": "number", "enum": [1, 2]}, 2.0),
        ({"type": "string", "format": "date"}, ["a list passes for a formatted text"]),
    ],
)
def test_what_upstream_takes_is_taken(schema: Tree, value: Json) -> None:
    """Given a value on the edge of its schema, then nothing is told."""
    assert told(schema, value) == []


def test_ranges_of_formats_were_not_checked_before_1_36() -> None:
    """Given an integer beyond int32, when the release is 1.35, then it is fine."""
    assert told({"type": "integer", "format": "int32"}, 3_000_000_000, minor=35) == []
    assert told({"type": "string", "format": "k8s-short-name"}, "A_b", minor=33) == []
    assert told({"type": "string", "format": "k8s-short-name"}, "A_b", minor=34) != []


def test_of_alternatives_the_nearest_is_told() -> None:
    """Given a value that fits no alternative, then the one is told that passes most checks."""
    found = told({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]}, {"a": "b"})
    assert found == [
        '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
        'spec.x.a: Invalid value: "string": spec.x.a in body must be of type integer: "string"']
    both = told({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 1})
    assert both == [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives']
    some = told({"type": "string", "allOf": [{"minLength": 1}, {"pattern": "^b"}]}, "a")
    assert some[-1] == '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)'


def test_the_quick_test_knows_what_fits() -> None:
    """Given an object of all that a schema may ask, then the quick test takes it by itself."""
    node = Constraints({"type": "object", "required": ["s"], "properties": {
        "s": {"type": "string", "pattern": "^a", "maxLength": 3}, "i": {"type": "integer", "minimum": 1, "multipleOf": 2},
        "n": {"type": "number", "maximum": 2.5}, "b": {"type": "boolean"}, "e": {"type": "string", "enum": ["x"]},
        "u": {"type": "string", "nullable": True}, "d": {"type": "string", "format": "date"},
        "l": {"type": "array", "maxItems": 2, "items": {"type": "string"}}, "p": {"x-kubernetes-int-or-string": True},
        "m": {"type": "object", "additionalProperties": {
            "type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}}}, 37)
    assert fits(node, {"s": "ab", "i": 4, "n": 2.5, "b": True, "e": "x", "u": None, "d": "2026-01-02", "l": ["a", "b"], "p": "5%",
                       "m": {"k": {"a": 1}}, "unknown": {"any": [1]}})
    for wrong in ({"i": 3}, {"n": 2.6}, {"e": "y"}, {"d": "2026-02-30"}, {"l": [1]}, {"m": {"k": {"a": 1, "b": 2}}}, {"b": 1}):
        assert not fits(node, {"s": "ab"} | wrong)


def test_what_did_not_change_is_not_told() -> None:
    """Given bad fields and items of a keyed list, when an update leaves them, then only what it
    changed is told.
    """
    item = {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 2}}}
    schema = {"type": "object", "properties": {
        "a": {"type": "string", "pattern": "^[a-z]+$"}, "b": {"type": "integer", "maximum": 5},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item},
        "atomic": {"type": "array", "items": {"type": "string", "enum": ["x"]}}}}
    old = {"a": "UPPER", "b": 9, "keyed": [{"k": "x", "v": "long"}], "atomic": ["y"]}
    new = {"a": "UPPER", "b": 8, "keyed": [{"k": "y", "v": "ok"}, {"k": "x", "v": "long"}], "atomic": ["y", "x"]}
    node = Constraints(schema, 37)
    assert [error.field for error in violations(node, new, Correlation(new, old, node))] == ["b", "atomic[0]"]
    assert not violations(node, old, Correlation(old, old, node))


# the quick answer, the worded one, and a third opinion

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-6, 6), st.sampled_from([0.5, 1.0, 1.5, 2.5, -3.0]),
    st.sampled_from(["", "a", "ab", "b1"]))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8)


def optional(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    return st.fixed_dictionaries({}, optional=keywords)


SMALL = st.integers(0, 3)
PARTS = st.one_of(
    st.builds(lambda a, b: a | b, st.just({"type": "string"}), optional(
        minLength=SMALL, maxLength=SMALL, pattern=st.sampled_from(["^a", "b", "^$"]), enum=st.just(["a", "b1"]),
        nullable=st.booleans())),
    st.builds(lambda kind, b: {"type": kind} | b, st.sampled_from(["integer", "number"]), optional(
        minimum=st.integers(-3, 3), maximum=st.integers(-3, 3), exclusiveMinimum=st.booleans(), exclusiveMaximum=st.booleans(),
        multipleOf=st.integers(1, 3), enum=st.just([1, 2]), nullable=st.booleans())),
    st.just({"type": "boolean"}), st.just({"x-kubernetes-int-or-string": True}), st.just({}))


def composed(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        st.builds(lambda a: {"type": "array"} | a, optional(items=inner, minItems=SMALL, maxItems=SMALL)),
        st.builds(lambda a: {"type": "object"} | a, optional(
            properties=fields, required=st.lists(st.sampled_from("abc"), max_size=2, unique=True), minProperties=SMALL,
            maxProperties=SMALL, nullable=st.booleans())),
        st.builds(lambda a: {"type": "object", "additionalProperties": a}, inner),
        optional(allOf=st.lists(inner, min_size=1, max_size=2), anyOf=st.lists(inner, min_size=1, max_size=2),
                 oneOf=st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda a: {"not": a}, inner))


SCHEMAS = st.recursive(PARTS, composed, max_leaves=6)


def naive(schema: Tree, value: Json) -> bool:
    """Whether a value is valid, by the words of JSON Schema and no more."""
    kinds = ("integer", "string") if schema.get("x-kubernetes-int-or-string") else (schema["type"],) if "type" in schema else ()
    if value is None:
        return (not kinds or schema.get("nullable", False)) and "enum" not in schema
    if kinds and not any(of_type(kind, value) for kind in kinds):
        return False
    return (
        ("enum" not in schema or any(is_one(value, one) for one in schema["enum"]))
        and scalar_fits(schema, value) and parts_fit(schema, value)
        and all(naive(one, value) for one in schema.get("allOf", ()))
        and ("anyOf" not in schema or any(naive(one, value) for one in schema["anyOf"]))
        and ("oneOf" not in schema or sum(naive(one, value) for one in schema["oneOf"]) == 1)
        and ("not" not in schema or not naive(schema["not"], value)))


def is_one(value: Json, allowed: Json) -> bool:
    if isinstance(value, float):
        return bool(int(value) == allowed)
    return bool(value == allowed) and isinstance(value, bool) == isinstance(allowed, bool)


def of_type(kind: str, value: Json) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, int | float) and not isinstance(value, bool) and (kind == "number" or float(value).is_integer())
    return isinstance(value, {"string": str, "boolean": bool, "array": list, "object": dict}[kind])


def scalar_fits(schema: Tree, value: Json) -> bool:
    if isinstance(value, str):
        low, high = schema.get("minLength", 0), schema.get("maxLength", 99)
        return low <= len(value) <= high and ("pattern" not in schema or re.search(schema["pattern"], value) is not None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    low, high, factor = schema.get("minimum", -99), schema.get("maximum", 99), schema.get("multipleOf", 0)
    above = value > low if schema.get("exclusiveMinimum") and "minimum" in schema else value >= low
    below = value < high if schema.get("exclusiveMaximum") and "maximum" in schema else value <= high
    return above and below and (not factor or value % factor == 0)


def parts_fit(schema: Tree, value: Json) -> bool:
    if isinstance(value, list):
        counted = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 99)
        return counted and all(naive(schema.get("items", {}), item) for item in value)
    if not isinstance(value, dict):
        return True
    counted = schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", 99)
    fields, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
    return counted and all(name in value for name in schema.get("required", ())) and all(
        naive(fields.get(name, rest), item) for name, item in value.items())


@given(SCHEMAS, VALUES)
def test_three_ways_to_validate_agree(schema: Tree, value: Json) -> None:
    """Given any schema and value, then something is told where the words of JSON Schema say so and
    nowhere else, and the quick test takes nothing of which something is told.
    """
    node = Constraints(schema, 37)
    valid = is_valid(node, value)
    assert valid == naive(schema, value)
    assert valid or not fits(node, value)


def test_of_many_wrong_items_a_thousand_are_told() -> None:
    """Given a long list of values that a long enum does not allow, when it is checked, then as many
    errors are told as somebody may read, each with what is allowed.
    """
    schema = {"type": "array", "items": {"type": "string", "enum": [f"v{number}" for number in range(1000)]}}
    found = told(schema, [f"w{number}" for number in range(20_000)])
    assert len(found) == 1000
    assert found[0].startswith('spec.x[0]: Unsupported value: "w0": supported values: "v0", "v1", ')

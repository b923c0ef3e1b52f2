"""Numbers at the edges of their formats, bounds that are none of the type, and what is told where
several schemas decide.
"""

import pytest

from fakekube.apiextensions.objects.acceptors import fits
from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apiextensions.objects.violations import violations
from fakekube.apimachinery.types import Json, Tree
from tests.apiextensions.objects.test_violations import told

FLOAT: Tree = {"type": "number", "format": "float"}
NUMBER: Tree = {"type": "number"}
INTEGER: Tree = {"type": "integer"}
INT32: Tree = {"type": "integer", "format": "int32"}
INT64: Tree = {"type": "integer", "format": "int64"}
OBJECT: Tree = {"type": "object"}
NONE = '<nil>: Invalid value: "": '


def out_of(what: str, kind: str, format_: str = "") -> str:
    suffix = f"with format {format_}" if format_ else "(default format)"
    return f"{NONE}{what} value must be of type {kind} {suffix} in spec.x"


def wrong(shown: str, text: str) -> str:
    return f"spec.x: Invalid value: {shown}: spec.x in body {text}"


@pytest.mark.parametrize(("schema", "value", "texts"), [
    (FLOAT, 3.4028234e38, []), (FLOAT, 3.4028236e38, [out_of("Checked", "number", "float")]), (FLOAT, -3.4028234e38, []),
    (FLOAT, -3.4028236e38, [out_of("Checked", "number", "float")]), (FLOAT, 10**39, [out_of("Checked", "number", "float")]),
    (FLOAT, 5, []), ({**NUMBER, "format": "double"}, 1e300, []), (NUMBER, 1e300, []),
    ({**FLOAT, "minimum": -1e39}, 1, [out_of("Minimum boundary", "number", "float")]),
    ({**FLOAT, "maximum": 1e39}, 1, [out_of("Maximum boundary", "number", "float")]),
    ({**FLOAT, "multipleOf": 1e39}, 0, [out_of("MultipleOf", "number", "float")]),
    ({**FLOAT, "multipleOf": 1e39}, 1, [out_of("MultipleOf", "number", "float"), wrong("1", "should be a multiple of 1e+39")]),
    (INT32, (1 << 31) - 1, []), (INT32, 1 << 31, [out_of("Checked", "integer", "int32")]), (INT32, -(1 << 31), []),
    (INT32, -(1 << 31) - 1, [out_of("Checked", "integer", "int32")]), (INT64, (1 << 63) - 1, []), (INT64, -(1 << 63), []),
    (INT64, 1 << 31, []), (INTEGER, 1 << 31, []), (INTEGER, 1 << 63, [out_of("Checked", "integer")]),
    (INTEGER, -(1 << 63) - 1, [out_of("Checked", "integer")]),
    ({**INTEGER, "maximum": 1.5}, 1, [out_of("Maximum boundary", "integer")]),
    ({**INTEGER, "maximum": 1.5}, 2, [out_of("Maximum boundary", "integer"), wrong("2", "should be less than or equal to 1.5")]),
    ({**INTEGER, "minimum": 1.5}, 2, [out_of("Minimum boundary", "integer")]),
    ({**INTEGER, "minimum": 1.5}, 1, [
        out_of("Minimum boundary", "integer"), wrong("1", "should be greater than or equal to 1.5")]),
    ({**INTEGER, "multipleOf": 1.5}, 3, [out_of("MultipleOf", "integer")]),
    ({**INTEGER, "multipleOf": 1.5}, 2, [out_of("MultipleOf", "integer"), wrong("2", "should be a multiple of 1.5")]),
    ({**INT32, "maximum": 1 << 31}, 5, [out_of("Maximum boundary", "integer", "int32")]),
    ({**INT32, "maximum": (1 << 31) - 1}, 5, []), ({**INT32, "minimum": -(1 << 31)}, 5, []),
    ({**INT32, "minimum": -(1 << 31) - 1}, 5, [out_of("Minimum boundary", "integer", "int32")]),
    ({**INT32, "multipleOf": 1 << 31}, 0, [out_of("MultipleOf", "integer", "int32")]),
    ({**INTEGER, "maximum": 1e19}, 5, [out_of("Maximum boundary", "integer")]),
])
def test_numbers_and_bounds_are_of_the_type(schema: Tree, value: Json, texts: list[str]) -> None:
    """Given numbers and bounds at the edges of float, double, int32 and int64 / when a value is
    checked / then those beyond are told, and with such a bound the value is compared as a float.
    """
    assert told(schema, value) == texts
    assert fits(Constraints(schema, 37), value) is (not texts)


@pytest.mark.parametrize(("schema", "value"), [
    (FLOAT, 1e39), ({**INTEGER, "minimum": 1.5}, 1), ({**INTEGER, "maximum": 1.5}, 1), ({**INT32, "minimum": 0}, 1 << 40),
])
def test_ranges_are_of_a_later_release(schema: Tree, value: Json) -> None:
    """Given numbers beyond their format / when the release is 1.35 / then nothing is told of
    that.
    """
    assert told(schema, value, minor=35) == []
    assert told(schema, value, minor=36) != []


@pytest.mark.parametrize(("schema", "value", "texts"), [
    ({**NUMBER, "multipleOf": 3}, 9, []), ({**NUMBER, "multipleOf": 3}, 9.0, []),
    ({**NUMBER, "multipleOf": 3}, 9.5, [wrong("9.5", "should be a multiple of 3")]),
    ({**NUMBER, "multipleOf": 3}, 10, [wrong("10", "should be a multiple of 3")]),
    ({**INTEGER, "multipleOf": 3}, 10, [wrong("10", "should be a multiple of 3")]),
    ({**INTEGER, "multipleOf": 0}, 10, ["spec.x: Invalid value: 0: factor MultipleOf declared for spec.x must be positive: 0"]),
    ({**NUMBER, "multipleOf": -2.5}, 5.0, [
        "spec.x: Invalid value: -2.5: factor MultipleOf declared for spec.x must be positive: -2.5"]),
    ({**NUMBER, "multipleOf": 0.1}, 0.3, []), ({**NUMBER, "multipleOf": 1}, 2.5, [wrong("2.5", "should be a multiple of 1")]),
    ({**NUMBER, "multipleOf": 1}, 2.0, []),
    ({**NUMBER, "minimum": 2, "exclusiveMinimum": True}, 2, [wrong("2", "should be greater than 2")]),
    ({**NUMBER, "minimum": 2, "exclusiveMinimum": True}, 2.5, []), ({**NUMBER, "minimum": 2.5}, 3, []),
    ({**NUMBER, "minimum": 2.5}, 2.4, [wrong("2.4", "should be greater than or equal to 2.5")]),
    ({**NUMBER, "maximum": 2.5}, 2, []), ({**NUMBER, "maximum": 2.5}, 3, [wrong("3", "should be less than or equal to 2")]),
    ({**NUMBER, "maximum": 2.5}, 2.5, []),
    ({**NUMBER, "maximum": 2.5, "exclusiveMaximum": True}, 2.5, [wrong("2.5", "should be less than 2.5")]),
    ({**NUMBER, "minimum": 3, "maximum": 1}, 2, [
        wrong("2", "should be greater than or equal to 3"), wrong("2", "should be less than or equal to 1")]),
    ({**OBJECT, "maxProperties": 2}, {"a": 1, "b": 2}, []), ({**OBJECT, "minProperties": 2}, {"a": 1, "b": 2}, []),
    ({**OBJECT, "maxProperties": 2}, {"a": 1, "b": 2, "c": 3}, ["spec.x: Too many: 3: must have at most 2 items"]),
    ({**OBJECT, "minProperties": 2}, {"a": 1}, [wrong("1", "should have at least 2 properties")]),
    ({"type": "array", "minItems": 2}, ["a"], [wrong("1", "should have at least 2 items")]),
    ({"type": "array", "minItems": 2, "maxItems": 2}, ["a", "b"], []),
    ({"type": "array", "maxItems": 2}, ["a", "b", "c"], ["spec.x: Too many: 3: must have at most 2 items"]),
    ({"type": "string", "minLength": 3, "pattern": "^b"}, "ab", [wrong('"ab"', "should be at least 3 chars long")]),
    ({"type": "string", "maxLength": 1, "format": "date"}, "ab", [
        "spec.x: Too long: may not be more than 1 byte", wrong('"ab"', 'must be of type date: "ab"')]),
    ({"type": "string", "pattern": "("}, "a", [
        wrong('"a"', "should match '(, but pattern is invalid: error parsing regexp: missing closing ): `(`'")]),
    ({"type": "string", "enum": ["a"]}, None, [
        wrong('"null"', 'must be of type string: "null"'), 'spec.x: Unsupported value: null: supported values: "a"']),
    ({"type": "string", "enum": ["a"], "nullable": True}, None, ['spec.x: Unsupported value: null: supported values: "a"']),
    ({"enum": [1, True, {"a": 1}, [1], "s"]}, 2, [
        'spec.x: Unsupported value: 2: supported values: "1", "true", "{\\"a\\":1}", "[1]", "s"']),
    ({"enum": [{"a": 1}]}, {"a": 1}, []), ({"enum": [[1]]}, [1], []), ({"enum": [1]}, 1, []), ({"enum": ["1"]}, "1", []),
])
def test_bounds_are_compared_as_numbers_of_their_kind(schema: Tree, value: Json, texts: list[str]) -> None:
    """Given values at, below and above what bounds, counts and enums allow / when they are checked
    / then what is beyond is told, and the quick test agrees.
    """
    assert told(schema, value) == texts
    assert fits(Constraints(schema, 37), value) <= (not texts)


@pytest.mark.parametrize(("schema", "value", "texts"), [
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, [
        f'{NONE}"spec.x" must validate one and only one schema (oneOf). Found none valid', "spec.x.a: Required value"]),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"b": 1}, []),
    ({"oneOf": [{"required": [name]} for name in "abc"]}, {"a": 1, "b": 1, "c": 1}, [
        f'{NONE}"spec.x" must validate one and only one schema (oneOf). Found 3 valid alternatives']),
    ({"anyOf": [{"required": ["a", "d"]}, {"required": ["b"]}]}, {}, [
        f'{NONE}"spec.x" must validate at least one schema (anyOf)', "spec.x.a: Required value", "spec.x.d: Required value"]),
    ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"b": 1}, []),
    ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, [
        "spec.x.a: Required value", "spec.x.b: Required value",
        f'{NONE}"spec.x" must validate all the schemas (allOf). None validated']),
    ({"allOf": [{"required": ["a"]}, {"minProperties": 1}]}, {"b": 1}, [
        "spec.x.a: Required value", f'{NONE}"spec.x" must validate all the schemas (allOf)']),
    ({"allOf": [{"required": ["b"]}, {"minProperties": 1}]}, {"b": 1}, []),
    ({"not": {"required": ["a"]}}, {"b": 1}, []),
    ({"not": {"required": ["a"]}}, {"a": 1}, [f'{NONE}"spec.x" must not validate the schema (not)']),
    ({"properties": {"k": INTEGER}, "additionalProperties": {"type": "string"}}, {"k": "a", "l": 1}, [
        'spec.x.l: Invalid value: "integer": spec.x.l in body must be of type string: "integer"',
        'spec.x.k: Invalid value: "string": spec.x.k in body must be of type integer: "string"']),
])
def test_what_several_schemas_say(schema: Tree, value: Json, texts: list[str]) -> None:
    """Given an object that none, one or all of several schemas take / when it is checked / then
    their sum is told, and of the nearest what it lacks.
    """
    assert told({**OBJECT, **schema}, value) == texts
    assert fits(Constraints({**OBJECT, **schema}, 37), value) is (not texts)


def test_all_types_and_what_they_are_called() -> None:
    """Given a value of every type / when a schema wants each of the others / then both are
    named.
    """
    values: dict[str, Json] = {
        "string": "a", "boolean": True, "integer": 1, "number": 1.5, "array": [], "object": {}, "null": None}
    for kind, value in values.items():
        for wanted in ("string", "boolean", "integer", "number", "array", "object"):
            if wanted == kind or (wanted, kind) == ("number", "integer"):
                assert told({"type": wanted}, value) == []
                continue
            expected = [wrong(f'"{kind}"', f'must be of type {wanted}: "{kind}"')]
            if (wanted, kind) == ("integer", "number"):
                expected.append(out_of("Checked", "integer"))
            assert told({"type": wanted}, value) == expected, (wanted, kind)
            assert not fits(Constraints({"type": wanted}, 37), value)


def test_what_is_wrong_at_the_root() -> None:
    """Given an object whose root is wrong / when it is checked / then fields stand without a dot
    ahead of them, and the root itself is named by nothing.
    """
    node = Constraints({**OBJECT, "required": ["a", "b"], "maxProperties": 1, "not": {"required": ["c"]}}, 37)
    assert [str(error) for error in violations(node, {"c": 1, "d": 2})] == [
        f'{NONE}"" must not validate the schema (not)', "<nil>: Too many: 2: must have at most 1 item", "a: Required value",
        "b: Required value"]

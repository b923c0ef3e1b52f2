"""Rules of a schema: what they may cost, what they say of objects, and of parts that stay."""

from typing import Any

import pytest

from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apiextensions.objects.correlation import Correlation
from fakekube.apiextensions.rules.checking import checker
from fakekube.apiextensions.validation.schemas import Rules, schema_errors
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.structural import from_openapi

RULES = "x-kubernetes-validations"
TEXT: Tree = {"type": "string"}
TRY = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
CONTRIBUTED = "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
ALL = "S: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of"


def told(schema: Tree, *, unchanged: bool = False) -> list[str]:
    root = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    found = schema_errors(root, "s", Rules(release="1.37"), status=False, unchanged=unchanged)
    return [
        str(error).replace("s.openAPIV3Schema", "S").replace("S.properties[spec]", "X").replace(f".{RULES}[0].rule", "!")
        for error in found]


def squared(most: int) -> Tree:
    """A list of numbers whose rule costs about five times the square of its length."""
    rules = [{"rule": "self.all(x, self.all(y, x != y))"}]
    return {"type": "array", "items": {"type": "integer"}, "maxItems": most, RULES: rules}


@pytest.mark.parametrize(("most", "factor", "whole"), [
    (1400, "", ""), (1500, "1.125750x", ""), (1800, "1.6x", ""), (2000, "2.0x", ""), (3000, "4.5x", ""), (4450, "9.9x", ""),
    (5000, "12.5x", "1.250250x"), (30_000, "more than 100x", "45.0x"),
])
def test_what_a_rule_may_cost(most: int, factor: str, whole: str) -> None:
    """Given a rule that costs the more the longer a list may be / when it is estimated / then what
    is too much is told with a factor, and not in a schema that was there; all together is.
    """
    of_rule = [f"X!: Forbidden: estimated rule cost exceeds budget by factor of {factor} {TRY}"] if factor else []
    of_all = [f"X!: {CONTRIBUTED}", f"{ALL} {whole} {TRY}"] if whole else []
    assert told(squared(most)) == of_rule + of_all
    assert told(squared(most), unchanged=True) == of_all


def test_which_rules_contributed() -> None:
    """Given many rules that cost too much together / when they are estimated / then the four
    dearest are named, the first of those that cost the same.
    """
    lengths = [1200, 1300, 1390, 1350, *[1400] * 9, 300]
    fields = {f"p{number}": squared(length) for number, length in enumerate(lengths)}
    assert told({"type": "object", "properties": fields}) == [
        *(f"X.properties[p{number}]!: {CONTRIBUTED}" for number in (4, 5, 6, 7)), f"{ALL} 1.231637x {TRY}"]


def test_only_dear_rules_are_named() -> None:
    """Given many rules of which some cost less than a hundredth of what all may / when all cost too
    much / then only the dear ones are named.
    """
    fields = {f"p{number}": squared(4400) for number in range(2)} | {"small": squared(400)}
    assert [text for text in told({"type": "object", "properties": fields}) if "contributed" in text] == [
        f"X.properties[p{number}]!: {CONTRIBUTED}" for number in range(2)]


def test_what_a_message_may_cost() -> None:
    """Given an expression for a message that costs too much / when it is estimated / then it is
    told at its place, once for the node.
    """
    rule = {"rule": "true", "messageExpression": "self.all(x, self.all(y, x != y)) ? 'a' : 'b'"}
    assert told({**squared(2000), RULES: [rule]}) == [
        f"X.{RULES}[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of 2.0x {TRY}"]
    assert told({**squared(2000), RULES: [rule]}, unchanged=True) == []


def test_rules_below_lists_and_maps_count_for_each_part() -> None:
    """Given a rule on items, values of maps and fields / when it is estimated / then it counts as
    often as there may be parts.
    """
    inner = squared(140)  # costs 98 000
    for holder, name, size in (("array", "items", "maxItems"), ("object", "additionalProperties", "maxProperties")):
        where = f"X.{name}!"
        assert told({"type": holder, size: 90, name: inner}) == []
        found = told({"type": holder, size: 110, name: inner})
        assert [text.split(": ")[0] for text in found] == [where], found
        deep = told({"type": holder, size: 11, name: {"type": holder, size: 10, name: inner}})
        assert [text.split(": ")[0] for text in deep] == [f"X.{name}.{name}!"]
        assert told({"type": holder, size: 0, name: {"type": holder, size: 9000, name: inner}}) == []
        assert "more than 100x" in told({"type": holder, size: 1, name: {"type": holder, name: inner}})[0]
    assert told({"type": "object", "properties": {"a": inner, "b": inner}, "maxProperties": 110}) == []


def run(schema: Tree, value: Json, old: Json = None, *, correlated: bool = False) -> tuple[list[str], list[str]]:
    whole = {"type": "object", "properties": {"spec": schema}}
    rules = checker(from_openapi(whole), whole, 37)
    assert rules is not None
    new: Tree = {"spec": value}
    before: Tree | None = None if old is None else {"spec": old}
    correlation = Correlation(new, before, Constraints(whole, 37)) if correlated else None
    found, warnings = rules.check(new, before, correlation)
    return [str(error) for error in found], warnings


def ruled(schema: Tree, *rules: str, **more: Any) -> Tree:
    return {**schema, RULES: [{"rule": rule, **more} for rule in rules]}


BAD = 'spec: Invalid value: "b"'
FAILED = f"{BAD}: failed rule: self == 'a'"


@pytest.mark.parametrize(("more", "expected"), [
    ({}, FAILED), ({"message": " m\n "}, f"{BAD}: m"),
    ({"messageExpression": "'it is ' + self"}, f"{BAD}: it is b"), ({"messageExpression": "' padded '"}, f"{BAD}: padded"),
    ({"messageExpression": "'x\\ny'"}, FAILED), ({"messageExpression": "' '", "message": "f"}, f"{BAD}: f"),
    ({"messageExpression": "self.substring(5)", "message": "f"}, f"{BAD}: f"),
    ({"messageExpression": "'c'", "message": "f"}, f"{BAD}: c"), ({"reason": "FieldValueInvalid", "message": "m"}, f"{BAD}: m"),
    ({"reason": "FieldValueDuplicate", "message": "m"}, 'spec: Duplicate value: "b"'),
    ({"reason": "FieldValueForbidden", "message": "m"}, "spec: Forbidden: m"),
    ({"reason": "FieldValueRequired", "message": "m"}, "spec: Required value: m"),
    ({"messageExpression": "1"}, None),
])
def test_what_a_broken_rule_says(more: Tree, expected: str | None) -> None:
    """Given a rule with a message, an expression for one, or a reason / when it is broken / then
    that is told; an expression that fails or says nothing of use leaves it to the message.
    """
    schema = ruled(TEXT, "self == 'a'", **more)
    assert run(schema, "a") == ([], [])
    assert run(schema, "b") == ([expected or FAILED], [])
    assert run(schema, None) == ([], [])


def test_a_message_is_told_up_to_5_kib() -> None:
    """Given an expression that makes a long message / when it has 5120 bytes / then it is told;
    with one more it is not.
    """
    schema = ruled(TEXT, "self == 'a'", messageExpression="self", message="long")
    assert run(schema, "b" * 5120)[0][0].endswith(f": {'b' * 5120}")
    assert run(schema, "b" * 5121)[0][0].endswith(": long")
    assert run(schema, "é" * 2561)[0][0].endswith(": long")


def test_what_fails_while_it_runs() -> None:
    """Given rules that fail, do not compile, or have no type / when they run / then that is told of
    the type of the node, and the other rules run.
    """
    both = ruled(TEXT, "int(self) == 1", "self == 'a'")
    failure = "type conversion error from 'string' to 'int' evaluating rule:"
    assert run(both, "b")[0] == [f'spec: Invalid value: "string": {failure} int(self) == 1', FAILED]
    assert run(ruled(TEXT, "int(self) == 1", message=" no "), "b")[0] == [f'spec: Invalid value: "string": {failure} no']
    assert run(ruled(TEXT, "self + 1 == 2", "self == 'a'"), "b")[0] == [
        ('spec: Invalid value: "string": rule compile error: compilation failed: ERROR: <input>:1:6: found no matching overload '
         "for '_+_' applied to '(string, int)'\n | self + 1 == 2\n | .....^"), FAILED]
    items = {"type": "object", "properties": {"a": {"type": "array", "items": TEXT}}}
    assert run(ruled(items, "self.a[0] == 'x'"), {"a": []})[0] == [
        "spec: Invalid value: \"object\": index out of bounds: 0 evaluating rule: self.a[0] == 'x'"]


TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all({}, {})"


def powers(count: int, inner: str) -> str:
    for number in range(count):
        inner = TEN.format(f"v{number}", inner)
    return inner


def test_what_costs_too_much_while_it_runs() -> None:
    """Given a rule, many rules and a message that cost too much / when they run / then that is
    told, and no further rule runs.
    """
    dear = powers(6, "v0 > 0")
    more = "no further validation rules will be run"
    found = run(ruled(TEXT, dear, "self == 'a'"), "b")[0]
    assert found == [
        ("spec: Invalid value: \"string\": 'operation cancelled: actual cost limit exceeded': "
         f"{more} due to call cost exceeds limit for rule: {dear}")]
    found = run(ruled(TEXT, "self == 'a'", messageExpression=f"string({dear})"), "b")[0]
    assert found == [
        f'spec: Invalid value: "string": {more} due to call cost exceeds limit for messageExpression: "string({dear})"']
    spent = f"validation failed due to running out of cost budget, {more}"
    items = {"type": "array", "items": ruled({"type": "integer"}, powers(5, "v0 > 0"), "self > 5")}
    found = run(items, [9] * 100)[0]
    assert len(found) == 1
    assert found[0].endswith(f'Invalid value: "integer": {spent}')
    assert run(items, [1, 9])[0] == ["spec[0]: Invalid value: 1: failed rule: self > 5"]


NUMBER = {"type": "integer", RULES: [{"rule": "self >= oldSelf", "message": "less"}, {"rule": "self < 5", "message": "big"}]}
KEYED: Tree = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
    "type": "object", "properties": {"k": TEXT, "v": NUMBER}}}


@pytest.mark.parametrize(("schema", "new", "old", "found", "warnings"), [
    (KEYED, [{"k": "b", "v": 7}, {"k": "a", "v": 1}, {"k": "c", "v": 9}], [{"k": "a", "v": 3}, {"k": "b", "v": 7}],
     ["spec[1].v: Invalid value: 1: less", "spec[2].v: Invalid value: 9: big"], ["spec[0].v: Invalid value: 7: big"]),
    ({"type": "object", "additionalProperties": NUMBER}, {"a": 1, "b": 7, "c": 9}, {"a": 2, "b": 7},
     ["spec[a]: Invalid value: 1: less", "spec[c]: Invalid value: 9: big"], ["spec[b]: Invalid value: 7: big"]),
    ({"type": "object", "properties": {"v": NUMBER}}, {"v": 7}, {"v": 7}, [], ["spec.v: Invalid value: 7: big"]),
    ({"type": "object", "properties": {"v": NUMBER}}, {"v": 6}, {"v": 7},
     ["spec.v: Invalid value: 6: less", "spec.v: Invalid value: 6: big"], []),
    ({"type": "object", "properties": {"v": NUMBER}}, {"v": 6}, {}, ["spec.v: Invalid value: 6: big"], []),
    ({"type": "object", "properties": {"v": NUMBER}}, {"v": 6}, "x", ["spec.v: Invalid value: 6: big"], []),
    ({"type": "array", "items": NUMBER}, [7], [7], [], ["spec[0]: Invalid value: 7: big"]),
    ({"type": "array", "items": NUMBER}, [7, 1], [7], ["spec[0]: Invalid value: 7: big"], []),
    (ruled(TEXT, "self == oldSelf", "self == 'a'"), "b", "b", [], [FAILED]),
    (ruled(TEXT, "self == oldSelf", "self == 'a'"), "b", "c", [f"{BAD}: failed rule: self == oldSelf", FAILED], []),
    (ruled(TEXT, "self == oldSelf", "self == 'a'"), "b", None, [FAILED], []),
    (ruled(TEXT, "self == oldSelf.orValue('a')", optionalOldSelf=True), "b", None, [
        f"{BAD}: failed rule: self == oldSelf.orValue('a')"], []),
    (ruled(TEXT, "oldSelf.hasValue() ? self == 'z' : true", optionalOldSelf=True), "b", "b", [
        f"{BAD}: failed rule: oldSelf.hasValue() ? self == 'z' : true"], []),
])
def test_what_is_told_of_a_change(schema: Tree, new: Json, old: Json, found: list[str], warnings: list[str]) -> None:
    """Given rules of parts of an object / when it changes / then those that read the old value run
    where there is one, and what is wrong in a part that stays is a warning.
    """
    assert run(schema, new, old, correlated=old is not None) == (found, warnings)


def test_where_errors_of_rules_stand() -> None:
    """Given rules with paths, at the root and below / when they are broken / then they are told
    where the path leads; without a path that leads anywhere, at their node.
    """
    inner: Tree = {"type": "object", "properties": {"a-b": {"type": "integer"}, "m": {"type": "object", "additionalProperties": {
        "type": "object", "properties": {"t": TEXT}}}}}
    rules = [{"rule": "self.a__dash__b > 1", "fieldPath": "['a-b']"}, *(
        {"rule": "false", "fieldPath": path} for path in (".m['k.z']", ".m.k.t", ".nope", "", ".m"))]
    schema: Tree = {"type": "object", "properties": {"x": {**inner, RULES: rules}}}
    found = run(schema, {"x": {"a-b": 1, "m": {}}})[0]
    assert [error.split(": ")[0] for error in found] == [
        "spec.x.a-b", "spec.x.m[k.z]", "spec.x.m[k].t", "spec.x", "spec.x", "spec.x.m"]
    root = {**inner, RULES: rules}
    at_root = checker(from_openapi(root), root, 37)
    assert at_root is not None
    assert [error.field for error in at_root.check({"a-b": 1, "m": {}})[0]] == ["a-b", "m[k.z]", "m[k].t", "", "", "m"]
    maps = {"type": "object", "additionalProperties": TEXT, RULES: [{"rule": "false", "fieldPath": "['k']"}]}
    assert [error.split(": ")[0] for error in run(maps, {})[0]] == ["spec[k]"]


def test_a_schema_without_rules_has_no_checker() -> None:
    """Given no rules anywhere, or an empty list of them / when the checker is asked for / then
    there is none.
    """
    for schema in (TEXT, {**TEXT, RULES: []}, {"type": "object", "properties": {"a": TEXT}}, {"type": "array", "items": TEXT},
                   {"type": "object", "additionalProperties": TEXT}, {"type": "object", "additionalProperties": True}):
        assert checker(from_openapi(schema), schema, 37) is None


def test_kind_at_the_root_is_never_taken_for_what_it_was() -> None:
    """Given rules of fields called kind that are broken / when an update leaves them / then the one
    at the root is told, and one below warns.
    """
    kind = ruled(TEXT, "self == 'a'")
    schema: Tree = {"type": "object", "properties": {"kind": kind, "spec": {"type": "object", "properties": {"kind": kind}}}}
    rules = checker(from_openapi(schema), schema, 37)
    assert rules is not None
    tree: Tree = {"kind": "b", "spec": {"kind": "b"}}
    found, warnings = rules.check(tree, tree, Correlation(tree, tree, Constraints(schema, 37)))
    assert [error.field for error in found] == ["kind"]
    assert warnings == ["spec.kind: Invalid value: \"b\": failed rule: self == 'a'"]

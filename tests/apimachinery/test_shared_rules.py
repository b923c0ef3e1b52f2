"""The checks that many kinds share, each with its whole answer, in upstream's words."""

from typing import Any

import pytest

from fakekube.apimachinery import field_errors, validation
from fakekube.apimachinery import scheduling_blocks as blocks
from fakekube.apimachinery.field_errors import OMITTED, FieldError, Verbatim

NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')")
REASON = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or "
    "'_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
    "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')")


def told(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def test_errors_are_worded_by_their_types() -> None:
    """Given errors of every type / then text, cause and reason are upstream's."""
    errors = [
        field_errors.invalid("a", 5, "d"), field_errors.required("a"), field_errors.required("a", "d"),
        field_errors.forbidden("", "d"), field_errors.duplicate("a[1]", "x"), field_errors.not_found("a", [1]),
        field_errors.not_supported("a", "x", ("b", "c")), field_errors.too_long("a", 3),
        field_errors.too_long("a", 3, "characters"),
        field_errors.too_many("a", 5, 3), field_errors.too_many("a", 5, 1), FieldError("Too many", "a", OMITTED, "d"),
        FieldError("Invalid value", "a", OMITTED, "d"), FieldError("Too few", "a", 0, ""), FieldError("Too short", "a", 0, "d"),
        FieldError("Internal error", "a", "x", "d"), field_errors.invalid("a", Verbatim("v1.X{}"), ""),
        field_errors.invalid("a", {"b": "<"}, "d"), field_errors.invalid("a", "é\n", "d"), field_errors.invalid("a", None, ""),
        field_errors.invalid("a", True, "d"), field_errors.invalid("a", 1.5, "d")]
    assert [(str(error), error.cause()["reason"]) for error in errors] == [
        ("a: Invalid value: 5: d", "FieldValueInvalid"), ("a: Required value", "FieldValueRequired"),
        ("a: Required value: d", "FieldValueRequired"), ("<nil>: Forbidden: d", "FieldValueForbidden"),
        ('a[1]: Duplicate value: "x"', "FieldValueDuplicate"), ("a: Not found: [1]", "FieldValueNotFound"),
        ('a: Unsupported value: "x": supported values: "b", "c"', "FieldValueNotSupported"),
        ("a: Too long: may not be more than 3 bytes", "FieldValueTooLong"),
        ("a: Too long: may not be more than 3 characters", "FieldValueTooLong"),
        ("a: Too many: 5: must have at most 3 items", "FieldValueTooMany"),
        ("a: Too many: 5: must have at most 1 item", "FieldValueTooMany"), ("a: Too many: d", "FieldValueTooMany"),
        ("a: Invalid value: d", "FieldValueInvalid"), ("a: Too few: 0", "FieldValueTooFew"),
        ("a: Too short: d", "FieldValueTooShort"), ("a: Internal error: d", "InternalError"),
        ("a: Invalid value: v1.X{}", "FieldValueInvalid"), ('a: Invalid value: {"b":"\\u003c"}: d', "FieldValueInvalid"),
        ('a: Invalid value: "é\\n": d', "FieldValueInvalid"), ("a: Invalid value: null", "FieldValueInvalid"),
        ("a: Invalid value: true: d", "FieldValueInvalid"), ("a: Invalid value: 1.5: d", "FieldValueInvalid")]
    assert errors[3].cause() == {"reason": "FieldValueForbidden", "message": "Forbidden: d", "field": "<nil>"}
    assert field_errors.invalid("a", 1, "d")._replace(reason="Other").cause()["reason"] == "Other"
    assert [field_errors.child("", "a", "b"), field_errors.child("a", "b")] == ["a.b", "a.b"]
    assert [field_errors.index("a", 2), field_errors.key("a", "k")] == ["a[2]", "a[k]"]
    assert [field_errors.aggregate(["a"]), field_errors.aggregate(["a", "b", "a"])] == ["a", "[a, b]"]
    assert field_errors.repetitions(["a", "b", "a", "c", "b", "a"]) == {2, 4, 5}
    assert field_errors.go_json({"b": 1, "a": "&>"}, sort_keys=True) == '{"a":"\\u0026\\u003e","b":1}'


def test_no_more_is_told_than_fits() -> None:
    """Given errors of half a mebibyte each / then those are told that begin within a mebibyte, the
    one that goes beyond being the last.
    """
    errors = [field_errors.invalid("a", "x" * (1 << 19), "d") for _ in range(5)]
    assert len(field_errors.tellable(errors)) == 2
    exact = FieldError("Forbidden", "a", "", "d" * ((1 << 20) - len("a: Forbidden: ")))
    assert len(field_errors.tellable([exact, exact, exact])) == 2
    assert field_errors.tellable(errors[:1]) == errors[:1]


def test_errors_are_told_in_the_words_and_the_order_of_a_release() -> None:
    """Given errors of both sorts of rules, one twice / when they are told by releases / then
    declared ones come last since 1.37, once those of built-in kinds; before, they are worded as
    they were, where they were.
    """
    old, plain = field_errors.invalid("a", 1, "old"), field_errors.invalid("b", 2, "x")
    new = field_errors.declared(field_errors.invalid("a", 1, "new"), old)
    assert validation.as_told([new, plain, plain], 36) == [old, plain, plain]
    assert validation.as_told([new, plain, plain, new], 37) == [plain, new, new]
    assert validation.as_told([new, plain, plain], 37, custom=True) == [plain, plain, new]
    assert told(validation.declared_immutable("a", 1, 2)) == ["a: Invalid value: null: field is immutable"]
    assert told(validation.as_told(validation.declared_immutable("a", 1, 2), 36)) == ["a: Invalid value: 1: field is immutable"]
    assert validation.declared_immutable("a", 1, 1.0) == validation.immutable("a", 1, 1) == []
    assert told(validation.immutable("a", True, 1)) == ["a: Invalid value: true: field is immutable"]


def test_numbers_and_words() -> None:
    """Given numbers at zero and words that are allowed or not / then what is wrong is told."""
    below = "Invalid value: -1: must be greater than or equal to 0"
    assert [told(validation.nonnegative("a", number)) for number in (None, 0, -1)] == [[], [], [f"a: {below}"]]
    assert told(validation.nonnegative_fields({"x": -1, "y": 0, "z": -1}, "p", "z", "x", "y", "w")) == [
        f"p.z: {below}", f"p.x: {below}"]
    assert told(validation.nonnegative_fields({"x": -1}, "", "x")) == [f"x: {below}"]
    assert told(validation.one_of("a", "x", ("b", "c"))) == ['a: Unsupported value: "x": supported values: "b", "c"']
    assert validation.one_of("a", "b", ("b",)) == validation.required_one_of("a", "b", ("b",)) == []
    assert told(validation.required_one_of("a", "", ("b",), "d")) == ["a: Required value: d"]
    assert told(validation.required_one_of("a", "c", ("b",))) == ['a: Unsupported value: "c": supported values: "b"']


def test_labels_and_annotations() -> None:
    """Given labels and annotations with every fault, and annotations at the edge of their size /
    then the errors name the map.
    """
    assert told(validation.labels({"a": "b", "-": "c", "d": "e "}, "l")) == [
        f'l: Invalid value: "-": {NAME_PART}', f'l: Invalid value: "e ": {LABEL_VALUE}']
    assert told(validation.annotations({"A.B/C": "x y", "-": ""}, "n")) == [f'n: Invalid value: "-": {NAME_PART}']
    full = {"key": "x" * (262_144 - 3)}
    assert validation.annotations(full, "n") == []
    assert told(validation.annotations({"key": full["key"] + "x"}, "n")) == ["n: Too long: may not be more than 262144 bytes"]
    assert validation.annotations({"key": "é" * 131_070}, "n") == []
    assert told(validation.annotations({"key": "é" * 131_071}, "n")) == ["n: Too long: may not be more than 262144 bytes"]


@pytest.mark.parametrize(("requirement", "errors"), [
    ({"key": "a", "operator": "In", "values": ["b"]}, []), ({"key": "a", "operator": "Exists"}, []),
    ({"key": "a", "operator": "In"}, ["p.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]),
    ({"key": "a", "operator": "NotIn", "values": []},
     ["p.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]),
    ({"key": "a", "operator": "Exists", "values": ["b"]},
     ["p.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"]),
    ({"key": "a", "operator": "DoesNotExist", "values": ["b"]},
     ["p.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"]),
    ({"key": "a", "operator": "Near"}, ['p.operator: Invalid value: "Near": not a valid selector operator']),
    ({"key": "-", "operator": "In", "values": ["b", "c "]},
     [f'p.key: Invalid value: "-": {NAME_PART}', f'p.values[1]: Invalid value: "c ": {LABEL_VALUE}']),
    ({}, ['p.operator: Invalid value: "": not a valid selector operator', 'p.key: Invalid value: "": name part must be non-empty',
          f'p.key: Invalid value: "": {NAME_PART}']),
])
def test_what_a_selector_asks_for(requirement: dict[str, Any], errors: list[str]) -> None:
    """Given an entry of a selector / then what is wrong with it is told, its values only where they
    count.
    """
    assert told(validation.selector_requirement(requirement, "p")) == errors
    selector = {"matchLabels": {"-": ""}, "matchExpressions": [requirement]}
    path = "s.matchExpressions[0]"
    found = [f's.matchLabels: Invalid value: "-": {NAME_PART}', *(error.replace("p.", f"{path}.", 1) for error in errors)]
    assert told(validation.label_selector(selector, "s")) == found
    assert told(validation.label_selector(selector, "s", check_values=False)) == [
        error for error in found if "values[" not in error]
    assert validation.label_selector(None, "s") == validation.label_selector({}, "s") == []


def test_an_empty_selector_asks_for_nothing() -> None:
    """Given selectors / then one without labels and expressions is empty."""
    selectors: list[dict[str, Any]] = [
        {}, {"matchLabels": {}, "matchExpressions": []}, {"matchLabels": {"a": "b"}}, {"matchExpressions": [{}]}]
    assert [validation.is_empty_selector(one) for one in selectors] == [True, True, False, False]


def test_conditions_are_unique_and_complete() -> None:
    """Given conditions with every fault, some at the edge / then all of it is told, in order."""
    good = {"type": "Ready", "status": "True", "reason": "Fine", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    assert validation.conditions([good, {**good, "type": "x/Other", "status": "Unknown", "observedGeneration": 0}], "c") == []
    edge = {**good, "reason": "R" * 1024, "message": "é" * 16_384}
    assert validation.conditions([edge], "c") == []
    long = {**good, "reason": "R" * 1025, "message": "é" * 16_384 + "x"}
    assert told(validation.conditions([long], "c")) == [
        "c[0].reason: Too long: may not be more than 1024 bytes", "c[0].message: Too long: may not be more than 32768 bytes"]
    bad: list[dict[str, Any]] = [
        good, {**good, "status": "Maybe"}, {"observedGeneration": -1}, {**good, "type": "-", "reason": "1"}]
    found = validation.conditions(bad, "c")
    assert told(found) == [
        'c[1]: Duplicate value: "Ready"',
        'c[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
        "c[2].type: Required value: is required", "c[2].status: Required value",
        "c[2].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
        "c[2].lastTransitionTime: Required value", "c[2].reason: Required value", f'c[3].type: Invalid value: "-": {NAME_PART}',
        f'c[3].reason: Invalid value: "1": {REASON}']
    assert str(found[0].before) == 'c[1].type: Duplicate value: "Ready"'
    assert str(found[3].before) == 'c[2].status: Unsupported value: "": supported values: "False", "True", "Unknown"'


def test_blocks_of_gangs() -> None:
    """Given policies, modes, constraints and claims with every fault, and old ones that had it /
    then what is new and wrong is told.
    """
    one_of = "must specify one of: `basic`, `gang`"
    both = "must specify exactly one of: `basic`, `gang`"
    gang: dict[str, Any] = {"gang": {"minCount": 1}}
    assert told(blocks.validate_policy({}, "p")) == [f'p: Invalid value: "": {one_of}']
    assert told(blocks.validate_policy({"basic": {}, **gang}, "p")) == [f'p: Invalid value: "{{basic, gang}}": {both}']
    assert blocks.validate_policy({}, "p", {}) == blocks.validate_policy(gang, "p") == []
    assert blocks.validate_policy({"basic": {}}, "p") == []
    low = "p.gang.minCount: Invalid value: 0: must be greater than or equal to 1"
    assert told(blocks.validate_policy({"gang": {"minCount": 0}}, "p")) == [low]
    assert told(blocks.validate_policy({"gang": {"minCount": 0}}, "p", gang)) == [low]
    assert blocks.validate_policy({"gang": {"minCount": 0}}, "p", {"gang": {"minCount": 0}}) == []
    assert told(blocks.validate_policy({"gang": {}}, "p", count="n", required=True)) == ["p.gang.n: Required value"]
    assert blocks.validate_policy({"gang": {}}, "p") == []
    assert told(blocks.validate_mode({"single": {}, "all": {}}, "m")) == [
        'm: Invalid value: "{single, all}": must specify exactly one of: `single`, `all`']
    policies: list[dict[str, Any] | None] = [None, {}, {"basic": {}}, {"gang": {}}, {"basic": {}, "gang": {}}]
    assert [blocks.policy_of(one) for one in policies] == [None, None, "basic", "gang", "basic"]
    modes: list[dict[str, Any] | None] = [None, {}, {"single": {}}, {"all": {}}, {"single": {}, "all": {}}]
    assert [blocks.mode_of(one) for one in modes] == [None, None, "single", "all", "single"]
    assert told(blocks.validate_mode_for_policy("all", "basic", "m")) == [
        'm: Invalid value: "": the disruptionMode `all` is not supported with the Basic scheduling policy']
    assert blocks.validate_mode_for_policy("all", "gang", "m") == blocks.validate_mode_for_policy("single", "basic", "m") == []
    assert told(blocks.validate_constraints({"topology": [{"key": "a"}, {"key": "b"}]}, "c")) == [
        "c.topology: Too many: 2: must have at most 1 item"]
    assert told(blocks.validate_constraints({"topology": [{}]}, "c")) == ["c.topology[0].key: Required value"]
    assert told(blocks.validate_constraints({"topology": [{"key": "-"}]}, "c")) == [
        f'c.topology[0].key: Invalid value: "-": {NAME_PART}']
    assert blocks.validate_constraints({"topology": [{}]}, "c", {"topology": [{}]}) == blocks.validate_constraints({}, "c") == []


def test_claims_of_gangs() -> None:
    """Given claims with every fault / then all of it is told; old ones are not looked at again."""
    sources = "`resourceClaimName`, `resourceClaimTemplateName`"
    label = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")
    fine = {"name": "a", "resourceClaimName": "x"}
    assert blocks.validate_claims([{**fine, "name": name} for name in "abcd"], "c") == []
    assert told(blocks.validate_claims([fine] * 5, "c")) == ["c: Too many: 5: must have at most 4 items"]
    assert told(blocks.validate_claims([fine, fine], "c")) == [
        'c[1]: Duplicate value: {"name":"a","resourceClaimName":"x"}']
    assert told(blocks.validate_claims([{"name": "A"}, {**fine, "name": "", "resourceClaimTemplateName": "y"}], "c")) == [
        f'c[0]: Invalid value: "": must specify one of: {sources}', f'c[0].name: Invalid value: "A": {label}',
        f'c[1]: Invalid value: "{{resourceClaimName, resourceClaimTemplateName}}": must specify exactly one of: {sources}',
        "c[1].name: Required value"]
    assert told(blocks.validate_claim({"name": "a", "resourceClaimName": "-"}, "c"))[0].startswith(
        'c.resourceClaimName: Invalid value: "-": a lowercase RFC 1123 subdomain must')
    assert blocks.validate_claim({"name": "A", "resourceClaimName": "-"}, "c", {"name": "A", "resourceClaimName": "-"}) == []
    assert len(blocks.validate_claim({"name": "A", "resourceClaimName": "-"}, "c", {"resourceClaimName": "x"})) == 1

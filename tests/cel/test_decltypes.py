"""What schemas declare to expressions: types, sizes, conversions."""

from typing import Any

import pytest

from fakekube.cel import decltypes, errors, values
from fakekube.cel.environment import Environment
from fakekube.schema.structural import from_openapi

SCHEMA = {
    "type": "object",
    "properties": {
        "a-b": {"type": "string", "maxLength": 3},
        "namespace": {"type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "wait": {"type": "string", "format": "duration"},
        "raw": {"type": "string", "format": "byte"},
        "ratio": {"type": "number"},
        "port": {"x-kubernetes-int-or-string": True},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "maxItems": 7},
        "opaque": {"x-kubernetes-preserve-unknown-fields": True},
    },
}


def environment(schema: dict[str, Any] = SCHEMA, *, root: bool = False) -> Environment:
    """An environment whose ``self`` a schema declares."""
    declared = decltypes.of_schema(from_openapi(schema), root=root)
    assert declared is not None
    return Environment({"self": declared, "oldSelf": declared})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.a__dash__b", "x"),
        ("self.namespace == self.__namespace__", True),
        ("self.at.getFullYear()", 2020),
        ("self.wait", values.Duration(3600 * 10**9)),
        ("self.raw", b"abc"),
        ("self.ratio / 2.0", 1.5),
        ("self.set == ['b', 'a']", True),
        ("self.set + ['c', 'a']", ["a", "b", "c"]),
        ("self == oldSelf", True),
        ("[self].map(s, s.at)[0].getMonth()", 4),
    ],
)
def test_trees_become_what_their_schema_says(text: str, value: object) -> None:
    """given a tree of JSON, when expressions read it, then each field has the value of its type"""
    tree = {
        "a-b": "x", "namespace": "n", "at": "2020-05-01T00:00:00Z", "wait": "1h", "raw": "YWJj",
        "ratio": 3, "set": ["a", "b"],
    }  # fmt: skip
    assert environment().compile(text).evaluate({"self": tree, "oldSelf": dict(tree)}) == value


def test_the_size_of_a_list_asks_for_no_element() -> None:
    """given a list with an element that is no time, when its size is asked for, then it has one;
    when the element is read, then that fails
    """
    schema = {"type": "object", "properties": {"times": {"type": "array", "items": {"type": "string", "format": "date-time"}}}}
    tree = {"times": ["2020-05-01T00:00:00Z", "never"]}
    within = environment(schema)
    assert within.compile("size(self.times) + self.times.size()").evaluate({"self": tree}) == 4
    with pytest.raises(errors.EvaluationError):
        within.compile("self.times[1] == self.times[0]").evaluate({"self": tree})


def test_the_root_knows_its_names_only() -> None:
    """given the root of an object, when its metadata is read, then its names are known"""
    program = environment(root=True).compile("self.metadata.name + self.kind")
    assert program.evaluate({"self": {"metadata": {"name": "a"}, "kind": "B"}}) == "aB"
    with pytest.raises(Exception, match="undefined field 'labels'"):
        environment(root=True).compile("self.metadata.labels")
    with pytest.raises(Exception, match="undefined field 'opaque'"):
        environment().compile("self.opaque")


def test_sizes_bound_what_an_expression_may_cost() -> None:
    """given sizes in a schema, when the cost is estimated, then they bound it"""
    assert environment().compile("self.set.all(x, true)").estimate() == (3, 3 + 7 * 3)
    assert environment().compile("self.a__dash__b == oldSelf.a__dash__b").estimate() == (5, 6)


def test_a_field_that_is_null_is_absent() -> None:
    """given a nullable field that is null, when it is read, then it is not there"""
    schema = {"type": "object", "properties": {"n": {"type": "string", "nullable": True}}}
    assert environment(schema).compile("has(self.n)").evaluate({"self": {"n": None}}) is False


def test_keys_of_declared_maps_are_texts() -> None:
    """given a map that a schema declares, when it is asked for a number, then no overload is"""
    schema = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}}}
    with pytest.raises(errors.EvaluationError, match="no such overload"):
        environment(schema).compile("dyn(self.m)[1]").evaluate({"self": {"m": {"a": 1}}})
    with pytest.raises(errors.EvaluationError, match="no such key: 1"):
        environment(schema).compile("dyn({'a': 1})[1]").evaluate({"self": {}})


def test_keys_of_maps_below_a_map_are_texts_too() -> None:
    """given maps in a map that a schema declares, when one is asked for a number, then no overload
    is, however one comes to it
    """
    inner = {"type": "object", "additionalProperties": {"type": "integer"}}
    schema = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": inner}}}
    for text in ("dyn(self.m['a'])[1]", "dyn(self.m)['a'][1]", "dyn(dyn(self).m.a)[1]"):
        with pytest.raises(errors.EvaluationError, match="no such overload"):
            environment(schema).compile(text).evaluate({"self": {"m": {"a": {"b": 1}}}})

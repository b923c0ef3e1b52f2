"""What goes from a custom object when it is read, and what comes."""

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakekube.apiextensions.objects.defaulting import defaulter
from fakekube.apiextensions.objects.listtypes import checker
from fakekube.apiextensions.objects.pruning import drop_nulls, is_clean_object, prune, with_go_numbers
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.structural import from_openapi
from tests.apiextensions.objects.test_violations import VALUES

TEXT = {"type": "string"}
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def object_of(**fields: Tree) -> Tree:
    return {"type": "object", "properties": fields}


@pytest.mark.spec("API-047")
def test_unknown_fields_go_wherever_they_are() -> None:
    """Given unknown fields at the root, in objects, lists and maps, then they go, and their paths
    are told in the order of the alphabet; kind, apiVersion and metadata stay.
    """
    schema = from_openapi(object_of(spec=object_of(
        o=object_of(b=TEXT), l={"type": "array", "items": object_of(c=TEXT)},
        m={"type": "object", "additionalProperties": object_of(d=TEXT)}, e={"type": "object"}, s=TEXT)))
    tree: Tree = {"kind": "K", "apiVersion": "v", "metadata": {"x": 1}, "extra": 1, "spec": {
        "o": {"b": "x", "y": 1}, "l": [{"c": "x"}, {"z": 1}], "m": {"k": {"d": "x", "y": 1}}, "e": {"any": 1},
        "s": {"no": "text"}}}
    assert prune(tree, schema) == ["extra", "spec.e.any", "spec.l[1].z", "spec.m.k.y", "spec.o.y", "spec.s.no"]
    assert tree == {"kind": "K", "apiVersion": "v", "metadata": {"x": 1}, "spec": {
        "o": {"b": "x"}, "l": [{"c": "x"}, {}], "m": {"k": {"d": "x"}}, "e": {}, "s": {}}}
    del tree["spec"]["s"]
    assert is_clean_object(schema)(tree)


def test_what_keeps_unknown_fields_still_knows_some() -> None:
    """Given a node that keeps what it does not know, then what is below its named fields follows
    their schemas.
    """
    schema = from_openapi(object_of(
        free=FREE | {"properties": {"named": object_of(a=TEXT)}}, anything={"x-kubernetes-preserve-unknown-fields": True},
        rows={"type": "array", "items": object_of(a=TEXT), "x-kubernetes-preserve-unknown-fields": True},
        values={"type": "object", "additionalProperties": True}))
    tree: Tree = {"free": {"x": {"y": 1}, "named": {"a": "b", "c": 1}}, "anything": [{"a": 1}], "rows": [{"a": "b", "c": 1}],
                  "values": {"a": 1, "b": {"c": 1}}}
    assert prune(tree, schema) == ["free.named.c", "values.b.c"]
    assert tree == {"free": {"x": {"y": 1}, "named": {"a": "b"}}, "anything": [{"a": 1}], "rows": [{"a": "b", "c": 1}],
                    "values": {"a": 1, "b": {}}}


def test_nulls_stay_where_they_may() -> None:
    """Given nulls, then those that are nullable, or that a default replaces, or that stand in
    lists, stay; the rest goes.
    """
    schema = from_openapi(object_of(
        a=TEXT, b=TEXT | {"nullable": True}, c=TEXT | {"default": "x"}, l={"type": "array", "items": TEXT},
        m={"type": "object", "additionalProperties": TEXT}, free=FREE))
    tree: Tree = {"a": None, "b": None, "c": None, "l": [None], "m": {"k": None}, "free": {"x": None}}
    drop_nulls(tree, schema)
    assert tree == {"b": None, "c": None, "l": [None], "m": {}, "free": {"x": None}}


def test_integers_beyond_64_bits_are_floats() -> None:
    """Given integers that Go's int64 does not hold, then they are floats, at any depth."""
    found: Any = with_go_numbers({"a": 1 << 63, "b": [(1 << 63) - 1, -(1 << 64)], "c": True})
    assert found == {"a": 2.0**63, "b": [(1 << 63) - 1, -(2.0**64)], "c": True}
    assert [found["a"].__class__, found["b"][0].__class__, found["b"][1].__class__] == [float, int, float]


@pytest.mark.spec("API-046")
def test_defaults_come_at_every_depth() -> None:
    """Given defaults in objects, lists and maps, then each comes where nothing is, or a null that
    may not be.
    """
    schema = from_openapi(object_of(spec=object_of(
        a=TEXT | {"default": "x"}, n=TEXT | {"default": "x", "nullable": True},
        o=object_of(b={"type": "boolean", "default": True}),
        d=object_of(e={"type": "array", "default": [1]}, f=TEXT | {"default": "g"}) | {"default": {}},
        l={"type": "array", "items": object_of(c=TEXT | {"default": "z"})},
        m={"type": "object", "additionalProperties": object_of(f={"type": "number", "default": 0.5})}) | {"default": {}}))
    fill = defaulter(schema)
    assert fill is not None
    bare: Tree = {}
    fill(bare)
    assert bare == {"spec": {"a": "x", "n": "x", "d": {"e": [1], "f": "g"}}}
    some: Tree = {"spec": {"a": None, "n": None, "o": {}, "d": {"e": []}, "l": [{}, {"c": "y"}], "m": {"k": {}}}}
    fill(some)
    assert some["spec"] == {
        "a": "x", "n": None, "o": {"b": True}, "d": {"e": [], "f": "g"}, "l": [{"c": "z"}, {"c": "y"}], "m": {"k": {"f": 0.5}}}
    bare["spec"]["d"]["e"].append(2)
    other: Tree = {}
    fill(other)
    assert other["spec"]["d"]["e"] == [1]


def test_a_schema_without_defaults_needs_no_function() -> None:
    """Given no defaults, then there is nothing to call."""
    assert defaulter(from_openapi(object_of(spec=object_of(a=TEXT)))) is None


def test_sets_and_keys_are_unique() -> None:
    """Given repetitions in sets and keyed lists, then the second of each is told, in nested lists
    too.
    """
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"], "items": object_of(
        k=TEXT, tags={"type": "array", "x-kubernetes-list-type": "set", "items": TEXT})}
    check = checker(from_openapi(object_of(spec=object_of(s={"type": "array", "x-kubernetes-list-type": "set"}, m=keyed))))
    assert check is not None
    found: list[Any] = []
    check({"spec": {"s": [1, "1", 1, {"a": 1}, {"a": 1}, 1], "m": [
        {"k": "a"}, {"k": "a", "p": 1}, {"k": "a", "tags": ["x", "x"]}, {}, None]}}, "", found)
    assert [str(error) for error in found] == [
        "spec.s[2]: Duplicate value: 1", 'spec.s[4]: Duplicate value: {"a":1}', 'spec.m[2]: Duplicate value: {"k":"a"}',
        "spec.m[4]: Duplicate value: {}", 'spec.m[2].tags[1]: Duplicate value: "x"']
    found.clear()
    check({"spec": {"m": ["x", {"k": "a"}]}}, "", found)
    assert [str(error) for error in found] == [
        'spec.m[0]: Invalid value: "x": must be an object for an array of list-type map']


# algebra

DEFAULTS: dict[str, Json] = {"string": "d", "integer": 7, "boolean": True, "object": {}, "array": []}


def nodes(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    flags = st.fixed_dictionaries({}, optional={"nullable": st.booleans(), "x-kubernetes-preserve-unknown-fields": st.just(True)})
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        st.builds(lambda f, p: {"type": "object", "properties": p} | f, flags, fields),
        st.builds(lambda f, a: {"type": "object", "additionalProperties": a} | f, flags, inner),
        st.builds(lambda f, i: {"type": "array", "items": i} | f, flags, inner))


def with_default(tree: Tree, chosen: bool) -> Tree:
    return tree | {"default": DEFAULTS[tree["type"]]} if chosen else tree


NODES = st.recursive(
    st.builds(lambda kind, n: {"type": kind, "nullable": n}, st.sampled_from(["string", "integer", "boolean"]), st.booleans()),
    lambda inner: nodes(st.builds(with_default, inner, st.booleans())), max_leaves=8)


@given(NODES, st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4))
@example({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": None})
def test_reading_twice_changes_nothing_more(node: Tree, tree: Tree) -> None:
    """Given any schema and object, when it is read again, then nothing more goes or comes; and what
    the quick test takes for clean has nothing to lose.
    """
    schema = from_openapi({"type": "object", "properties": {"a": node, "b": node}})
    fill = defaulter(schema)
    before = copy.deepcopy(tree)
    clean = is_clean_object(schema)(tree)
    unknown = prune(tree, schema)
    drop_nulls(tree, schema)
    if clean:
        assert (unknown, tree) == ([], before)
    if fill is not None:
        fill(tree)
    once = copy.deepcopy(tree)
    assert prune(tree, schema) == []
    drop_nulls(tree, schema)
    if fill is not None:
        fill(tree)
    assert tree == once

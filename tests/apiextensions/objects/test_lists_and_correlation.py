"""What may not be repeated in lists, what of an object is as it was, and paths into schemas."""

from typing import Any

import pytest

from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apiextensions.objects.correlation import Correlation
from fakekube.apiextensions.objects.listtypes import checker
from fakekube.apiextensions.objects.violations import violations
from fakekube.apiextensions.validation.paths import BadPath, looked_up
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.structural import from_openapi

TEXT: Tree = {"type": "string"}
SET: Tree = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
ATOMIC: Tree = {"type": "array", "items": TEXT}


def keyed(*keys: str, **fields: Tree) -> Tree:
    return {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys), "items": {
        "type": "object", "properties": {**dict.fromkeys(keys, TEXT), **fields}}}


def object_of(**fields: Tree) -> Tree:
    return {"type": "object", "properties": fields}


def map_of(schema: Tree) -> Tree:
    return {"type": "object", "additionalProperties": schema}


def repeated(schema: Tree, value: Json) -> list[str]:
    check = checker(from_openapi(schema))
    assert check is not None
    found: list[Any] = []
    check(value, "", found)
    return [str(error) for error in found]


@pytest.mark.parametrize(("schema", "value", "texts"), [
    (object_of(s=SET), {"s": ["a", "b"]}, []), (object_of(s=SET), {"s": []}, []), (object_of(s=SET), {}, []),
    (object_of(s=SET), {"s": ["a", "a"]}, ['s[1]: Duplicate value: "a"']),
    (object_of(s=SET), {"s": ["a", "b", "a", "a", "b"]}, ['s[2]: Duplicate value: "a"', 's[4]: Duplicate value: "b"']),
    (object_of(s=SET), {"s": "aa"}, []), (object_of(s=SET), {"s": {"a": 1}}, []),
    (object_of(s=SET), {"s": [1, 1.0, True, None, None]}, ["s[4]: Duplicate value: null"]),
    (object_of(s=SET), {"s": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}, ['s[1]: Duplicate value: {"a":1,"b":2}']),
    (map_of(SET), {"k": ["a", "a"]}, ['[k][1]: Duplicate value: "a"']),
    (object_of(m=map_of(SET)), {"m": {"k": ["a", "a"], "l": ["a"]}}, ['m[k][1]: Duplicate value: "a"']),
    (object_of(l={"type": "array", "items": SET}), {"l": [["a"], ["a", "a"]]}, ['l[1][1]: Duplicate value: "a"']),
    (object_of(o=object_of(s=SET)), {"o": {"s": ["a", "a"]}}, ['o.s[1]: Duplicate value: "a"']),
    (object_of(l=keyed("k")), {"l": [{"k": "a"}, {"k": "b"}, {"k": "a"}]}, ['l[2]: Duplicate value: {"k":"a"}']),
    (object_of(l=keyed("k")), {"l": [{"k": "a"}, {"k": "a"}, {"k": "a"}]}, ['l[1]: Duplicate value: {"k":"a"}']),
    (object_of(l=keyed("k")), {"l": [{}, {}]}, ["l[1]: Duplicate value: {}"]), (object_of(l=keyed("k")), {"l": [{}]}, []),
    (object_of(l=keyed("k")), {"l": [None]}, []), (object_of(l=keyed("k")), {"l": [{"k": 1}, {"k": "1"}]}, []),
    (object_of(l=keyed("k")), {"l": [{"k": "a"}, 5]}, [
        "l[1]: Invalid value: 5: must be an object for an array of list-type map"]),
    (object_of(l=keyed("k", "p")), {"l": [{"k": "a", "p": "1"}, {"k": "a", "p": "2"}]}, []),
    (object_of(l=keyed("k", "p")), {"l": [{"k": "a", "p": "1", "x": 1}, {"k": "a", "p": "1", "x": 2}]}, [
        'l[1]: Duplicate value: {"k":"a","p":"1"}']),
    (object_of(l=keyed("k", tags=SET)), {"l": [{"k": "a", "tags": ["x", "x"]}]}, ['l[0].tags[1]: Duplicate value: "x"']),
])
def test_what_may_not_be_repeated(schema: Tree, value: Json, texts: list[str]) -> None:
    """Given sets and keyed lists at every place / when a value repeats itself / then the second of
    each is told with its place.
    """
    assert repeated(schema, value) == texts


@pytest.mark.parametrize("schema", [
    TEXT, ATOMIC, object_of(a=TEXT), map_of(TEXT), {"type": "array", "items": object_of(a=ATOMIC)},
    {**ATOMIC, "x-kubernetes-list-type": "atomic"},
])
def test_where_all_may_be_repeated(schema: Tree) -> None:
    """Given a schema without sets and keys / when it is read / then there is nothing to check."""
    assert checker(from_openapi(schema)) is None


SHORT: Tree = {"type": "string", "maxLength": 1}
LONG = "Too long: may not be more than 1 byte"


@pytest.mark.parametrize(("schema", "old", "new", "texts"), [
    (object_of(a=SHORT, b=SHORT), {"a": "xx"}, {"a": "xx", "b": "yy"}, [f"b: {LONG}"]),
    (object_of(a=SHORT), {"a": "xx"}, {"a": "yy"}, [f"a: {LONG}"]), (object_of(a=SHORT), {}, {"a": "xx"}, [f"a: {LONG}"]),
    (object_of(a=SHORT), {"a": "xx"}, {"a": "xx"}, []), (map_of(SHORT), {"k": "xx"}, {"k": "xx", "l": "yy"}, [f"l: {LONG}"]),
    (object_of(kind=SHORT, apiVersion=SHORT), {"kind": "xx", "apiVersion": "v1"}, {"kind": "xx", "apiVersion": "v1"}, []),
    (object_of(kind=SHORT, a=TEXT), {"kind": "xx"}, {"kind": "xx", "a": "b"}, [f"kind: {LONG}"]),
    (object_of(o=object_of(kind=SHORT, a=TEXT)), {"o": {"kind": "xx"}}, {"o": {"kind": "xx", "a": "b"}}, []),
    (object_of(l={"type": "array", "items": SHORT}, b=TEXT), {"l": ["xx"]}, {"l": ["xx"], "b": "c"}, []),
    (object_of(l={"type": "array", "items": SHORT}), {"l": ["xx"]}, {"l": ["xx", "y"]}, [f"l[0]: {LONG}"]),
    (object_of(l=keyed("k", v=SHORT)), {"l": [{"k": "a", "v": "xx"}]},
     {"l": [{"k": "b", "v": "yy"}, {"k": "a", "v": "xx"}]}, [f"l[0].v: {LONG}"]),
    (object_of(l=keyed("k", v=SHORT)), {"l": [{"k": "a", "v": "xx"}]}, {"l": [{"k": "a", "v": "yy"}]}, [f"l[0].v: {LONG}"]),
    (object_of(l=keyed("k", v=SHORT)), {"l": [{"v": "xx"}]}, {"l": [{"v": "xx"}, {"v": "y"}]}, [f"l[0].v: {LONG}"]),
    (object_of(l=keyed("k", "p", v=SHORT)), {"l": [{"k": "a", "p": "1", "v": "xx"}, {"k": "a", "p": "2", "v": "y"}]},
     {"l": [{"k": "a", "p": "2", "v": "xx"}, {"k": "a", "p": "1", "v": "xx"}]}, [f"l[0].v: {LONG}"]),
    (object_of(l={**keyed("k", v=SHORT), "maxItems": 1}), {"l": [{"k": "a"}, {"k": "b"}]}, {"l": [{"k": "a"}, {"k": "b"}]}, []),
    (object_of(l={**keyed("k", v=SHORT), "maxItems": 1}), {"l": [{"k": "a"}, {"k": "b"}]}, {"l": [{"k": "b"}, {"k": "a"}]}, []),
    (object_of(l={**keyed("k", v=SHORT), "maxItems": 1}), {"l": [{"k": "a"}, {"k": "b"}]}, {"l": [{"k": "a"}, {"k": "c"}]}, [
        "l: Too many: 2: must have at most 1 item"]),
    (object_of(l={**keyed("k", v=SHORT), "maxItems": 1}), {"l": [{"k": "a"}, {"k": "b"}]}, {"l": [
        {"k": "a"}, {"k": "b"}, {"k": "c"}]}, ["l: Too many: 3: must have at most 1 item"]),
    (object_of(o={**object_of(a=TEXT, b=TEXT), "maxProperties": 1}), {"o": {"a": "1", "b": "2"}},
     {"o": {"a": "1", "b": "2"}}, []),
    (object_of(o={**object_of(a=TEXT, b=TEXT), "maxProperties": 1}), {"o": {"a": "1", "b": "2"}}, {"o": {"a": "1", "b": "3"}}, [
        "o: Too many: 2: must have at most 1 item"]),
    (object_of(o={**object_of(a=TEXT), "maxProperties": 1}), {"o": {"a": "1", "x": "2"}}, {"o": {"a": "1", "x": "2"}}, [
        "o: Too many: 2: must have at most 1 item"]),
    (object_of(a={"not": {"required": ["x"]}}), {"a": {"x": 1}}, {"a": {"x": 1}}, [
        '<nil>: Invalid value: "": "a" must not validate the schema (not)']),
    (object_of(a={"type": "object", "properties": {"x": TEXT}, "not": {"required": ["x"]}}), {"a": {"x": "1"}},
     {"a": {"x": "1"}}, []),
    (object_of(a=SHORT), {"a": None}, {"a": None}, []), (object_of(a=TEXT), {"a": 5}, {"a": 5}, []),
    (object_of(a=TEXT), {"a": 5}, {"a": 5.5}, ['a: Invalid value: "number": a in body must be of type string: "number"']),
])
def test_what_was_wrong_may_stay(schema: Tree, old: Tree, new: Tree, texts: list[str]) -> None:
    """Given an object with something wrong / when an update leaves the part as it was / then that
    is not told; fields are found by their names, items by their keys, and kind at the root never.
    """
    node = Constraints({**schema, "required": ["never"]} if texts else schema, 37)
    expected = [*texts, "never: Required value"] if texts else []
    assert sorted(str(error) for error in violations(node, new, Correlation(new, old, node))) == sorted(expected)


DEEP: Tree = object_of(
    a=TEXT, m=map_of(object_of(b=TEXT)), any={"type": "object", "additionalProperties": True},
    odd=object_of(**{"a.b": TEXT, "it's": TEXT, "": TEXT, "x\\y": TEXT}))


@pytest.mark.parametrize(("text", "names"), [
    ("", []), (".a", ["a"]), (".m.k.b", ["m", "k", "b"]), (".m['k.l'].b", ["m", "k.l", "b"]),
    ("['m']['k']['b']", ["m", "k", "b"]),
    (".odd['a.b']", ["odd", "a.b"]), (".odd['it\\'s']", ["odd", "it's"]), (".odd['']", ["odd", ""]), (".any.x", ["any", "x"]),
    (".odd['x\\\\y']", ["odd", "x\\y"]),
])
def test_paths_that_lead_somewhere(text: str, names: list[str]) -> None:
    """Given a path / when it is looked up / then its names are those of fields and of keys."""
    assert looked_up(text, DEEP)[0] == names


@pytest.mark.parametrize(("text", "why"), [
    ("a", "expected [ or . but got: a"), (".", "unexpected end of JSON path"), (".a.", "unexpected end of JSON path"),
    (".b", "does not refer to a valid field"), (".a.b", "does not refer to a valid field"), ("[", "unexpected end of JSON path"),
    ("['a'", "unexpected end of JSON path"), ("[a]", "expected single quoted string but got a"),
    ("['a", "expected single quoted string but got 'a"), ("[']", "expected single quoted string but got ']"),
    ("['", "expected single quoted string but got '"), ("['a'.", "expected ] but got ."),
    (".m.k.c", "does not refer to a valid field"),
    (".any.x.y", "does not refer to a valid field"), ("]", "expected [ or . but got: ]"), (".a]", "expected [ or . but got: ]"),
    ("..a", "does not refer to a valid field"), ("['a']b", "expected [ or . but got: b"),
])
def test_paths_that_lead_nowhere(text: str, why: str) -> None:
    """Given a path that is broken or leads out of the schema / when it is looked up / then it is
    said why.
    """
    with pytest.raises(BadPath) as refused:
        looked_up(text, DEEP)
    assert str(refused.value) == why


def test_paths_without_brackets() -> None:
    """Given a place where names stand between dots alone / when brackets come / then they are
    refused, whatever they hold.
    """
    for text in ("['a']", ".m['k']", "["):
        with pytest.raises(BadPath, match=r"^array notation is not allowed$"):
            looked_up(text, DEEP, arrays=False)
    assert looked_up(".m.k.b", DEEP, arrays=False) == (["m", "k", "b"], TEXT)

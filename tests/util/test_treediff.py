"""Differences as people would say them."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util.treediff import MISSING, differences, value_at

LONG = "x" * 300


@pytest.mark.parametrize(("old", "new", "lines"), [
    ({"a": 1}, {"a": 1}, []),
    ({"a": {"b": 1}}, {"a": {"b": 2, "c": None}}, ["a.b: 1 -> 2", "a.c: (none) -> null"]),
    ({"a": 1, "b": 2}, {"b": 2}, ["a: 1 -> (none)"]),
    ({"a": 1}, {"a": True}, ["a: 1 -> true"]),
    ({"app.kubernetes.io/name": "x"}, {"app.kubernetes.io/name": "y"}, ['[app.kubernetes.io/name]: "x" -> "y"']),
    ({"c": [{"type": "A", "status": "False"}, {"type": "B"}]}, {"c": [{"type": "B"}, {"type": "A", "status": "True"}]},
     ['c[A].status: "False" -> "True"']),
    ({"l": [1, 2]}, {"l": [1, 3, 4]}, ["l[1]: 2 -> 3", "l[2]: (none) -> 4"]),
    ({"l": [{"name": "a"}, {"name": "a"}]}, {"l": [{"name": "a"}]}, ['l[1]: {"name":"a"} -> (none)']),
    ({"a": LONG}, {"a": ""}, [f'a: "{LONG[:99]}... -> ""']),
])
def test_differences_are_named_by_path(old, new, lines) -> None:
    """Given two trees, when they are compared, then each field that differs is named, items of
    lists by what names them.
    """
    assert [str(found) for found in differences(old, new)] == lines


def test_ignored_paths_are_not_looked_at() -> None:
    """Given trees that differ in a field that nobody wants to hear of, when they are compared, then
    it is not told.
    """
    assert list(differences({"m": {"v": 1, "x": 1}}, {"m": {"v": 2, "x": 1}}, ignored=("m.v",))) == []


trees = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner, max_size=3))


@given(trees, trees)
def test_trees_differ_exactly_when_something_is_told(old, new) -> None:
    """Given any two trees, when they are compared, then nothing is told of equal ones and something
    of all others, but for the order of named items.
    """
    assert list(differences(old, copy.deepcopy(old))) == []
    if not list(differences(old, new)):
        assert _unordered(old) == _unordered(new)


def _unordered(tree):
    if isinstance(tree, dict):
        return sorted((name, _unordered(value)) for name, value in tree.items())
    if isinstance(tree, list):
        return sorted((_unordered(item) for item in tree), key=repr)
    return repr(tree)


TREE = {
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Failed", "status": "False"}]},
    "metadata": {"labels": {"app.kubernetes.io/name": "web"}, "finalizers": ["a", "b"]}, "data": {"": "nothing"}}


@pytest.mark.parametrize(("path", "value"), [
    ("status.phase", "Running"), ("status.conditions[Failed].status", "False"), ("metadata.finalizers[1]", "b"),
    ("metadata.labels[app.kubernetes.io/name]", "web"), ("status.conditions[Ready]", {"type": "Ready", "status": "True"}),
    ("status.none", MISSING), ("status.phase.below", MISSING), ("status.conditions[None].status", MISSING), ("", TREE),
])
def test_a_path_leads_to_its_value(path: str, value: object) -> None:
    """Given a path as differences have it, when its value is looked up, then it is what stands
    there, and MISSING where there is nothing.
    """
    assert value_at(TREE, path) == value


@pytest.mark.parametrize("path", [
    ".", "status.", ".status", "status..phase", "status[", "status[]", "status]", "a[b", "[" * 100_000])
def test_what_is_no_path_is_refused(path: str) -> None:
    """Given a text that is no path, when it is looked up, then a sentence says what one looks like.
    """
    with pytest.raises(ValueError, match=r"names no field: say status\.phase"):
        value_at(TREE, path)


TREES = st.recursive(
    st.integers(0, 2), lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(["a", "b.c", "d-e"]), below))


@given(TREES, TREES)
def test_the_path_of_a_difference_leads_to_it(old: object, new: object) -> None:
    """Given any two trees, when they are compared, then each path that differs leads in either to
    what is said to be there.
    """
    for difference in differences(old, new):
        assert value_at(old, difference.path) == difference.old
        assert value_at(new, difference.path) == difference.new

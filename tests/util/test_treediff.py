"""Differences as people would say them."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util.treediff import differences

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

"""JSON patch, strict where upstream is strict and lenient where it is lenient."""

import copy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.patch import json_patch
from fakekube.patch.json_patch import PatchError

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab~/", max_size=2)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab~/", max_size=2), inner, max_size=3),
    max_leaves=8,
)
TREES = st.dictionaries(st.text("ab~/", max_size=2), VALUES, max_size=3)


@pytest.mark.spec("API-101")
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/data/b", "value": "2"}, {"data": {"a": "1", "b": "2"}, "list": [1, 2]}),
        ({"op": "add", "path": "/data/b"}, {"data": {"a": "1", "b": None}, "list": [1, 2]}),
        ({"op": "add", "path": "data/b", "value": "2"}, {"data": {"a": "1"}, "list": [1, 2], "b": "2"}),
        ({"op": "add", "path": "/list/-", "value": 3}, {"data": {"a": "1"}, "list": [1, 2, 3]}),
        ({"op": "add", "path": "/list/0", "value": 3}, {"data": {"a": "1"}, "list": [3, 1, 2]}),
        ({"op": "add", "path": "/list/-1", "value": 3}, {"data": {"a": "1"}, "list": [1, 2, 3]}),
        ({"op": "add", "path": "/data/x~1y~0", "value": 3}, {"data": {"a": "1", "x/y~": 3}, "list": [1, 2]}),
        ({"op": "remove", "path": "/data/a"}, {"data": {}, "list": [1, 2]}),
        ({"op": "remove", "path": "/list/-1"}, {"data": {"a": "1"}, "list": [1]}),
        ({"op": "replace", "path": "/data/zz", "value": "2"}, {"data": {"a": "1", "zz": "2"}, "list": [1, 2]}),
        ({"op": "replace", "path": "", "value": {"x": 1}}, {"x": 1}),
        ({"op": "copy", "from": "/data/zz", "path": "/data/b"}, {"data": {"a": "1", "b": None}, "list": [1, 2]}),
        ({"op": "copy", "from": "/data", "path": "/more"}, {"data": {"a": "1"}, "list": [1, 2], "more": {"a": "1"}}),
        ({"op": "move", "from": "/data/a", "path": "/b"}, {"data": {}, "list": [1, 2], "b": "1"}),
        ({"op": "test", "path": "/data/zz", "value": None}, {"data": {"a": "1"}, "list": [1, 2]}),
        ({"op": "test", "path": "/data", "value": {"a": "1"}}, {"data": {"a": "1"}, "list": [1, 2]}),
    ],
)
def test_an_operation_changes_the_tree(operation: dict[str, Any], expected: dict[str, Any]) -> None:
    """Given a tree / when one operation is applied / then the result is upstream's, and the tree is
    as it was.
    """
    tree = {"data": {"a": "1"}, "list": [1, 2]}
    assert json_patch.apply(tree, [operation]) == expected
    assert tree == {"data": {"a": "1"}, "list": [1, 2]}


@pytest.mark.spec("API-102")
@pytest.mark.parametrize(
    "operation",
    [
        {"op": "frob", "path": "/data"},
        {"path": "/data"},
        {"op": "add", "value": 1},
        {"op": "add", "path": "plain", "value": 1},
        {"op": "add", "path": "/none/x", "value": 1},
        {"op": "add", "path": "/data/a/b", "value": 1},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "remove", "path": "/data/zz"},
        {"op": "remove", "path": "/list/-"},
        {"op": "replace", "path": "/list/2", "value": 1},
        {"op": "move", "from": "/data/zz", "path": "/y"},
        {"op": "test", "path": "/data/a", "value": 1},
        {"op": "test", "path": "/list/0", "value": True},
        None,
    ],
)
def test_an_operation_that_does_not_apply_is_refused(operation: dict[str, Any] | None) -> None:
    """Given an operation that upstream's library refuses / when it is applied / then PatchError is
    raised.
    """
    with pytest.raises(PatchError):
        json_patch.apply({"data": {"a": "1"}, "list": [1, 2]}, [operation])


def test_what_was_copied_does_not_follow_its_source() -> None:
    """Given a patch that copies a map / when a later operation changes one of the two / then the
    other stays.
    """
    tree = {"a": {"x": 1}}
    changed = json_patch.apply(
        tree,
        [
            {"op": "add", "path": "/a/y", "value": 2},
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "add", "path": "/a/z", "value": 3},
            {"op": "remove", "path": "/b/x"},
        ],
    )
    assert changed == {"a": {"x": 1, "y": 2, "z": 3}, "b": {"y": 2}}
    assert tree == {"a": {"x": 1}}


@given(TREES, TREES)
def test_a_computed_difference_leads_from_one_tree_to_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Given any two trees / when the patch that a library computes is applied / then the other tree
    comes out.
    """
    before = copy.deepcopy(old)
    operations = jsonpatch.make_patch(old, new).patch
    if any(operation["path"] == "" for operation in operations):
        return
    assert json_patch.apply(old, operations) == new
    assert old == before

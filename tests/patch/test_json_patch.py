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


def copies(count: int) -> list[dict[str, Any]]:
    return [{"op": "copy", "from": "/data", "path": f"/more/{number}"} for number in range(count)]


def test_copies_are_bounded_by_the_bytes_of_all_of_them() -> None:
    """Given a value of 1 MiB with its quotes, when it is copied three times, then that is the most
    that upstream allows; a fourth copy is refused in its words.
    """
    tree: dict[str, Any] = {"data": "x" * (2**20 - 2), "more": {}}
    assert len(json_patch.apply(tree, copies(3))["more"]) == 3
    with pytest.raises(PatchError) as caught:
        json_patch.apply(tree, copies(4))
    assert str(caught.value) == (
        "Unable to complete the copy, the accumulated size increase of copy is 4194304, exceeding the limit 3145728")


def test_a_value_that_grows_by_copies_of_itself_ends_at_the_bound() -> None:
    """Given an object that is copied into itself again and again, when ten thousand operations ask
    for it, then the bound ends that after a few.
    """
    with pytest.raises(PatchError, match="exceeding the limit"):
        json_patch.apply({"a": {"x": 1}}, [{"op": "copy", "from": "/a", "path": f"/a/{number}"} for number in range(10_000)])


def test_a_large_value_is_moved_deeper_only_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given values whose items are counted when they go deeper, when more than the bound were, then
    the next such move is refused, and one that goes no deeper is not.
    """
    monkeypatch.setattr(json_patch, "MAX_MOVED_ITEMS", 20)
    down = {"op": "move", "from": "/data", "path": "/more/data"}
    up = {"op": "move", "from": "/more/data", "path": "/data"}
    tree: dict[str, Any] = {"data": {str(number): number for number in range(10)}, "more": {}}
    assert json_patch.apply(tree, [down, up] * 2 + [down])["more"] == {"data": tree["data"]}
    assert json_patch.apply(tree, [down, up] * 3)["data"] == tree["data"]
    with pytest.raises(PatchError, match="more than 20 items were moved"):
        json_patch.apply(tree, [down, up] * 3 + [down])


@pytest.mark.parametrize(("index", "expected"), [
    ("0", [9, 1, 2]), ("2", [1, 2, 9]), ("-", [1, 2, 9]), ("-1", [1, 2, 9]), ("-3", [9, 1, 2]), ("3", None), ("-4", None)])
def test_an_item_is_inserted_at_any_place_up_to_the_end(index: str, expected: list[int] | None) -> None:
    """Given a list of two / when something is added at an index / then it may be as far as just
    behind the last one, from either side, and no further.
    """
    operation = {"op": "add", "path": f"/list/{index}", "value": 9}
    if expected is not None:
        assert json_patch.apply({"list": [1, 2]}, [operation]) == {"list": expected}
    else:
        with pytest.raises(PatchError, match=r"invalid index|Unable to access invalid index"):
            json_patch.apply({"list": [1, 2]}, [operation])

"""Sameness of JSON trees, in which true is no number."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.equality import same

TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3), max_leaves=8)


@pytest.mark.parametrize(("left", "right", "expected"), [
    ({"a": True}, {"a": 1}, False), ([{"a": [0]}], [{"a": [False]}], False), (True, 1, False), (1, 1.0, True),
    ({"a": 1.0, "b": True}, {"b": True, "a": 1}, True), ({"a": 1}, {"a": 1, "b": None}, False), ([], [], True),
])
def test_true_is_no_number(left: Any, right: Any, expected: bool) -> None:
    """Given two trees, when compared, then 1 and 1.0 are the same, and true and 1 are not, wherever
    they stand.
    """
    assert same(left, right) is same(right, left) is expected


@given(TREES, TREES)
def test_two_trees_are_the_same_when_json_says_so(left: Any, right: Any) -> None:
    """Given any trees of whole numbers, when compared, then they are the same exactly if their
    sorted JSON is.
    """
    import json

    assert same(left, right) is (json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True))

"""Merge patches merge maps and replace the rest."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.patch import merge_patch

VALUES = st.recursive(
    st.integers(0, 2) | st.text("ab", max_size=1),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
TREES = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@pytest.mark.spec("API-104")
@pytest.mark.parametrize(
    ("tree", "patch", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({}, {"a": {"b": None, "c": [{"d": None}]}}, {"a": {"c": [{}]}}),
        ({"a": {"x": 1}}, {"a": [{"d": None}]}, {"a": [{"d": None}]}),
        ({"a": 1}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_a_patch_merges(tree: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any]) -> None:
    """Given a tree and a merge patch / when it is applied / then the result is that of upstream's
    library.
    """
    assert merge_patch.apply(tree, patch) == expected


@given(TREES, TREES)
def test_merging_is_idempotent_and_leaves_its_input_alone(tree: dict[str, Any], patch: dict[str, Any]) -> None:
    """Given any tree and patch / when it is applied twice / then the second time changes nothing.
    """
    before = copy.deepcopy((tree, patch))
    once = merge_patch.apply(tree, patch)
    assert merge_patch.apply(once, patch) == once
    assert (tree, patch) == before

"""Lists whose order names all that is in them are put together at once; the result, or the error,
is that of the general way.
"""

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakekube.patch import strategic_merge
from fakekube.patch.strategic_merge import PatchError
from tests.patch.test_strategic_merge import schema

NAMES = st.sampled_from("abcd")
VALUES = st.one_of(st.none(), st.booleans(), st.sampled_from(["", "x", "y"]), st.dictionaries(NAMES, st.none(), max_size=1))
KEYS = st.one_of(NAMES, NAMES, NAMES, NAMES, st.none(), st.integers(0, 1))
PLAIN = st.fixed_dictionaries({"type": NAMES}, optional={"status": VALUES, "reason": VALUES})
ITEMS = st.one_of(
    PLAIN, PLAIN, PLAIN, PLAIN,
    st.fixed_dictionaries({}, optional={
        "type": KEYS, "status": VALUES, "$patch": st.sampled_from(["delete", "replace", "merge", None])}),
    st.just("text"))
ORDERS = st.lists(st.one_of(*[st.fixed_dictionaries({"type": NAMES})] * 4, st.fixed_dictionaries({"type": KEYS}), st.just({})))


def outcome(status: dict[str, Any], patch: dict[str, Any]) -> Any:
    """What a patch of a pod's status leads to, or why it does not."""
    old = copy.deepcopy(status)
    try:
        found = strategic_merge.apply({"status": status}, {"status": copy.deepcopy(patch)}, schema("", "v1", "Pod"))
    except PatchError as error:
        return error.text
    assert status == old
    return found["status"]


ALL_NAMED = st.permutations("abcd").map(lambda names: [{"type": name} for name in names])


@given(
    st.lists(PLAIN, max_size=5), st.one_of(st.lists(PLAIN, max_size=5), st.lists(ITEMS, max_size=4)),
    st.one_of(ORDERS, ALL_NAMED), st.booleans(), st.booleans())
@example([], [{"type": "a"}, {"type": "b"}, {"type": "a"}], [], True, True)
def test_both_ways_lead_to_the_same(known: Any, brought: Any, order: Any, is_new: bool, follows: bool) -> None:
    """Given any list of conditions, a patch of it and an order, when they are merged with the short
    way and without it, then the result is the same, or the error.
    """
    if follows:  # the order that the patch has
        order = [{"type": item["type"]} for item in brought if isinstance(item, dict) and "type" in item] or order
    status = {} if is_new else {"conditions": known}
    patch = {"conditions": brought, "$setElementOrder/conditions": order}
    short = outcome(status, patch)
    with pytest.MonkeyPatch.context() as change:
        change.setattr(strategic_merge, "text_keys", lambda *_: None)
        assert outcome(status, patch) == short


def test_what_the_order_names_is_put_there_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given conditions, when a patch brings some and orders all, as a kubelet's does, then the
    general way is not gone; a new list keeps its order too.
    """
    monkeypatch.setattr(strategic_merge, "partition", None)
    brought = [{"type": "d", "status": "new", "reason": None}, {"type": "a", "status": "x"}]
    patch: dict[str, Any] = {
        "conditions": brought, "$setElementOrder/conditions": [{"type": name} for name in "dbca"]}
    known = [{"type": name, "status": "y", "reason": "r"} for name in "abc"]
    assert outcome({"conditions": known}, patch) == {"conditions": [
        brought[0], known[1], known[2], {"type": "a", "status": "x", "reason": "r"}]}
    patch["$setElementOrder/conditions"] = [{"type": "d"}, {"type": "a"}]
    assert outcome({}, patch) == {"conditions": brought}

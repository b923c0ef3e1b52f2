"""Lists that a strategic merge puts in order: found by keys here, by searching upstream, with the
same result.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.patch import element_order, strategic_merge
from fakekube.patch.errors import PatchError

SCALARS = st.lists(st.sampled_from("abcdef"), max_size=9)


def place_of(items: list[str], wanted: str) -> int:
    return items.index(wanted) if wanted in items else -1


def insertion_sorted(items: list[str], order: list[str]) -> list[str]:
    """Upstream's way: from the end to the first that stands before in the order, or to the front.
    """
    result: list[str] = []
    for item in items:
        place = len(result)
        while place:
            before, mine = place_of(order, result[place - 1]), place_of(order, item)
            if mine >= 0 and before >= 0 and mine >= before:
                break
            place -= 1
        result.insert(place, item)
    return result


def searched(items: list[str]) -> list[str]:
    """Upstream's way to make a list's items unique: the last one fills the place of a repetition.
    """
    result, first = list(items), 0
    while first < len(result) - 1:
        second = first + 1
        while second < len(result):
            if result[first] != result[second]:
                second += 1
                continue
            last = result.pop()
            if second < len(result):
                result[second] = last
        first += 1
    return result


@given(SCALARS, SCALARS)
def test_a_list_is_sorted_as_an_insertion_sort_does_it(items: list[str], order: list[str]) -> None:
    """Given items of which some are not in an order, when they are sorted by it, then they stand
    where upstream puts them.
    """
    assert element_order.in_order(items, [], order, [], "", str) == insertion_sorted(items, order)


@given(SCALARS, SCALARS, SCALARS)
def test_two_parts_are_woven_by_the_live_list(named: list[str], unnamed: list[str], live: list[str]) -> None:
    """Given what a patch names and what only the object has, when they are woven, then each part
    keeps its own order, and nothing is lost.
    """
    woven = element_order.in_order(named, unnamed, named, live, "", str)
    ours: list[Any] = insertion_sorted(unnamed, live)
    assert sorted(woven) == sorted(named + unnamed)
    for item in woven:
        if ours and item == ours[0]:
            ours.pop(0)
    assert not ours


@given(SCALARS)
def test_repetitions_go_as_upstream_takes_them_out(items: list[str]) -> None:
    """Given scalars with repetitions, when they are merged into a list, then each is there once,
    where upstream leaves it.
    """
    assert strategic_merge._without_repetitions(items) == searched(items)


@given(st.lists(st.sampled_from([{"name": "a"}, {"name": "b"}, {"name": None}, {"name": {"x": 1}}, {"name": ["x"]}]), max_size=6))
def test_the_first_of_equal_keys_is_found(items: list[dict[str, Any]]) -> None:
    """Given items with keys of any kind, maps and lists included, when one is looked for, then its
    first place is found.
    """
    places = element_order.Places(items, "name", dict)
    assert [places.of(item) for item in items] == [[other["name"] for other in items].index(item["name"]) for item in items]


@pytest.mark.parametrize(("items", "order"), [
    ([{"name": "a"}], ["b"]), ([{"name": "a"}], [{"image": "x"}]), (["a"], [{"name": "b"}])])
def test_an_order_whose_items_have_no_key_is_refused(items: Any, order: Any) -> None:
    """Given a list of objects and an order, one of which is no object or has no merge key / then
    the patch is refused, even where there is but one item to put in order.
    """
    with pytest.raises(PatchError):
        element_order.in_order(items, [], order, [], "name", dict)
    with pytest.raises(PatchError):
        element_order.in_order([], items, [], order, "name", dict)


def test_an_order_of_texts_is_not_looked_at_for_keys() -> None:
    """Given a list of texts / then its order needs no keys."""
    assert element_order.in_order(["b", "a"], [], ["a", "b"], [], "", str) == ["a", "b"]

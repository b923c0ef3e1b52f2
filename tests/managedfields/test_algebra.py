"""What must hold for any sets and any appliers."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.errors import APIError
from fakekube.managedfields import fieldset
from tests.managedfields.world import T0, T1, T2, owned, stored, widget, widgets

ELEMENTS = ["f:a", "f:b", 'k:{"name":"c"}', 'v:"x"']
PATHS = st.lists(st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=3).map(tuple), max_size=6)
TEXT = st.sampled_from(["1", "2"])
KEYS = st.sampled_from("abc")
MAPPED = st.lists(
    st.fixed_dictionaries({"name": KEYS}, optional={"value": TEXT}), max_size=3, unique_by=lambda item: item["name"]
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "granular": st.dictionaries(KEYS, TEXT, max_size=3),
        "atomic": st.dictionaries(KEYS, TEXT, max_size=2),
        "plain": st.lists(TEXT, max_size=2),
        "tags": st.lists(KEYS, max_size=3, unique=True),
        "mapped": MAPPED,
    },
)
MANAGER = widgets()


def apply(old: Any, spec: dict[str, Any], by: str, now: str = T1, *, force: bool = True) -> dict[str, Any]:
    return stored(MANAGER.apply(old, widget(spec), manager=by, now=now, force=force))


def as_set(fields: dict[str, Any]) -> set[tuple[str, ...]]:
    return set(fieldset.paths(fields))


@given(PATHS, PATHS)
def test_the_algebra_is_that_of_sets_of_paths(left: list[Any], right: list[Any]) -> None:
    """Given two sets / when they are joined, cut and crossed / then their members are those of
    plain sets.
    """
    a, b = fieldset.of_paths(*left), fieldset.of_paths(*right)
    before = copy.deepcopy((a, b))
    assert as_set(a) == set(left)
    assert as_set(fieldset.union(a, b)) == set(left) | set(right)
    assert as_set(fieldset.difference(a, b)) == set(left) - set(right)
    assert as_set(fieldset.intersection(a, b)) == set(left) & set(right)
    kept = {path for path in left if not any(path[: len(other)] == other for other in right)}
    assert as_set(fieldset.recursive_difference(a, b)) == kept
    assert (a, b) == before


@given(SPECS, SPECS)
def test_applying_twice_is_applying_once(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given any object / when a configuration is applied twice / then the second time changes not
    even times.
    """
    old = apply(None, first, "m1", T0)
    once = apply(old, second, "m2")
    assert apply(once, second, "m2", T2, force=False) == once


@given(SPECS, SPECS)
def test_force_makes_the_applier_an_owner_of_all_it_says(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given any owner / when another forces its configuration / then it owns exactly what its
    configuration says.
    """
    tree = apply(apply(None, first, "m1", T0), second, "m2")
    alone = apply(None, second, "m2")
    assert owned(tree).get("m2*") == owned(alone).get("m2*")


@given(SPECS)
def test_dropping_everything_leaves_nothing_of_a_sole_owner(spec: dict[str, Any]) -> None:
    """Given one applier / when it applies nothing any more / then nothing that it brought is left.
    """
    tree = apply(apply(None, spec, "m1", T0), {}, "m1")
    assert not any((tree.get("spec") or {}).get(name) for name in spec)


@given(SPECS, SPECS)
def test_appliers_of_different_fields_commute(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given appliers with no field in common / when they apply in either order / then the object is
    the same.
    """
    second = {name: value for name, value in second.items() if name not in first}
    there = apply(apply(None, first, "m1"), second, "m2", force=False)
    back = apply(apply(None, second, "m2"), first, "m1", force=False)
    assert there["spec"] == back["spec"]
    # Who applies nothing that can be owned, an empty list say, leaves an object that nobody tracks.
    assert {**owned(there), "before-first-apply": 0} == {**owned(back), "before-first-apply": 0}


@given(SPECS, SPECS)
def test_a_refused_apply_would_change_what_somebody_owns(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given an owner / when another's apply is refused / then force takes a field from the owner,
    and only then.
    """
    old = apply(None, first, "m1", T0)
    try:
        apply(old, second, "m2", force=False)
        refused = False
    except APIError:
        refused = True
    forced = apply(old, second, "m2")
    lost = as_set(owned(old).get("m1*", {})) - as_set(owned(forced).get("m1*", {}))
    assert bool(lost) == refused


@given(SPECS, SPECS)
def test_nothing_that_comes_in_is_changed(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given any object and configuration / when it is applied / then both are as they were."""
    old = apply(None, first, "m1", T0)
    config = widget(second)
    before = copy.deepcopy((old, config))
    MANAGER.apply(old, config, manager="m2", now=T1, force=True)
    assert (old, config) == before

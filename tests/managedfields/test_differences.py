"""What writes own, against a plain reference: objects laid out flat, and sets of paths."""

import copy
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.errors import APIError
from fakekube.managedfields import fieldset
from fakekube.managedfields.empty import empty_object
from fakekube.managedfields.manager import FieldManager
from tests.managedfields.test_algebra import SPECS
from tests.managedfields.world import T0, T1, T2, configmap, configmaps, owned, schema, stored, widget, widgets

if TYPE_CHECKING:
    from collections.abc import Mapping

Path = tuple[str, ...]
MANAGER = widgets()
EVENTS = FieldManager(schema("", "v1", "Event"), "v1")
KEYS = st.sampled_from("abc")
SCALARS = st.sampled_from([0, 1, False, True, "", "1"])
FREE = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.dictionaries(KEYS, inner, max_size=3), st.lists(inner, max_size=2)),
    max_leaves=6,
)
WIDGETS = st.tuples(SPECS, st.dictionaries(st.sampled_from(["free", "other"]), FREE)).map(lambda parts: {**parts[0], **parts[1]})
TEXT = st.sampled_from(["", "x"])
EVENT = st.fixed_dictionaries(
    {"metadata": st.fixed_dictionaries({"name": st.just("e")}, optional={"labels": st.dictionaries(KEYS, TEXT, max_size=2)})},
    optional={
        "involvedObject": st.dictionaries(st.sampled_from(["kind", "name"]), TEXT),
        "source": st.dictionaries(st.sampled_from(["component", "host"]), TEXT),
        "reason": TEXT,
        "count": st.integers(0, 1),
        "firstTimestamp": st.sampled_from([None, T0]),
        "reportingComponent": TEXT,
    },
)

# How parts of a kind are owned: a struct or a map by its fields, a list by a key or by its values,
# all others as one.
ITEM: dict[str, Any] = {}
STRUCTURE: dict[str, Any] = {"spec": {"atomic": "one", "plain": "one", "tags": "set", "mapped": ITEM}}
EVENT_STRUCTURE: dict[str, Any] = {"involvedObject": "one"}


def flat(value: Any, structure: Any, path: Path = ()) -> dict[Path, bytes]:
    """Every path in a value that can be owned, with what stands there."""
    found: dict[Path, bytes] = {}
    inner: Mapping[str, tuple[Any, Any]] = {}
    if isinstance(value, dict) and structure != "one":
        inner = {f"f:{name}": (part, structure.get(name, {})) for name, part in value.items()}
    elif structure == "set":
        inner = {f'v:"{part}"': (part, "one") for part in value}
    elif structure is ITEM and isinstance(value, list):
        inner = {f'k:{{"name":"{part["name"]}"}}': (part, {}) for part in value}
    else:
        return {path: orjson.dumps(value)}
    if path:
        found[path] = b"by its parts"
    for element, (part, below) in inner.items():
        found |= flat(part, below, (*path, element))
    return found


def ownable(paths: set[Path]) -> set[Path]:
    """Those that are not the server's."""
    return {path for path in paths if path[0] not in ("f:apiVersion", "f:kind") and path[:2] != ("f:metadata", "f:name")
            and path != ("f:metadata",)}  # fmt: skip


def of(tree: dict[str, Any], manager: str) -> set[Path]:
    return set(fieldset.paths(owned(tree).get(manager, {})))


def created(spec: dict[str, Any]) -> dict[str, Any]:
    tree = widget(copy.deepcopy(spec))
    MANAGER.update(None, tree, manager="m1", now=T0)
    return stored(tree)


def changed(old: dict[str, Any], spec: dict[str, Any], now: str = T1) -> dict[str, Any]:
    new = {**old, "metadata": dict(old["metadata"]), "spec": spec}
    MANAGER.update(old, new, manager="m2", now=now)
    return new


@given(WIDGETS)
def test_a_creator_owns_every_path(spec: dict[str, Any]) -> None:
    """Given any new object / when it is created / then its creator owns what can be owned of it,
    and all in order.
    """
    tree = created(spec)
    assert of(tree, "m1") == ownable(set(flat(tree, STRUCTURE)) - {("f:metadata", "f:managedFields"), ("f:metadata", "f:uid")})
    _assert_ordered(owned(tree)["m1"])


def _assert_ordered(fields: dict[str, Any]) -> None:
    assert list(fields) == sorted(fields)
    for below in fields.values():
        _assert_ordered(below)


@given(EVENT)
def test_a_creator_owns_what_differs_from_the_empty_object(event: dict[str, Any]) -> None:
    """Given a kind that Go prints fields of that nobody set / when one is created / then these are
    nobody's until they differ.
    """
    empty = flat(empty_object(schema("", "v1", "Event")), EVENT_STRUCTURE)
    here = flat(event, EVENT_STRUCTURE)
    wanted = ownable({path for path, value in here.items() if empty.get(path) != value})
    tree = copy.deepcopy(event)
    EVENTS.update(None, tree, manager="m1", now=T0)
    assert of(tree, "m1") == wanted


@given(WIDGETS, WIDGETS)
def test_who_changes_a_path_owns_it_and_who_had_it_does_not(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Given any object / when another one writes it / then each owns what is there and came from
    it, in order.
    """
    old = created(first)
    new = changed(old, copy.deepcopy(second))
    before, after = flat({"spec": first}, STRUCTURE), flat({"spec": second}, STRUCTURE)
    theirs = {path for path, value in after.items() if before.get(path) != value}
    assert of(new, "m2") == theirs
    assert of(new, "m1") == set(before) & set(after) - theirs
    for fields in owned(new).values():
        _assert_ordered(fields)


@given(WIDGETS)
def test_writing_the_same_again_is_no_change(spec: dict[str, Any]) -> None:
    """Given any object / when an equal one is written, with its entries or without / then its
    entries stay the very same.
    """
    old = created(spec)
    for entries_sent in (True, False):
        new = orjson.loads(orjson.dumps(old))
        if not entries_sent:
            new["metadata"].pop("managedFields", None)
        MANAGER.update(old, new, manager="m2", now=T2)
        assert new == old
        assert new["metadata"].get("managedFields") is old["metadata"].get("managedFields")


@given(WIDGETS, WIDGETS, st.lists(st.sampled_from(["granular", "mapped", "tags", "free"])))
def test_sharing_parts_with_the_old_object_changes_nothing(
    first: dict[str, Any], second: dict[str, Any], kept: list[str]
) -> None:
    """Given a new object that shares parts with the old one / when it is written / then all is as
    for one that shares none, and neither the old object nor its entries are touched.
    """
    old = created(first)
    spec = {**second, **{name: old["spec"][name] for name in kept if name in first}}
    before = orjson.dumps(old)
    new = changed(old, spec)
    assert orjson.dumps(old) == before
    assert orjson.dumps(new) == orjson.dumps(changed(orjson.loads(before), copy.deepcopy(spec)))
    assert orjson.dumps(new["spec"]) == orjson.dumps(spec)


def test_an_entry_that_loses_nothing_is_the_same_object() -> None:
    """Given two owners / when a third changes what one of them owns / then the other's entry is not
    made anew.
    """
    manager = configmaps()
    tree = configmap({"a": "1"})
    manager.update(None, tree, manager="m1", now=T0)
    second = {**tree, "metadata": dict(tree["metadata"]), "data": {"a": "1", "b": "1"}}
    manager.update(tree, second, manager="m2", now=T1)
    third = {**second, "metadata": dict(second["metadata"]), "data": {"a": "1", "b": "2"}}
    manager.update(second, third, manager="m3", now=T2)
    first_entry, last_entry = third["metadata"]["managedFields"]
    assert first_entry is tree["metadata"]["managedFields"][0]
    assert last_entry["manager"] == "m3"


def test_entries_that_came_in_another_order_are_put_in_order() -> None:
    """Given a stored entry whose fields and place are not the usual ones / when the object changes
    / then both are.
    """
    manager = configmaps()
    late = {
        "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:b": {}}}, "manager": "b", "operation": "Update",
        "time": T1,
    }  # fmt: skip
    early = {**late, "manager": "a", "time": T0, "fieldsV1": {"f:data": {"f:a": {}}}}
    old = configmap({"a": "1", "b": "1"}, managedFields=[late, early])
    new = {**old, "metadata": dict(old["metadata"]), "data": {"a": "1", "b": "1", "c": "1"}}
    manager.update(old, new, manager="c", now=T2)
    found = new["metadata"]["managedFields"]
    assert [entry["manager"] for entry in found] == ["a", "b", "c"]
    assert {tuple(entry) for entry in found} == {("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1")}


@pytest.mark.parametrize("labels", [{}, {"x": "1"}])
def test_the_fields_of_an_object_are_in_order_with_labels_and_without(labels: dict[str, str]) -> None:
    """Given fields in Go's order, not the alphabet's / when an object is created / then its set is
    sorted, as upstream's are, and a conflict names them in that order.
    """
    manager = configmaps()
    tree = {**configmap(labels=labels), "immutable": False, "data": {"a": "1"}, "binaryData": {"b": "Yg=="}}
    manager.update(None, tree, manager="m1", now=T0)
    fields = owned(tree)["m1"]
    assert [name for name in fields if name != "f:metadata"] == ["f:binaryData", "f:data", "f:immutable"]
    with pytest.raises(APIError) as refused:
        manager.apply(stored(tree), {**configmap({"a": "2"}), "immutable": True}, manager="m2", now=T1)
    assert [cause["field"] for cause in refused.value.details["causes"]] == [".immutable", ".data.a"]


@pytest.mark.parametrize("place", [lambda it: it, lambda it: [it], lambda it: {"in": {"it": it}}])
def test_true_is_no_number_wherever_anything_may_stand(place: Any) -> None:
    """Given a 1 in a field of any type / when true takes its place / then that is a change."""
    old = created({"free": place(1)})
    new = changed(old, {"free": place(True)})
    assert of(new, "m2")


def test_a_sent_entry_loses_what_a_new_object_does_not_have() -> None:
    """Given a new object that comes with entries / when it is created / then nobody owns what Go
    would print and it lacks.
    """
    manager = FieldManager(schema("", "v1", "Event"), "v1")
    entry = {"manager": "m9", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:reason": {}, "f:reportingComponent": {}}}  # fmt: skip
    tree = {"metadata": {"name": "e", "managedFields": [entry]}, "message": "x"}
    manager.update(None, tree, manager="m1", now=T0)
    assert owned(tree) == {"m1": {"f:message": {}}, "m9": {"f:reason": {}}}


@pytest.mark.parametrize("name", ["plain-name", "8080", 'a"b', "a\\b", "a<b>&c", "é", "new\nline", ""])
def test_items_are_named_as_go_prints_their_keys(name: str) -> None:
    """Given a key of any letters / when an item is created, applied or changed / then its element
    is JSON as Go writes it.
    """
    text = orjson.dumps(name).decode()
    for sign, escaped in (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")):
        text = text.replace(sign, escaped)
    element = f'k:{{"name":{text}}}'
    old = created({"mapped": [{"name": name}]})
    applied = MANAGER.apply(None, widget({"mapped": [{"name": name}]}), manager="m3", now=T0)
    new = changed(old, {"mapped": [{"name": name, "value": "v"}]})
    assert list(owned(old)["m1"]["f:spec"]["f:mapped"]) == [".", element]
    assert list(owned(applied)["m3*"]["f:spec"]["f:mapped"]) == [element]
    assert owned(new)["m2"] == {"f:spec": {"f:mapped": {element: {"f:value": {}}}}}


def test_a_struct_that_is_one_thing_is_owned_as_one_when_a_field_of_it_changes() -> None:
    """Given an event's reference, which upstream keeps atomic / when its name changes / then the
    whole of it has a new owner.
    """
    old = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "a"}}
    EVENTS.update(None, old, manager="m1", now=T0)
    new = {**old, "metadata": dict(old["metadata"]), "involvedObject": {"kind": "Pod", "name": "b"}}
    EVENTS.update(old, new, manager="m2", now=T1)
    assert owned(new) == {"m2": {"f:involvedObject": {}}}


def test_an_applied_set_is_in_order() -> None:
    """Given items in another order than their names' / when they are applied / then the set is
    sorted, and the list is not.
    """
    names = [{"name": "b"}, {"name": "c"}, {"name": "a"}]
    tree = MANAGER.apply(None, widget({"mapped": names}), manager="m1", now=T0)
    _assert_ordered(owned(tree)["m1*"])
    again = MANAGER.apply(stored(tree), widget({"mapped": names[::-1]}), manager="m1", now=T1)
    assert [item["name"] for item in again["spec"]["mapped"]] == ["a", "c", "b"]

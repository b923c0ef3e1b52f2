"""Plain writes: who changes a field owns it."""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.composition.cluster import Cluster
from fakekube.managedfields.manager import FieldManager
from fakekube.util import memory
from tests.managedfields.world import T0, T1, T2, configmap, configmaps, owned, schema, stored, widget, widgets


def created(manager: FieldManager, tree: dict[str, Any], by: str = "m1") -> dict[str, Any]:
    manager.update(None, tree, manager=by, now=T0)
    return stored(tree)


def changed(manager: FieldManager, old: dict[str, Any], by: str, now: str = T1, sub: str = "", **fields: Any) -> dict[str, Any]:
    new = {**old, "metadata": dict(old["metadata"]), **fields}
    manager.update(old, new, manager=by, now=now, subresource=sub)
    return new


@pytest.mark.spec("API-015")
def test_a_create_owns_what_it_brings_and_the_maps_it_made() -> None:
    """Given a new object / when it is created / then its manager owns leaves and maps, identity and
    type excepted.
    """
    tree = created(configmaps(), configmap({"b": "2", "a": "1"}, labels={"x": "1"}, uid="u", creationTimestamp=T0))
    assert tree["metadata"]["managedFields"] == [
        {
            "manager": "m1",
            "operation": "Update",
            "apiVersion": "v1",
            "time": T0,
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:data": {".": {}, "f:a": {}, "f:b": {}},
                "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
            },
        }
    ]


def test_items_are_owned_by_key_by_value_or_not_at_all() -> None:
    """Given every kind of list and map / when an object is created / then items are named by key,
    by value, or not.
    """
    tree = created(
        widgets(),
        widget(
            {
                "granular": {"k": "1"},
                "atomic": {"k": "1"},
                "plain": ["x"],
                "tags": ["y", "x"],
                "mapped": [{"name": "n", "value": "v"}],
            }
        ),
    )
    assert owned(tree)["m1"] == {
        "f:spec": {
            ".": {},
            "f:atomic": {},
            "f:granular": {".": {}, "f:k": {}},
            "f:mapped": {".": {}, 'k:{"name":"n"}': {".": {}, "f:name": {}, "f:value": {}}},
            "f:plain": {},
            "f:tags": {".": {}, 'v:"x"': {}, 'v:"y"': {}},
        }
    }


def test_what_go_prints_always_belongs_to_nobody_until_it_is_set() -> None:
    """Given a Pod / when it is created / then its spec is no member, though the containers in it
    are.
    """
    manager = FieldManager(schema("", "v1", "Pod"), "v1")
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {}}]}, "status": {}}
    fields = owned(created(manager, pod))["m1"]
    assert fields == {
        "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, "f:resources": {}}}},
    }


async def test_a_port_with_a_field_of_no_name_is_known_by_its_keys() -> None:
    """Given a port that holds a text under the empty name, when it is applied to a Service, then
    the answer tells of that field, which is none.
    """
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with pytest.raises(APIError, match="field not declared in schema"):
            await cluster.client.apply({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"},
                "spec": {"ports": [{"": "x", "port": 80}]}})


def test_ports_are_known_by_number_and_protocol_even_when_it_is_not_given() -> None:
    """Given ports in any order / when the pod is created / then they are named by both keys,
    numbers in order.
    """
    manager = FieldManager(schema("", "v1", "Pod"), "v1")
    ports = [{"containerPort": 443}, {"containerPort": 80, "protocol": "UDP"}]
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "ports": ports}]}}
    found = owned(created(manager, pod))["m1"]["f:spec"]["f:containers"]['k:{"name":"c"}']["f:ports"]
    assert list(found) == [
        ".",
        'k:{"containerPort":80,"protocol":"UDP"}',
        'k:{"containerPort":443,"protocol":"TCP"}',
    ]


@pytest.mark.spec("API-124")
def test_a_change_takes_the_field_from_who_had_it() -> None:
    """Given two managers / when the second changes a field of the first / then the field is its
    alone.
    """
    manager = configmaps()
    old = created(manager, configmap({"a": "1", "b": "1"}))
    new = changed(manager, old, "m2", data={"a": "2", "b": "1"})
    assert owned(new) == {"m1": {"f:data": {".": {}, "f:b": {}}}, "m2": {"f:data": {"f:a": {}}}}
    assert [entry["time"] for entry in new["metadata"]["managedFields"]] == [T0, T1]


def test_an_entry_that_loses_all_vanishes() -> None:
    """Given an object with one manager / when all it owns is removed / then there is nothing left
    to list.
    """
    manager = configmaps()
    new = changed(manager, created(manager, configmap({"a": "1"})), "m2", data={"a": "2"})
    gone = {name: value for name, value in new.items() if name != "data"}
    gone["metadata"] = dict(new["metadata"])
    manager.update(new, gone, manager="m3", now=T2)
    assert "managedFields" not in gone["metadata"]


def test_an_emptied_map_stays_with_who_made_it() -> None:
    """Given labels / when the last one goes and the map stays / then the map is still owned."""
    manager = configmaps()
    old = created(manager, configmap(labels={"x": "1"}))
    new = {**old, "metadata": {**old["metadata"], "labels": {}}}
    manager.update(old, new, manager="m2", now=T1)
    assert owned(new) == {"m1": {"f:metadata": {"f:labels": {}}}}


def test_a_write_without_effect_keeps_times_and_entries() -> None:
    """Given an object / when the same is written again later / then managedFields are the same."""
    manager = configmaps()
    old = created(manager, configmap({"a": "1"}))
    assert changed(manager, old, "m2", now=T2) == old


def test_writes_of_one_manager_merge_into_one_entry() -> None:
    """Given a manager's create / when it changes another field / then there is one entry, of the
    later time.
    """
    manager = configmaps()
    new = changed(manager, created(manager, configmap({"a": "1"})), "m1", data={"a": "1", "b": "1"})
    assert owned(new) == {"m1": {"f:data": {".": {}, "f:a": {}, "f:b": {}}}}
    assert new["metadata"]["managedFields"][0]["time"] == T1


def test_status_has_an_entry_of_its_own_and_cannot_be_owned_through_the_object() -> None:
    """Given a Pod / when its status is written both ways / then only the status endpoint's writer
    owns it.
    """
    manager = FieldManager(schema("", "v1", "Pod"), "v1")
    spec = {"containers": [{"name": "c"}]}
    old = created(manager, {"metadata": {"name": "p"}, "spec": spec, "status": {"phase": "Pending"}})
    assert "f:status" not in owned(old)["m1"]
    new = changed(manager, old, "kubelet", sub="status", status={"phase": "Running"})
    entry = new["metadata"]["managedFields"][1]
    assert (entry["manager"], entry["subresource"]) == ("kubelet", "status")
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}}}


@pytest.mark.spec("API-125")
@pytest.mark.parametrize("sent", [[], [{}]])
def test_an_empty_list_clears_and_nothing_is_tracked_again(sent: list[Any]) -> None:
    """Given an object / when a client clears managedFields and then changes it / then there are
    none.
    """
    manager = configmaps()
    old = created(manager, configmap({"a": "1"}))
    new = {**old, "metadata": {**old["metadata"], "managedFields": sent}, "data": {"a": "2"}}
    manager.update(old, new, manager="m2", now=T1)
    assert "managedFields" not in new["metadata"]
    assert "managedFields" not in changed(manager, new, "m3", data={"a": "3"})["metadata"]


@pytest.mark.spec("API-125")
@pytest.mark.parametrize(
    "sent",
    [None, [{"manager": "x"}], [{"operation": "Update", "apiVersion": "v1", "fieldsType": "V2"}], ["x"]],
)
def test_garbage_and_null_keep_the_old_entries(sent: Any) -> None:
    """Given an object / when a client sends managedFields that mean nothing / then the old ones are
    kept.
    """
    manager = configmaps()
    old = created(manager, configmap({"a": "1"}))
    new = {**old, "metadata": {**old["metadata"], "managedFields": sent}}
    manager.update(old, new, manager="m2", now=T1)
    assert owned(new) == owned(old)


def test_a_client_may_write_entries_in_any_order_and_spelling() -> None:
    """Given entries with elements unsorted, spaced, or of unknown kinds / when sent / then they are
    made canonical.
    """
    manager = widgets()
    old = created(manager, widget({"mapped": [{"name": "n"}]}))
    fields = {"f:z": {".": {}}, "f:a": {}, 'k:{ "name": "n" }': {"f:x": {}}, "q:x": {}}
    entry = {"manager": "m9", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    new = {**old, "metadata": {**old["metadata"], "managedFields": [entry]}}
    manager.update(old, new, manager="m2", now=T1)
    assert list(owned(new)["m9"].items()) == [("f:a", {}), ("f:z", {}), ('k:{"name":"n"}', {"f:x": {}})]


def test_the_oldest_of_too_many_managers_become_one() -> None:
    """Given eleven managers / when the twelfth writes / then the oldest share the entry
    ancient-changes.
    """
    manager = configmaps()
    tree = created(manager, configmap({"k00": "1"}), "m00")
    for number in range(1, 12):
        data = {**tree["data"], f"k{number:02}": "1"}
        tree = changed(manager, tree, f"m{number:02}", now=f"2026-01-01T00:00:{number:02}Z", data=data)
    names = [entry["manager"] for entry in tree["metadata"]["managedFields"]]
    assert names == ["ancient-changes", *(f"m{number:02}" for number in range(3, 12))]
    assert owned(tree)["ancient-changes"] == {"f:data": {".": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}}}


def test_an_object_that_does_not_fit_keeps_its_owners() -> None:
    """Given an item without its key / when it is written / then ownership stays, since validation
    will refuse it.
    """
    manager = widgets()
    old = created(manager, widget({"mapped": [{"name": "n"}]}))
    new = changed(manager, old, "m2", spec={"mapped": [{"value": "v"}]})
    assert owned(new) == owned(old)


@pytest.mark.skipif(not memory.ENABLED, reason="nothing is remembered when memos are switched off")
def test_objects_of_one_template_share_what_they_own() -> None:
    """Given two objects that are alike but for their names / when both are created / then what is
    owned below a part of theirs is one object, so that thousands of them take little memory; of
    what differs each has its own.
    """
    first = created(configmaps(), configmap({"a": "1"}, labels={"x": "1"}))
    second = created(configmaps(), configmap({"a": "2"}, labels={"x": "1", "y": "2"}))
    one, two = owned(first)["m1"], owned(second)["m1"]
    assert one["f:data"] == two["f:data"]
    assert one["f:data"]["f:a"] is two["f:data"]["f:a"]
    assert one["f:metadata"]["f:labels"] == {".": {}, "f:x": {}}
    assert two["f:metadata"]["f:labels"] == {".": {}, "f:x": {}, "f:y": {}}
    third = created(configmaps(), configmap({"a": "3"}, labels={"x": "5"}))
    assert owned(third)["m1"]["f:metadata"]["f:labels"] is one["f:metadata"]["f:labels"]

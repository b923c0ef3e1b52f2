"""Server-side apply: what is applied is owned, what is dropped goes, what others own is asked for.
"""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.managedfields import apply as applying
from fakekube.managedfields.manager import FieldManager
from tests.managedfields.world import (
    T0,
    T1,
    T2,
    configmap,
    configmaps,
    owned,
    schema,
    stored,
    templates,
    widget,
    widgets,
)


def apply(manager: FieldManager, old: Any, config: dict[str, Any], by: str, now: str = T1, **options: Any) -> dict[str, Any]:
    return stored(manager.apply(old, config, manager=by, now=now, **options))


def template(*containers: dict[str, Any]) -> dict[str, Any]:
    body = {"kind": "PodTemplate", "apiVersion": "v1", "metadata": {"name": "t"}}
    return {**body, "template": {"spec": {"containers": list(containers)}}}


@pytest.mark.spec("API-113")
def test_an_apply_creates_and_a_second_one_changes_nothing() -> None:
    """Given no object / when one is applied twice / then it is owned without its maps, and stays as
    it is.
    """
    manager = configmaps()
    tree = apply(manager, None, configmap({"a": "1"}, labels={"x": "1"}), "m1", now=T0)
    assert tree["data"] == {"a": "1"}
    assert owned(tree) == {"m1*": {"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:x": {}}}}}
    assert apply(manager, tree, configmap({"a": "1"}, labels={"x": "1"}), "m1", now=T2) == tree


@pytest.mark.spec("API-115")
def test_a_field_of_somebody_else_is_a_conflict_when_it_would_change() -> None:
    """Given a field that a plain write owns / when another value is applied / then 409 names owner
    and field.
    """
    manager = configmaps()
    old = configmap({"a": "1"})
    manager.update(None, old, manager="m1", now=T0)
    with pytest.raises(APIError) as error:
        apply(manager, stored(old), configmap({"a": "2"}), "m2")
    assert (error.value.code, error.value.reason) == (409, "Conflict")
    assert error.value.message == 'Apply failed with 1 conflict: conflict with "m1" using v1: .data.a'
    assert error.value.causes == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "m1" using v1', "field": ".data.a"},
    ]


@pytest.mark.spec("API-115")
def test_several_conflicts_are_listed_by_manager() -> None:
    """Given two owners / when both would lose / then the message lists fields below each of them.
    """
    manager = templates()
    tree = apply(manager, None, template({"name": "c", "image": "x", "tty": True}), "m1", now=T0)
    new = {**tree, "metadata": {**tree["metadata"], "labels": {"l": "1"}}}
    manager.update(tree, new, manager="m0", now=T1)
    config = template({"name": "c", "image": "y", "tty": False})
    config["metadata"]["labels"] = {"l": "2"}
    with pytest.raises(APIError) as error:
        apply(manager, new, config, "m2")
    assert error.value.message == (
        'Apply failed with 3 conflicts: conflicts with "m0" using v1:\n- .metadata.labels.l\nconflicts with "m1":\n'
        '- .template.spec.containers[name="c"].image\n- .template.spec.containers[name="c"].tty'
    )


@pytest.mark.spec("API-116")
def test_force_takes_the_field() -> None:
    """Given a conflict / when it is forced / then the applier owns the field alone."""
    manager = configmaps()
    first = apply(manager, None, configmap({"a": "1", "b": "1"}), "m1", now=T0)
    second = apply(manager, first, configmap({"a": "2"}), "m2", force=True)
    assert second["data"] == {"a": "2", "b": "1"}
    assert owned(second) == {"m1*": {"f:data": {"f:b": {}}}, "m2*": {"f:data": {"f:a": {}}}}


def test_equal_values_are_owned_together_and_stay_until_the_last_owner_drops_them() -> None:
    """Given two appliers of one value / when they drop it one after the other / then it goes with
    the second.
    """
    manager = configmaps()
    tree = apply(manager, None, configmap({"a": "1", "b": "1"}), "m1", now=T0)
    tree = apply(manager, tree, configmap({"a": "1"}), "m2")
    assert owned(tree)["m2*"] == {"f:data": {"f:a": {}}}
    tree = apply(manager, tree, configmap({"b": "1"}), "m1")
    assert tree["data"] == {"a": "1", "b": "1"}
    tree = apply(manager, tree, configmap({}), "m2", now=T2)
    assert tree["data"] == {"b": "1"}
    assert owned(tree) == {"m1*": {"f:data": {"f:b": {}}}, "m2*": {"f:data": {}}}


def test_a_dropped_field_that_a_plain_write_owns_stays() -> None:
    """Given a field that an applier and then a plain writer set / when the applier drops it / then
    it stays.
    """
    manager = configmaps()
    tree = apply(manager, None, configmap({"a": "1", "b": "1"}), "m1", now=T0)
    new = {**tree, "metadata": dict(tree["metadata"]), "data": {"a": "2", "b": "1"}}
    manager.update(tree, new, manager="m2", now=T1)
    assert apply(manager, new, configmap({}), "m1", now=T2)["data"] == {"a": "2"}


def test_items_stand_in_the_order_of_the_applier_with_those_of_others_between() -> None:
    """Given items of another manager / when an applier names some / then its order holds and the
    others stay.
    """
    manager = widgets()
    tree = apply(manager, None, widget({"mapped": [{"name": name} for name in "abc"]}), "m1", now=T0)
    tree = apply(manager, tree, widget({"mapped": [{"name": "c", "value": "v"}, {"name": "a"}]}), "m2")
    assert tree["spec"]["mapped"] == [{"name": "b"}, {"name": "c", "value": "v"}, {"name": "a"}]


def test_an_item_goes_with_its_owner_and_a_shared_one_loses_the_owners_fields() -> None:
    """Given two appliers of one container / when one drops it / then only its own fields are gone.
    """
    manager = templates()
    tree = apply(manager, None, template({"name": "a", "image": "x"}, {"name": "b", "image": "x"}), "m1", now=T0)
    tree = apply(manager, tree, template({"name": "b", "image": "x", "tty": True}), "m2")
    tree = apply(manager, tree, template({"name": "b", "tty": True}), "m2")
    tree = apply(manager, tree, template({"name": "a", "image": "x"}), "m1", now=T2)
    assert tree["template"]["spec"]["containers"] == [{"name": "a", "image": "x"}, {"name": "b", "tty": True}]


def test_status_cannot_be_owned_through_the_object_nor_spec_through_status() -> None:
    """Given an apply that sets both / when it goes to either endpoint / then only what that
    endpoint keeps is owned.
    """
    manager = FieldManager(schema("", "v1", "Node"), "v1")
    config = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}
    config |= {"spec": {"unschedulable": True}, "status": {"phase": "Running"}}
    tree = apply(manager, None, config, "m1", now=T0)
    assert owned(tree) == {"m1*": {"f:spec": {"f:unschedulable": {}}}}
    tree = apply(manager, tree, config, "m2", subresource="status")
    assert owned(tree)["m2*"] == {"f:status": {"f:phase": {}}}


def test_what_was_there_before_the_first_apply_has_an_owner_then() -> None:
    """Given an object that nobody tracks / when something is applied to it / then the rest is
    before-first-apply's.
    """
    manager = configmaps()
    old = stored(configmap({"a": "1", "b": "1"}))
    tree = apply(manager, old, configmap({"a": "1"}), "m1")
    assert owned(tree) == {
        "m1*": {"f:data": {"f:a": {}}},
        "before-first-apply": {"f:data": {".": {}, "f:a": {}, "f:b": {}}},
    }


@pytest.mark.spec("API-127")
def test_kubectl_takes_over_what_it_applied_on_the_client_side() -> None:
    """Given kubectl's annotation / when kubectl applies another value / then nothing conflicts, and
    it is renewed.
    """
    manager = configmaps()
    note = "kubectl.kubernetes.io/last-applied-configuration"
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1"}}'
    old = configmap({"a": "1"}, annotations={note: text})
    manager.update(None, old, manager="kubectl-client-side-apply", now=T0)
    tree = apply(manager, stored(old), configmap({"a": "2"}), "kubectl")
    assert tree["data"] == {"a": "2"}
    assert tree["metadata"]["annotations"][note] == (
        '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
    )
    with pytest.raises(APIError):
        apply(manager, stored(old), configmap({"a": "2"}), "somebody")


@pytest.mark.spec("API-120")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        ({"apiVersion": "apps/v1"}, "invalid object type: apps/v1, Kind=ConfigMap"),
        ({"apiVersion": ""}, "invalid object type: /, Kind=ConfigMap"),
        ({"metadata": {"name": "a", "managedFields": []}}, "metadata.managedFields must be nil"),
    ],
)
def test_another_type_and_managed_fields_are_refused(change: dict[str, Any], text: str) -> None:
    """Given a configuration of another kind, or with managedFields / when it is applied / then it
    is a bad request.
    """
    with pytest.raises(APIError) as error:
        apply(configmaps(), None, configmap({}) | change, "m1")
    assert (error.value.code, error.value.message) == (400, text)


@pytest.mark.spec("API-121")
@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"bogus": 1}, ".spec.bogus: field not declared in schema"),
        ({"tags": ["q", "q"]}, '.spec.tags: duplicate entries for key [="q"]'),
        ({"mapped": [{"name": "a"}, {"name": "a"}]}, '.spec.mapped: duplicate entries for key [name="a"]'),
        ({"plain": [1]}, ".spec.plain[0]: expected string, got &value.valueUnstructured{Value:1}"),
        ({"plain": "x"}, ".spec.plain: expected list, got &{x}"),
        ({"granular": ["x"]}, ".spec.granular: expected map, got &{[x]}"),
        (
            {"mapped": [{"value": "v"}]},
            (
                '.spec.mapped: element 0: associative list with keys has an element that omits all key fields ["name"] '
                "(and doesn't have default values for any key fields)"
            ),
        ),
    ],
)
def test_what_does_not_fit_the_schema_is_refused_in_upstreams_words(spec: dict[str, Any], text: str) -> None:
    """Given a configuration with a field that does not fit / when it is applied / then 500 names
    the field.
    """
    with pytest.raises(APIError) as error:
        apply(widgets(), None, widget(spec), "m1")
    assert error.value.code == 500
    assert error.value.message == f"failed to create typed patch object (/a; example.com/v1, Kind=Widget): {text}"


def test_a_configuration_is_kept_as_kubectl_keeps_it():
    """Given a configuration with and without annotations of its own, when it is written down for
    kubectl, then without the annotation that holds it, sorted, and with a line end.
    """
    name = "kubectl.kubernetes.io/last-applied-configuration"
    assert applying.last_applied_text({"metadata": {"name": "a", "annotations": {"x": "y", name: "z"}}, "apiVersion": "v1"}) == (
        '{"apiVersion":"v1","metadata":{"annotations":{"x":"y"},"name":"a"}}\n')
    assert applying.last_applied_text({"metadata": {"name": "a", "annotations": {}}}) == '{"metadata":{"name":"a"}}\n'
    assert applying.last_applied_text({"kind": "K"}) == '{"kind":"K","metadata":{}}\n'

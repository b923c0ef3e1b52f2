"""Values that the schema does not expect, and what cannot be compared."""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.managedfields import apply, compare, merge
from fakekube.managedfields.nodes import TypedError
from fakekube.managedfields.sets import to_set
from tests.managedfields.world import T0, configmap, configmaps, widget, widgets

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SPEC = {
    "granular": {"a": "1", "b": "2"}, "atomic": {"a": "1"}, "plain": ["a"], "tags": ["a", "b"],
    "mapped": [{"name": "a", "value": "1"}, {"name": "b"}]}

OMITS = ('element 0: associative list with keys has an element that omits all key fields ["name"] '
         "(and doesn't have default values for any key fields)")


@pytest.mark.parametrize(("fields", "left"), [
    ({"f:granular": {"f:a": {}}}, {"granular": {"b": "2"}}),
    ({"f:granular": {"f:a": {}, "f:b": {}}}, {"granular": None}),
    ({"f:atomic": {"f:b": {}}}, {"atomic": None}),
    ({"f:plain": {'v:"b"': {}}}, {"plain": None}),
    ({"f:tags": {'v:"a"': {}}}, {"tags": ["b"]}),
    ({"f:tags": {'v:"a"': {}, 'v:"b"': {}}}, {"tags": None}),
    ({"f:mapped": {'k:{"name":"a"}': {"f:value": {}}}}, {"mapped": [{"name": "a"}, {"name": "b"}]}),
    ({"f:mapped": {'k:{"name":"a"}': {".": {}}}}, {"mapped": [{"name": "b"}]}),
    ({"f:gone": {}}, {}),
])
def test_a_value_without_some_of_its_fields(fields: Any, left: Any) -> None:
    """Given a value / when fields of a set are taken away / then what loses everything, and what is
    one indivisible thing, is nothing.
    """
    node = widgets()._node
    assert merge.without(node, {"spec": SPEC}, {"f:spec": fields}) == {"spec": SPEC | left}


def test_a_value_of_another_type_loses_everything() -> None:
    """Given a text where a map or a list is expected / when fields of it are taken away / then it
    goes; where a text is expected it stays.
    """
    node = widgets()._node
    fields: Any = {"f:spec": {"f:granular": {"f:a": {}}, "f:tags": {'v:"a"': {}}}}
    assert merge.without(node, {"spec": {"granular": "x", "tags": "y"}}, fields) == {"spec": {"granular": None, "tags": None}}
    deep: Any = {"f:spec": {"f:granular": {"f:a": {"f:b": {}}}}}
    assert merge.without(node, {"spec": {"granular": {"a": "x"}}}, deep) == {"spec": {"granular": {"a": "x"}}}


@pytest.mark.parametrize(("value", "told"), [
    ({"granular": "x"}, "expected map, got x"), ({"tags": "x"}, "expected list, got x"), ({"mapped": 5}, "expected list, got 5"),
])
def test_what_cannot_be_compared(value: Any, told: str) -> None:
    """Given a value of another type / when it is compared / then that is told."""
    with pytest.raises(TypedError) as error:
        compare.difference(widgets()._node, {"spec": value}, {"spec": SPEC})
    assert told in str(error.value)


@pytest.mark.parametrize(("config", "allowed"), [
    ("no JSON", {}), ("[]", {}), ("{}", {}), (None, {}),
    (orjson.dumps(configmap({"a": "1", "b": "2"})).decode(), {"f:data": {"f:a": {}}, "f:metadata": {}}),
    (orjson.dumps({**configmap({"a": "1"}), "apiVersion": "v2"}).decode(), {}),
    (orjson.dumps({**configmap(), "data": "x"}).decode(), {}),
])
def test_what_kubectl_applied_last(config: str | None, allowed: Any) -> None:
    """Given the annotation of kubectl's apply / when it is read / then what nobody changed since is
    allowed, and of what is none nothing.
    """
    live = configmap({"a": "1", "b": "3"}, annotations={LAST_APPLIED: config} if config else {})
    found = apply.allowed_by_last_applied(configmaps()._node, live, "v1")
    assert {name: below for name, below in found.items() if name == "f:data"} == {
        name: below for name, below in allowed.items() if name == "f:data"}


def test_a_live_object_that_cannot_be_tracked() -> None:
    """Given a live object with values of other types / when something is applied / then it is told
    that its fields cannot be.
    """
    live = widget({"mapped": [{"value": "1"}]})
    with pytest.raises(APIError) as error:
        widgets().apply({**live, "metadata": {"name": "a", "uid": "u"}}, widget({"mapped": [{"name": "a"}]}), manager="m", now=T0)
    assert (error.value.code, error.value.message) == (500, f"failed to create manager for existing fields: {OMITS}")
    managed = [{"manager": "n", "operation": "Update", "apiVersion": "example.com/v1", "time": T0, "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:plain": {}}}}]
    with pytest.raises(APIError) as error:
        widgets().apply(
            {**live, "metadata": {"name": "a", "uid": "u", "managedFields": managed}}, widget({"mapped": [{"name": "a"}]}),
            manager="m", now=T0)
    assert error.value.message == f"failed to create typed live object (/a; example.com/v1, Kind=Widget): {OMITS}"


def test_a_text_speaks_of_nothing_below() -> None:
    """Given a text, and what is one indivisible thing / when it is asked what it speaks of / then
    of nothing below.
    """
    node = widgets()._node
    assert (to_set(node, "x"), to_set(node, None)) == ({}, {})

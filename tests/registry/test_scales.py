"""Scales of what is not there, and of custom objects whose fields are of other types."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.registry import scale
from fakekube.registry.kind import ScalePaths

META = {"name": "x", "uid": "u", "resourceVersion": "1"}


def store(replicas: str = ".spec.deep.replicas", selector: str = ".status.selector") -> Any:
    """The store of a custom kind that says where its replicas are."""
    paths = ScalePaths(replicas, ".status.replicas", selector)
    return SimpleNamespace(kind=SimpleNamespace(group="g.example", plural="ws", scale_paths=paths, api_version="g.example/v1"))


def told(call: Any) -> tuple[int, str]:
    """What is told of a call."""
    with pytest.raises(APIError) as error:
        call()
    return error.value.code, error.value.message


def test_nothing_is_not_scaled() -> None:
    """Given no object / when it is scaled / then it is not found, by its sub-resource."""
    assert told(lambda: scale.rescaled(store(), "x", lambda tree: tree)(None)) == (404, 'ws/scale.g.example "x" not found')


@pytest.mark.parametrize(("fields", "message"), [
    ({"spec": {"deep": {"replicas": "3"}}}, ".spec.deep.replicas accessor error: 3 is of the type string, expected int64"),
    ({"spec": 5}, ".spec.deep.replicas accessor error: 5 is of the type int64, expected map[string]interface{}"),
    ({"status": {"replicas": True}}, ".status.replicas accessor error: true is of the type bool, expected int64"),
    ({"status": {"selector": {}}}, ".status.selector accessor error: {} is of the type map[string]interface {}, expected string"),
])
def test_fields_of_other_types(fields: dict[str, Any], message: str) -> None:
    """Given a custom object with a field of another type / when its scale is asked for / then that
    is told.
    """
    assert told(lambda: scale.written_scale_of(store(), {"metadata": META, **fields})) == (500, message)


@pytest.mark.parametrize(("fields", "where"), [
    ({"spec": None}, ".spec"), ({"spec": {"deep": None}}, ".spec.deep"), ({"spec": {"deep": []}}, ".spec.deep"),
])
def test_replicas_that_cannot_be_set(fields: dict[str, Any], where: str) -> None:
    """Given a custom object with nothing where its replicas belong / when it is scaled / then it is
    told what is no map.
    """
    obj = {"metadata": META, **fields}
    assert told(lambda: scale.with_scale(store(), obj, {"spec": {"replicas": 2}})) == (
        500, f"value cannot be set because {where} is not a map[string]interface{{}}")


def test_replicas_that_are_set() -> None:
    """Given a custom object / when it is scaled / then its replicas are there, and it stays as it
    was itself.
    """
    obj: dict[str, Any] = {"metadata": META, "spec": {"other": 1}}
    found = scale.with_scale(store(), obj, {"spec": {"replicas": 2}})
    assert found == {"metadata": META, "spec": {"other": 1, "deep": {"replicas": 2}}}
    assert obj == {"metadata": META, "spec": {"other": 1}}
    assert scale.written_scale_of(store(), {**found, "status": {"replicas": 1, "selector": "a=b"}}) == {
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": META, "spec": {"replicas": 2},
        "status": {"replicas": 1, "selector": "a=b"}}
    assert scale.written_scale_of(store(selector=""), {"metadata": META})["status"] == {"replicas": 0}

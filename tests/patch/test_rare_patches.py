"""Patches that few send: directives among ordered items, items of other types, values too deep."""

from typing import Any

import pytest

from fakekube.patch import json_patch, strategic_merge
from fakekube.patch.errors import PatchError
from fakekube.schema.structural import from_openapi
from tests.patch.test_strategic_merge import merged, schema

A, B = {"name": "a", "image": "x"}, {"name": "b", "image": "x"}
ORDER = "$setElementOrder/containers"


@pytest.mark.parametrize(("patch", "left"), [
    ([{"$patch": "replace"}, B], [B]),
    ([{"$patch": "delete", "name": "a"}, B], [B]),
])
def test_directives_among_ordered_items(patch: list[Any], left: list[Any]) -> None:
    """Given a patch with an order and a directive among its items / when it is merged / then the
    directive is obeyed, and is in no order.
    """
    assert merged({"containers": [A]}, {"containers": patch, ORDER: [{"name": "b"}]}) == {"containers": left}


@pytest.mark.parametrize(("patch", "order", "told"), [
    ([B, "text"], [{"name": "b"}], "expected a map[string]interface {}, but received a string"),
    ([B], ["text"], "expected a map[string]interface {}, but received a string"),
    ([{"image": "x"}], [{"name": "b"}], "does not contain declared merge key: name"),
    ([B], [{"image": "b"}], "does not contain declared merge key: name"),
    ([B, A], [{"name": "a"}, {"name": "b"}], "The order in patch list:\n"),
])
def test_items_that_cannot_be_ordered(patch: list[Any], order: list[Any], told: str) -> None:
    """Given items, or an order, that are no maps or have no key / when they are compared / then
    that is told.
    """
    with pytest.raises(PatchError) as error:
        merged({"containers": [A]}, {"containers": patch, ORDER: order})
    assert told in str(error.value)


def test_maps_that_have_no_key_are_not_merged() -> None:
    """Given texts that are merged / when there are maps in their place / then there is no key by
    which they could be.
    """
    tree, patch = {"metadata": {"finalizers": [{"a": 1}]}}, {"metadata": {"finalizers": [{"b": 1}]}}
    with pytest.raises(PatchError) as error:
        strategic_merge.apply(tree, patch, schema("", "v1", "Pod"))
    assert (str(error.value), error.value.code) == ("cannot merge lists without merge key for string", 500)


def nested(levels: int) -> Any:
    """Lists in one another."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(("operation", "said"), [
    ("replace", "error in remove for path: '/a': /a would be too deep"),
    ("add", "error in add for path: '/a': /a would be too deep"),
])
def test_values_are_only_so_deep(operation: str, said: str) -> None:
    """Given a value of 199 levels, and of 200 / when it is put below the object / then the former
    is, and the latter is refused.
    """
    patch = {"op": operation, "path": "/a", "value": nested(199)}
    assert json_patch.apply({"a": 1}, [patch]) == {"a": nested(199)}
    with pytest.raises(json_patch.PatchError) as error:
        json_patch.apply({"a": 1}, [{**patch, "value": nested(200)}])
    assert str(error.value) == said


def test_a_schema_without_strategies_replaces() -> None:
    """Given a schema that says nothing of merging / when a list is patched / then it is replaced.
    """
    shape = from_openapi({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object"}}}})
    assert strategic_merge.apply({"l": [{"a": 1}]}, {"l": [{"b": 2}]}, shape) == {"l": [{"b": 2}]}

"""The defaults of a schema, filled in where a custom object has nothing.

A default goes where its field is missing, or is null and may not be; then what is below it gets its
own. For each node that has defaults below it a function is made once, and all others are not
visited. Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting.
"""

from collections.abc import Callable
from typing import Any

import orjson

from fakekube.apiextensions.objects.pruning import prune_value
from fakekube.apimachinery.types import Json
from fakekube.schema.structural import Schema

Fill = Callable[[Any], None]


def defaulter(schema: Schema) -> Fill | None:
    """A function that fills defaults into a value, in place; None when there are none to fill in.
    """
    if schema.name:  # metadata, whose defaults are upstream's own
        return None
    of_fields = _fields(schema)
    of_others = _others(schema)
    of_items = _items(schema)
    parts = [part for part in (of_fields, of_others) if part is not None]
    if not parts and of_items is None:
        return None

    def fill(value: Any) -> None:
        if value.__class__ is dict:
            for part in parts:
                part(value)
        elif value.__class__ is list and of_items is not None:
            of_items(value)

    return fill


def _fields(schema: Schema) -> Fill | None:
    made = [(name, below.nullable, _maker(below)) for name, below in schema.properties.items() if below.default is not None]
    deeper = [(name, found) for name, below in schema.properties.items() if (found := defaulter(below)) is not None]
    if not made and not deeper:
        return None

    def fill(tree: dict[str, Json]) -> None:
        for name, nullable, make in made:
            if name not in tree or (tree[name] is None and not nullable):
                tree[name] = make()
        for name, below in deeper:
            if name in tree:
                below(tree[name])

    return fill


def _others(schema: Schema) -> Fill | None:
    """For the entries of a map."""
    if schema.additional is None:
        return None
    below, make, nullable = defaulter(schema.additional), _maker(schema.additional), schema.additional.nullable
    if below is None and schema.additional.default is None:
        return None
    named = schema.properties

    def fill(tree: dict[str, Json]) -> None:
        for name, value in tree.items():
            if name in named:
                continue
            if value is None and not nullable:
                tree[name] = make()
            if below is not None:
                below(tree[name])

    return fill


def _items(schema: Schema) -> Fill | None:
    if schema.items is None:
        return None
    below, make, nullable = defaulter(schema.items), _maker(schema.items), schema.items.nullable
    if below is None and schema.items.default is None:
        return None

    def fill(values: list[Json]) -> None:
        for place, value in enumerate(values):
            if value is None and not nullable:
                values[place] = make()
            if below is not None:
                below(values[place])

    return fill


def _maker(schema: Schema) -> Callable[[], Json]:
    """A function that gives the default of a node, a new one each time."""
    default = schema.default
    if not isinstance(default, dict | list):
        return lambda: default
    data = orjson.dumps(default)
    own = orjson.loads(data)
    prune_value(own, schema)
    data = orjson.dumps(own)
    return lambda: orjson.loads(data)

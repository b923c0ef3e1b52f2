"""Lists that are sets, and lists whose items have keys: nothing may be in them twice.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/listtype.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson

from fakekube.apiextensions.objects.goprinting import as_shown
from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Json
from fakekube.schema.structural import Schema

NOT_AN_OBJECT = "must be an object for an array of list-type map"

Check = Callable[[Any, str, list[FieldError]], None]


def checker(schema: Schema) -> Check | None:
    """A function that adds what is repeated in a value to a list of errors; None when nothing below
    the node may be repeated less than elsewhere.
    """
    if schema.name:  # metadata, of which others see to it
        return None
    of_items = checker(schema.items) if schema.items is not None else None
    of_others = checker(schema.additional) if schema.additional is not None else None
    of_fields = [(name, found) for name, below in schema.properties.items() if (found := checker(below)) is not None]
    unique: Callable[[list[Any], str], list[FieldError]] | None = None
    if schema.list_type == "set":
        unique = _about_set
    elif schema.list_type == "map":
        unique = partial(_about_keys, schema.list_map_keys)
    if unique is None and of_items is None and of_others is None and not of_fields:
        return None
    named = schema.properties

    def check(value: Any, path: str, found: list[FieldError]) -> None:
        if isinstance(value, dict):
            if of_others is not None:
                for name, item in value.items():
                    if name not in named:
                        of_others(item, f"{path}[{name}]", found)
            for name, below in of_fields:
                if name in value:
                    below(value[name], f"{path}.{name}" if path else name, found)
        elif isinstance(value, list):
            if unique is not None:
                found += unique(value, path)
            if of_items is not None:
                for place, item in enumerate(value):
                    of_items(item, f"{path}[{place}]", found)

    return check


def _about_set(values: list[Any], path: str) -> list[FieldError]:
    return [field_errors.duplicate(f"{path}[{place}]", as_shown(values[place])) for place in _repeated(values)]


def _about_keys(keys: Sequence[str], values: list[Any], path: str) -> list[FieldError]:
    if len(keys) == 1 and _differ(keys[0], values):
        return []
    for place, value in enumerate(values):
        if value is not None and not isinstance(value, dict):
            return [field_errors.invalid(f"{path}[{place}]", as_shown(value), NOT_AN_OBJECT)]
    known = [{key: value[key] for key in keys if key in value} if value is not None else {} for value in values]
    return [field_errors.duplicate(f"{path}[{place}]", as_shown(known[place])) for place in _repeated(known)]


def _differ(key: str, values: list[Any]) -> bool:
    """Whether each is an object with a text of its own under the key."""
    texts = {text for value in values if value.__class__ is dict and (text := value.get(key)).__class__ is str}
    return len(texts) == len(values)


def _repeated(values: Sequence[Json]) -> list[int]:
    """The places of values that are there for the second time; those of the third are not told."""
    if len(values) < 2:
        return []
    seen: dict[Any, int] = {}
    places: list[int] = []
    for place, value in enumerate(values):
        key = value if value.__class__ is str else orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        times = seen[key] = seen.get(key, 0) + 1
        if times == 2:
            places.append(place)
    return places

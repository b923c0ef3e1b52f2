"""What is taken out of a custom object when it is read: fields that its schema does not know, and
nulls where none may be.

Kind, apiVersion and metadata of the object and of objects embedded in it are left to ``metadata``.
``is_clean`` says of nearly every object at once that there is nothing to do. Upstream:
apiextensions-apiserver/pkg/apiserver/schema/pruning and defaulting/prunenulls.go.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.structural import Schema

TYPE_AND_METADATA = frozenset({"apiVersion", "kind", "metadata"})
INT64 = 1 << 63
_NO_FIELDS: Mapping[str, Schema] = MappingProxyType({})

Clean = Callable[[Any], bool]


def prune(tree: Tree, schema: Schema | None) -> list[str]:
    """Take unknown fields out of an object. Their paths, sorted."""
    unknown: list[str] = []
    _prune_fields(tree, schema, "", unknown, whole=True)
    return sorted(unknown)


def prune_value(value: Json, schema: Schema | None) -> None:
    """Take unknown fields out of a part of an object."""
    _prune(value, schema, "", [])


def _prune(value: Json, schema: Schema | None, path: str, unknown: list[str]) -> None:
    if isinstance(value, dict):
        _prune_fields(value, schema, path, unknown, whole=schema is not None and schema.embedded)
    elif isinstance(value, list):
        # a list that may hold anything may hold it in its items too
        below = schema.items if schema is not None else None
        keeps = schema is not None and schema.preserve_unknown
        for place, item in enumerate(value):
            if keeps:
                _prune_kept(item, below, f"{path}[{place}]", unknown)
            else:
                _prune(item, below, f"{path}[{place}]", unknown)


def _prune_kept(value: Json, schema: Schema | None, path: str, unknown: list[str]) -> None:
    """Items of a list that keeps what it does not know: named fields follow their schema still."""
    if schema is None:
        return
    if isinstance(value, dict):
        _prune_fields(value, schema, path, unknown, whole=schema.embedded, keeps=True)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _prune_kept(item, schema.items, f"{path}[{place}]", unknown)


def _prune_fields(
    tree: Tree, schema: Schema | None, path: str, unknown: list[str], *, whole: bool, keeps: bool = False,
) -> None:
    fields = schema.properties if schema is not None else _NO_FIELDS
    additional = schema.additional if schema is not None else None
    keeps = keeps or (schema is not None and schema.preserve_unknown)
    for name in list(tree):
        if whole and name in TYPE_AND_METADATA:
            continue
        here = f"{path}.{name}" if path else name
        if name in fields:
            _prune(tree[name], fields[name], here, unknown)
        elif additional is not None:
            _prune(tree[name], additional, here, unknown)
        elif not keeps:
            unknown.append(here)
            del tree[name]


def drop_nulls(value: Json, schema: Schema | None) -> None:
    """Take out of objects the nulls that no schema allows and no default replaces."""
    if isinstance(value, dict):
        fields = schema.properties if schema is not None else _NO_FIELDS
        additional = schema.additional if schema is not None else None
        for name, item in list(value.items()):
            below = fields.get(name, additional)
            if item is None and below is not None and not below.nullable and below.default is None:
                del value[name]
            else:
                drop_nulls(item, below)
    elif isinstance(value, list):
        below = schema.items if schema is not None else None
        for item in value:
            drop_nulls(item, below)


def with_go_numbers(value: Json) -> Json:
    """The value with integers that 64 bits do not hold made floats, as Go reads them."""
    if isinstance(value, dict):
        for name, item in value.items():
            value[name] = with_go_numbers(item)
    elif isinstance(value, list):
        value[:] = [with_go_numbers(item) for item in value]
    elif value.__class__ is int and not -INT64 <= value < INT64:
        return float(value)
    return value


# the quick test


def is_clean(schema: Schema) -> Clean:
    """A test for parts of objects from which nothing has to be taken, made for a node once.

    No says nothing: there may be nothing to take out after all.
    """
    if schema.embedded:
        return _never
    if schema.properties or schema.additional is not None:
        return _clean_object(schema, whole=False)
    if schema.items is not None and not schema.preserve_unknown:
        return _clean_list(schema.items)
    if schema.preserve_unknown:
        return _plain if schema.items is None else _never
    return _empty_object if schema.type == "object" else _scalar


def is_clean_object(schema: Schema) -> Clean:
    """The same for whole objects, whose kind, apiVersion and metadata are not looked at."""
    return _clean_object(schema, whole=True)


def _clean_object(schema: Schema, *, whole: bool) -> Clean:
    rules: dict[str, Clean] = dict.fromkeys(TYPE_AND_METADATA, _ignored) if whole else {}
    fields, additional, keeps = schema.properties, schema.additional, schema.preserve_unknown
    rest = _allowing_null(additional) if additional is not None else _plain if keeps else _never
    get = rules.get

    def accept(value: Any) -> bool:
        if value.__class__ is not dict:
            return value.__class__ is str
        for name, item in value.items():
            rule = get(name)
            if rule is None:
                below = fields.get(name)
                rule = rest if below is None else _allowing_null(below)
                if below is not None:
                    rules[name] = rule
            # most fields are texts, and nothing can be in them
            if (item.__class__ is not str or rule is _never) and not rule(item):
                return False
        return True

    return accept


def _clean_list(items: Schema) -> Clean:
    rule: Clean | None = None

    def accept(value: Any) -> bool:
        nonlocal rule
        if value.__class__ is not list:
            return value.__class__ is str
        if rule is None:
            rule = is_clean(items)
        for item in value:  # noqa: SIM110 - a generator costs as much as the check
            # a null item is for the validation
            if item.__class__ is not str and item is not None and not rule(item):
                return False
        return True

    return accept


def _allowing_null(schema: Schema) -> Clean:
    rule = is_clean(schema)
    if not schema.nullable:
        return _plain_but_null if rule is _plain else rule
    return lambda value: value is None or rule(value)


def _scalar(value: Any) -> bool:
    kind = value.__class__
    return (kind is int and -INT64 <= value < INT64) or kind is str or kind is bool or kind is float


def _empty_object(value: Any) -> bool:
    return value == {} or _scalar(value)


def _plain(value: Any) -> bool:
    """Whether a part that may hold anything holds no number that Go would read otherwise."""
    kind = value.__class__
    if kind is dict:
        return all(map(_plain, value.values()))
    if kind is list:
        return all(map(_plain, value))
    return kind is not int or -INT64 <= value < INT64


def _plain_but_null(value: Any) -> bool:
    return value is not None and _plain(value)


def _ignored(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False

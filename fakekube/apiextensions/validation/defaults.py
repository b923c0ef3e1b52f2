"""Defaults in a schema: they are valid, and have no fields that the schema has not.

A default in the metadata of an embedded object is looked at as a part of that object. Defaults in
the values of maps are not looked at, as upstream does not. Upstream:
apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from fakekube.apiextensions.objects.constraints import Constraints
from fakekube.apiextensions.objects.metadata import (
    BadMetadata,
    MetadataReader,
    coerce_embedded,
    validate_embedded,
)
from fakekube.apiextensions.objects.pruning import prune, prune_value
from fakekube.apiextensions.objects.violations import violations
from fakekube.apiextensions.rules.checking import RULES, checker
from fakekube.apiextensions.rules.compiling import undescribed
from fakekube.apiextensions.validation.structural import EMBEDDED, has_any
from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError, child, invalid, key
from fakekube.apimachinery.releases import minor_of
from fakekube.apimachinery.types import Json, Tree
from fakekube.schema import definitions
from fakekube.schema.structural import OBJECT_META, from_openapi
from fakekube.util.memory import memoized
from fakekube.util.turns import TakesLong, Turn

TYPE_AND_METADATA = ("metadata", "apiVersion", "kind")
REMEMBERED_DEFAULTS, REMEMBERED_BYTES = 256, 128 * 1024
PLACEHOLDER = {"apiVersion": "validation/v1", "kind": "Validation"}


class _Default(NamedTuple):
    """A default and its place: the object it is embedded in, and the names from there.

    ``names`` has a number for a list's item. ``of_metadata``: whether it is of that object's
    metadata.
    """

    value: Json
    schema: Tree
    path: str
    root: Tree
    names: tuple[str | int, ...]
    of_metadata: bool


def default_errors(
    schema: Tree, path: str, plain: frozenset[int], *, pruned: bool, release: str, turn: Turn | None = None,
) -> list[FieldError]:
    """What is wrong with the defaults in a structural schema.

    ``pruned``: whether they may have no unknown fields. ``release`` is like ``1.37``. ``turn`` is
    ended now and then: raises TakesLong in the first.
    """
    found: list[FieldError] = []
    root = {**schema, EMBEDDED: True}
    for default in _defaults(root, path, root, (), plain, of_metadata=False):
        found += _errors(default, release, turn, pruned=pruned)
    return found


def has_unpruned(schema: Tree) -> bool:
    """Whether a default has fields that the structural schema has not."""
    root = {**schema, EMBEDDED: True}
    return any(_is_unpruned(default) for default in _defaults(root, "", root, (), frozenset(), of_metadata=False))


def _defaults(
    schema: Tree, path: str, root: Tree, names: tuple[str | int, ...], plain: frozenset[int], *, of_metadata: bool,
) -> Iterator[_Default]:
    if schema.get(EMBEDDED):
        root, names, of_metadata = schema, (), False
    if schema.get("default") is not None:
        yield _Default(schema["default"], schema, child(path, "default"), root, names, of_metadata)
    if isinstance(schema.get("items"), dict) and id(schema["items"]) not in plain:
        yield from _defaults(schema["items"], child(path, "items"), root, (*names, 0), plain, of_metadata=of_metadata)
    for name, below in (schema.get("properties") or {}).items():
        if id(below) in plain:
            continue
        inside = of_metadata or (bool(schema.get(EMBEDDED)) and name in TYPE_AND_METADATA)
        yield from _defaults(below, key(child(path, "properties"), name), root, (*names, name), plain, of_metadata=inside)


def _errors(default: _Default, release: str, turn: Turn | None, *, pruned: bool) -> list[FieldError]:
    found = []
    if default.of_metadata:
        wrong = _metadata_errors(default, release)
    else:
        if pruned and _is_unpruned(default):
            found.append(invalid(default.path, _sorted(default.value), "must not have unknown fields"))
        wrong = _embedded_errors(default.value, default.schema, default.path, release)
    if not wrong:  # upstream takes the place in a list for a name
        broken = violations(Constraints(default.schema, minor_of(release)), default.value)
        wrong = [error._replace(field=f".{error.field}") if error.field[:1] == "[" else error for error in broken]
        wrong = _at(default.path, wrong)
    return found + (wrong or _at(default.path, _broken_rules(default, release, turn)))


def _broken_rules(default: _Default, release: str, turn: Turn | None) -> Sequence[FieldError]:
    """What the rules in CEL say of a default that an update leaves, or that comes new."""
    if not has_any(default.schema, RULES):
        return ()
    text, value = orjson.dumps(undescribed(default.schema)), orjson.dumps(default.value)
    try:
        return _broken_at_once(text, value, minor_of(release), default.schema is default.root)
    except TakesLong:
        if turn is not None:
            turn.end()
        return _broken_by(text, value, minor_of(release), turn, is_root=default.schema is default.root)


@memoized(REMEMBERED_DEFAULTS, longest=REMEMBERED_BYTES)
def _broken_at_once(schema: bytes, value: bytes, minor: int, is_root: bool) -> tuple[FieldError, ...]:
    return _broken_by(schema, value, minor, Turn(), is_root=is_root)


def _broken_by(schema: bytes, value: bytes, minor: int, turn: Turn | None, *, is_root: bool) -> tuple[FieldError, ...]:
    """What the rules of a schema say of its default, both given in JSON."""
    openapi, default = orjson.loads(schema), orjson.loads(value)
    rules = checker(from_openapi(openapi), openapi, minor, is_root=is_root)
    if rules is None:
        return ()
    return tuple(rules.check(default, default, turn=turn)[0] or rules.check(default, turn=turn)[0])


def _is_unpruned(default: _Default) -> bool:
    if default.of_metadata or not isinstance(default.value, dict | list):
        return False
    schema, left = from_openapi(default.schema), _copied(default.value)
    if isinstance(left, dict) and schema.embedded:
        prune(left, schema)
    else:
        prune_value(left, schema)
    return bool(left != default.value)


def _embedded_errors(value: Json, schema: Tree, path: str, release: str) -> list[FieldError]:
    """What is wrong with kind, apiVersion and metadata of the objects embedded in a value."""
    if not isinstance(value, dict) or not has_any(schema, EMBEDDED):
        return []
    tree, own = _copied(value), from_openapi(schema)
    try:
        coerce_embedded(tree, own, _reader(release))
    except BadMetadata as error:
        return [invalid(path, value, str(error))]
    return _at(path, validate_embedded(tree, own))


def _metadata_errors(default: _Default, release: str) -> list[FieldError]:
    """Whether the object around is a valid one with this default in it."""
    around: Json = default.value
    for name in reversed(default.names):
        around = [around] if isinstance(name, int) else {name: around}
    assert isinstance(around, dict), "metadata stands in an object"
    wrong = _embedded_errors({**PLACEHOLDER, **around}, default.root, "", release)
    if not wrong:
        return []
    return [invalid(default.path, default.value, f"must result in valid metadata: {field_errors.aggregate(wrong)}")]


def _at(path: str, found: Sequence[FieldError]) -> list[FieldError]:
    """The same errors, of a value that stands at a path."""
    return [error._replace(field=f"{path}{'' if error.field[:1] in ('', '.', '[') else '.'}{error.field}") for error in found]


def _sorted(value: Json) -> Json:
    """A value as Go prints it, whose maps have no order."""
    shown: Json = orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    return shown


def _copied(value: Json) -> Tree:
    copied: Tree = orjson.loads(orjson.dumps(value))
    return copied


@memoized(4)
def _reader(release: str) -> MetadataReader:
    return MetadataReader(definitions.load(release).named(OBJECT_META))

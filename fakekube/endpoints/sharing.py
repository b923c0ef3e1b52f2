"""What a patched object has in common with the one before, and may go on sharing with it.

A patch changes little: what it leaves alone has passed the schema before, and need not be copied where nobody changes it
in place. The same goes for what came before in another object: pods that live side by side are told of the same conditions
at the same time. Upstream decodes the whole object again.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery.types import Json, Tree
from fakekube.endpoints.scope import Scope
from fakekube.schema.decode import Codec, Decoded, Kept
from fakekube.util.memory import remember

PARTS = ("metadata", "status")
REMEMBERED, REMEMBERED_BYTES = 256, range(64, 16_384)  # what is smaller is read as soon as found, and seldom comes again


class Fresh(NamedTuple):
    """A list or map that has not come before: where it is, and its JSON."""

    part: str
    field: str
    spelled: bytes


class Taken(NamedTuple):
    """An object to be decoded. ``known`` names its structs that are as they were, ``kept`` has what is so of others."""

    tree: Tree
    known: list[str]
    kept: dict[str, Kept]
    fresh: Sequence[Fresh] = ()

    def learn(self, codec: Codec, decoded: Decoded) -> None:
        """Remember what decoding made of what has not come before, if it found nothing to complain of."""
        for fresh in self.fresh if not decoded.unknown else ():
            value = decoded.tree[fresh.part].get(fresh.field)
            if value is not None:
                remember(codec.familiar, fresh, value, REMEMBERED)


def taken_over(scope: Scope, old: Tree, patched: Tree) -> Taken:
    """The patched object as its own, but for what it may share with the old one."""
    known = _untouched(scope, old, patched)
    if scope.name in ("", "status") and not scope.kind.custom and scope.store.strategy.shares_old:
        codec = scope.services.codec(scope.gvk)
        return _shared(patched, old, known, codec.familiar if codec is not None else {})
    # Of what is as it was, a write of the status shares all but metadata with the stored object.
    shared = {name: old[name] for name in known if name != "metadata"} if scope.name == "status" else {}
    return Taken(_copied(patched, shared, owners="metadata" in known), known, {})


def _untouched(scope: Scope, old: Tree, patched: Tree) -> list[str]:
    """The structs of an object that a patch left alone: they have passed the schema before."""
    if scope.kind.conversion is not None or scope.kind.custom:
        return []
    return [name for name, value in patched.items() if value.__class__ is dict and old.get(name) is value]


def _shared(patched: Tree, old: Tree, known: list[str], familiar: Mapping[Fresh, Json]) -> Taken:
    """A copy but for structs that are as they were, and for lists and maps of metadata and status that came before."""
    kept: dict[str, Kept] = {}
    fresh: list[Fresh] = []
    own: Tree = {}
    if "metadata" not in known and _says_the_same(patched.get("metadata"), old["metadata"]):
        known = [*known, "metadata"]
    for name, part in patched.items():
        before = old.get(name)
        if name in known:
            own[name] = dict(old[name]) if name == "metadata" else old[name]
        elif name in PARTS and part.__class__ is dict and isinstance(before, dict):
            own[name], kept[name] = _divided(name, part, before, familiar, fresh)
        else:
            own[name] = orjson.loads(orjson.dumps(part)) if isinstance(part, dict | list) else part
    return Taken(own, known, kept, fresh)


def _divided(
    name: str, part: Tree, before: Tree, familiar: Mapping[Fresh, Json], fresh: list[Fresh],
) -> tuple[Tree, Kept]:
    """A struct without the lists and maps that came before, and those; the others are copied, and noted in ``fresh``."""
    own: Tree = {}
    values: Tree = {}
    for field, value in part.items():
        if value.__class__ is not dict and value.__class__ is not list:
            own[field] = value
        elif before.get(field) is value:
            values[field] = value
        else:
            spelled = orjson.dumps(value)
            key = Fresh(name, field, spelled) if len(spelled) in REMEMBERED_BYTES else None
            if key is not None and (found := familiar.get(key)) is not None:
                values[field] = found
                continue
            own[field] = orjson.loads(spelled)
            if key is not None:
                fresh.append(key)
    return own, Kept(part, values)


def _says_the_same(part: object, before: Tree) -> bool:
    """Whether nothing but texts was given anew, and they are what they were: so it is with a uid that is a precondition."""
    if part.__class__ is not dict or part != before:
        return False
    return all(value is before[key] or value.__class__ is str for key, value in part.items())


def _copied(patched: Tree, shared: Tree, *, owners: bool) -> Tree:
    """A copy but for what is in ``shared`` and, with ``owners``, managedFields, which nobody ever changes in place."""
    rest = {name: value for name, value in patched.items() if name not in shared} if shared else patched
    entries = patched["metadata"].get("managedFields") if owners else None
    if entries:
        metadata = {name: value for name, value in patched["metadata"].items() if name != "managedFields"}
        rest = {**rest, "metadata": metadata}
    copy: Tree = orjson.loads(orjson.dumps(rest))
    if entries:
        copy["metadata"]["managedFields"] = entries
    return {name: shared[name] if name in shared else copy[name] for name in patched} if shared else copy

"""What a patched object has in common with the one before, and may go on sharing with it.

A patch changes little: what it leaves alone has passed the schema before, and need not be copied where nobody changes it
in place. Upstream decodes the whole object again.
"""

from typing import NamedTuple

import orjson

from fakekube.apimachinery.types import Tree
from fakekube.endpoints.scope import Scope
from fakekube.schema.decode import Kept


class Taken(NamedTuple):
    """An object to be decoded. ``known`` names its structs that are as they were, ``kept`` has what is so of others."""

    tree: Tree
    known: list[str]
    kept: dict[str, Kept]


def taken_over(scope: Scope, old: Tree, patched: Tree) -> Taken:
    """The patched object as its own, but for what it may share with the old one."""
    known = _untouched(scope, old, patched)
    if scope.name in ("", "status") and not scope.kind.custom and scope.store.strategy.shares_old:
        return _shared(patched, old, known)
    # Of what is as it was, a write of the status shares all but metadata with the stored object.
    shared = {name: old[name] for name in known if name != "metadata"} if scope.name == "status" else {}
    return Taken(_copied(patched, shared, owners="metadata" in known), known, {})


def _untouched(scope: Scope, old: Tree, patched: Tree) -> list[str]:
    """The structs of an object that a patch left alone: they have passed the schema before."""
    if scope.kind.conversion is not None or scope.kind.custom:
        return []
    return [name for name, value in patched.items() if value.__class__ is dict and old.get(name) is value]


def _shared(patched: Tree, old: Tree, known: list[str]) -> Taken:
    """A copy but for structs that are as they were, and for lists and maps that are so in metadata and in the status."""
    kept: dict[str, Kept] = {}
    changed: Tree = {}
    if "metadata" not in known and _says_the_same(patched.get("metadata"), old["metadata"]):
        known = [*known, "metadata"]
    for name, part in patched.items():
        if name in known:
            continue
        changed[name] = part
        before = old.get(name)
        if name in ("metadata", "status") and part.__class__ is dict and isinstance(before, dict):
            values: Tree = {}
            own = changed[name] = {}
            for key, value in part.items():
                is_kept = (value.__class__ is dict or value.__class__ is list) and before.get(key) is value
                (values if is_kept else own)[key] = value
            kept[name] = Kept(part, values)
    copy: Tree = orjson.loads(orjson.dumps(changed))
    tree = {name: old[name] if name in known else copy[name] for name in patched}
    if "metadata" in known:
        tree["metadata"] = dict(old["metadata"])
    return Taken(tree, known, kept)


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

"""Decoding a body of a built-in kind: what Go's decoding into the typed object and encoding it again would give.

Unknown fields and nulls are gone, zero values that ``omitempty`` drops are gone, what Go always prints is there,
amounts and times are in canonical form. A body that already is so passes a quick test; only one that is not is walked a
second time, by the path that can say what is wrong with it.

Upstream: apimachinery/pkg/runtime/serializer/json with sigs.k8s.io/json. Left out: a repeated key merges into what the
first gave (here the last wins), and keys keep the order of the body when the quick test passes.
"""

import json
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.compile import shape_of
from fakekube.schema.duplicates import Members
from fakekube.schema.familiar import Endings
from fakekube.schema.structural import Schema
from fakekube.schema.walk import DecodeError, NumberText, StrictWalk, Walk
from fakekube.util.memory import remember

_LONGEST_INTEGER = 20  # digits and sign of 64 bits
_REMEMBERED, _REMEMBERED_BYTES = 256, 16_384  # specs of a kind, and how long each may be
__all__ = ["Codec", "DecodeError", "Decoded", "Kept"]


class Decoded(NamedTuple):
    """A decoded body, and the paths of the fields its kind does not have, in the order of the body."""

    tree: Tree
    unknown: list[str]


class Kept(NamedTuple):
    """What of a struct comes from a stored object: ``values`` by field; ``order`` has all of its fields as they are to stand."""

    order: Collection[str]
    values: Tree


NOTHING_KEPT: Mapping[str, Kept] = MappingProxyType({})


class Codec:
    """Decodes bodies of one kind. Cheap to make: the work behind it is kept on the schema.

    Objects are often alike but for their names, so the latest specs that passed the quick test are remembered.
    """

    __slots__ = ("_accept", "_passed", "_shape", "endings", "familiar", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._shape = shape_of(schema)
        self._accept = self._shape.acceptor(nonzero=False)
        self._passed: dict[bytes, bytes | None] = {}  # None for what passes as it is, else what passing made of it
        self.endings = Endings()
        self.familiar: dict[Any, Json] = {}  # lists and maps that passed before, for who decodes only what is new

    def decode(
        self, tree: Tree, body: bytes | None = None, *, known: Collection[str] = (), kept: Mapping[str, Kept] = NOTHING_KEPT,
    ) -> Decoded:
        """Take a parsed body and give what Go would make of it. The tree is taken over and may be changed in place.

        ``body`` is the JSON that the tree was parsed from, if there is one: numbers such as ``1e2`` are told and read
        as they are spelled there. ``known`` names structs of the tree that come from a stored object: they are taken
        as they are, and not changed; so is what is ``kept`` of other structs, which are given without it. Raises DecodeError
        with Go's text.
        """
        if self._passes_without(tree, known, kept) if known or kept else self._passes(tree, body is not None):
            return Decoded(tree, [])
        walk = Walk()
        try:
            result = self._shape.read(tree, walk)
        except DecodeError as error:
            if not walk.inexact or body is None:
                raise
            walk.error = str(error)
        if walk.inexact and body is not None:
            walk = Walk()
            result = self._shape.read(_as_spelled(body), walk)
        if walk.error is not None:
            raise DecodeError(walk.error)
        return Decoded(result, walk.unknown)

    def strict(self, body: bytes) -> list[str]:
        """What a strict reader says of JSON that gives keys twice: unknown and repeated fields, in the order of the body.

        What is below unknown fields, and in values that decode themselves, is not looked at. Raises DecodeError as
        ``decode`` does, also for what a later value of the same key hides.
        """
        walk = StrictWalk()
        self._shape.read(_as_spelled(body, Members), walk)
        if walk.error is not None:
            raise DecodeError(walk.error)
        return walk.told

    def recall(self, body: bytes) -> Tree | None:
        """The object in a body whose end came before; its spec is Familiar. None for a body that has to be read whole."""
        found = self.endings.recall(body)
        if found is None:
            return None
        tree, ending = found
        tree["spec"] = {}
        if not self._accept(tree):
            return None
        tree["spec"] = ending.spec
        tree.update(ending.rest)
        return tree

    def _passes(self, tree: Tree, is_json: bool) -> bool:
        """The quick test. Only JSON has one spelling in bytes for every value: elsewhere not a number looks like null."""
        spec = tree.get("spec") if is_json and tree.__class__ is dict else None
        if spec.__class__ is not dict or not spec:
            return self._accept(tree)
        try:
            key = orjson.dumps(spec)
        except TypeError:  # an integer of more than 64 bits, or half of a surrogate pair
            return self._accept(tree)
        if key in self._passed:
            if not self._passes_without(tree, ("spec",)):
                return False
            changed = self._passed[key]
            if changed is not None:
                tree["spec"] = orjson.loads(changed)
            return True
        if not self._accept(tree):
            return False
        if len(key) <= _REMEMBERED_BYTES:
            made = orjson.dumps(spec)
            remember(self._passed, key, made if made != key else None, _REMEMBERED)
        return True

    def _passes_without(self, tree: Tree, names: Collection[str], kept: Mapping[str, Kept] = NOTHING_KEPT) -> bool:
        """The quick test of all but some structs, and parts of structs; whatever it says, they stay as they are."""
        held = {name: tree[name] for name in names}
        before = list(tree)
        for name in names:
            tree[name] = {}
        passed = self._accept(tree)
        dropped = any(name not in tree for name in names)  # an empty map is
        tree.update(held)
        for name, (order, values) in kept.items():
            own = tree[name]
            tree[name] = {key: values[key] if key in values else own[key] for key in order if key in values or key in own}
            for key in own:
                tree[name].setdefault(key, own[key])
        if dropped:
            ordered = {name: tree.pop(name) for name in before if name in tree}
            tree.update(ordered)
        return passed


def _as_spelled(body: bytes, members: Callable[[list[tuple[str, Any]]], Tree] = dict) -> Tree:
    """The body with numbers that remember their spelling, where a float would not. ``members`` makes its objects."""

    def integer(text: str) -> int | NumberText:
        if len(text) > _LONGEST_INTEGER:
            return NumberText(text)
        value = int(text)
        return value if -(1 << 63) <= value < 1 << 64 else NumberText(text)

    parsed: Tree = json.loads(body, parse_float=NumberText, parse_int=integer, object_pairs_hook=members)
    return parsed

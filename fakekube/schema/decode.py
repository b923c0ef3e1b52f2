"""Decoding a body of a built-in kind: what Go's decoding into the typed object and encoding it
again would give.

Unknown fields and nulls are gone, zero values that ``omitempty`` drops are gone, what Go always
prints is there, amounts and times are in canonical form. A body that already is so passes a quick
test; only one that is not is walked a second time, by the path that can say what is wrong with it.

Upstream: apimachinery/pkg/runtime/serializer/json with sigs.k8s.io/json. Left out: a repeated key
merges into what the first gave (here the last wins), and keys keep the order of the body when the
quick test passes.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from fakekube.apimachinery import empties
from fakekube.apimachinery.duplicates import Members
from fakekube.apimachinery.empties import Emptied
from fakekube.apimachinery.types import Tree
from fakekube.schema.compile import shape_of
from fakekube.schema.composites import TAKEN
from fakekube.schema.structural import Schema
from fakekube.schema.walk import ConverterWalk, DecodeError, NumberText, StrictWalk, Walk

_LONGEST_INTEGER = 20  # digits and sign of 64 bits
__all__ = ["BodyReader", "Codec", "DecodeError", "Decoded"]


class Decoded(NamedTuple):
    """A decoded body, the paths of the fields its kind does not have, in the order of the body, and
    the lists and maps with nothing in them that were taken out.
    """

    tree: Tree
    unknown: list[str]
    emptied: Sequence[Emptied] = ()


class BodyReader(Protocol):
    """Reads bodies of one kind; ``Codec`` does it for kinds that have a definition in a release."""

    schema: Schema

    def decode(
        self, tree: Tree, body: bytes | None = None, *, old: Tree | None = None, converter: bool = False,
    ) -> Decoded:
        """As ``Codec.decode``."""

    def strict(self, body: bytes) -> list[str]:
        """As ``Codec.strict``."""


class Codec:
    """Decodes bodies of one kind. Cheap to make: the work behind it is kept on the schema."""

    __slots__ = ("_accept", "_accept_change", "_shape", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._shape = shape_of(schema)
        self._accept = self._shape.acceptor(nonzero=False)
        self._accept_change = self._shape.change_acceptor(nonzero=False)

    def decode(
        self, tree: Tree, body: bytes | None = None, *, old: Tree | None = None, converter: bool = False,
    ) -> Decoded:
        """Take a parsed body and give what Go would make of it.

        The tree is taken over and may be changed in place.

        ``body`` is the JSON that the tree was parsed from, if there is one: numbers such as ``1e2``
        are told and read as they are spelled there. ``old`` is an object that was decoded before
        and that the tree was made from: what the tree shares with it, at the same place, is not
        looked at again, and never changed. ``converter`` says that upstream's converter reads the
        tree, which makes numbers fit. Raises DecodeError with Go's text.
        """
        taken = TAKEN.places
        if taken:  # by a reading that came to nothing
            taken.clear()
        if self._accept(tree) if old is None else self._accept_change(tree, old):
            return Decoded(tree, [], empties.places(tree, taken)) if taken else Decoded(tree, [])
        for holder, key, is_list in taken:
            holder[key] = [] if is_list else {}
        taken.clear()
        walk = ConverterWalk() if converter else Walk()
        try:
            result = self._shape.read(tree, walk)
        except DecodeError as error:
            if not walk.inexact or body is None:
                raise
            walk.error = str(error)
        if walk.inexact and body is not None:
            walk = Walk()
            taken.clear()
            result = self._shape.read(_as_spelled(body), walk)
        if walk.error is not None:
            raise DecodeError(walk.error)
        return Decoded(result, walk.unknown, empties.places(result, taken))

    def strict(self, body: bytes) -> list[str]:
        """What a strict reader says of JSON that gives keys twice: unknown and repeated fields, in
        the order of the body.

        What is below unknown fields, and in values that decode themselves, is not looked at. Raises
        DecodeError as ``decode`` does, also for what a later value of the same key hides.
        """
        walk = StrictWalk()
        self._shape.read(_as_spelled(body, Members), walk)
        if walk.error is not None:
            raise DecodeError(walk.error)
        return walk.told


def _as_spelled(body: bytes, members: Callable[[list[tuple[str, Any]]], Tree] = dict) -> Tree:
    """The body with numbers that remember their spelling, where a float would not.

    ``members`` makes its objects.
    """

    def integer(text: str) -> int | NumberText:
        if len(text) > _LONGEST_INTEGER:
            return NumberText(text)
        value = int(text)
        return value if -(1 << 63) <= value < 1 << 64 else NumberText(text)

    parsed: Tree = json.loads(body, parse_float=NumberText, parse_int=integer, object_pairs_hook=members)
    return parsed

"""Bodies whose end came before, byte for byte: objects of one template differ in their metadata and share the rest.

Clients write ``metadata`` before ``spec``, so a body is taken apart where its spec begins. When the end is a known one,
only the beginning has to be read. What is remembered is a pure function of the bytes, so that it makes no difference to
any answer but its speed. Upstream has nothing of the kind.
"""

from typing import NamedTuple

import orjson

from fakekube.apimachinery.types import Familiar, Tree
from fakekube.schema.duplicates import may_repeat
from fakekube.util.memory import remember

SPEC = b'"spec":'
REMEMBERED, REMEMBERED_BYTES = 256, 16_384


class Ending(NamedTuple):
    """What the end of a body stands for: its spec decoded, and an empty status or none."""

    spec: Familiar
    rest: Tree


class Endings:
    """The endings of one kind's bodies. An ending is looked into when it comes the second time."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, Ending | bool] = {}  # True: seen once, False: not to be used

    def recall(self, body: bytes) -> tuple[Tree, Ending] | None:
        """The beginning of a body, as a tree that is the caller's, and its ending; None for a body to be read whole."""
        at = body.find(SPEC)
        ending = self._known.get(body[at:]) if at > 0 else None
        if ending.__class__ is not Ending:
            return None
        head = body[:at] + b'"spec":0}'
        try:
            tree = orjson.loads(head)
        except orjson.JSONDecodeError:
            return None  # the spec belongs to something within
        if tree.__class__ is not dict or may_repeat(head, tree) or tree.popitem() != ("spec", 0):
            return None
        if not tree.keys().isdisjoint(ending.rest):
            return None
        return tree, ending

    def learn(self, body: bytes, decoded: Tree) -> None:
        """Remember the end of a body that was read whole, had no key twice, and decoded to a tree without complaint."""
        at = body.find(SPEC)
        if at <= 0 or len(body) - at > REMEMBERED_BYTES:
            return
        tail = body[at:]
        seen = self._known.get(tail)
        if seen is None:
            remember(self._known, tail, True, REMEMBERED)
        elif seen is True:
            self._known[tail] = self._ending(tail, decoded) or False

    @staticmethod
    def _ending(tail: bytes, decoded: Tree) -> Ending | None:
        try:
            rest = orjson.loads(b"{" + tail)
        except orjson.JSONDecodeError:
            return None
        spec = rest.pop("spec")
        if not isinstance(spec, dict) or not spec or rest not in ({}, {"status": {}}):
            return None
        return Ending(Familiar(orjson.loads(orjson.dumps(decoded["spec"]))), rest)

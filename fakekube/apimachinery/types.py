"""The two words that every other module uses for data.

The server works on plain JSON trees and on bytes; it never builds models.
"""

from functools import cached_property
from typing import Any

import orjson

Tree = dict[str, Any]
"""A JSON object as ``orjson`` decodes it. Who does not own one does not change it."""

Json = Any
"""Any JSON value."""


class Familiar(dict[str, Any]):
    """A struct that came before, word for word, and is shared by all objects that have it: never to be changed.

    ``memory`` is for what is a pure function of it, under keys of those who worked it out.
    """

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.memory: dict[Any, Any] = {}

    @cached_property
    def encoded(self) -> bytes:
        """Its JSON, ready to be put into an object's."""
        return orjson.dumps(self)

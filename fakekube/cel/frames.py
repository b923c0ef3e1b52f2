"""Where things stand in a frame, and frames with the values of variables in them.

Programs that are asked one after the other about the same values share a layout. So their frame is
filled once, and a part that several of them have is computed once.
"""

from collections.abc import Hashable, Mapping
from typing import Any

from fakekube.cel import spending


class Absent:
    """What stands in the frame for a variable without a value."""

    __slots__ = ()


ABSENT = Absent()


class Layout:
    """Which index of a frame holds what: variables of the environment and of loops, and results.

    It grows while programs are planned.
    """

    def __init__(self) -> None:
        self.size = spending.FIRST_SLOT
        self._variables: dict[str, int] = {}
        self._results: dict[Hashable, int] = {}

    def slot(self) -> int:
        """An index that is free."""
        self.size += 1
        return self.size - 1

    def variable(self, name: str) -> int:
        """The index of a variable of the environment."""
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = self.slot()
        return found

    def result(self, part: Hashable) -> int:
        """The index of what came out of a part that looks so."""
        found = self._results.get(part)
        if found is None:
            found = self._results[part] = self.slot()
        return found

    def frame(self, variables: Mapping[str, Any]) -> list[Any]:
        """A frame with the values of variables; nothing was computed on it yet."""
        frame: list[Any] = [None] * self.size
        for name, index in self._variables.items():
            frame[index] = variables.get(name, ABSENT)
        return frame


class Given:
    """The values of variables for one program or several, asked one after the other.

    They may not change meanwhile.
    """

    __slots__ = ("_variables", "frame", "layout")

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables
        self.layout: Layout | None = None
        self.frame: list[Any] = []

    def lay_out(self, layout: Layout) -> list[Any]:
        """The frame in the layout of a program, for it and those that follow."""
        self.layout, self.frame = layout, layout.frame(self._variables)
        return self.frame

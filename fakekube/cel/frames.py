"""Where things stand in a frame, and frames with the values of variables in them.

Programs that are asked one after the other about the same values share a layout. So their frame is
filled once, and a part that several of them have is computed once.
"""

from collections.abc import Hashable, Mapping
from typing import Any

from fakekube.cel import spending

ABSENT = object()
"""What stands in a frame for a variable without a value."""


class Layout:
    """Which index of a frame holds what: variables of the environment and of loops, and results.

    It grows while programs are planned.
    """

    def __init__(self) -> None:
        self.size = spending.FIRST_SLOT
        self.variables: dict[str, int] = {}
        self._results: dict[Hashable, int] = {}

    def slot(self) -> int:
        """An index that is free."""
        self.size += 1
        return self.size - 1

    def variable(self, name: str) -> int:
        """The index of a variable of the environment."""
        found = self.variables.get(name)
        if found is None:
            found = self.variables[name] = self.slot()
        return found

    def result(self, part: Hashable) -> int:
        """The index of what came out of a part that looks so."""
        found = self._results.get(part)
        if found is None:
            found = self._results[part] = self.slot()
        return found


class Given:
    """The values of variables for one program or several, asked one after the other.

    They may not change meanwhile.
    """

    __slots__ = ("_variables", "frame", "lacks_some", "layout")

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables
        self.layout: Layout | None = None
        self.frame: list[Any] = []
        self.lacks_some = False

    def lay_out(self, layout: Layout) -> list[Any]:
        """The frame in the layout of a program, for it and those that follow."""
        frame = self.frame = [None] * layout.size
        self.layout, self.lacks_some = layout, False
        given = self._variables
        for name, index in layout.variables.items():
            if name in given:
                frame[index] = given[name]
            else:
                frame[index], self.lacks_some = ABSENT, True
        return frame

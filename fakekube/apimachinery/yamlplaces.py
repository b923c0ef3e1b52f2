"""Where in a file of YAML something stands: for who has read it, and has to say what is wrong."""

from collections.abc import Sequence
from typing import Any

import yaml

Place = Sequence[str | int]
"""From the whole document inwards: names of fields, and numbers in lists, counted from 0."""


def line_of(text: str, place: Place) -> int:
    """The line, from 1, on which a place of the first document begins, or the nearest around it
    that is there; 1 for a text that is no YAML.
    """
    found, deepest = 1, 0
    path: list[str | int | None] = []  # where the next value stands; None: a key comes
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            mark: Any = event.start_mark
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.CollectionEndEvent):
                path.pop()
            elif path and path[-1] is None:
                if not isinstance(event, yaml.ScalarEvent):  # a key that JSON has not
                    break
                path[-1] = event.value
                if _is_around(path, place) and len(path) > deepest:
                    found, deepest = mark.line + 1, len(path)
                continue
            elif isinstance(event, yaml.NodeEvent):
                if path and isinstance(path[-1], int) and _is_around(path, place) and len(path) > deepest:
                    found, deepest = mark.line + 1, len(path)
                if isinstance(event, yaml.CollectionStartEvent):
                    path.append(0 if isinstance(event, yaml.SequenceStartEvent) else None)
                    continue
            else:
                continue
            _step(path)
    except yaml.YAMLError:
        return found
    return found


def _is_around(path: list[str | int | None], place: Place) -> bool:
    return len(path) <= len(place) and all(str(one) == str(two) for one, two in zip(path, place, strict=False))


def _step(path: list[str | int | None]) -> None:
    """A value has ended: what comes next in the collection around it."""
    if path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None

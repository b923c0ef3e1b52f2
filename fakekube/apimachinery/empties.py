"""Lists and maps with nothing in them that a client gave, and that storage does not keep.

Go's decoder makes them, and they are part of the object until it is encoded: until then some checks
tell them from what is absent, errors print them, and a few kinds count them as a change. Decoding
here takes them out at once (``fakekube/schema/composites.py``), since nearly nobody looks at them,
and remembers where they were; the stages that look at an object as Go has it put them back for as
long as they take. Upstream has no counterpart: it is what Go's slices and maps are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fakekube.apimachinery.types import Tree


class NoItems(list[Any]):
    """A list with nothing in it, which stands where storage will have none."""

    __slots__ = ()


class NoEntries(dict[str, Any]):
    """A map with nothing in it, which stands where storage will have none."""

    __slots__ = ()


Place = tuple[Tree, str]
"""What holds a value, and under which key."""


@dataclass(frozen=True, slots=True)
class Emptied:
    """What an object, or a list, and all that is in it have lost.

    ``keys``: of the object itself, each with whether a list was there. ``below``: of its parts that
    have lost something, by key or position.
    """

    keys: Sequence[tuple[str, bool]]
    below: Mapping[str | int, "Emptied"]

    def but_for(self, name: str) -> "Emptied":
        """The same without what is under one key of the object."""
        return Emptied(
            [(key, is_list) for key, is_list in self.keys if key != name],
            {key: lost for key, lost in self.below.items() if key != name})


def places(tree: Tree, taken: Sequence[tuple[Tree, str, bool]]) -> list[Emptied]:
    """What a tree has lost, if anything, of what was taken out of its parts: of each the part, the
    key, and whether it was a list.

    It takes as long as the tree is large.
    """
    keys: dict[int, list[tuple[str, bool]]] = {}
    for holder, key, is_list in taken:
        keys.setdefault(id(holder), []).append((key, is_list))
    found = _lost(tree, keys)
    return [found] if found is not None else []


def _lost(part: Any, keys: dict[int, list[tuple[str, bool]]]) -> Emptied | None:
    own: Sequence[tuple[str, bool]] = keys.pop(id(part), ())
    parts: Iterable[tuple[str | int, Any]] = part.items() if isinstance(part, dict) else enumerate(part)
    below: dict[str | int, Emptied] = {}
    for key, inner in parts:
        if not keys:
            break
        if isinstance(inner, dict | list) and (found := _lost(inner, keys)) is not None:
            below[key] = found
    return Emptied(own, below) if own or below else None


def put_back(tree: Tree, old: Tree | None, emptied: Iterable[Emptied]) -> list[Place]:
    """Put them where they were, and tell where that is, from the top down.

    What is there no more, or is ``old``'s own, is left alone. An object that went since it had
    nothing else is made again.
    """
    found: list[Place] = []
    for lost in emptied:
        _put(tree, old, lost, found)
    return found


def _put(part: Any, before: Any, lost: Emptied, found: list[Place]) -> None:
    if isinstance(part, dict):
        for key, is_list in lost.keys:
            if key not in part:
                part[key] = NoItems() if is_list else NoEntries()
                found.append((part, key))
    for step, below in lost.below.items():
        if isinstance(step, str) and isinstance(part, dict) and step not in part:
            part[step] = {}
            found.append((part, step))
        inner, inner_before = _below(part, step), _below(before, step)
        if inner is not None and inner is not inner_before:
            _put(inner, inner_before, below, found)


def _below(part: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return part.get(step) if isinstance(part, dict) else None
    return part[step] if isinstance(part, list) and step < len(part) else None


def take_out(put: Sequence[Place]) -> None:
    """Take out what ``put_back`` has put, as far as it is there yet and holds nothing."""
    for holder, key in reversed(put):
        if key in holder and not holder[key]:
            del holder[key]


def without(value: Any) -> Any:
    """A value without those that it holds, as a type prints that leaves them out."""
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if not isinstance(one, NoItems | NoEntries)}
    return [without(one) for one in value] if isinstance(value, list) else value

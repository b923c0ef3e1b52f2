"""Lists and maps with nothing in them that a client gave, and that storage does not keep.

Go's decoder makes them, and they are part of the object until it is encoded: until then some checks
tell them from what is absent, errors print them, and a few kinds count them as a change. Decoding
here takes them out at once (``fakekube/schema/composites.py``), since nearly nobody looks at them,
and remembers where they were; the stages that look at an object as Go has it put them back for as
long as they take. Upstream has no counterpart: it is what Go's slices and maps are.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree


class NoItems(list[Any]):
    """A list with nothing in it, which stands where storage will have none."""

    __slots__ = ()


class NoEntries(dict[str, Any]):
    """A map with nothing in it, which stands where storage will have none."""

    __slots__ = ()


Place = tuple[Tree, str]
"""What holds a value, and under which key."""


class Emptied(NamedTuple):
    """One of them: the keys and positions on the way to it, and whether it is a list."""

    path: tuple[str | int, ...]
    is_list: bool


def places(tree: Tree, taken: Sequence[tuple[Tree, str, bool]]) -> list[Emptied]:
    """Where in a tree stood what was taken out of its parts: of each the part, the key, and whether
    it was a list.
    """
    keys: dict[int, list[tuple[str, bool]]] = {}
    for holder, key, is_list in taken:
        keys.setdefault(id(holder), []).append((key, is_list))
    found: list[Emptied] = []
    for path, part in _parts(tree, ()):
        for key, is_list in keys.pop(id(part), ()):
            found.append(Emptied((*path, key), is_list))
        if not keys:
            break
    return found


def _parts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Tree]]:
    """The objects of a tree, and how to get to each."""
    if isinstance(value, dict):
        yield path, value
        below: Iterable[tuple[str | int, Any]] = value.items()
    else:
        below = enumerate(value)
    for key, part in below:
        if isinstance(part, dict | list):
            yield from _parts(part, (*path, key))


def put_back(tree: Tree, old: Tree | None, emptied: Iterable[Emptied]) -> list[Place]:
    """Put them where they were, and tell where that is, from the top down.

    What is there no more, or is ``old``'s own, is left alone. An object that went since it had
    nothing else is made again.
    """
    found: list[Place] = []
    for path, is_list in emptied:
        holder = _own(tree, old, path[:-1], found)
        key = path[-1]
        if holder is not None and isinstance(key, str) and key not in holder:
            holder[key] = NoItems() if is_list else NoEntries()
            found.append((holder, key))
    return found


def _own(tree: Tree, old: Tree | None, path: Sequence[str | int], made: list[Place]) -> Tree | None:
    """The object at a path, unless it or what holds it is that of ``old``; it is made where it is
    missing.
    """
    part: Any = tree
    before: Any = old
    for step in path:
        if isinstance(step, str) and isinstance(part, dict) and step not in part:
            part[step] = {}
            made.append((part, step))
        part, before = _below(part, step), _below(before, step)
        if part is None or part is before:
            return None
    return part if isinstance(part, dict) else None


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

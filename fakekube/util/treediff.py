"""What differs between two trees of JSON, field by field, as a person would say it.

Items of lists are told apart by what names them (``name``, ``type``, ``uid`` ...), where all have
that; else by their place.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

NAMING_KEYS = ("name", "type", "uid", "key", "containerPort", "ip")
MAX_TEXT = 100
_NEXT = re.compile(r"[.\[]")


class Missing:
    """There is no such field on this side."""

    def __repr__(self) -> str:
        return "(none)"


MISSING = Missing()


class Difference(NamedTuple):
    """One field: its path (``status.conditions[Complete].status``), its old and its new value.

    A value is MISSING on the side that does not have the field.
    """

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.path}: {shown(self.old)} -> {shown(self.new)}"


def shown(value: Any, max_text: int = MAX_TEXT) -> str:
    """A value as a short line of JSON, of so many characters at most, and three dots."""
    if value is MISSING:
        return "(none)"
    text = orjson.dumps(value).decode()
    return text if len(text) <= max_text else f"{text[:max_text]}..."


def differences(old: Any, new: Any, path: str = "", *, ignored: Sequence[str] = ()) -> Iterator[Difference]:
    """The fields that differ, in the order of the new tree and then of the old one;

    ``ignored`` paths are not looked at.
    """
    if path in ignored:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*new, *old]):
            yield from differences(old.get(name, MISSING), new.get(name, MISSING), below(path, name), ignored=ignored)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(old, new, path, ignored)
    elif old != new or type(old) is not type(new):
        yield Difference(path, old, new)


def _of_lists(old: list[Any], new: list[Any], path: str, ignored: Sequence[str]) -> Iterator[Difference]:
    key = _naming_key(old, new)
    before, after = _named(old, key), _named(new, key)
    for name in dict.fromkeys([*after, *before]):
        yield from differences(before.get(name, MISSING), after.get(name, MISSING), f"{path}[{name}]", ignored=ignored)


def _naming_key(old: list[Any], new: list[Any]) -> str:
    """What tells the items of both lists apart; empty when nothing does."""
    for key in NAMING_KEYS:
        if all(_is_named(items, key) for items in (old, new)):
            return key
    return ""


def _is_named(items: list[Any], key: str) -> bool:
    names = [item.get(key) for item in items if isinstance(item, dict)]
    return len(names) == len(items) and None not in names and len(dict.fromkeys(map(str, names))) == len(items)


def _named(items: list[Any], key: str) -> dict[str, Any]:
    return {str(item[key]) if key else str(number): item for number, item in enumerate(items)}


def value_at(tree: Any, path: str) -> Any:
    """What stands at a path as differences have it; MISSING where nothing does.

    ValueError for what is no such path.
    """
    found = tree
    for name in _names(path):
        if isinstance(found, list):
            found = _named(found, _naming_key(found, found)).get(name, MISSING)
        else:
            found = found.get(name, MISSING) if isinstance(found, dict) else MISSING
    return found


def _names(path: str) -> Iterator[str]:
    """The names on the way: ``a``, ``b`` and ``c.d`` of ``a.b[c.d]``."""
    at = 0
    while at < len(path):
        if path[at] == "[":
            end = path.find("]", at)
            name = path[at + 1:end] if end > 0 else ""
            at = end + 1
        else:
            at += at > 0 and path[at] == "."
            following = _NEXT.search(path, at)
            end = len(path) if following is None else following.start()
            name, at = path[at:end], end
        if not name or "]" in name:
            raise ValueError(f"{path[:MAX_TEXT]!r} names no field: say status.phase, or status.conditions[Ready].status")
        yield name


def below(path: str, name: str) -> str:
    plain = name.replace("-", "").replace("_", "").isalnum()
    if not plain:
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name

"""As much of jq as selects something in an object: paths, ``select``, comparisons, ``//``, ``|``, and a few functions.

``compile(text)`` gives a function from a tree to the list of what the query finds. Upstream: gojq, which KWOK uses. Left out:
assignment, arithmetic, variables, reduce and functions of one's own. A query that fails on a tree finds nothing, as in KWOK.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

Query = Callable[[Any], list[Any]]
_Filter = Callable[[Any], Iterator[Any]]

TOKEN = re.compile(r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*") | (?P<number>-?\d+(?:\.\d+)?) | (?P<field>\.[A-Za-z_]\w*) | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>==|!=|<=|>=|//|\.|\[|\]|\(|\)|\||,|<|>|\?|:|-)
)""", re.VERBOSE)
ORDER = {"null": 0, "false": 1, "true": 2, "number": 3, "string": 4, "array": 5, "object": 6}
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")


class JqError(ValueError):
    """A query that is none, or is beyond what is understood here."""


class _Failed(Exception):
    """A query that does not fit the tree."""


def compile(text: str) -> Query:  # noqa: A001 - what one does with a query
    """Read a query. Raises JqError."""
    parser = _Parser(text)
    found = parser.pipe()
    if parser.peek() is not None:
        raise JqError(f"unexpected {parser.peek()!r} in {text!r}")

    def run(tree: Any) -> list[Any]:
        try:
            return list(found(tree))
        except _Failed:
            return []

    return run


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._tokens, position = text, list[tuple[str, str]](), 0
        while text[position:].strip():
            match = TOKEN.match(text, position)
            if match is None:
                raise JqError(f"cannot read {text[position:].strip()!r} in {text!r}")
            self._tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
            position = match.end()
        self._at = 0

    def peek(self) -> str | None:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else None

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self, expected: str = "") -> str:
        mark = self.peek()
        if mark is None or (expected and mark != expected):
            raise JqError(f"{expected or 'more'!r} is missing in {self._text!r}")
        self._at += 1
        return mark

    def pipe(self) -> _Filter:
        left = self._comma()
        while self.peek() == "|":
            self._take()
            left = _piped(left, self._comma())
        return left

    def _comma(self) -> _Filter:
        parts = [self._alternative()]
        while self.peek() == ",":
            self._take()
            parts.append(self._alternative())
        return parts[0] if len(parts) == 1 else lambda tree: (value for part in parts for value in part(tree))

    def _alternative(self) -> _Filter:
        left = self._or()
        while self.peek() == "//":
            self._take()
            left = _otherwise(left, self._or())
        return left

    def _or(self) -> _Filter:
        left = self._and()
        while self.peek() == "or":
            self._take()
            left = _both(left, self._and(), lambda one, other: _true(one) or _true(other))
        return left

    def _and(self) -> _Filter:
        left = self._comparison()
        while self.peek() == "and":
            self._take()
            left = _both(left, self._comparison(), lambda one, other: _true(one) and _true(other))
        return left

    def _comparison(self) -> _Filter:
        left = self._postfix()
        if self.peek() in COMPARISONS:
            sign = self._take()
            return _both(left, self._postfix(), lambda one, other: _compare(sign, one, other))
        return left

    def _postfix(self) -> _Filter:
        found = self._term()
        while True:
            kind, mark = self._kind(), self.peek()
            if kind == "field":
                found = _piped(found, _key(self._take()[1:]))
            elif mark == ".":
                self._take()
                if self._kind() == "string":
                    found = _piped(found, _key(orjson.loads(self._take())))
                elif self.peek() != "[":
                    raise JqError(f"a name is missing after the dot in {self._text!r}")
            elif mark == "[":
                found = _piped(found, self._index())
            elif mark == "?":
                self._take()
                found = _tried(found)
            else:
                return found

    def _index(self) -> _Filter:
        self._take("[")
        if self.peek() == "]":
            self._take()
            return _each
        inner = self.pipe()
        self._take("]")
        return lambda tree: (_at(tree, key) for key in inner(tree))

    def _term(self) -> _Filter:
        kind, mark = self._kind(), self._take()
        if kind == "field":
            return _key(mark[1:])
        if kind in ("string", "number"):
            value = orjson.loads(mark)
            return lambda _: iter((value,))
        if mark == ".":
            if self._kind() == "string":
                return _key(orjson.loads(self._take()))
            return lambda tree: iter((tree,))
        if mark == "(":
            inner = self.pipe()
            self._take(")")
            return inner
        if mark == "[":
            if self.peek() == "]":
                self._take()
                return lambda _: iter(([],))
            inner = self.pipe()
            self._take("]")
            return lambda tree: iter((list(inner(tree)),))
        if kind == "word":
            return self._function(mark)
        raise JqError(f"unexpected {mark!r} in {self._text!r}")

    def _function(self, name: str) -> _Filter:
        if name in ("null", "true", "false"):
            value = {"null": None, "true": True, "false": False}[name]
            return lambda _: iter((value,))
        if name in FUNCTIONS:
            function = FUNCTIONS[name]
            return lambda tree: iter((function(tree),))
        if name in WITH_FILTER and self.peek() == "(":
            self._take("(")
            inner = self.pipe()
            self._take(")")
            with_filter = WITH_FILTER[name]
            return lambda tree: with_filter(tree, inner)
        if name == "empty":
            return lambda _: iter(())
        raise JqError(f"{name} is not understood in {self._text!r}")


def _piped(left: _Filter, right: _Filter) -> _Filter:
    return lambda tree: (value for middle in left(tree) for value in right(middle))


def _key(name: str) -> _Filter:
    return lambda tree: iter((_at(tree, name),))


def _at(tree: Any, key: Any) -> Any:
    if tree is None:
        return None
    if isinstance(tree, dict) and isinstance(key, str):
        return tree.get(key)
    if isinstance(tree, list) and isinstance(key, int):
        return tree[key] if -len(tree) <= key < len(tree) else None
    raise _Failed(f"cannot index with {key!r}")


def _each(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        return iter(tree.values())
    if isinstance(tree, list):
        return iter(tree)
    raise _Failed("cannot iterate")


def _tried(inner: _Filter) -> _Filter:
    def run(tree: Any) -> Iterator[Any]:
        try:
            yield from inner(tree)
        except _Failed:
            return

    return run


def _otherwise(left: _Filter, right: _Filter) -> _Filter:
    def run(tree: Any) -> Iterator[Any]:
        found = [value for value in _tried(left)(tree) if _true(value)]
        yield from found or right(tree)

    return run


def _both(left: _Filter, right: _Filter, of: Callable[[Any, Any], Any]) -> _Filter:
    return lambda tree: (of(one, other) for other in right(tree) for one in left(tree))


def _true(value: Any) -> bool:
    return value is not None and value is not False


def _rank(value: Any) -> tuple[int, Any]:
    if value is None or isinstance(value, bool):
        return ORDER[orjson.dumps(value).decode()], 0
    if isinstance(value, int | float):
        return ORDER["number"], value
    if isinstance(value, str):
        return ORDER["string"], value
    return ORDER["array" if isinstance(value, list) else "object"], str(value)


def _compare(sign: str, one: Any, other: Any) -> bool:
    if sign in ("==", "!="):
        same = _rank(one) == _rank(other) if not isinstance(one, list | dict) else bool(one == other)
        return same == (sign == "==")
    left, right = _rank(one), _rank(other)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


def _length(tree: Any) -> int:
    if tree is None:
        return 0
    if isinstance(tree, str | list | dict):
        return len(tree)
    raise _Failed("has no length")


def _keys(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return sorted(tree)
    if isinstance(tree, list):
        return list(range(len(tree)))
    raise _Failed("has no keys")


def _number(tree: Any) -> Any:
    try:
        return tree if isinstance(tree, int | float) else orjson.loads(tree)
    except (orjson.JSONDecodeError, TypeError) as error:
        raise _Failed("is no number") from error


def _select(tree: Any, inner: _Filter) -> Iterator[Any]:
    return (tree for value in inner(tree) if _true(value))


def _test(tree: Any, inner: _Filter) -> Iterator[Any]:
    if not isinstance(tree, str):
        raise _Failed("is no text")
    for pattern in inner(tree):
        try:
            yield bool(re.search(pattern, tree))
        except (re.error, TypeError) as error:
            raise _Failed("is no pattern") from error


def _contains(tree: Any, inner: _Filter) -> Iterator[Any]:
    for part in inner(tree):
        try:
            yield part in tree
        except TypeError as error:
            raise _Failed("cannot contain that") from error


FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "not": lambda tree: not _true(tree), "length": _length, "keys": _keys, "tostring": lambda tree: tree if isinstance(
        tree, str) else orjson.dumps(tree).decode(), "tonumber": _number,
    "first": lambda tree: _at(tree, 0), "last": lambda tree: _at(tree, -1),
}
WITH_FILTER: Mapping[str, Callable[[Any, _Filter], Iterator[Any]]] = {
    "select": _select, "test": _test,
    "map": lambda tree, inner: iter(([value for each in _each(tree) for value in inner(each)],)),
    "any": lambda tree, inner: iter((any(_true(value) for each in _each(tree) for value in inner(each)),)),
    "all": lambda tree, inner: iter((all(_true(value) for each in _each(tree) for value in inner(each)),)),
    "has": lambda tree, inner: (key in tree if isinstance(tree, dict) else False for key in inner(tree)),
    "startswith": lambda tree, inner: (str(tree).startswith(text) for text in inner(tree)),
    "endswith": lambda tree, inner: (str(tree).endswith(text) for text in inner(tree)),
    "contains": _contains,
}

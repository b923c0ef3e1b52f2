r"""JSONPath as kubectl and printer columns speak it.

Not the JSONPath of RFC 9535, nor that of any library: fields with escaped dots
(``.metadata.labels.probe\.dev/x``), slices with negative bounds, filters with one comparison,
unions, recursive descent. Upstream: client-go/util/jsonpath. Left out: ``range`` and text around
braces, which belong to templates; wildcards over the letters of a text.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from fakekube.apimachinery.gotext import float_text
from fakekube.apimachinery.types import Json
from fakekube.util.memory import memoized

Values = list[Any]
Step = Callable[[Values], Values]
"""From the values so far to those that they lead to. Raises NotApplicable."""

TERMINATORS = " \t\r\n.,[]$@{}"
SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?")
MAX_VALUES = 10_000
"""No path leads to more: each of many steps may lead from each value to many."""
MAX_LEVELS = 20
"""So many filters and unions may stand in one another; none that upstream can read has three."""
KEY = re.compile(r"'([^']*)'")
COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)


class BadPath(ValueError):
    """A text that is no path; the message is upstream's."""


class NotApplicable(ValueError):
    """A path that means nothing for a value: the field of a list, an index beyond its end."""


class JSONPath:
    """A path to values in a tree."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps

    def find(self, tree: Json) -> Values:
        """What the path leads to: several values, or none. Raises NotApplicable."""
        return _walk(self._steps, [tree])


@memoized(1024, longest=4096)
def compiled(text: str) -> JSONPath:
    """The path that a text says, without the braces of a template: ``.spec.replicas``.

    Raises BadPath.
    """
    return JSONPath(_Parser(text).steps())


def text_of(value: Json) -> str:
    """A value as a template prints it."""
    if value is None:
        return "<no value>"
    if isinstance(value, dict | list):
        return _escaped(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())
    if isinstance(value, bool):
        return "true" if value else "false"
    return float_text(value) if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    """Go's encoder escapes what HTML would take for its own."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


# walking


def _walk(steps: list[Step], values: Values) -> Values:
    for step in steps:
        values = _bounded(step(values))
    return values


def _bounded(values: Values) -> Values:
    if len(values) > MAX_VALUES:
        raise NotApplicable(f"more than {MAX_VALUES} values")
    return values


def _field(name: str) -> Step:
    def step(values: Values) -> Values:
        return [value[name] for value in values if isinstance(value, dict) and name in value]

    return step


def _constant(constant: Json) -> Step:
    return lambda values: [constant] * len(values)


def _text(text: str) -> Step:
    return lambda _: [text]


def _wildcard(values: Values) -> Values:
    return [below for value in values for below in _contents(value)]


def _contents(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _descendants(values: Values) -> Values:
    """All that has contents, each before what is in it."""
    found: Values = []
    for value in values:
        contents = list(_contents(value))
        if contents:
            found.append(value)
            found.extend(_descendants(contents))
            _bounded(found)
    return found


def _slice(first: int | None, end: int | None, every: int | None, *, single: bool) -> Step:
    def step(values: Values) -> Values:
        found: Values = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise NotApplicable("not an array or slice")
            length, start = len(value), first or 0
            start = start + length if start < 0 else start
            stop = length if end is None else end
            if stop < 0 or (stop == 0 and single):
                stop += length
            if stop == start:
                return found
            if not (0 <= start < length and 0 <= stop <= length and start <= stop):
                raise NotApplicable(f"array index out of bounds: index {start}, length {length}")
            if every is not None and every <= 0:
                raise NotApplicable("step must be > 0")
            found += value[start:stop:every or 1]
        return found

    return step


def _union(parts: list[list[Step]]) -> Step:
    def step(values: Values) -> Values:
        found: Values = []
        for part in parts:
            found = _bounded(found + _walk(part, values))
        return found

    return step


def _filter(left: list[Step], operator: str, right: list[Step]) -> Step:
    """Items for which a comparison holds; with the operator ``exists``, those where left leads
    somewhere.
    """
    def keeps(item: Any) -> bool:
        if operator == "exists":
            try:
                return bool(_walk(left, [item]))
            except NotApplicable:
                return False
        lefts, rights = _walk(left, [item]), _walk(right, [item])
        if len(lefts) > 1 or len(rights) > 1:
            raise NotApplicable("can only compare one element at a time")
        return bool(lefts and rights) and _compared(lefts[0], operator, rights[0])

    def step(values: Values) -> Values:
        found = []
        for value in values:
            if not isinstance(value, list):
                raise NotApplicable("not an array or slice and cannot be filtered")
            found += [item for item in value if keeps(item)]
        return found

    return step


def _compared(left: Any, operator: str, right: Any) -> bool:
    """As Go's templates compare: values of one kind alone, booleans for equality alone."""
    kinds = [bool if isinstance(side, bool) else type(side) for side in (left, right)]
    if kinds[0] is not kinds[1] or kinds[0] not in (bool, int, float, str):
        raise NotApplicable("incompatible types for comparison")
    if operator in ("==", "!="):
        return bool((left == right) == (operator == "=="))
    if kinds[0] is bool or operator not in ("<", "<=", ">", ">="):
        raise NotApplicable(f"unrecognized filter operator {operator}")
    less = left < right or (operator in ("<=", ">=") and left == right)
    more = left > right or (operator in ("<=", ">=") and left == right)
    return bool(less if operator[0] == "<" else more)


# parsing


class _Parser:
    """Reads one action of a template, from left to right."""

    def __init__(self, text: str, level: int = 0) -> None:
        if level > MAX_LEVELS:
            raise BadPath("too many filters in one another")
        self._text, self._at, self._level = text, 0, level

    def _steps_of(self, text: str) -> list[Step]:
        return _Parser(text, self._level + 1).steps()

    def steps(self) -> list[Step]:
        """The steps of the path. Raises BadPath."""
        found: list[Step] = []
        descending = False
        while self._at < len(self._text) and self._text[self._at] != "}":
            if self._starts(".."):
                if descending:
                    raise BadPath("invalid multiple recursive descent")
                descending = True
                found.append(_descendants)
                if self._at < len(self._text) and (self._text[self._at].isalnum() or self._text[self._at] == "_"):
                    found.append(self._field())
                    descending = False
                continue
            descending = False
            found += self._next()
        return found

    def _starts(self, prefix: str) -> bool:
        """Whether the rest begins so; it is behind us then."""
        if not self._text.startswith(prefix, self._at):
            return False
        self._at += len(prefix)
        return True

    def _next(self) -> list[Step]:
        if self._starts("[?("):
            return [self._filter()]
        letter = self._text[self._at]
        self._at += 1
        if letter in " @$":
            return []
        if letter == "[":
            return self._array()
        if letter in "\"'":
            return [_text(self._quoted(letter))]
        if letter == ".":
            return [self._field()]
        self._at -= 1
        if letter in "+-" or letter.isdigit():
            return [self._number()]
        if letter.isalpha() or letter == "_":
            return [self._identifier()]
        if letter in "\r\n":
            raise BadPath("unclosed action")
        raise BadPath(f"unrecognized character in action: U+{ord(letter):04X} '{letter}'")

    def _word(self) -> str:
        """What stands before the next letter that ends a word, with its backslashes."""
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in TERMINATORS:
            self._at += 2 if self._text[self._at] == "\\" else 1
        return self._text[start:self._at]

    def _field(self) -> Step:
        name = self._word()
        return _wildcard if name == "*" else _field(name.replace("\\", ""))

    def _identifier(self) -> Step:
        word = self._word()
        if word in ("true", "false"):
            return _constant(word == "true")
        raise BadPath(f"unrecognized identifier {word}")

    def _number(self) -> Step:
        start = self._at
        self._at += 1
        while self._at < len(self._text) and (self._text[self._at].isdigit() or self._text[self._at] == "."):
            self._at += 1
        text = self._text[start:self._at]
        try:
            return _constant(float(text) if "." in text else int(text))
        except ValueError:
            raise BadPath(f"cannot parse number {text}") from None

    def _quoted(self, quote: str) -> str:
        start = self._at
        while True:
            end = self._text.find(quote, self._at)
            if end < 0:
                raise BadPath("unterminated quoted string")
            self._at = end + 1
            if self._text[end - 1] != "\\":
                return self._text[start:end].replace(f"\\{quote}", quote).replace("\\\\", "\\")

    def _array(self) -> list[Step]:
        end = self._text.find("]", self._at)
        if end < 0:
            raise BadPath("unterminated array")
        text, self._at = self._text[self._at:end], end + 1
        parts = text.split(",")
        if len(parts) > 1:
            return [_union([self._steps_of(f"[{part.strip(' ')}]") for part in parts])]
        if (name := KEY.fullmatch(text)) is not None:
            return self._steps_of(f".{name[1]}")
        found = SLICE.fullmatch(":" if text == "*" else text)
        if found is None:
            raise BadPath(f"invalid array index {text}")
        first, end_text, every = found[1], found[2], found[3]
        start = _whole(first)
        stop = (start or 0) + 1 if not end_text else _whole(end_text[1:])
        return [_slice(start, stop, _whole(every[1:]) if every else None, single=not end_text)]

    def _filter(self) -> Step:
        text = self._text[self._at:self._end_of_filter()]
        self._at += len(text) + 1
        if not self._starts("]"):
            raise BadPath("unclosed array expect ]")
        found = COMPARISON.fullmatch(text)
        if found is None:
            return _filter(self._steps_of(text), "exists", [])
        return _filter(self._steps_of(found[1]), found[2], self._steps_of(found[3]))

    def _end_of_filter(self) -> int:
        """Where the closing bracket of a filter is; those in one quoted text do not count."""
        quote, closed = "", False
        for place in range(self._at, len(self._text)):
            letter = self._text[place]
            if letter in "\"'":
                if not quote:
                    quote = letter
                elif letter == quote and self._text[place - 1] != "\\":
                    closed = True
            elif letter == ")" and bool(quote) == closed:
                return place
        raise BadPath("unterminated filter")


def _whole(text: str) -> int | None:
    if text == "-":
        raise BadPath(f"array index {text} is not a number")
    return int(text) if text else None

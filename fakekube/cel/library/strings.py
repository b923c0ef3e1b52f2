"""Functions of strings: ``'a,b'.split(',')``, ``'abc'.substring(1)``, ``strings.quote('a')``.

Positions count code points. Version 0 has neither ``format`` nor ``strings.quote``; version 2
neither ``reverse``. Upstream: cel-go's ext/strings.go.
"""

from collections.abc import Sequence
from typing import Any

from fakekube.cel import costs, types
from fakekube.cel.errors import CostExceeded, EvaluationError
from fakekube.cel.functions import Function, Node, Sizes, function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing, format_literals, formatting

MAX_RESULT = 64 * 1024 * 1024  # characters
SHORT = 16
_S, _I, _STRINGS = types.STRING, types.INT, types.list_of(types.STRING)
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_UPPER = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
_ESCAPES = str.maketrans({
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
})


def library(version: int) -> Library:
    """The functions of a version: 0 until 1.28, 2 since."""
    functions = (*_taking_apart(), *_changing(), *_searching())
    if version >= 1:
        functions += (
            function("format", member(
                "string_format", [_S, types.LIST], _S, formatting.format_string,
                cost=costing.walk_cost(), estimate=costing.walk())),
            function("strings.quote", overload(
                "strings_quote", [_S], _S, quote, cost=costing.walk_cost(), estimate=_estimate_quote)),
        )
    return Library(f"strings {version}", functions, validators=(format_literals.validate,) if version >= 1 else ())


def _changing() -> tuple[Function, ...]:
    walked: dict[str, Any] = {"cost": costing.walk_cost(), "estimate": costing.walk(sized=True)}
    replaced: dict[str, Any] = {"cost": costing.walk_cost(2 * costing.FACTOR), "estimate": _estimate_replace}
    joined: dict[str, Any] = {"cost": _join_cost, "estimate": _estimate_join}
    return (
        function("lowerAscii", member("string_lower_ascii", [_S], _S, lambda text: text.translate(_LOWER), **walked)),
        function("upperAscii", member("string_upper_ascii", [_S], _S, lambda text: text.translate(_UPPER), **walked)),
        function("trim", member("string_trim", [_S], _S, lambda text: text.strip(_SPACES), **walked)),
        function(
            "replace",
            member("string_replace_string_string", [_S, _S, _S], _S, replace, **replaced),
            member("string_replace_string_string_int", [_S, _S, _S, _I], _S, replace, **replaced),
        ),
        function(
            "join",
            member("list_join", [_STRINGS], _S, join, **joined),
            member("list_join_string", [_STRINGS, _S], _S, join, **joined),
        ),
    )


def _taking_apart() -> tuple[Function, ...]:
    walked: dict[str, Any] = {"cost": costing.walk_cost(), "estimate": costing.walk(sized=True)}
    divided: dict[str, Any] = {"cost": costing.walk_cost(2 * costing.FACTOR), "estimate": _estimate_split}
    return (
        function("charAt", member("string_char_at_int", [_S, _I], _S, char_at)),
        function(
            "split",
            member("string_split_string", [_S, _S], _STRINGS, split, **divided),
            member("string_split_string_int", [_S, _S, _I], _STRINGS, split, **divided),
        ),
        function(
            "substring",
            member("string_substring_int", [_S, _I], _S, substring, **walked),
            member("string_substring_int_int", [_S, _I, _I], _S, substring, **walked),
        ),
    )


def _searching() -> tuple[Function, ...]:
    searched: dict[str, Any] = {"cost": costing.traversal_cost, "estimate": costing.walk()}
    return (
        function(
            "indexOf",
            member("string_index_of_string", [_S, _S], _I, index_of, **searched),
            member("string_index_of_string_int", [_S, _S, _I], _I, index_of, **searched),
        ),
        function(
            "lastIndexOf",
            member("string_last_index_of_string", [_S, _S], _I, last_index_of, **searched),
            member("string_last_index_of_string_int", [_S, _S, _I], _I, last_index_of_before, **searched),
        ),
    )


def char_at(text: str, index: int) -> str:
    """The character at an index; the empty string just behind the end."""
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    """Where a part first stands, from the offset on; -1 if nowhere."""
    if offset < 0:
        raise EvaluationError(f"index out of range: {offset}")
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def last_index_of(text: str, part: str) -> int:
    """Where a part last stands; -1 if nowhere."""
    return _last(text, part)


def last_index_of_before(text: str, part: str, offset: int) -> int:
    """Where a part last stands that begins no later than the offset; -1 if nowhere."""
    if offset < 0:
        raise EvaluationError(f"index out of range: {offset}")
    if not part:
        return min(offset, len(text))
    return _last(text[:offset + len(part)], part) if offset < len(text) else -1


def _last(text: str, part: str) -> int:
    """As ``rfind``, which may take the product of both sizes, where ``find`` takes their sum."""
    if len(part) < SHORT:
        return text.rfind(part)
    place = text[::-1].find(part[::-1])
    return len(text) - len(part) - place if place >= 0 else -1


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    """The text with the first so many replaced; all for a negative limit.

    Raises CostExceeded if it would be longer than MAX_RESULT: its cost is that of the text alone.
    """
    count = text.count(old)
    count = min(count, limit) if limit >= 0 else count
    if len(text) + count * (len(new) - len(old)) > MAX_RESULT:
        raise CostExceeded
    return text.replace(old, new, count)


def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts between separators, so many at most; one a character for no separator."""
    if limit == 0:
        return []
    if not separator:
        single = len(text) if limit < 0 else min(limit - 1, len(text))
        return [*text[:single], text[single:]] if single < len(text) else list(text)
    return text.split(separator, min(limit - 1, len(text)) if limit > 0 else -1)


def substring(text: str, start: int, end: int | None = None) -> str:
    """The characters from one index to before another."""
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if index is not None and not 0 <= index <= len(text):
            raise EvaluationError(f"index out of range: {index}")
    return text[start:end]


def join(parts: Sequence[Any], separator: str = "") -> str:
    """The strings of a list with a separator between them.

    Raises CostExceeded if separators alone would be longer than MAX_RESULT.
    """
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError(f"join: invalid input: {formatting.go_value(part)}")
    if len(separator) * len(parts) > MAX_RESULT:
        raise CostExceeded
    return separator.join(parts)


def quote(text: str) -> str:
    """The text as a literal with double quotes."""
    return f'"{text.translate(_ESCAPES)}"'


def _estimate_quote(sizes: Sizes, _receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
    size = sizes.size(arguments[0])
    # for a text of any size upstream's number wraps around
    result = costs.SizeEstimate(size.min + 2, (2 * size.max + 2) % 2**64)
    return costs.CallEstimate(size.cost(costing.FACTOR), result)


def _join_cost(_arguments: Sequence[Any], result: Any) -> int:
    return costs.scaled(len(result), 2 * costing.FACTOR)


def _estimate_join(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    if receiver is None:
        return None
    size, count = costs.SizeEstimate(0, 0), sizes.size(receiver)
    element = sizes.element(receiver)
    if element is not None:
        size = count.times(sizes.size(element))
    if arguments:
        between = costs.SizeEstimate(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(sizes.size(arguments[0]).times(between))
    return costs.CallEstimate(size.cost(costing.FACTOR), size)


def _estimate_split(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    if receiver is None:
        return None
    size = sizes.size(receiver)
    most = size.max
    if len(arguments) > 1 and arguments[1].literal.__class__ is int:
        most = arguments[1].literal % 2**64
    return costs.CallEstimate(size.cost(2 * costing.FACTOR), costs.SizeEstimate(0, most))


def _estimate_replace(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    """The result is longest if the shortest part is replaced by the longest text, and the reverse.
    """
    if receiver is None:
        return None
    size, old, new = sizes.size(receiver), sizes.size(arguments[0]), sizes.size(arguments[1])
    grows, shrinks = _replaced(size.max, old.min, grows=new.max > old.min), _replaced(size.min, old.max, grows=new.min < old.max)
    count = costs.SizeEstimate(shrinks[0], grows[0])
    result = count.times(new).plus(costs.SizeEstimate(shrinks[1], grows[1]))
    return costs.CallEstimate(size.cost(2 * costing.FACTOR), result)


def _replaced(size: int, old: int, *, grows: bool) -> tuple[int, int]:
    """How often something of this size is replaced, and how much of the text is kept besides."""
    if old == 0:
        return min(size + 1, costs.MAX), size
    return (_ceil_division(size, old), 0) if grows else (0, size)


def _ceil_division(size: int, by: int) -> int:
    return min(costs.scaled(1, float(size) / float(by)), costs.MAX)



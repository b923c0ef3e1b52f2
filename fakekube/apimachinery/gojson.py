"""JSON bodies as Go reads them, and Go's words for what is wrong with one.

orjson does the reading; only a body that it refuses is walked here, to word the complaint or to
find that Go would have taken it (bytes that are no UTF-8, halves of surrogate pairs, numbers beyond
64 bits). What is nested deeper than anything here walks is left out of the value: unknown fields
are dropped anyway, and who finds a rest of it in what is to be kept has to refuse it. Upstream:
encoding/json scanner.go and decode.go.
"""

import json
import re
from typing import Any, NamedTuple

import orjson

from fakekube.util.nesting import MAX_LEVELS, is_deep, may_be_deep

END = "unexpected end of JSON input"
SPACE = " \t\r\n"
MAX_DEPTH = 10_000
_TOO_DEEP = "exceeded max depth"
HEX = frozenset("0123456789abcdefABCDEF")
_STRING = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(r"[0-9]*")
_FOREIGN = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8, as surrogateescape lets them in
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
_INT64, _UINT64_END = 1 << 63, 1 << 64
_LONGEST_INTEGER = 20  # digits and sign of 64 bits


class SyntaxProblem(ValueError):
    """A body is not JSON; the text is Go's."""


class Read(NamedTuple):
    """A body that was read.

    ``body`` spells the same value so that any reader of JSON takes it: Go's replacement characters
    are in their places. ``beyond`` is the first number that no float64 holds, as it was spelled;
    empty when there is none. In ``value`` it is infinite. ``cut`` is the complaint about the first
    container beyond MAX_LEVELS, all of which were emptied, in both: where one of them is to be
    kept, ``is_deep`` says so.
    """

    value: Any
    body: bytes
    beyond: str = ""
    cut: str = ""


def loads(body: bytes) -> Any:
    """The value of a body. Raises SyntaxProblem."""
    return read(body).value


def read(body: bytes) -> Read:
    """The value of a body, with what must be known of its spelling. Raises SyntaxProblem."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _read_closely(body)
    return _read_closely(body) if may_be_deep(body) and is_deep(value) else Read(value, body)


def check_syntax(body: bytes) -> list[tuple[int, int]]:
    """Look at every character as Go's scanner does; where the containers beyond MAX_LEVELS begin
    and end.

    Raises SyntaxProblem.
    """
    text = body.decode("latin-1")  # Go looks at bytes
    closers: list[str] = []  # of the containers around
    deep: list[tuple[int, int]] = []
    start = 0
    at = _space(text, 0)
    while True:
        char = text[at : at + 1]
        if char and char in "{[":
            if len(closers) == MAX_DEPTH:
                raise _problem(text, at, _TOO_DEEP)
            if len(closers) == MAX_LEVELS:
                start = at
            closers.append("}" if char == "{" else "]")
            at = _space(text, at + 1)
            if text[at : at + 1] != closers[-1]:
                at = _key(text, at) if char == "{" else at
                continue
        else:
            at = _scalar(text, at)
        while closers:
            at = _space(text, at)
            char, closer = text[at : at + 1], closers[-1]
            at += 1
            if char == ",":
                at = _space(text, at)
                at = _key(text, at) if closer == "}" else at
                break
            if char != closer:
                raise _problem(text, at - 1, "after object key:value pair" if closer == "}" else "after array element")
            closers.pop()
            if len(closers) == MAX_LEVELS:
                deep.append((start, at))
        else:
            break
    end = _space(text, at)
    if end < len(text):
        raise SyntaxProblem(f"invalid character {quote_char(text[end])} after top-level value")
    return deep


def _emptied(body: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The body with nothing in the containers that stand at some places."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [body[at : start + 1], body[end - 1 : end]]
        at = end
    return b"".join([*pieces, body[at:]])


def clean(body: bytes) -> bytes:
    """The body with a replacement character for every byte that is no UTF-8 and for every half of a
    surrogate pair.
    """
    text = _FOREIGN.sub("\ufffd", body.decode("utf-8", "surrogateescape"))
    return _ESCAPE.sub(lambda found: "\ufffd" if found[1] else found[0], text).encode()


def _read_closely(body: bytes) -> Read:
    deep = check_syntax(body)
    body, beyond = clean(_emptied(body, deep)), ""

    def number(text: str) -> float:
        nonlocal beyond
        value = float(text)
        if value in (float("inf"), float("-inf")):
            beyond = beyond or text
        return value

    def integer(text: str) -> int | float:
        if len(text) <= _LONGEST_INTEGER and -_INT64 <= int(text) < _UINT64_END:
            return int(text)
        return number(text)

    value = json.loads(body, parse_int=integer, parse_float=number)
    return Read(value, body, beyond, str(_problem(body.decode("latin-1"), deep[0][0], _TOO_DEEP)) if deep else "")


def untyped(value: Any) -> Any:
    """A value as Go reads it where no type says what is wanted: an integer that 64 bits do not hold
    is a float.
    """
    if isinstance(value, dict):
        return {key: untyped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [untyped(item) for item in value]
    return float(value) if value.__class__ is int and not -_INT64 <= value < _INT64 else value


def quote_char(char: str) -> str:
    """A character between apostrophes, as Go's scanner prints it."""
    special = {"'": "'\\''", '"': "'\"'", "\n": "'\\n'", "\t": "'\\t'", "\r": "'\\r'", "\\": "'\\\\'"}
    if char in special:
        return special[char]
    if ord(char) < 32 or ord(char) == 127:
        return f"'\\x{ord(char):02x}'"
    return f"'{char}'" if char.isprintable() else f"'\\u{ord(char):04x}'"


def type_name(value: Any) -> str:
    """The name of a value's JSON type in Go's errors."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def _space(text: str, at: int) -> int:
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def _problem(text: str, at: int, where: str) -> SyntaxProblem:
    return SyntaxProblem(END if at >= len(text) else f"invalid character {quote_char(text[at])} {where}")


def _scalar(text: str, at: int) -> int:
    """The end of the text, number or word that begins at ``at``."""
    char = text[at : at + 1]
    if char == '"':
        return _string(text, at + 1)
    if char and char in "-0123456789":
        return _number(text, at)
    for word in ("true", "false", "null"):
        if char == word[0]:
            return _word(text, at, word)
    raise _problem(text, at, "looking for beginning of value")


def _key(text: str, at: int) -> int:
    """Where the value of the key that begins at ``at`` begins."""
    if text[at : at + 1] != '"':
        raise _problem(text, at, "looking for beginning of object key string")
    at = _space(text, _string(text, at + 1))
    if text[at : at + 1] != ":":
        raise _problem(text, at, "after object key")
    return _space(text, at + 1)


def _string(text: str, at: int) -> int:
    while True:
        match = _STRING.match(text, at)
        assert match
        at = match.end()
        char = text[at : at + 1]
        if char == '"':
            return at + 1
        if char != "\\":
            raise _problem(text, at, "in string literal")
        at += 1
        escape = text[at : at + 1]
        if escape == "u":
            for digit in range(at + 1, at + 5):
                if text[digit : digit + 1] not in HEX:
                    raise _problem(text, digit, "in \\u hexadecimal character escape")
            at += 4
        elif not escape or escape not in '"\\/bfnrt':
            raise _problem(text, at, "in string escape code")
        at += 1


def _word(text: str, at: int, word: str) -> int:
    for number, expected in enumerate(word):
        if text[at + number : at + number + 1] != expected:
            raise _problem(text, at + number, f"in literal {word} (expecting {quote_char(expected)})")
    return at + len(word)


def _number(text: str, at: int) -> int:
    if text[at] == "-":
        at += 1
        if _digits(text, at) == at:
            raise _problem(text, at, "in numeric literal")
    at = at + 1 if text[at] == "0" else _digits(text, at)
    if text[at : at + 1] == ".":
        at += 1
        if _digits(text, at) == at:
            raise _problem(text, at, "after decimal point in numeric literal")
        at = _digits(text, at)
    if text[at : at + 1] in ("e", "E"):
        at += 1
        if text[at : at + 1] in ("+", "-"):
            at += 1
        if _digits(text, at) == at:
            raise _problem(text, at, "in exponent of numeric literal")
        at = _digits(text, at)
    return at


def _digits(text: str, at: int) -> int:
    match = _DIGITS.match(text, at)
    assert match
    return match.end()

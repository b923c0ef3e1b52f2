"""JSON bodies as Go reads them, and Go's words for what is wrong with one.

orjson does the reading; only a body that it refuses is walked here, to word the complaint or to find that Go would
have taken it (bytes that are no UTF-8, halves of surrogate pairs, numbers beyond 64 bits). Upstream: encoding/json
scanner.go and decode.go, whose words for too deep a body come here at 200 levels instead of 10,000.
"""

import json
import re
from typing import Any, NamedTuple

import orjson

from fakekube.util.nesting import MAX_LEVELS, is_deep, may_be_deep

END = "unexpected end of JSON input"
SPACE = " \t\r\n"
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

    ``body`` spells the same value so that any reader of JSON takes it: Go's replacement characters are in their places.
    ``beyond`` is the first number that no float64 holds, as it was spelled; empty when there is none. In ``value`` it is
    infinite.
    """

    value: Any
    body: bytes
    beyond: str = ""


def loads(body: bytes) -> Any:
    """The value of a body. Raises SyntaxProblem."""
    return read(body).value


def read(body: bytes) -> Read:
    """The value of a body, with what must be known of its spelling. Raises SyntaxProblem."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _read_closely(body)
    if may_be_deep(body) and is_deep(value):
        check_syntax(body)
    return Read(value, body)


def check_syntax(body: bytes) -> None:
    """Look at every character as Go's scanner does. Raises SyntaxProblem."""
    text = body.decode("latin-1")  # Go looks at bytes
    end = _space(text, _value(text, _space(text, 0), 1))
    if end < len(text):
        raise SyntaxProblem(f"invalid character {quote_char(text[end])} after top-level value")


def clean(body: bytes) -> bytes:
    """The body with a replacement character for every byte that is no UTF-8 and for every half of a surrogate pair."""
    text = _FOREIGN.sub("\ufffd", body.decode("utf-8", "surrogateescape"))
    return _ESCAPE.sub(lambda found: "\ufffd" if found[1] else found[0], text).encode()


def _read_closely(body: bytes) -> Read:
    check_syntax(body)
    body, beyond = clean(body), ""

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
    return Read(value, body, beyond)


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


def _value(text: str, at: int, level: int) -> int:
    """The end of the value that begins at ``at``; a container that begins there is the ``level``-th around."""
    char = text[at : at + 1]
    if char and char in "{[":
        if level > MAX_LEVELS:
            raise _problem(text, at, "exceeded max depth")
        return (_object if char == "{" else _array)(text, at + 1, level + 1)
    if char == '"':
        return _string(text, at + 1)
    if char and char in "-0123456789":
        return _number(text, at)
    for word in ("true", "false", "null"):
        if char == word[0]:
            return _word(text, at, word)
    raise _problem(text, at, "looking for beginning of value")


def _object(text: str, at: int, level: int) -> int:
    at = _space(text, at)
    if text[at : at + 1] == "}":
        return at + 1
    while True:
        if text[at : at + 1] != '"':
            raise _problem(text, at, "looking for beginning of object key string")
        at = _space(text, _string(text, at + 1))
        if text[at : at + 1] != ":":
            raise _problem(text, at, "after object key")
        at = _space(text, _value(text, _space(text, at + 1), level))
        if text[at : at + 1] == "}":
            return at + 1
        if text[at : at + 1] != ",":
            raise _problem(text, at, "after object key:value pair")
        at = _space(text, at + 1)


def _array(text: str, at: int, level: int) -> int:
    at = _space(text, at)
    if text[at : at + 1] == "]":
        return at + 1
    while True:
        at = _space(text, _value(text, at, level))
        if text[at : at + 1] == "]":
            return at + 1
        if text[at : at + 1] != ",":
            raise _problem(text, at, "after array element")
        at = _space(text, at + 1)


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

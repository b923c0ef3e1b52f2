"""JSON bodies as Go reads them, and Go's words for what is wrong with one.

orjson does the reading; only a body that it refuses is walked here, to word the complaint or to find that Go would
have taken it (bytes that are no UTF-8, numbers beyond 64 bits). Upstream: encoding/json scanner.go and decode.go.
"""

import json
import re
from typing import Any

import orjson

END = "unexpected end of JSON input"
SPACE = " \t\r\n"
HEX = frozenset("0123456789abcdefABCDEF")
_STRING = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(r"[0-9]*")


class SyntaxProblem(ValueError):
    """A body is not JSON; the text is Go's."""


def loads(body: bytes) -> Any:
    """Decode a body. Raises SyntaxProblem."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body.decode("utf-8", "replace")
        end = _space(text, _value(text, _space(text, 0)))
        if end < len(text):
            raise SyntaxProblem(f"invalid character {quote_char(text[end])} after top-level value") from None
        return json.loads(text)


def quote_char(char: str) -> str:
    """A character between apostrophes, as Go's scanner prints it."""
    special = {"'": "'\\''", '"': "'\"'", "\n": "'\\n'", "\t": "'\\t'", "\r": "'\\r'", "\\": "'\\\\'"}
    if char in special:
        return special[char]
    return f"'\\x{ord(char):02x}'" if ord(char) < 32 or ord(char) == 127 else f"'{char}'"


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


def _value(text: str, at: int) -> int:
    """The end of the value that begins at ``at``."""
    char = text[at : at + 1]
    if char == "{":
        return _object(text, at + 1)
    if char == "[":
        return _array(text, at + 1)
    if char == '"':
        return _string(text, at + 1)
    if char and char in "-0123456789":
        return _number(text, at)
    for word in ("true", "false", "null"):
        if char == word[0]:
            return _word(text, at, word)
    raise _problem(text, at, "looking for beginning of value")


def _object(text: str, at: int) -> int:
    at = _space(text, at)
    if text[at : at + 1] == "}":
        return at + 1
    while True:
        if text[at : at + 1] != '"':
            raise _problem(text, at, "looking for beginning of object key string")
        at = _space(text, _string(text, at + 1))
        if text[at : at + 1] != ":":
            raise _problem(text, at, "after object key")
        at = _space(text, _value(text, _space(text, at + 1)))
        if text[at : at + 1] == "}":
            return at + 1
        if text[at : at + 1] != ",":
            raise _problem(text, at, "after object key:value pair")
        at = _space(text, at + 1)


def _array(text: str, at: int) -> int:
    at = _space(text, at)
    if text[at : at + 1] == "]":
        return at + 1
    while True:
        at = _space(text, _value(text, at))
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
        if not text[at : at + 1].isdigit():
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

"""Whole numbers in texts, read and complained of as Go's strconv does: ASCII digits only, 64 bits,
however long the text.

Python reads digits of all scripts, numbers of any size, and none of more than 4300 digits.
"""

from fakekube.apimachinery.field_errors import go_quote

_LONGEST = 20  # digits that 64 bits can have
_INT64 = 1 << 63
_BEYOND = 10**_LONGEST
"""What stands for any number that is too long to be read."""


class NumberError(ValueError):
    """A text that is no number of the kind; the message is Go's."""


def parse_int(text: str) -> int:
    """A signed number of 64 bits. Raises NumberError."""
    value = whole(text)
    if value is None or not -_INT64 <= value < _INT64:
        raise _error("ParseInt", text, value)
    return value


def parse_uint(text: str, *, bits: int = 64) -> int:
    """A number of so many bits without a sign. Raises NumberError."""
    value = whole(text) if text[:1] not in ("+", "-") else None
    if value is None or value >= 1 << bits:
        raise _error("ParseUint", text, value)
    return value


def is_uint(text: str) -> bool:
    """Whether ``parse_uint`` takes a text."""
    value = whole(text)
    return value is not None and value < 1 << 64 and text[0] not in "+-"


def whole(text: str) -> int | None:
    """The number that a text spells, with a sign or without; None when it spells none.

    What has more digits than 64 bits can have is some number that is as much out of range.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0")
    value = int(digits or "0") if len(digits) <= _LONGEST else _BEYOND
    return -value if text[0] == "-" else value


def _error(function: str, text: str, value: int | None) -> NumberError:
    why = "invalid syntax" if value is None else "value out of range"
    return NumberError(f"strconv.{function}: parsing {go_quote(text)}: {why}")

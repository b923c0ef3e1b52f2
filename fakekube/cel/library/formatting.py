"""``'%s is %d'.format([name, count])``: the clauses, what each takes, and how Go prints it.

Numbers of ``%f`` and ``%e`` have the digits, the commas and the superscripts of American English;
the precision of ``%e`` is taken for its width, as upstream takes it. Upstream: cel-go's
ext/formatting.go with golang.org/x/text/message.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from fakekube.apimachinery.field_errors import go_quote
from fakekube.cel import types, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.standard import conversions, times

DEFAULT_PRECISION = 6
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SPECIAL_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MAX_INT64 = 2**63 - 1
_MAX_PRECISION = 10_000_009

Clause = Callable[[Any], str]
"""How one argument is printed. Raises FormatError."""


class FormatError(EvaluationError):
    """An argument that a clause does not take."""


def refusal(clause: str, given: str) -> FormatError:
    """What a clause says to an argument of another type."""
    return FormatError(f"{_TAKES[clause]}, was given {given}")


_TAKES = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}


def format_string(template: str, arguments: Sequence[Any]) -> str:
    """The template with its clauses replaced by the arguments in turn."""
    parts = []
    for part in parse(template, len(arguments)):
        if isinstance(part, str):
            parts.append(part)
            continue
        try:
            parts.append(print_clause(part[0], part[1], arguments[part[2]]))
        except EvaluationError as error:
            raise EvaluationError(f"error during formatting: {error}") from None
    return "".join(parts)


def parse(template: str, count: int, *, checked: bool = False) -> "Clauses":
    """The texts and clauses of a template that gets so many arguments, one after the other.

    A clause is its letter, its precision (None without one) and the index of its argument. Raises
    EvaluationError where the template ends within a clause, or has more than there are arguments;
    which of the two counts first is another one where a literal is ``checked``.
    """
    return Clauses(template, count, checked=checked)


class Clauses:
    """Texts and clauses of a template, in order; what is wrong is raised where it stands."""

    def __init__(self, template: str, count: int, *, checked: bool) -> None:
        self._template, self._count, self._place, self._checked = template, count, 0, checked
        self.used = 0

    def __iter__(self) -> "Clauses":
        return self

    def __next__(self) -> str | tuple[str, int | None, int]:
        template, start = self._template, self._place
        if start >= len(template):
            raise StopIteration
        percent = template.find("%", start)
        if percent != start:
            self._place = percent if percent >= 0 else len(template)
            return template[start : self._place]
        if template.startswith("%%", start):
            self._place = start + 2
            return "%"
        index = self.used
        ends, missing = start + 1 >= len(template), index >= self._count
        if ends and (self._checked or not missing):
            raise EvaluationError("unexpected end of string")
        if missing:
            raise EvaluationError(f"index {index} out of range")
        self.used += 1
        place, precision = self._precision(start + 1)
        letter = template[place]
        self._place = place + 1
        if letter not in "sdfebxXo":
            raise _unparsed(f'unrecognized formatting clause "{chr(letter.encode(errors="replace")[0])}"')
        return letter, precision, index

    def _precision(self, place: int) -> tuple[int, int | None]:
        template = self._template
        if template[place] != ".":
            return place, None
        end = place + 1
        while end < len(template) and template[end] in "0123456789":
            end += 1
        digits = template[place + 1 : end]
        if end >= len(template):
            raise _unparsed("error while parsing precision: could not find end of precision specifier")
        if not digits or len(digits.lstrip("0")) > 19 or int(digits) > _MAX_INT64:
            why = "value out of range" if digits else "invalid syntax"
            raise _unparsed(
                "error while parsing precision: error while converting precision to integer: "
                f"strconv.Atoi: parsing {go_quote(digits)}: {why}")
        return end, int(digits)


def _unparsed(message: str) -> EvaluationError:
    return EvaluationError(f"could not parse formatting clause: {message}")


def print_clause(letter: str, precision: int | None, value: Any) -> str:
    """One argument as one clause prints it. Raises EvaluationError."""
    match letter:
        case "s":
            return print_string(value)
        case "d":
            return str(int(_integer("d", value)))
        case "f":
            return _fixed(_double("f", value), DEFAULT_PRECISION if precision is None else precision)
        case "e":
            return _scientific(_double("e", value), DEFAULT_PRECISION if precision is None else precision)
        case "b":
            return f"{int(value):b}" if isinstance(value, int) else f"{_integer('b', value):b}"
        case "o":
            return f"{_integer('o', value):o}"
    return _hexadecimal(value, upper=letter == "X")


def print_string(value: Any) -> str:
    """Any value as ``%s`` prints it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return _print_map(value)
    if isinstance(value, types.Type):
        return value.name
    text = _scalar(value)
    if text is None:
        raise refusal("s", values.type_of(value).name)
    return text


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return conversions.double_to_string(value)
    if isinstance(value, values.Duration):
        return times.duration_text(value)
    if isinstance(value, values.Timestamp):
        return times.timestamp_text(value)
    if not isinstance(value, bytes):
        return None
    try:
        return conversions.bytes_to_string(value)
    except EvaluationError as error:
        raise EvaluationError(f'could not convert argument "{error}" to string') from None


def literal(value: Any) -> str:
    """A value within a list or a map: as CEL would write it. Raises EvaluationError."""
    if isinstance(value, str):
        return go_quote(value)
    if isinstance(value, bytes):
        return f"b{go_quote(print_string(value))}"
    if isinstance(value, float):
        return f"{value:.6f}" if math.isfinite(value) else go_quote(print_string(value))
    if isinstance(value, values.Duration):
        return f"duration({go_quote(print_string(value))})"
    if isinstance(value, values.Timestamp):
        return f"timestamp({go_quote(print_string(value))})"
    if isinstance(value, bool | int | list | tuple | dict | types.Type) or value is None:
        return print_string(value)
    raise EvaluationError(f"no formatting function for {values.type_of(value).name}")


def _print_map(value: dict[Any, Any]) -> str:
    entries = []
    for held, element in value.items():
        key = values.key_value(held)
        if not isinstance(key, str | int):
            raise EvaluationError(f"no formatting function for map key of type {values.type_of(key).name}")
        entries.append((literal(key), literal(element)))
    entries.sort(key=lambda entry: entry[0].encode(errors="replace"))
    return "{" + ", ".join(f"{key}:{element}" for key, element in entries) + "}"


def go_value(value: Any) -> str:
    """A value as messages show it; its type where it has no text."""
    try:
        return print_string(value)
    except EvaluationError:
        return values.type_of(value).name


def _integer(clause: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise refusal(clause, values.type_of(value).name)


def _double(clause: str, value: Any) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, str) and value in _SPECIAL_NUMBERS:
        return _SPECIAL_NUMBERS[value]
    raise refusal(clause, values.type_of(value).name)


def _fixed(number: float, precision: int) -> str:
    if precision > _MAX_PRECISION:
        return "%!(NOVERB)"
    if not math.isfinite(number):
        return _not_finite(number)
    # no double has more digits than this
    text = f"{number or 0.0:,.{min(precision, 1100)}f}"
    if precision <= 255:
        return text
    # Go keeps how many digits there are at least in a byte
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(precision % 256, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _scientific(number: float, width: int) -> str:
    if width > _MAX_PRECISION:
        return "%!(NOVERB)"
    width %= 65536  # Go keeps it in two bytes
    if not math.isfinite(number):
        return _not_finite(number).rjust(width)
    mantissa, _, exponent = f"{number or 0.0:.6e}".partition("e")
    sign = "-" if exponent[0] == "-" else ""
    return f"{mantissa}×10{(sign + exponent[1:]).translate(_SUPERSCRIPTS)}".rjust(width)


def _not_finite(number: float) -> str:
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _hexadecimal(value: Any, *, upper: bool) -> str:
    if isinstance(value, str | bytes):
        text = (value.encode(errors="replace") if isinstance(value, str) else value).hex()
    else:
        text = f"{_integer('x', value):x}"
    return text.upper() if upper else text

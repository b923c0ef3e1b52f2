"""Amounts of resources: ``500m``, ``1Gi``, ``1e3``.

Exact inside, in billionths; upstream's canonical text outside.

Upstream: apimachinery/pkg/api/resource/quantity.go, its oddities included: a text that looks
canonical is kept as it stands (``+5``, ``1.500``), amounts below a billionth round up, and
exponents beyond E have no suffix.
"""

import math
import re
from typing import NamedTuple

from fakekube.apimachinery import strconv
from fakekube.util.memory import memoized

SHAPE = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
NANO = 10**9
MAX_INT64 = 2**63 - 1
KEPT_CHARACTERS = 64
"""Of a text whose amount is remembered."""
FAST_DIGITS = 18  # as many decimal digits surely fit into an int64

DECIMAL, BINARY, EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"
_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_SUFFIXES = {0: ""} | {exponent: suffix for suffix, exponent in _BINARY_EXPONENTS.items()}
_MAX_EXPONENT = 1000  # Go's would overflow long before
_MAX_DIGITS = 1000  # Go takes any number of them

# no part gives back what it has taken: digits that may stand in three parts would be tried in all
_TEXT = re.compile(r"([+-]?+)0*+([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)


class QuantityError(ValueError):
    """A text that is no quantity; the message is upstream's."""


class Quantity(NamedTuple):
    """An amount in billionths, the way it was written, and the text that upstream prints for it."""

    nano: int
    format: str
    text: str

    @property
    def value(self) -> int:
        """The amount in whole units, rounded away from zero."""
        return _rounded(self.nano, NANO)

    @property
    def milli_value(self) -> int:
        """The amount in thousandths, rounded away from zero."""
        return _rounded(self.nano, NANO // 1000)


def quotient(amount: int, other: int) -> float:
    """How often one amount is in another that is above 0; infinite where no float is so large."""
    try:
        return amount / other
    except OverflowError:
        return math.inf if amount > 0 else -math.inf


def parse(value: str | float) -> Quantity:
    """Read a quantity, given as a text or as a JSON number. Raises QuantityError."""
    if isinstance(value, str):
        return _parse(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QuantityError(f"quantities must match the regular expression '{SHAPE}'")
    return _parse(str(value))


class Exact(NamedTuple):
    """An amount as Go holds it: ``number`` times ten to the power of ``scale``.

    ``small`` says that the number is one of 64 bits; else Go has it in any number of them.
    """

    number: int
    scale: int
    small: bool


def parse_exact(text: str) -> Exact:
    """Read a quantity as Go does, spaces around it forbidden. Raises QuantityError."""
    nano = _parse(text).nano
    if text == "0":
        return Exact(0, 0, small=True)
    found = _TEXT.fullmatch(text)
    assert found is not None
    sign = -1 if found[1] == "-" else 1
    whole, fraction = found[2] or "0", found[3] or ""
    form, exponent = _interpret(found[4])
    number = int(whole + fraction)
    if form == BINARY:
        number <<= exponent
        if _is_fast_binary(whole, fraction, exponent) and number <= MAX_INT64:
            return Exact(sign * number, 0, small=True)
    elif len(whole + fraction) <= FAST_DIGITS and exponent - len(fraction) >= -9:
        return Exact(sign * number, exponent - len(fraction), small=True)
    if form == BINARY and abs(nano) == MAX_INT64 * NANO:
        return Exact(sign * MAX_INT64, 0, small=False)
    return Exact(nano, -9, small=False)


def canonical(value: str | float) -> str:
    """The text that upstream prints: ``1000m`` is ``1``, ``1024Ki`` is ``1Mi``.

    Raises QuantityError.
    """
    return parse(value).text


def is_canonical(text: str) -> bool:
    """Whether a text is what upstream prints for its amount."""
    try:
        return _parse(text).text == text
    except QuantityError:
        return False


def render(nano: int, form: str = DECIMAL) -> str:
    """The canonical text of an amount in billionths, in the way of writing of another quantity."""
    if nano == 0:
        return "0"
    if form == BINARY and abs(nano) >= 1024 * NANO and nano % NANO == 0:
        number = nano // NANO
        exponent = ((number & -number).bit_length() - 1) // 10 * 10
        return f"{number >> exponent}{_BINARY_SUFFIXES.get(exponent, '')}"
    digits = str(nano)
    zeros = (len(digits) - len(digits.rstrip("0"))) // 3 * 3
    number_text, exponent = digits[:len(digits) - zeros], zeros - 9
    if form == EXPONENT:
        return f"{number_text}e{exponent}" if exponent else number_text
    return f"{number_text}{_DECIMAL_SUFFIXES.get(exponent, '')}"


def round_up_milli(text: str) -> str:
    """The canonical text, rounded up to thousandths as a pod's resources are: ``0.0005`` is ``1m``.
    """
    found = parse(text)
    if found.nano % (NANO // 1000) == 0:
        return found.text
    return render(found.milli_value * (NANO // 1000), found.format)


def _rounded(nano: int, unit: int) -> int:
    whole = -(-abs(nano) // unit)
    return whole if nano >= 0 else -whole


@memoized(8192, longest=KEPT_CHARACTERS)
def _parse(text: str) -> Quantity:
    found = _TEXT.fullmatch(text) if text else None
    if found is None:
        raise QuantityError(f"quantities must match the regular expression '{SHAPE}'")
    sign, whole, fraction, suffix = found[1], found[2] or "0", found[3] or "", found[4]
    form, exponent = _interpret(suffix)
    digits = whole + fraction
    if len(digits) > _MAX_DIGITS:
        raise QuantityError("unable to parse numeric part of quantity")
    if form == BINARY:
        amount, exact = int(digits) * 2**exponent * NANO, 10 ** len(fraction)
        fast = _is_fast_binary(whole, fraction, exponent)
        kept = fast and int(whole) & 7 != 0
    else:
        scale = exponent - len(fraction)
        amount, exact = int(digits) * 10 ** max(scale + 9, 0), 10 ** max(-scale - 9, 0)
        fast = len(digits) <= FAST_DIGITS and scale >= -9
        kept = fast and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    if not fast and not re.search("[0-9]", text[: len(text) - len(suffix)]):
        raise QuantityError("unable to parse numeric part of quantity")
    nano = -(-amount // exact)
    if form == BINARY and (fraction or not kept):
        nano = min(nano, MAX_INT64 * NANO)
        if fraction and 0 < nano < NANO:
            form = DECIMAL
    nano = -nano if sign == "-" else nano
    return Quantity(nano, form, text if kept else render(nano, form))


def _is_fast_binary(whole: str, fraction: str, exponent: int) -> bool:
    """Whether Go reads a number with a binary suffix into 64 bits."""
    return not fraction and 15 - len(whole) - exponent * 3 // 10 - 1 >= 0


def _interpret(suffix: str) -> tuple[str, int]:
    if suffix in _DECIMAL_EXPONENTS:
        return DECIMAL, _DECIMAL_EXPONENTS[suffix]
    if suffix in _BINARY_EXPONENTS:
        return BINARY, _BINARY_EXPONENTS[suffix]
    found = _EXPONENT.fullmatch(suffix)
    if found is None:
        raise QuantityError("unable to parse quantity's suffix")
    try:
        return EXPONENT, max(min(strconv.parse_int(found[1]), _MAX_EXPONENT), -_MAX_EXPONENT)
    except strconv.NumberError:
        raise QuantityError("unable to parse quantity's suffix") from None

"""Semantic versions: ``semver('1.2.3').isLessThan(semver('1.3.0'))``, ``isSemver('v1.0', true)``.

Upstream: apiserver/pkg/cel/library/semverlib.go with github.com/blang/semver.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from fakekube.apimachinery import strconv
from fakekube.apimachinery.field_errors import go_quote
from fakekube.cel import types
from fakekube.cel.errors import EvaluationError
from fakekube.cel.functions import function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

SEMVER_TYPE = types.object_type("kubernetes.Semver", {})
_DIGITS = "0123456789"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-" + _DIGITS)


class Part(NamedTuple):
    """A part of what stands behind the dash: numbers come before names."""

    is_name: bool
    number: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Semver:
    """The value of ``semver('1.2.3-alpha.1+build')``; what is behind a plus does not count."""

    cel_type: ClassVar[types.Type] = SEMVER_TYPE
    numbers: tuple[int, int, int]
    before_release: tuple[Part, ...]

    def compare(self, other: "Semver") -> int:
        """-1, 0 or 1: a version without parts comes after all that have some."""
        left = (self.numbers, not self.before_release, self.before_release)
        right = (other.numbers, not other.before_release, other.before_release)
        return int(left > right) - int(left < right)

    def __str__(self) -> str:
        parts = ".".join(part.name if part.is_name else str(part.number) for part in self.before_release)
        return ".".join(map(str, self.numbers)) + (f"-{parts}" if parts else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.compare(other) == 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.before_release))


def library() -> Library:
    """The functions, since 1.33; those of selectors of devices were there before."""
    kind, text, integer, truth = SEMVER_TYPE, types.STRING, types.INT, types.BOOL
    walk: dict[str, Any] = {"cost": costing.walk_cost(), "estimate": costing.walk()}
    nominal: dict[str, Any] = {"cost": costing.nominal_cost, "estimate": costing.nominal}
    return Library("semver", (
        function(
            "semver",
            overload("string_to_semver", [text], kind, to_semver, **walk),
            overload("string_bool_to_semver", [text, truth], kind, to_semver, **walk),
        ),
        function(
            "isSemver",
            overload("is_semver_string", [text], truth, is_semver, **walk),
            overload("is_semver_string_bool", [text, truth], truth, is_semver, **walk),
        ),
        function("isGreaterThan", member(
            "semver_is_greater_than", [kind, kind], truth, lambda left, right: left.compare(right) == 1, **nominal)),
        function("isLessThan", member(
            "semver_is_less_than", [kind, kind], truth, lambda left, right: left.compare(right) == -1, **nominal)),
        function("compareTo", member("semver_compare_to", [kind, kind], integer, Semver.compare, **nominal)),
        *(function(name, member(f"semver_{name}", [kind], integer, _number(index), **nominal))
          for index, name in enumerate(("major", "minor", "patch"))),
    ))


def _number(index: int) -> Any:
    # a number beyond the signed ones wraps around, as upstream's does
    return lambda version: (version.numbers[index] + 2**63) % 2**64 - 2**63


def to_semver(text: str, normalize: bool = False) -> Semver:
    """The version that a text says, after it was made one if that is asked for."""
    try:
        return parse(normalized(text) if normalize else text)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def is_semver(text: str, normalize: bool = False) -> bool:
    """Whether ``semver`` takes a text."""
    try:
        to_semver(text, normalize)
    except EvaluationError:
        return False
    return True


def normalized(text: str) -> str:
    """A text without a ``v`` in front and zeros before numbers, with all three numbers.

    Raises ValueError for a short one with more behind it.
    """
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part.encode(errors="replace")) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1] in _DIGITS and stripped else f"0{stripped}"
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise ValueError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def parse(text: str) -> Semver:
    """Read a version. Raises ValueError with upstream's words."""
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ValueError("No Major.Minor.Patch elements found")
    major, minor = _whole("major", parts[0]), _whole("minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch_text, dash, before_release = rest.partition("-")
    patch = _whole("patch", patch_text)
    read = tuple(_part(part) for part in before_release.split(".")) if dash else ()
    for part in build.split(".") if plus else ():
        if not part:
            raise ValueError("Build meta data is empty")
        if not _LETTERS.issuperset(part):
            raise ValueError(f"Invalid character(s) found in build meta data {go_quote(part)}")
    return Semver((major, minor, patch), read)


def _whole(name: str, digits: str) -> int:
    if not all(digit in _DIGITS for digit in digits):
        raise ValueError(f"Invalid character(s) found in {name} number {go_quote(digits)}")
    if len(digits) > 1 and digits[0] == "0":
        raise ValueError(f"{name.capitalize()} number must not contain leading zeroes {go_quote(digits)}")
    return strconv.parse_uint(digits)


def _part(text: str) -> Part:
    if not text:
        raise ValueError("Prerelease is empty")
    if all(digit in _DIGITS for digit in text):
        if len(text) > 1 and text[0] == "0":
            raise ValueError(f"Numeric PreRelease version must not contain leading zeroes {go_quote(text)}")
        return Part(is_name=False, number=strconv.parse_uint(text), name="")
    if not _LETTERS.issuperset(text):
        raise ValueError(f"Invalid character(s) found in prerelease {go_quote(text)}")
    return Part(is_name=True, number=0, name=text)

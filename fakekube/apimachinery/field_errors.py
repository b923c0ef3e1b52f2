"""What is wrong with one field, in upstream's words.

Upstream: apimachinery/pkg/util/validation/field/errors.go. Paths are plain strings
(``spec.containers[0].name``); ``child``, ``index`` and ``key`` build them, an empty path is the
root and prints ``<nil>``.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from fakekube.apimachinery import empties

REASONS = {
    "Required value": "FieldValueRequired", "Invalid value": "FieldValueInvalid", "Duplicate value": "FieldValueDuplicate",
    "Not found": "FieldValueNotFound", "Unsupported value": "FieldValueNotSupported", "Forbidden": "FieldValueForbidden",
    "Too long": "FieldValueTooLong", "Too many": "FieldValueTooMany", "Too few": "FieldValueTooFew",
    "Too short": "FieldValueTooShort", "Internal error": "InternalError",
}


class Omitted:
    """The value of an error that prints none."""


OMITTED = Omitted()

MOST_TOLD = 1 << 20
"""After so many characters an answer tells no further error. Upstream tells all."""


class Verbatim(str):
    """A value that prints as it is: a Go struct dump, say."""

    __slots__ = ()


def child(path: str, *names: str) -> str:
    """The path of a field of the thing at ``path``."""
    return ".".join([path, *names]) if path else ".".join(names)


def index(path: str, number: int) -> str:
    """The path of a list's item."""
    return f"{path}[{number}]"


def key(path: str, name: str) -> str:
    """The path of a map's entry."""
    return f"{path}[{name}]"


def go_quote(text: str) -> str:
    """A string as Go's %q prints it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_go_escaped, text)) + '"'


_GO_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
}


def _go_escaped(letter: str) -> str:
    if letter in _GO_ESCAPES:
        return _GO_ESCAPES[letter]
    if letter.isprintable():
        return letter
    number = ord(letter)
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def show(value: Any) -> str:
    """A value as upstream prints it in an error: strings quoted, scalars plain, the rest as JSON.
    """
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return go_quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return str(value)
    return go_json(value)


def go_json(value: Any, *, sort_keys: bool = False) -> str:
    """A value as Go's encoding/json prints it, where it escapes what HTML could trip over."""
    text = orjson.dumps(empties.without(value), option=orjson.OPT_SORT_KEYS if sort_keys else 0).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def typed(text: str) -> Verbatim:
    """A text that is of a type of its own upstream, which prints as JSON, and not as Go has it."""
    return Verbatim(go_json(text))


class FieldError(NamedTuple):
    """One complaint, as the newest release makes it.

    ``reason`` overrides the cause's reason where upstream's differs from the type's own. ``before``
    is how releases before 1.37 word it. ``declared`` errors are found by declarative rules since
    1.37, and told after all others.
    """

    type: str
    field: str
    value: Any
    detail: str
    reason: str = ""
    before: "FieldError | None" = None
    declared: bool = False

    @property
    def body(self) -> str:
        """The text after the path."""
        if self.type in ("Required value", "Forbidden", "Too long", "Too short", "Internal error") or self.value is OMITTED:
            text = self.type
        elif self.type in ("Too many", "Too few"):
            text = f"{self.type}: {show(self.value)}" if self.value is not OMITTED else self.type
        else:
            text = f"{self.type}: {show(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field or '<nil>'}: {self.body}"

    def cause(self) -> dict[str, str]:
        """The entry of ``details.causes``."""
        return {"reason": self.reason or REASONS[self.type], "message": self.body, "field": self.field or "<nil>"}


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """``path: Invalid value: value: detail``."""
    return FieldError("Invalid value", path, value, detail)


def complaints(path: str, value: Any, texts: Iterable[str]) -> list[FieldError]:
    """One invalid value for each text that the validators of ``apimachinery.names`` give."""
    return [invalid(path, value, text) for text in texts]


def required(path: str, detail: str = "") -> FieldError:
    """``path: Required value: detail``."""
    return FieldError("Required value", path, "", detail)


def forbidden(path: str, detail: str) -> FieldError:
    """``path: Forbidden: detail``."""
    return FieldError("Forbidden", path, "", detail)


def duplicate(path: str, value: Any) -> FieldError:
    """``path: Duplicate value: value``."""
    return FieldError("Duplicate value", path, value, "")


def repetitions(values: Iterable[Hashable]) -> frozenset[int]:
    """The places of values that stand further in front already: what takes ``values[:place]`` takes
    the square of time.
    """
    seen: set[Hashable] = set()
    places: list[int] = []
    for place, value in enumerate(values):
        if value in seen:
            places.append(place)
        seen.add(value)
    return frozenset(places)


def not_found(path: str, value: Any) -> FieldError:
    """``path: Not found: value``."""
    return FieldError("Not found", path, value, "")


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    """``path: Unsupported value: value: supported values: "a", "b"``; give the values in the order
    to print.
    """
    return FieldError("Unsupported value", path, value, "supported values: " + ", ".join(map(go_quote, supported)))


def too_long(path: str, limit: int, unit: str = "bytes") -> FieldError:
    """``path: Too long: may not be more than N bytes``."""
    return FieldError("Too long", path, "", f"may not be more than {limit} {unit.removesuffix('s') if limit == 1 else unit}")


def too_many(path: str, actual: int, limit: int) -> FieldError:
    """``path: Too many: 5: must have at most 3 items``."""
    return FieldError("Too many", path, actual, f"must have at most {limit} item{'' if limit == 1 else 's'}")


def declared(error: FieldError, before: FieldError | None = None) -> FieldError:
    """An error of a declarative rule, to be put where the hand-written check of older releases
    found it.
    """
    return error._replace(declared=True, before=before)


def tellable(errors: Sequence[FieldError]) -> Sequence[FieldError]:
    """The first of them, as many as an answer may tell: each may show a whole list, and there is
    one for each item.
    """
    left = MOST_TOLD
    for place, error in enumerate(errors):
        if left < 0:
            return errors[:place]
        left -= len(str(error))
    return errors


def aggregate(errors: Sequence[object]) -> str:
    """All of them in one text: bare when there is one, else bracketed, without repetitions."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"

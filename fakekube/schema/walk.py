"""The state of one decoding that has something to report: where it is, what it did not know, what
went wrong first.

Upstream: the ``decodeState`` of sigs.k8s.io/json. There, a value of the wrong type is remembered
and decoding goes on, so that the first such error is told at the end; a type that decodes itself (a
time, a quantity) ends everything at once, even when a type error was remembered before.
"""

from fakekube.apimachinery import gojson
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json

UNKNOWN_LIMIT = 100
"""So many strict errors are told for one body at most."""


class DecodeError(ValueError):
    """The body is no object of its kind.

    ``str(error)`` is Go's text, without the words that name the kind.
    """


class NumberText(float):
    """A number that JSON spelled in a way a float does not give back: ``1e2``, ``3.0``, or 30
    digits.
    """

    __slots__ = ("text",)

    def __new__(cls, text: str) -> "NumberText":
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str


class Walk:
    """Both paths of where decoding stands: the dotted one of type errors and the exact one of
    strict errors.
    """

    __slots__ = ("error", "fields", "inexact", "path", "struct", "unknown", "unseen")
    repeats = False  # whether keys that are given twice are of interest
    converts = False  # whether numbers are made to fit

    def __init__(self) -> None:
        self.struct = ""
        self.fields: list[str] = []
        self.path: list[str] = []
        self.unknown: list[str] = []
        # depth of values that decode themselves: nobody looks for unknown fields in them
        self.unseen = 0
        self.error: str | None = None
        self.inexact = False  # a text hangs on how a number was spelled

    def mismatch(self, value: str, go_type: str) -> None:
        """Remember that a value cannot be what the field is. Only the first counts."""
        if self.error is None:
            self.error = self.mismatch_text(value, go_type)

    def type_name(self, value: Json) -> str:
        """What a value of the wrong type is called: ``string``, ``number``."""
        return gojson.type_name(value)

    def mismatch_text(self, value: str, go_type: str) -> str:
        """The words for a value (``string``, ``number 1.5``) that does not fit the field where
        decoding stands.
        """
        where = f"Go struct field {self.struct}.{'.'.join(self.fields)}" if self.fields else "Go value"
        return f"json: cannot unmarshal {value} into {where} of type {go_type}"

    def remember(self, text: str) -> None:
        """Remember an error that says everything itself."""
        if self.error is None:
            self.error = text

    def unknown_field(self, key: str) -> None:
        """Note a key that its struct does not have."""
        if self.unseen or len(self.unknown) >= UNKNOWN_LIMIT:
            return
        where = self.place(key)
        if where not in self.unknown:
            self.unknown.append(where)

    def member(self, key: str, seen: dict[str, None]) -> None:
        """Take note of a key that decoding has come to; ``seen`` are those before it in the same
        object, and takes it.
        """

    def place(self, key: str) -> str:
        """The exact path of a key below where decoding stands: ``spec.containers[0].foo``."""
        return f"{''.join(self.path)}.{key}" if self.path else key

    def number_text(self, value: float) -> str:
        """A JSON number as the body spells it, as far as it is still known."""
        if isinstance(value, NumberText):
            return value.text
        if isinstance(value, float):
            self.inexact = True
        return repr(value)


class ConverterWalk(Walk):
    """A walk as upstream's converter of unstructured objects takes it: an integer that is too wide
    for its field loses its upper bits, and a float that is whole is an integer.

    Upstream: apimachinery/pkg/runtime/converter.go.
    """

    __slots__ = ()
    converts = True

    def type_name(self, value: Json) -> str:
        return f"number {value!r}" if value.__class__ is float else super().type_name(value)


class StrictWalk(Walk):
    """A walk over all that a body gives, keys given twice included; ``told`` is what is wrong, in
    the order of the body.
    """

    __slots__ = ("told",)
    repeats = True

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def unknown_field(self, key: str) -> None:
        self._tell("unknown", key)

    def member(self, key: str, seen: dict[str, None]) -> None:
        if key in seen:
            self._tell("duplicate", key)
        else:
            seen[key] = None

    def _tell(self, what: str, key: str) -> None:
        if self.unseen or len(self.told) >= UNKNOWN_LIMIT:
            return
        text = f"{what} field {go_quote(self.place(key))}"
        if text not in self.told:
            self.told.append(text)

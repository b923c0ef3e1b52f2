"""Expressions in webhook configurations and policies: whether they compile.

Expressions that the object had before may use all that the release knows; new ones only what the
release before knew too. Upstream: pkg/apis/admissionregistration/validation, by
apiserver/pkg/admission/plugin/cel.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import Json, Tree

if TYPE_CHECKING:
    from fakekube.cel.admission import Refused
    from fakekube.cel.types import Type

KEYS = ("expression", "messageExpression", "valueExpression")


class Expressions:
    """Checks the expressions of one object.

    ``params`` and ``composes`` say whether there are parameters and variables, ``before`` which
    expressions the object had.
    """

    def __init__(self, minor: int, *, params: bool = False, composes: bool = False, before: Collection[str] = ()) -> None:
        from fakekube.cel.admission import Composition

        self._composition = Composition(minor, params=params, composes=composes)
        self._conditions = Composition(minor, params=params, composes=False)
        self._before = before

    def condition(self, path: str, text: str) -> list[FieldError]:
        """What is wrong with a match condition, which sees no variables."""
        from fakekube.cel import types

        within = self._conditions.within(stored=text in self._before)
        return self._errors(within, path, text.strip(), (types.BOOL,))

    def check(
        self, path: str, text: str, results: "Sequence[Type]", *, authorized: bool = True, patches: bool = False,
        compiled: str = "",
    ) -> list[FieldError]:
        """What is wrong with an expression; ``compiled`` is the text that is looked at, if it is
        another one.
        """
        within = self._composition.within(stored=text in self._before, authorized=authorized, patches=patches)
        return self._errors(within, path, compiled or text, results, shown=text)

    def variable(self, path: str, name: str, text: str) -> list[FieldError]:
        """What is wrong with a variable, which others may use from now on."""
        from fakekube.cel import admission, types

        try:
            program = admission.compiled(self._composition.within(stored=text in self._before), text)
        except admission.Refused as error:
            self._composition.add(name, types.DYN)
            return [_refusal(path, text, error)]
        self._composition.add(name, program.type)
        return []

    @staticmethod
    def _errors(within: Json, path: str, text: str, results: "Sequence[Type]", shown: str = "") -> list[FieldError]:
        from fakekube.cel import admission

        try:
            admission.compiled(within, text, results)
        except admission.Refused as error:
            return [_refusal(path, shown or text, error)]
        return []


def _refusal(path: str, text: str, error: "Refused") -> FieldError:
    return FieldError("Internal error", path, "", str(error)) if error.internal else invalid(path, text, str(error))


def expressions_in(value: Json) -> frozenset[str]:
    """All expressions that an object has."""
    return frozenset(_found(value))


def _found(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in KEYS and isinstance(inner, str):
                yield inner
            else:
                yield from _found(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _found(inner)


def before_of(old: Tree | None) -> frozenset[str]:
    """The expressions that an object had before a write; none when it is new."""
    return expressions_in(old or {})

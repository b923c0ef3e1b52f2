"""Which type may stand for which, and what type parameters come to stand for.

Upstream: checker/types.go and checker/mapping.go, and the methods IsExactType and IsAssignableType
of common/types/types.go.
"""

from fakekube.cel import types
from fakekube.cel.types import Kind, Type

_NULLABLE = frozenset({Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP})
_WITHOUT_PARAMETERS = frozenset(
    {
        Kind.BOOL,
        Kind.BYTES,
        Kind.DOUBLE,
        Kind.INT,
        Kind.STRING,
        Kind.UINT,
        Kind.ANY,
        Kind.DURATION,
        Kind.TIMESTAMP,
        Kind.STRUCT,
    }
)


class Substitutions:
    """What each type parameter stands for so far; what an attempt added can be taken back."""

    def __init__(self) -> None:
        self._found: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._counter = 0

    def fresh(self) -> Type:
        """A type parameter that nobody has used yet."""
        self._counter += 1
        return types.parameter(f"_var{self._counter - 1}")

    def find(self, of: Type) -> Type | None:
        """What the parameter stands for; None for another type or a parameter that is open."""
        return self._found.get(of.name) if of.kind is Kind.TYPE_PARAMETER else None

    def assignable(self, left: Type, right: Type) -> bool:
        """Whether one may stand for the other; what follows for parameters is kept if so."""
        return self.assignable_all([left], [right])

    def assignable_all(self, left: list[Type], right: list[Type]) -> bool:
        """Whether each may stand for its counterpart, all at once."""
        mark = len(self._trail)
        if all(map(self._assignable, left, right)):
            return True
        while len(self._trail) > mark:
            name, previous = self._trail.pop()
            if previous is None:
                del self._found[name]
            else:
                self._found[name] = previous
        return False

    def substitute(self, of: Type, *, open_to_dyn: bool = False) -> Type:
        """The type with what its parameters stand for; open ones become dyn if asked for."""
        while (found := self.find(of)) is not None:
            of = found
        if of.kind is Kind.TYPE_PARAMETER:
            return types.DYN if open_to_dyn else of
        if not of.parameters:
            return of
        parameters = tuple(self.substitute(parameter, open_to_dyn=open_to_dyn) for parameter in of.parameters)
        return of if parameters == of.parameters else Type(of.kind, of.name, parameters, of.wrapper)

    def _bind(self, parameter: Type, meaning: Type) -> None:
        self._trail.append((parameter.name, self._found.get(parameter.name)))
        self._found[parameter.name] = meaning

    def _assignable(self, left: Type, right: Type) -> bool:
        if right.kind is Kind.TYPE_PARAMETER:
            valid, known = self._substitutes(left, right)
            if valid or known:
                return valid
        if left.kind is Kind.TYPE_PARAMETER:
            return self._substitutes(right, left)[0]
        if _open(left) or _open(right):
            return True
        if left.kind is Kind.NULL:
            return _accepts_null(right)
        if right.kind is Kind.NULL:
            return _accepts_null(left)
        if left.kind in _WITHOUT_PARAMETERS:
            return accepts(right, left)
        if left.kind is Kind.TYPE:
            return right.kind is Kind.TYPE
        return (
            left.kind is right.kind
            and left.name == right.name
            and len(left.parameters) == len(right.parameters)
            and all(map(self._assignable, left.parameters, right.parameters))
        )

    def _substitutes(self, meaning: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether the parameter may stand for it, and whether it stood for something before."""
        if meaning == parameter:
            return True, True
        known = self.find(parameter)
        if known is not None:
            if meaning == known:
                return True, True
            if self._assignable(meaning, known):
                general = most_general(meaning, known)
                if self._free_of(parameter, general):
                    self._bind(parameter, general)
                return True, True
            return False, True
        if self._free_of(parameter, meaning):
            self._bind(parameter, meaning)
            return True, False
        return False, False

    def _free_of(self, parameter: Type, within: Type) -> bool:
        if parameter == within:
            return False
        if within.kind is Kind.TYPE_PARAMETER:
            found = self.find(within)
            return found is None or self._free_of(parameter, found)
        return all(self._free_of(parameter, inner) for inner in within.parameters)


def accepts(declared: Type, given: Type) -> bool:
    """Whether a value of one type may stand where the other is declared; parameters included."""
    if declared.wrapper and given.kind is Kind.NULL:
        return True
    if declared.kind is Kind.DYN:
        return True
    return (
        declared.kind is given.kind
        and declared.name == given.name
        and len(declared.parameters) == len(given.parameters)
        and all(map(accepts, declared.parameters, given.parameters))
    )


def most_general(left: Type, right: Type) -> Type:
    """The one of two types that says less."""
    return left if _says_less(left, right) else right


def _says_less(left: Type, right: Type) -> bool:
    if types.is_dyn(left) or left.kind is Kind.TYPE_PARAMETER:
        return True
    if types.is_dyn(right) or right.kind is Kind.TYPE_PARAMETER or left.kind is not right.kind:
        return False
    if left.kind is Kind.TYPE:
        return True
    if left.kind in {Kind.OPAQUE, Kind.LIST, Kind.MAP}:
        return (
            left.name == right.name
            and len(left.parameters) == len(right.parameters)
            and all(map(_says_less, left.parameters, right.parameters))
        )
    return left == right


def _open(of: Type) -> bool:
    return of.kind is Kind.DYN or of.kind is Kind.ANY or of.kind is Kind.ERROR


def _accepts_null(of: Type) -> bool:
    return of.kind in _NULLABLE or of.wrapper or of.kind is Kind.NULL

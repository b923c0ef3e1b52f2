"""Closures for the parts of expressions: variables, fields, operators, calls.

Upstream: interpreter/interpretable.go and interpreter/attributes.go.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fakekube.cel import costs, errors, folds, spending, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.standard import conversions

Code = Callable[[list[Any]], Any]


def constant(value: Any) -> Code:
    """A value that is always the same."""
    return lambda _: value


def failing(message: str) -> Code:
    """A part that cannot have a value."""

    def run(_: list[Any]) -> Any:
        raise EvaluationError(message)

    return run


def converted(code: Code, convert: Callable[[Any], Any]) -> Code:
    """What stands in a tree as the value that a schema says it is.

    Lists, maps and objects are converted once in an evaluation; frame[2] holds them.
    """

    def run(frame: list[Any]) -> Any:
        value = code(frame)
        if value is None:
            return None
        if not isinstance(value, list | dict):
            return convert(value)
        done = frame[2]
        if done is None:
            done = frame[2] = {}
        key = (id(value), convert)
        if key not in done:
            done[key] = convert(value)
        return done[key]

    return run


def converted_optional(code: Code, convert: Callable[[Any], Any]) -> Code:
    """The same for the value of an optional."""

    def run(frame: list[Any]) -> Any:
        found = code(frame)
        return values.OptionalValue(convert(found.value)) if found.present and found.value is not None else found

    return run


def text(code: Code) -> Code:
    """A string; EvaluationError, with no more said, for anything else."""

    def run(frame: list[Any]) -> Any:
        value = code(frame)
        if value.__class__ is not str:
            raise errors.no_such_overload()
        return value

    return run


def variable(index: int) -> Code:
    """A variable of the environment."""
    return lambda frame: frame[index]


def local(index: int) -> Code:
    """A variable of a loop or a binding."""

    def run(frame: list[Any]) -> Any:
        value = frame[index]
        return folds.read(frame, index) if value.__class__ in _HELD else value

    return run


_HELD = frozenset({folds.Unread, folds.Failure})


def field(operand: Code, key: str, name: str, *, absent_nulls: bool) -> Code:
    """A field of an object or the value of a map under a name."""

    def run(frame: list[Any]) -> Any:
        try:
            value = operand(frame)[key]
        except KeyError:
            raise errors.no_such_key(name) from None
        if value is None and absent_nulls:
            raise errors.no_such_key(name)
        return value

    return run


def dynamic_field(operand: Code, key: str) -> Code:
    """A field of something that is known at run time only."""

    def run(frame: list[Any]) -> Any:
        value = operand(frame)
        return _of_optional(frame, value, key) if value.__class__ is values.OptionalValue else index_value(value, key)

    return run


def _of_optional(frame: list[Any], value: values.OptionalValue, key: Any) -> values.OptionalValue:
    """What an optional holds under a key, where only now is known that it is one: only what is
    found costs something, and that was counted.
    """
    found = optional_index_value(value, key)
    if not found.present:
        frame[0] += costs.SELECT_AND_IDENT
    return found


def has_field(operand: Code, key: str, *, absent_nulls: bool) -> Code:
    """Whether an object or a map has something under a name."""

    def run(frame: list[Any]) -> bool:
        value = operand(frame)
        if value.__class__ is dict:  # as nearly always
            return key in value and not (absent_nulls and value[key] is None)
        if value.__class__ is values.OptionalValue:
            if not (isinstance(value.value, dict) and key in value.value):
                frame[0] += costs.SELECT_AND_IDENT
            value = value.value
        if isinstance(value, list | tuple):
            list_index(key)
        return isinstance(value, dict) and key in value and not (absent_nulls and value[key] is None)

    return run


def index_value(value: Any, key: Any) -> Any:
    """An element of a list, or the value of a map under a key. Raises EvaluationError."""
    if isinstance(value, dict):
        try:
            return value[values.map_key(key)]
        except (KeyError, TypeError):
            raise errors.no_such_key(conversions.key_text(key)) from None
    if isinstance(value, list | tuple):
        place = list_index(key)
        if not 0 <= place < len(value):
            raise EvaluationError(f"index out of bounds: {place}")
        return value[place]
    if value.__class__ is values.OptionalValue:
        return optional_index_value(value, key)
    raise errors.no_such_key(conversions.key_text(key))


def list_index(key: Any) -> int:
    """The index that a key means: a whole number of any type. Raises EvaluationError."""
    if not isinstance(key, int | float) or isinstance(key, bool):
        raise EvaluationError(f"unsupported index type '{values.type_of(key).name}' in list")
    if (key.__class__ is float and not key.is_integer()) or not values.MIN_INT <= key <= values.MAX_INT:
        raise EvaluationError(f"unsupported index value {conversions.key_text(key)} in list")
    return int(key)


_QUALIFIERS = frozenset({str, int, values.Uint, bool, float})


def check_qualifier(key: Any) -> None:
    """Raise EvaluationError for what can be no key of anything."""
    if key.__class__ not in _QUALIFIERS:
        raise EvaluationError(f"invalid qualifier type: {values.go_type(key)}")


def optional_index_value(value: Any, key: Any) -> values.OptionalValue:
    """What is under a key, if it is there, as an optional."""
    if value.__class__ is values.OptionalValue:
        if not value.present:
            return values.NONE
        value = value.value
    if isinstance(value, dict):
        found = value.get(values.map_key(key), values.NONE)
        return values.NONE if found is values.NONE else values.OptionalValue(found)
    if isinstance(value, list | tuple):
        place = list_index(key)
        return values.OptionalValue(value[place]) if 0 <= place < len(value) else values.NONE
    return values.NONE


def index(operand: Code, key: Code, *, texts_only: bool = False) -> Code:
    """``a[b]``; ``texts_only`` says that keys of a map can be nothing but strings."""

    def run(frame: list[Any]) -> Any:
        value = operand(frame)
        if value.__class__ is values.OptionalValue:
            place = key(frame) if value.present else None
            if value.present:
                check_qualifier(place)
            return _of_optional(frame, value, place)
        place = key(frame)
        check_qualifier(place)
        if texts_only and place.__class__ is not str and isinstance(value, dict):
            raise errors.no_such_overload()
        return index_value(value, place)

    return run


def optional_index(operand: Code, key: Code, *, absent_nulls: bool = False) -> Code:
    """``a.?b`` and ``a[?b]``, and selections from an optional; what is found costs one."""

    def run(frame: list[Any]) -> Any:
        value = operand(frame)
        if value.__class__ is values.OptionalValue and not value.present:
            return values.NONE
        place = key(frame)
        check_qualifier(place)
        found = optional_index_value(value, place)
        if absent_nulls and found.value is None:
            return values.NONE
        if found.present:
            frame[0] -= costs.SELECT_AND_IDENT
        return found

    return run


def logical(terms: Sequence[Code], spent: Sequence[int], *, decisive: bool) -> Code:
    """``||`` if True decides, ``&&`` if False does. ``spent`` is what each costs when it is
    computed; nothing for the first.
    """
    otherwise, costed = not decisive, [*zip(terms, spent, strict=True)]

    def run(frame: list[Any]) -> bool:
        failed: EvaluationError | None = None
        for term, cost in costed:
            frame[0] -= cost
            try:
                value: Any = term(frame)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decisive:
                return bool(decisive)
            if value is not otherwise:
                failed = failed or errors.no_such_overload()
        if failed is not None:
            raise failed
        return otherwise

    return run


def conditional(condition: Code, then: Code, otherwise: Code, then_cost: int, otherwise_cost: int) -> Code:
    """``a ? b : c``."""

    def run(frame: list[Any]) -> Any:
        decided = condition(frame)
        if decided is True:
            frame[0] -= then_cost
            return then(frame)
        if decided is False:
            frame[0] -= otherwise_cost
            return otherwise(frame)
        raise errors.no_such_overload()

    return run


def optional_or(first: Code, second: Code, cost: int, *, unwrapped: bool) -> Code:
    """The first optional if it has a value, else the second part; ``unwrapped`` gives the value."""

    def run(frame: list[Any]) -> Any:
        found = first(frame)
        if found.__class__ is not values.OptionalValue:
            raise errors.no_such_overload()
        if found.present:
            return found.value if unwrapped else found
        frame[0] -= cost
        return second(frame)

    return run


def equal_scalars(left: Code, right: Code, *, negated: bool) -> Code:
    """``==`` and ``!=`` of two values of one scalar type."""
    if negated:
        return lambda frame: left(frame) != right(frame)
    return lambda frame: left(frame) == right(frame)


def equals_text(left: Code, text: str, *, negated: bool) -> Code:
    """``==`` and ``!=`` of a string and a constant; the cost is that of a walk over the shorter."""
    size = len(text)

    def run(frame: list[Any]) -> bool:
        value = left(frame)
        if value.__class__ is not str:
            return negated
        shorter = min(len(value), size)
        frame[0] -= 1 if 0 < shorter <= 10 else costs.scaled(shorter, costs.STRING_TRAVERSAL_FACTOR)
        return (value == text) is not negated

    return run


def equal_texts(left: Code, right: Code, *, negated: bool) -> Code:
    """``==`` and ``!=`` of two strings."""

    def run(frame: list[Any]) -> bool:
        one, other = left(frame), right(frame)
        frame[0] -= costs.scaled(min(values.size(one), values.size(other)), costs.STRING_TRAVERSAL_FACTOR)
        if frame[0] < 0:
            spending.exceeded(frame)
        return bool(one == other) is not negated

    return run


def equal(left: Code, right: Code, *, negated: bool) -> Code:
    """``==`` and ``!=`` of anything; the cost is that of a walk over the smaller one."""

    def run(frame: list[Any]) -> bool:
        one, other = left(frame), right(frame)
        frame[0] -= costs.scaled(min(values.size(one), values.size(other)), costs.STRING_TRAVERSAL_FACTOR)
        found, work = values.equal_counted(one, other)
        frame[1] -= work
        if frame[0] < 0 or frame[1] < 0:
            spending.exceeded(frame)
        if found and values.is_incomparable(one, other):
            if negated:
                return True
            raise errors.no_such_overload()
        return found is not negated

    return run


def create_list(elements: Sequence[Code]) -> Code:
    """``[a, b]``."""
    return lambda frame: [element(frame) for element in elements]


def create_optional_list(elements: Sequence[Code], optional: frozenset[int]) -> Code:
    """``[a, ?b]``: what is none is left out."""

    def run(frame: list[Any]) -> list[Any]:
        created = []
        for position, element in enumerate(elements):
            value = element(frame)
            if position in optional:
                value = _optional(value)
                if not value.present:
                    continue
                value = value.value
            created.append(value)
        return created

    return run


def create_map(entries: Sequence[tuple[Code, Code, bool]]) -> Code:
    """``{a: b, ?c: d}``; of a key that comes twice the last value counts."""

    def run(frame: list[Any]) -> dict[Any, Any]:
        created: dict[Any, Any] = {}
        for key_code, value_code, optional in entries:
            key, value = key_code(frame), value_code(frame)
            if optional:
                value = _optional(value)
                if not value.present:
                    continue
                value = value.value
            try:
                created[values.map_key(key)] = value
            except TypeError:
                raise EvaluationError(f"unsupported key type: {values.type_of(key).name}") from None
        return created

    return run


def create_struct(entries: Sequence[tuple[str, Code, bool]]) -> Code:
    """``Name{field: value}``."""

    def run(frame: list[Any]) -> dict[str, Any]:
        created = {}
        for key, code, optional in entries:
            value = code(frame)
            if optional:
                value = _optional(value)
                if not value.present:
                    continue
                value = value.value
            created[key] = value
        return created

    return run


def _optional(value: Any) -> values.OptionalValue:
    if value.__class__ is not values.OptionalValue:
        raise EvaluationError(f"cannot initialize optional list element from non-optional value {value}")
    found: values.OptionalValue = value
    return found

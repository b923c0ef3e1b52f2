"""Closures for the parts of expressions: variables, fields, operators, calls.

Upstream: interpreter/interpretable.go and interpreter/attributes.go.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fakekube.cel import costs, errors, functions, values
from fakekube.cel.errors import EvaluationError
from fakekube.cel.folds import Failure

Code = Callable[[list[Any]], Any]


def constant(value: Any) -> Code:
    """A value that is always the same."""
    return lambda _: value


def converted(code: Code, convert: Callable[[Any], Any]) -> Code:
    """What stands in a tree as the value that a schema says it is."""

    def run(frame: list[Any]) -> Any:
        value = code(frame)
        return None if value is None else convert(value)

    return run


def converted_optional(code: Code, convert: Callable[[Any], Any]) -> Code:
    """The same for the value of an optional."""

    def run(frame: list[Any]) -> Any:
        found = code(frame)
        return values.OptionalValue(convert(found.value)) if found.present and found.value is not None else found

    return run


def variable(index: int) -> Code:
    """What the frame holds at an index."""

    def run(frame: list[Any]) -> Any:
        value = frame[index]
        if value.__class__ is Failure:
            raise value.error
        return value

    return run


def field(operand: Code, key: str, name: str) -> Code:
    """A field of an object or the value of a map under a name."""

    def run(frame: list[Any]) -> Any:
        try:
            return operand(frame)[key]
        except KeyError:
            raise errors.no_such_key(name) from None

    return run


def dynamic_field(operand: Code, key: str) -> Code:
    """A field of something that is known at run time only."""

    def run(frame: list[Any]) -> Any:
        return index_value(operand(frame), key)

    return run


def has_field(operand: Code, key: str) -> Code:
    """Whether an object or a map has something under a name."""

    def run(frame: list[Any]) -> bool:
        value = operand(frame)
        if value.__class__ is values.OptionalValue:
            return bool(value.present and key in value.value)
        if not isinstance(value, dict):
            raise errors.no_such_overload()
        return key in value

    return run


def index_value(value: Any, key: Any) -> Any:
    """An element of a list, or the value of a map under a key. Raises EvaluationError."""
    if isinstance(value, dict):
        try:
            return value[values.map_key(key)]
        except (KeyError, TypeError):
            raise errors.no_such_key(key) from None
    if isinstance(value, list | tuple):
        if key.__class__ is float and key.is_integer():
            key = int(key)
        if not isinstance(key, int) or isinstance(key, bool):
            raise EvaluationError(f"unsupported index type '{values.type_of(key).name}' in list")
        if not 0 <= key < len(value):
            raise EvaluationError(f"index out of bounds: {key}")
        return value[key]
    if value.__class__ is values.OptionalValue:
        return optional_index_value(value, key)
    raise errors.no_such_overload()


def optional_index_value(value: Any, key: Any) -> values.OptionalValue:
    """What is under a key, if it is there, as an optional."""
    if value.__class__ is values.OptionalValue:
        if not value.present:
            return values.NONE
        value = value.value
    if isinstance(value, dict):
        found = value.get(values.map_key(key), values.NONE)
        return values.NONE if found is values.NONE else values.OptionalValue(found)
    try:
        return values.OptionalValue(index_value(value, key))
    except EvaluationError:
        if isinstance(value, list | tuple):
            return values.NONE
        raise


def index(operand: Code, key: Code) -> Code:
    """``a[b]``."""

    def run(frame: list[Any]) -> Any:
        return index_value(operand(frame), key(frame))

    return run


def optional_index(operand: Code, key: Code) -> Code:
    """``a.?b`` and ``a[?b]``."""

    def run(frame: list[Any]) -> Any:
        return optional_index_value(operand(frame), key(frame))

    return run


def call(implementation: Callable[..., Any], arguments: Sequence[Code]) -> Code:
    """A call whose cost is known."""
    if len(arguments) == 1:
        (only,) = arguments
        return lambda frame: implementation(only(frame))
    if len(arguments) == 2:
        first, second = arguments
        return lambda frame: implementation(first(frame), second(frame))
    return lambda frame: implementation(*[argument(frame) for argument in arguments])


def costed_call(implementation: Callable[..., Any], arguments: Sequence[Code], cost: functions.RunTimeCost) -> Code:
    """A call whose cost follows from its arguments and its result."""

    def run(frame: list[Any]) -> Any:
        given = [argument(frame) for argument in arguments]
        result = implementation(*given)
        frame[0] -= cost(given, result)
        if frame[0] < 0:
            raise errors.CostExceeded
        return result

    return run


def dispatched_call(overloads: Sequence[functions.Overload], arguments: Sequence[Code]) -> Code:
    """A call whose overload follows from the types that arguments have at run time."""

    def run(frame: list[Any]) -> Any:
        given = [argument(frame) for argument in arguments]
        for overload in overloads:
            if all(map(values.matches, given, overload.arguments)):
                result = overload.implementation(*given)
                frame[0] -= 1 if overload.cost is None else overload.cost(given, result)
                if frame[0] < 0:
                    raise errors.CostExceeded
                return result
        raise errors.no_such_overload()

    return run


def logical(terms: Sequence[Code], spent: Sequence[int], *, decisive: bool) -> Code:
    """``||`` if True decides, ``&&`` if False does; the others cost when they are computed."""
    otherwise = not decisive

    def run(frame: list[Any]) -> bool:
        failed: EvaluationError | None = None
        for position, term in enumerate(terms):
            if position:
                frame[0] -= spent[position]
            try:
                value: Any = term(frame)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decisive:
                return bool(decisive)
            if value.__class__ is not bool:
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


def not_strictly_false(argument: Code) -> Code:
    """The value; True for an error."""

    def run(frame: list[Any]) -> Any:
        try:
            return argument(frame)
        except EvaluationError:
            return True

    return run


def equal_scalars(left: Code, right: Code, *, negated: bool) -> Code:
    """``==`` and ``!=`` of two values of one scalar type."""
    if negated:
        return lambda frame: left(frame) != right(frame)
    return lambda frame: left(frame) == right(frame)


def equal(left: Code, right: Code, *, negated: bool, same_text: bool) -> Code:
    """``==`` and ``!=`` of anything; the cost is that of a walk over the smaller one."""
    compared: Callable[[Any, Any], bool] = str.__eq__ if same_text else values.equal

    def run(frame: list[Any]) -> bool:
        one, other = left(frame), right(frame)
        frame[0] -= costs.scaled(min(values.size(one), values.size(other)), costs.STRING_TRAVERSAL_FACTOR)
        if frame[0] < 0:
            raise errors.CostExceeded
        return bool(compared(one, other)) is not negated

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
    """``{a: b, ?c: d}``."""

    def run(frame: list[Any]) -> dict[Any, Any]:
        created: dict[Any, Any] = {}
        for key_code, value_code, optional in entries:
            key, value = key_code(frame), value_code(frame)
            if optional:
                value = _optional(value)
                if not value.present:
                    continue
                value = value.value
            key = values.map_key(key)
            if key in created:
                raise EvaluationError(f"Failed with repeated key: {key}")
            created[key] = value
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

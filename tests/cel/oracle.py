"""Google's implementation in C++, asked for the values of expressions; as texts that compare."""

import datetime as dt
from typing import Any

from fakekube.cel import errors, types, values
from fakekube.cel.environment import Environment
from fakekube.cel.library import bindings, optionals, strings
from tests.cel.expressions import DATA

EXTENSIONS = ("strings", "optionals", "bindings")
ERROR = "an error"
_THEIR_MISTAKES = ("No matching overloads found", "duplicate key in map")
"""The oracle mixes the variables of some loops up, and refuses keys given twice, unlike Go."""


def ours() -> Environment:
    """The environment with what the oracle has."""
    variables = {
        "i": types.INT, "j": types.INT, "f": types.DOUBLE, "t": types.STRING, "b": types.BOOL,
        "ns": types.list_of(types.INT), "ts": types.list_of(types.STRING), "m": types.map_of(types.STRING, types.INT),
    }
    return Environment(variables, libraries=(strings.library(2), optionals.library(2), bindings.library()))


def theirs() -> Any:
    """The oracle's environment. Raises ImportError where it is not installed."""
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    kinds = cel.Type
    return cel.NewEnv(
        variables={
            "i": kinds.INT, "j": kinds.INT, "f": kinds.DOUBLE, "t": kinds.STRING, "b": kinds.BOOL,
            "ns": kinds.List(kinds.INT), "ts": kinds.List(kinds.STRING), "m": kinds.Map(kinds.STRING, kinds.INT),
        },
        extensions=[ext_strings.ExtStrings(2), ext_optional.ExtOptional(), ext_bindings.ExtBindings()],
    )


def our_answer(environment: Environment, text: str) -> str:
    """The value that we give, or ERROR.

    Raises CompileError; ProgramError for a constant that has no value, even if nobody reads it,
    which the oracle forgives.
    """
    try:
        return shown(environment.compile(text).evaluate(DATA))
    except errors.EvaluationError:
        return ERROR


def their_answer(environment: Any, text: str) -> str:
    """The value that the oracle gives, or ERROR. Raises RuntimeError where it does not compile."""
    try:
        value = environment.compile(text).eval(data=DATA)
    except RuntimeError as error:
        if "duplicate key in map" in str(error):
            return ERROR
        raise
    return ERROR if str(value.type()) == "ERROR" else shown_theirs(value)


def is_forgiven(environment: Any, our_environment: Environment, text: str) -> bool:
    """Whether the two differ where upstream's Go is on our side."""
    try:
        said = str(environment.compile(text).eval(data=DATA).plain_value())
    except RuntimeError as error:
        said = str(error)
    try:
        our_environment.compile(text).evaluate(DATA)
    except errors.EvaluationError as error:
        return "NaN values cannot be ordered" in str(error)
    return any(mistake in said for mistake in _THEIR_MISTAKES)


def shown(value: Any) -> str:
    """A value of ours with its type."""
    if isinstance(value, values.OptionalValue):
        return f"optional {shown(value.value)}" if value.present else "none"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return _map({shown(values.key_value(key)): shown(held) for key, held in value.items()})
    if isinstance(value, values.Duration):
        return f"duration {value.nanoseconds // 1000}"
    if isinstance(value, values.Timestamp):
        return f"timestamp {value.nanoseconds // 1000}"
    if isinstance(value, types.Type):
        return f"type {value.name}"
    return f"{values.type_of(value).name} {_plain(value)}"


def shown_theirs(value: Any) -> str:
    """A value of the oracle with its type."""
    plain = value.value()
    if isinstance(plain, list):
        return f"[{', '.join(map(shown_theirs, plain))}]"
    if isinstance(plain, dict):
        return _map({_key(key): shown_theirs(held) for key, held in plain.items()})
    if isinstance(plain, dt.timedelta):
        return f"duration {plain // dt.timedelta(microseconds=1)}"
    if isinstance(plain, dt.datetime):
        return f"timestamp {(plain - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)}"
    return f"{str(value.type()).lower()} {_plain(bytes(plain) if isinstance(plain, bytearray) else plain)}"


def _map(entries: dict[str, str]) -> str:
    return f"{{{', '.join(f'{key}: {entries[key]}' for key in sorted(entries))}}}"


def _key(key: Any) -> str:
    kinds: dict[type, str] = {bool: "bool", int: "int", str: "string"}
    return f"{kinds[key.__class__]} {_plain(key)}"


def _plain(value: Any) -> str:
    return repr(value + 0 if isinstance(value, float) else int(value) if value.__class__ is values.Uint else value)

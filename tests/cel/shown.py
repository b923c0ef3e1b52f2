"""Answers to expressions as texts, so that they compare with those of other implementations."""

from typing import Any

from fakekube.apimachinery.field_errors import go_quote
from fakekube.cel import errors, types, values
from fakekube.cel.environment import Environment
from fakekube.cel.library import bindings, formatting, jsonpatch, kubernetes
from fakekube.cel.standard import conversions
from fakekube.util.memory import memoized

VARIABLES = {"x": types.DYN, "s": types.STRING, "l": types.list_of(types.STRING), "n": types.INT}


@memoized(32)
def environment(minor: int = 37, *, stored: bool = True) -> Environment:
    """All libraries of a release, with a variable of a few types each."""
    libraries = (*kubernetes.libraries(minor, stored=stored), jsonpatch.library(), bindings.library())
    options = kubernetes.environment(minor, stored=stored).options
    return Environment(VARIABLES, libraries=libraries, options=options)


def answer(text: str, data: dict[str, Any], *, minor: int = 37, stored: bool = True) -> dict[str, Any]:
    """What comes of an expression: ``compile``, or ``type`` with ``value`` or ``error``.

    ``min`` and ``max`` estimate its cost; ``cost`` is what the value cost.
    """
    try:
        program = environment(minor, stored=stored).compile(text)
    except errors.CompileError as error:
        return {"compile": str(error)}
    except errors.ProgramError as error:
        return {"compile": f"program: {error}"}
    estimate = program.estimate()
    told = {"type": str(program.type), "min": estimate.min, "max": estimate.max}
    try:
        value, cost = program.run(data)
        return told | {"value": show(value), "cost": cost}
    except errors.EvaluationError as error:
        return told | {"error": str(error)}


def show(value: Any) -> str:
    """A value with its type."""
    if isinstance(value, str):
        return go_quote(value)
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    if isinstance(value, float):
        return f"double {conversions.double_to_string(value)}"
    if isinstance(value, values.OptionalValue):
        return f"optional {show(value.value)}" if value.present else "optional.none"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(show, value))}]"
    try:
        text = formatting.print_string(value)
    except errors.EvaluationError:
        text = "?"
    return text if isinstance(value, dict) else f"{values.type_of(value).name} {text}"

"""An expression tried out on data, as ``python -m fakekube.cel`` and ``fakekube cel`` do.

The data's keys are the variables, of any type. A Kubernetes object is ``self`` and ``object``. What
is printed is JSON where there is any for the value, else how CEL shows it.
"""

import json
from typing import Any, NamedTuple

from fakekube.cel import types, values
from fakekube.cel.library import formatting, kubernetes
from fakekube.cel.standard import conversions

OBJECT_VARIABLES = ("self", "object")


class Trial(NamedTuple):
    """What came of it: the value as a text, its type, and what it cost."""

    value: str
    type: str
    cost: int


def variables_of(data: Any) -> dict[str, Any]:
    """The variables that data gives: an object's two names, else its keys.

    Raises ValueError for what is no mapping of texts.
    """
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(name, str) for name in data):
        raise ValueError("the data are no mapping: give an object, or variables by their names")
    if "apiVersion" in data and "kind" in data:
        return dict.fromkeys(OBJECT_VARIABLES, data)
    return dict(data)


def run(text: str, data: Any, *, minor: int, stored: bool = True) -> Trial:
    """Compile and evaluate an expression as a release has it.

    ``stored`` gives it all functions that the release knows; without it, those of a new expression.
    Raises CelError; ValueError for data that name no variables.
    """
    variables = variables_of(data)
    environment = kubernetes.environment(minor, stored=stored).extended(dict.fromkeys(variables, types.DYN))
    program = environment.compile(text)
    value, cost = program.run(variables)
    return Trial(shown(value), str(program.type), cost)


def shown(value: Any) -> str:
    """A value as JSON, or as CEL would write it."""
    if isinstance(value, values.OptionalValue):
        return f"optional.of({shown(value.value)})" if value.present else "optional.none()"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{shown(values.key_value(key))}: {shown(held)}' for key, held in value.items())}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return conversions.double_to_string(value)
    if isinstance(value, bytes):
        return repr(value)
    if isinstance(value, values.Duration | values.Timestamp):
        return formatting.literal(value)
    if value is None or isinstance(value, bool | int | types.Type):
        return formatting.print_string(value)
    return str(value)

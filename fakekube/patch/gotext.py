"""Values and types as Go prints them, for the errors of strategic merge patches.

Upstream: fmt and reflect.
"""

from fakekube.apimachinery.types import Json


def value_text(value: Json) -> str:
    """A value as ``%v`` prints it: ``map[a:1 b:[x y]]``."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{value_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list | tuple):
        return "[" + " ".join(map(value_text, value)) + "]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def type_text(value: Json) -> str:
    """The type of a decoded JSON value as reflect names it."""
    if value is None:
        return "%!s(<nil>)"
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    if isinstance(value, bool):
        return "bool"
    return {int: "int64", float: "float64"}.get(type(value), "string")

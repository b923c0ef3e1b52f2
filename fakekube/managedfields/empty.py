"""The object that a write of a new one is compared with: what Go prints of a struct in which
nothing is set.

What is always printed belongs to nobody until somebody gives it a value. Upstream: the ``New`` of a
registry's store.
"""

from fakekube.apimachinery.types import Json, Tree
from fakekube.schema.structural import GoField, Schema

NUMBERS = ("int", "uint", "float")
STRUCTS_WITHOUT_FIELDS = (".Time", ".MicroTime", ".Quantity", ".IntOrString", ".RawExtension")


def empty_object(schema: Schema | None) -> Tree:
    """A new object's starting point; custom resources, which no Go type stands behind, start from
    nothing.
    """
    if schema is None or schema.go is None:
        return {}
    found = ((name, field, schema.properties.get(name)) for name, field in schema.go.fields.items())
    return {name: _empty(field, child) for name, field, child in found if _printed(field, child)}


def _printed(field: GoField, schema: Schema | None) -> bool:
    if field.omit_zero:
        return False
    return not field.omit_empty or _is_struct(field, schema)


def _is_reference(field: GoField) -> bool:
    underlying = field.type.partition("=")[2] or field.type
    return field.pointer or underlying.startswith(("[", "map["))


def _is_struct(field: GoField, schema: Schema | None) -> bool:
    if _is_reference(field):
        return False
    return field.type.endswith(STRUCTS_WITHOUT_FIELDS) or (schema is not None and schema.go is not None)


def _empty(field: GoField, schema: Schema | None) -> Json:
    if _is_reference(field) or schema is None:
        return None
    if schema.go is not None:
        return empty_object(schema)
    if field.type.endswith(".Quantity"):
        return "0"
    if field.type == "bool":
        return False
    if field.type.startswith(NUMBERS) or schema.type in ("integer", "number") or schema.int_or_string:
        return 0
    return "" if schema.type == "string" and schema.format not in ("date-time", "micro-time") else None

"""What Go has where nothing was said."""

from typing import Any

import pytest

from fakekube.managedfields import empty
from fakekube.schema.structural import GoField, from_openapi


def field(type_: str, *, pointer: bool = False) -> GoField:
    return GoField(type_, pointer, omit_empty=False, omit_zero=False, embedded="")


@pytest.mark.parametrize(("type_", "schema", "expected"), [
    ("bool", {"type": "boolean"}, False), ("string", {"type": "string"}, ""), ("v1.PodPhase", {"type": "string"}, ""),
    ("int32", {"type": "integer"}, 0), ("int64", {"type": "integer"}, 0), ("float64", {"type": "number"}, 0),
    ("resource.Quantity", {"type": "string"}, "0"), ("intstr.IntOrString", {"x-kubernetes-int-or-string": True}, 0),
    ("v1.Time", {"type": "string", "format": "date-time"}, None),
    ("v1.MicroTime", {"type": "string", "format": "micro-time"}, None),
    ("[]string", {"type": "array", "items": {"type": "string"}}, None), ("map[string]string", {"type": "object"}, None),
    ("v1.Mode=[]string", {"type": "array", "items": {"type": "string"}}, None), ("bool", None, None),
])
def test_the_zero_of_a_type(type_: str, schema: Any, expected: Any) -> None:
    """given a field of a type, when nothing is said, then it is the zero of the type; nothing for
    lists, maps and times
    """
    found = empty._empty(field(type_), None if schema is None else from_openapi(schema))
    assert (found, found.__class__) == (expected, expected.__class__)
    assert empty._empty(field(type_, pointer=True), None if schema is None else from_openapi(schema)) is None

"""Values of a wrong type, where a format says more: every type against every kind of value."""

import pytest

from fakekube.apimachinery.types import Json, Tree
from tests.apiextensions.objects.test_violations import CHECKED, told


@pytest.mark.parametrize(("schema", "value", "texts"), [
    ({"type": "string", "format": "date"}, 5, [
        'spec.x: Invalid value: "int64": spec.x in body must be of type date: "int64"']),
    ({"type": "string", "format": "date"}, 5.5, [
        'spec.x: Invalid value: "float64": spec.x in body must be of type date: "float64"']),
    ({"type": "string", "format": "date"}, True, ['spec.x: Invalid value: "": spec.x in body must be of type date: ""']),
    ({"type": "string", "format": "date"}, {}, ['spec.x: Invalid value: "": spec.x in body must be of type date: ""']),
    ({"type": "string", "format": "date"}, [], []),
    ({"type": "integer", "format": "int64"}, "a", [
        'spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"']),
    ({"type": "integer", "format": "int64"}, True, ['spec.x: Invalid value: "": spec.x in body must be of type int64: ""']),
    ({"type": "integer", "format": "int64"}, 5.0, []),
    ({"type": "integer", "format": "int64"}, float(1 << 63), [
        'spec.x: Invalid value: "float64": spec.x in body must be of type int64: "float64"',
        f'<nil>: Invalid value: "": {CHECKED} with format int64 in spec.x']),
    ({"type": "integer", "format": "int32"}, (1 << 31) - 1, []),
    ({"type": "integer", "format": "int32"}, -(1 << 31), []),
    ({"type": "integer", "format": "int32"}, 1 << 31, [f'<nil>: Invalid value: "": {CHECKED} with format int32 in spec.x']),
    ({"type": "number"}, True, ['spec.x: Invalid value: "boolean": spec.x in body must be of type number: "boolean"']),
    ({"type": "boolean"}, [], ['spec.x: Invalid value: "array": spec.x in body must be of type boolean: "array"']),
    ({"type": "boolean"}, {}, ['spec.x: Invalid value: "object": spec.x in body must be of type boolean: "object"']),
    ({"type": "array"}, "a", ['spec.x: Invalid value: "string": spec.x in body must be of type array: "string"']),
    ({"type": "object"}, 1.5, ['spec.x: Invalid value: "number": spec.x in body must be of type object: "number"']),
    ({"type": "number", "maximum": 5, "exclusiveMaximum": True}, 5, [
        "spec.x: Invalid value: 5: spec.x in body should be less than 5"]),
    ({"type": "number", "minimum": 5}, 4, ["spec.x: Invalid value: 4: spec.x in body should be greater than or equal to 5"]),
    ({"type": "number", "minimum": 5, "maximum": 5}, 5, []),
    ({"type": "string", "minLength": 2, "maxLength": 2}, "éé", []),
    ({"type": "object", "minProperties": 1}, {}, ["spec.x: Invalid value: 0: spec.x in body should have at least 1 properties"]),
])
def test_what_is_told_of_a_type(schema: Tree, value: Json, texts: list[str]) -> None:
    """Given a value of another type or at a limit, then what is told names the format where there
    is one, else the type.
    """
    assert told(schema, value) == texts

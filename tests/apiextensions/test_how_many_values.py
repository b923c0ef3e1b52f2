"""How many values of a node an object can hold at most, where nothing bounds the lists around."""

import pytest

from fakekube.apiextensions.rules.compiling import max_cardinality
from fakekube.apimachinery.types import Tree
from fakekube.cel.decltypes import of_schema
from fakekube.schema.structural import from_openapi

REQUEST = 3 * 1024 * 1024


@pytest.mark.parametrize(("schema", "bytes_each"), [
    ({"type": "string"}, 2), ({"type": "integer"}, 1), ({"type": "number"}, 1), ({"type": "boolean"}, 4),
    ({"type": "string", "format": "date"}, 12), ({"type": "string", "format": "date-time"}, 21),
    ({"type": "string", "format": "duration"}, 3), ({"type": "array", "items": {"type": "string"}}, 2),
    ({"type": "object", "additionalProperties": {"type": "string"}}, 2),
])
def test_as_many_as_a_request_has_room_for(schema: Tree, bytes_each: int) -> None:
    """given a node, when nothing bounds the lists around it, then a request has room for so many of
    its shortest values, each with a comma
    """
    declared = of_schema(from_openapi(schema))
    assert declared is not None
    assert max_cardinality(declared) == REQUEST // (bytes_each + 1)

"""Shapes that few objects have: what reads, writes and shows them."""

from typing import Any

import pytest

from fakekube.schema.protobuf import wire
from fakekube.schema.protobuf.codec import ProtobufCodec
from fakekube.schema.protobuf.shapes import _read_json
from fakekube.schema.protobuf.wire import WireError
from fakekube.schema.scalars import Number
from fakekube.schema.structural import from_openapi, no_reference
from tests.schema.releases import release, schema


def test_a_kind_without_a_message_has_no_event() -> None:
    """Given a kind that no table has / when an event is to be written / then there is none."""
    assert ProtobufCodec(release("1.37")).encode_event("ADDED", {"apiVersion": "example.com/v1", "kind": "Thing"}) is None


@pytest.mark.parametrize("data", [b"", b"1234567", b"123456789"])
def test_a_float_has_eight_bytes(data: bytes) -> None:
    """Given another number of bytes / when a float is read / then they are refused."""
    with pytest.raises(WireError) as error:
        wire.double(data)
    assert str(error.value) == "proto: wrong wireType = 2 for a field of numbers"


@pytest.mark.parametrize(("data", "value"), [
    (b"\0\0\0\0\0\0\xf8?", 1.5), (b"\0\0\0\0\0\0\0@", 2), (b"\0\0\0\0\0\0@C", float(2**53)),
    (b"\xff\xff\xff\xff\xff\xff?C", 2**53 - 1),
])
def test_whole_floats_are_integers(data: bytes, value: float) -> None:
    """Given eight bytes / when they are read / then what is whole is an integer, as JSON shows it,
    as long as it is exact.
    """
    found = wire.double(data)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("tree", "shown"), [
    ({"type": "object", "additionalProperties": True}, {"additional": True}),
    ({"type": "object", "additionalProperties": False}, {"additional": False}),
    ({"type": "object", "additionalProperties": {"type": "string"}}, {"additional": True}),
    ({"type": "array", "items": None}, {"additional": False}),
])
def test_other_fields_may_be_allowed(tree: dict[str, Any], shown: dict[str, bool]) -> None:
    """Given a schema / when it allows fields that it does not name / then there is one for them,
    whether it says how they look or not.
    """
    assert {"additional": from_openapi(tree).additional is not None} == shown


def test_a_schema_shows_its_name_or_its_type() -> None:
    """Given schemas / when they are shown / then by their names, or by their types."""
    assert repr(from_openapi({"type": "object"})) == "Schema(object)"
    assert repr(schema("v1", "Pod")) == "Schema(io.k8s.api.core.v1.Pod)"


@pytest.mark.parametrize(("data", "value"), [(b"", None), (b"\n\x00", None), (b"\n\x02{}", {}), (b"\n\x04null", None)])
def test_json_within_a_message(data: bytes, value: Any) -> None:
    """Given a field that holds JSON / when it is read / then it is that, and nothing where none is.
    """
    assert _read_json(data) == value


def test_json_within_a_message_that_is_none() -> None:
    """Given a field that should hold JSON / when it is broken / then the message is refused."""
    with pytest.raises(WireError, match=r"^unexpected end of data"):
        _read_json(b"\n\x01{")


def test_a_float_that_is_not_given_is_nothing() -> None:
    """Given a list of floats / when one is null / then it is 0."""
    assert Number("float64").zero() == 0


def test_a_schema_of_ones_own_has_no_references() -> None:
    """Given a reference / when nobody resolves it / then it is an error with its name."""
    with pytest.raises(KeyError, match=r"^'a\.b'$"):
        no_reference("a.b")

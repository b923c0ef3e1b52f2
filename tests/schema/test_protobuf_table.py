"""The table of protobuf messages against the tables of definitions: two roads from upstream's
types, and they must meet.
"""

import gzip
import pkgutil

import pytest

from fakekube.schema.definitions import releases
from fakekube.schema.protobuf.codec import PREFIX, ProtobufCodec
from fakekube.schema.protobuf.messages import Messages
from tests.schema.releases import release

HEAD = {"apiVersion", "kind"}  # the envelope has them
# a tag that the next release mended
TAKEN_BACK = {("1.31", "api.resource.v1alpha3.ResourceSliceList"): {"listMeta"}}


def shown(messages: Messages, name: str) -> set[str]:
    """What JSON calls the fields of a message, with those of the structs embedded in it."""
    names: set[str] = set()
    for field in messages.fields(name).values():
        names |= shown(messages, field.type) if field.inline else {field.name}
    return names


@pytest.mark.spec("API-027")
@pytest.mark.parametrize("name", releases())
def test_every_field_of_a_release_has_a_number(name: str) -> None:
    """Given the definitions of a release, when each that is a message is compared with it, then no
    field lacks a number.
    """
    definitions, messages = release(name), Messages()
    missing = {}
    for definition in definitions.names():
        message = definition.removeprefix(PREFIX)
        properties = definitions.named(definition).properties
        if message in messages and properties:
            lacking = set(properties) - HEAD - shown(messages, message) - TAKEN_BACK.get((name, message), set())
            missing |= {message: sorted(lacking)} if lacking else {}
    assert missing == {}


@pytest.mark.spec("API-027")
@pytest.mark.parametrize("name", releases())
def test_every_kind_of_a_release_has_a_message(name: str) -> None:
    """Given the kinds of a release, when their messages are looked up, then each has one."""
    definitions = release(name)
    codec = ProtobufCodec(definitions)
    assert [kind for kind in definitions.kinds() if codec.message_of(kind) is None] == []


def test_what_json_calls_a_field_counts() -> None:
    """Given fields whose names in the .proto files are Go's, when they are looked up, then they are
    called as in JSON.
    """
    table = pkgutil.get_data("fakekube.schema.protobuf", "messages.gz")
    assert table is not None
    fields = [field.split(":")[1] for line in gzip.decompress(table).decode().split("\n") for field in line.split("\t")[1:]]
    assert {name for name in fields if name[:1].isupper()} == {"Port"}  # which is so in JSON

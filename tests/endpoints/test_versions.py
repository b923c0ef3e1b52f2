"""Which version of an object a write names, in whatever form its body is."""

import orjson
import pytest

from fakekube.apimachinery.http import MAX_BODY_BYTES, Request
from fakekube.endpoints.requestinfo import parse
from fakekube.endpoints.versions import version_named

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
NAMED = {"metadata": {"resourceVersion": "7"}}
CONDITION = {"preconditions": {"resourceVersion": "8"}}


def named(method: str, body: bytes, media: str = JSON) -> str:
    path = "/api/v1/namespaces/n/configmaps/a"
    return version_named(parse(method, path, {}), Request(method, path, {}, {"content-type": media}, body))


def field(number: int, data: bytes) -> bytes:
    return bytes([number * 8 + 2, len(data)]) + data


def in_protobuf(*path: int, version: bytes = b"9") -> bytes:
    """A body whose innermost field, on that path below ``raw``, is the version."""
    data = version
    for number in reversed(path):
        data = field(15, b"other") + field(number, data) + field(number, b"later")
    return b"k8s\x00" + field(1, field(1, b"v1")) + field(2, data)


@pytest.mark.parametrize(
    ("method", "body", "version"),
    [
        ("PUT", NAMED, "7"),
        ("PATCH", NAMED, "7"),
        ("DELETE", NAMED, ""),
        ("DELETE", CONDITION, "8"),
        ("PUT", CONDITION, ""),
        ("PUT", {"metadata": {"resourceVersion": ""}}, ""),
        ("PUT", {"metadata": {"resourceVersion": "0"}}, ""),
        ("PUT", {"metadata": {"resourceVersion": 7}}, ""),
        ("PUT", {"metadata": ["resourceVersion"]}, ""),
        ("PUT", {"spec": {"resourceVersion": "7"}}, ""),
        ("PUT", "resourceVersion", ""),
        ("PUT", {}, ""),
        ("PATCH", [{"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}], "7"),
        ("PATCH", [{"op": "add", "path": "/metadata/resourceVersion", "value": "7"}], "7"),
        ("PATCH", [{"op": "test", "path": "/metadata/resourceVersion", "value": "7"}], ""),
        ("PATCH", [{"op": "add", "path": "/resourceVersion", "value": "7"}], ""),
        ("PATCH", ["add", {"op": "add", "path": "/metadata/resourceVersion"}], ""),
        ("PATCH", [{"op": "add", "path": "/metadata/resourceVersion", "value": version} for version in ("5", "6")], "6"),
    ],
)
def test_the_version_in_json(method: str, body: object, version: str) -> None:
    """Given bodies in JSON, then an object names its version in its metadata, a deletion in its
    preconditions, a JSON patch in the last step that sets it; nothing and 0 name none.
    """
    assert named(method, orjson.dumps(body)) == version


@pytest.mark.parametrize(
    ("body", "media", "version"),
    [
        (b"metadata: {resourceVersion: '7'}", YAML, "7"),
        (b"metadata: {resourceVersion: '7'}", "application/apply-patch+yaml", "7"),
        (b"metadata: {resourceVersion: '7'}", JSON, ""),
        (b"metadata: [resourceVersion", YAML, ""),
        (b"{resourceVersion", JSON, ""),
        (b"metadata: {version: '7'}", YAML, ""),
    ],
)
def test_the_version_in_yaml_and_in_what_cannot_be_read(body: bytes, media: str, version: str) -> None:
    """Given bodies in YAML, or that are neither, then YAML is read where it is said to be, and what
    cannot be read names none.
    """
    assert named("PUT", body, media) == version


@pytest.mark.parametrize(
    ("method", "body", "version"),
    [
        ("PUT", in_protobuf(1, 6), "9"),
        ("DELETE", in_protobuf(2, 2), "9"),
        ("PUT", in_protobuf(2, 2), ""),
        ("DELETE", in_protobuf(1, 6), ""),
        ("PUT", in_protobuf(1, 6, version=b"0"), ""),
        ("PUT", in_protobuf(1, 6, version=b"\xff"), ""),
        ("PUT", in_protobuf(1, 6)[:-9], ""),
        ("PUT", b"k8s\x00", ""),
        ("PUT", b"k8s\x00" + bytes([16, 5]), ""),
    ],
)
def test_the_version_in_protobuf(method: str, body: bytes, version: str) -> None:
    """Given bodies in protobuf, then the first field of the path counts; what is cut short, of
    another form or no text names none.
    """
    assert named(method, body, PROTOBUF) == version


def test_a_body_that_is_too_large_names_none() -> None:
    """Given bodies at the limit and one byte beyond, then only the first is looked at."""
    body = orjson.dumps(NAMED)
    assert named("PUT", body + b" " * (MAX_BODY_BYTES - len(body))) == "7"
    assert named("PUT", body + b" " * (MAX_BODY_BYTES - len(body) + 1)) == ""

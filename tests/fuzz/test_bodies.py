"""Bodies that nobody would write: random trees, broken bytes, junk where upstream has a format of
its own.
"""

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakekube.schema.protobuf.wire import MAGIC
from tests.fuzz.conftest import (
    APPLY,
    JSON,
    JSON_PATCH,
    MAP,
    MAPS,
    MERGE_PATCH,
    NAMESPACE,
    POD,
    PROTOBUF,
    STRATEGIC,
    YAML,
    Target,
)

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
NUMBERS = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    "9" * 400,
    "9" * 5000,
    "-0",
    "1e18",
    "18446744073709551615",
    "0.1e-400",
]
STRINGS = [
    '"\\ud800"',
    '"\\udfff\\ud800"',
    '"\\u0000"',
    '""',
    '"a/b"',
    '".."',
    '"٣"',
    f'"{"9" * 5000}"',
    '"2020-13-45T99:99:99+99:99"',
]
TYPES = (JSON, YAML, PROTOBUF, JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY, "text/plain", "", "application/cbor", ";", "a/b/c; q")
KEYS = [
    "metadata",
    "spec",
    "status",
    "data",
    "name",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "containers",
    "managedFields",
    "template",
    "selector",
    "generateName",
    "deletionTimestamp",
    "kind",
    "apiVersion",
    "ports",
    "volumes",
    "resourceVersion",
    "uid",
    "fieldsV1",
    "operation",
    "time",
    "manager",
    "$patch",
    "$setElementOrder/containers",
    "$retainKeys",
    "$deleteFromPrimitiveList/finalizers",
    "op",
    "path",
    "from",
    "value",
    "resources",
    "limits",
    "cpu",
    "env",
    "image",
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
trees = st.dictionaries(
    st.sampled_from(KEYS), json_values | st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4), max_size=5
)
pieces = st.sampled_from(
    [*NUMBERS, *STRINGS, "null", "true", "{}", "[]", "[null]", "{", "]", ":", "\xff", "[" * 300, '{"a":' * 300]
)
texts = st.builds(
    lambda key, value, rest: f'{{"metadata":{{"name":"kept","{key}":{value}}}{rest}'.encode("latin-1", "replace"),
    st.sampled_from(KEYS),
    pieces,
    st.sampled_from(["}", "", ',"spec":5}', "}}", "} x"]),
)
resources = st.sampled_from(["configmaps", "pods", "services", "secrets", "events", "persistentvolumeclaims", "serviceaccounts"])


def written(tree: Any) -> bytes:
    """JSON, unless a number has more than 64 bits."""
    try:
        return orjson.dumps(tree)
    except TypeError:
        return b"{}"


@pytest.mark.spec("API-032")
@QUICK
@given(tree=trees, resource=resources, strict=st.sampled_from(["Strict", "Warn", "Ignore"]))
def test_any_tree_as_an_object(target: Target, tree: Any, resource: str, strict: str) -> None:
    """Given any JSON object / when it is created, put or deleted with / then it is taken or
    refused.
    """
    body, query = written(tree), {"fieldValidation": strict}
    target.send("POST", f"{NAMESPACE}/{resource}", body, query=query)
    target.send("PUT", POD if resource == "pods" else MAP, body, query=query)
    target.send("DELETE", f"{NAMESPACE}/{resource}/nope", body)


@QUICK
@given(tree=trees, media=st.sampled_from([MERGE_PATCH, STRATEGIC, APPLY]), path=st.sampled_from([MAP, POD, f"{POD}/status"]))
def test_any_tree_as_a_patch(target: Target, tree: Any, media: str, path: str) -> None:
    """Given any JSON object / when it patches / then it is taken or refused."""
    body = written({"apiVersion": "v1", "kind": "Pod" if path != MAP else "ConfigMap", **tree} if media == APPLY else tree)
    target.send("PATCH", path, body, media, query={"fieldManager": "m", "force": "true"} if media == APPLY else {})


@QUICK
@given(
    operations=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"]) | json_values,
                "path": st.sampled_from(
                    ["", "/", "/metadata", "/metadata/labels", "/data/k", "/spec/containers/0", "/spec/containers/-", "/~2"]
                )
                | st.text(max_size=5),
                "from": st.sampled_from(["", "/metadata", "/spec", "/data"]),
                "value": json_values,
            },
        ),
        max_size=6,
    ),
    path=st.sampled_from([MAP, POD]),
)
def test_any_operations(target: Target, operations: list[Any], path: str) -> None:
    """Given operations that make little sense / when they patch / then they are taken or refused.
    """
    target.send("PATCH", path, written(operations), JSON_PATCH, query={"dryRun": "All"})


@QUICK
@given(
    body=st.binary(max_size=60) | texts, media=st.sampled_from(TYPES), method=st.sampled_from(["POST", "PUT", "PATCH", "DELETE"])
)
def test_any_bytes(target: Target, body: bytes, media: str, method: str) -> None:
    """Given bytes of any kind under any name / when they are sent / then they are taken or refused.
    """
    path = MAPS if method == "POST" else f"{MAPS}/nope" if method == "DELETE" else MAP
    target.send(method, path, body, media, query={"dryRun": "All", "fieldManager": "m"} if media == APPLY else {"dryRun": "All"})


yaml_text = st.lists(
    st.sampled_from(
        [
            "a: ",
            "- ",
            "? ",
            "&a ",
            "*a",
            "<<: ",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "\n",
            "\n  ",
            "| \n",
            "> \n",
            "!!binary ",
            "!!int ",
            "!!float ",
            "!!set ",
            "'",
            '"',
            "~",
            "0o7",
            "0x",
            "1_0",
            ".inf",
            "2020-01-01",
            "%YAML 1.1\n",
            "---\n",
            "...\n",
            "\t",
            "# x\n",
            "\x85",
            "\x00",
            "metadata: {name: kept}\n",
            "190:20:30",
            "yes",
            "=",
            "\\x41",
            "\ufeff",
        ]
    ),
    max_size=12,
).map("".join)


@QUICK
@given(text=yaml_text)
def test_any_yaml(target: Target, text: str) -> None:
    """Given pieces of YAML in any order / when they are sent / then they are taken or refused."""
    target.send("POST", MAPS, text.encode(), YAML, query={"dryRun": "All"})
    target.send("PATCH", MAP, text.encode(), APPLY, query={"dryRun": "All", "fieldManager": "m"})


members = st.sampled_from(
    [
        "f:metadata",
        "f:data",
        ".",
        "",
        "f:",
        "k:{",
        'k:{"name":"c"}',
        'k:{"a":1e999}',
        "k:[]",
        "v:1",
        "v:",
        "i:0",
        "i:-1",
        "i:99999999999999999999",
        "z:x",
        "x",
        "f:\ufffd",
        'v:"x"',
        "k:{}",
        "i:٣",
    ]
)
sets = st.recursive(json_values | st.just({}), lambda inner: st.dictionaries(members, inner, max_size=3), max_leaves=8)
entries = st.fixed_dictionaries(
    {},
    optional={
        "manager": st.text(max_size=4) | st.just("m" * 200),
        "operation": st.sampled_from(["Apply", "Update", "x", ""]),
        "apiVersion": st.sampled_from(["v1", "apps/v1", "a/b/c", "", "v9"]),
        "fieldsType": st.sampled_from(["FieldsV1", "x", ""]),
        "time": st.sampled_from(["2020-01-01T00:00:00Z", "x", "99999-01-01T00:00:00Z"]),
        "subresource": st.sampled_from(["", "status", "x"]),
        "fieldsV1": sets,
    },
)


@QUICK
@given(fields=st.lists(entries, max_size=3) | json_values, media=st.sampled_from([MERGE_PATCH, STRATEGIC, APPLY, JSON]))
def test_any_managed_fields(target: Target, fields: Any, media: str) -> None:
    """Given nonsense in managedFields / when it is written, and applied over / then it is taken or
    refused.
    """
    body = written(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept", "managedFields": fields}, "data": {"k": "w"}}
    )
    query = {"fieldManager": "m", "force": "true"} if media == APPLY else {}
    target.send("PUT" if media == JSON else "PATCH", MAP, body, media, query=query)
    target.send(
        "PATCH",
        MAP,
        b'{"apiVersion":"v1","kind":"ConfigMap","data":{"k":"x"}}',
        APPLY,
        query={"fieldManager": "n", "force": "true"},
    )


@QUICK
@given(data=st.data())
def test_any_protobuf(target: Target, data: st.DataObject) -> None:
    """Given a Pod in protobuf with some bytes changed, or cut off / when it is sent / then it is
    taken or refused.
    """
    codec = target.server.services.protobuf
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}, "ports": [{"containerPort": 80}]}]
        },
    }
    body = bytearray(codec.encode(pod) or b"")
    for _ in range(data.draw(st.integers(0, 4))):
        body[data.draw(st.integers(len(MAGIC), len(body) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(body)))
    target.send(
        "POST", f"{NAMESPACE}/pods", bytes(body[:cut] if data.draw(st.booleans()) else body), PROTOBUF, query={"dryRun": "All"}
    )

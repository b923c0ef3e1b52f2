"""Protobuf as Go clients write it, and back."""

import pytest

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.schema.decode import Codec
from fakekube.schema.protobuf import wire
from fakekube.schema.protobuf.codec import ProtobufCodec
from fakekube.schema.protobuf.wire import WireError
from tests.schema.releases import release

POD: Tree = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
        "name": "p", "namespace": "t", "labels": {"a": "b"}, "creationTimestamp": "2026-01-02T03:04:05Z", "generation": 2,
        "managedFields": [{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {
        "volumes": [
            {"name": "e", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "s", "secret": {"secretName": "x", "defaultMode": 420}}],
        "containers": [{
            "name": "c", "image": "i", "command": ["a", "b"], "resources": {"limits": {"cpu": "500m"}},
            "livenessProbe": {"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 10},
            "readinessProbe": {"tcpSocket": {"port": 80}}, "ports": [{"containerPort": 80, "protocol": "TCP"}],
        }],
        "hostNetwork": True, "nodeSelector": {"x": "y", "z": "w"}, "tolerations": [{"key": "k", "tolerationSeconds": -1}],
    },
    "status": {"phase": "Running"},
}
LEASE: Tree = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {
    "holderIdentity": "h", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.123456Z"}}
SECRET: Tree = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "AAH/"}, "type": "Opaque"}
REVIEW: Tree = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {}, "spec": {
    "user": "u", "extra": {"k": ["a", "b"]}}, "status": {"allowed": False}}
BUDGET: Tree = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "status": {
    "disruptedPods": {"p": None, "q": "2026-01-02T03:04:05Z"}, "disruptionsAllowed": 0}}
POLICY: Tree = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "v"},
    "spec": {"variables": [{"name": "x", "expression": "1"}], "validations": [{"expression": "variables.x == 1"}]}}
SCHEMA: Tree = {
    "type": "object", "maximum": 5, "minimum": -0.5, "default": {"a": [1, None]}, "enum": ["a", 1],
    "x-kubernetes-int-or-string": True, "items": {"type": "string"}, "additionalProperties": {"type": "integer"}, "properties": {
        "list": {"items": [{"type": "string"}], "additionalProperties": False}, "$ref": {"$ref": "#/x", "default": None}},
    "dependencies": {"a": ["b", "c"], "d": {"type": "object"}},
}
DEFINITION: Tree = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {
    "group": "g", "scope": "Cluster", "names": {"plural": "ds", "kind": "D"},
    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}]}}
SERVICE: Tree = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1."}, "spec": {
    "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "caBundle": "AAH/"}}
TOKEN: Tree = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}, "spec": {
    "audiences": ["a"], "attestations": {"k": ["v"]}}}
EVERYTHING = [POD, LEASE, SECRET, REVIEW, BUDGET, POLICY, DEFINITION, SERVICE, TOKEN]


@pytest.mark.spec("API-027")
@pytest.mark.parametrize("tree", EVERYTHING, ids=lambda tree: str(tree["kind"]))
def test_object_survives_the_way_there_and_back(tree: Tree) -> None:
    """Given times, quantities, bytes, maps and embedded structs / when they are written and read /
    then they are the same.
    """
    definitions = release("1.37")
    codec = ProtobufCodec(definitions)
    data = codec.encode(tree)
    assert data is not None
    assert data.startswith(b"k8s\x00")
    schema = definitions.schema(GroupVersionKind(*(tree["apiVersion"].rpartition("/")[::2]), tree["kind"]))
    assert schema is not None
    got = Codec(schema).decode(codec.decode(data)).tree
    assert got == Codec(schema).decode({**tree}).tree


@pytest.mark.spec("API-027")
def test_bytes_of_a_go_client() -> None:
    """Given what a Go client sends for a ConfigMap / when it is read / then kind, name and data are
    there.
    """
    sent = b'k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\r\n\x03\n\x01a\x12\x06\n\x01k\x12\x01v\x1a\0"\0'
    tree = ProtobufCodec(release("1.37")).decode(sent)
    assert (tree["kind"], tree["metadata"]["name"], tree["data"]) == ("ConfigMap", "a", {"k": "v"})


@pytest.mark.parametrize("body", [
    b"", b"{}", b"\n\x0f", b"k8s\0\n\xff", b"k8s\0\x0b", b"k8s\0\x00\x01",
    b"k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\x02\x08\x01",
])
def test_bytes_that_are_no_message(body: bytes) -> None:
    """Given bytes that are no envelope, or a broken one / when they are read / then a WireError
    says so.
    """
    with pytest.raises(WireError):
        ProtobufCodec(release("1.37")).decode(body)


def test_kind_without_a_message() -> None:
    """Given a kind that no table has / when it is to be written / then there is nothing."""
    assert ProtobufCodec(release("1.37")).encode({"apiVersion": "example.com/v1", "kind": "Thing"}) is None


def test_watch_event_has_its_length_in_front() -> None:
    """Given an event / when it is written for a stream / then four bytes tell how long it is."""
    data = ProtobufCodec(release("1.37")).encode_event("ADDED", LEASE)
    assert data is not None
    assert int.from_bytes(data[:4], "big") == len(data) - 4
    assert b"ADDED" in data


def test_messages_within_messages_without_end() -> None:
    """Given schemas nested a thousand deep / when they are read / then a WireError says that this
    is too deep.
    """
    codec = ProtobufCodec(release("1.37"))
    data = b""
    for _ in range(1000):
        data = wire.chunk(28, data)  # not
    for number in (1, 4, 7, 2):
        data = wire.chunk(number, data)
    head = wire.chunk(1, b"apiextensions.k8s.io/v1") + wire.chunk(2, b"CustomResourceDefinition")
    with pytest.raises(WireError, match="too deep"):
        codec.decode(b"k8s\0" + wire.chunk(1, head) + wire.chunk(2, data))


def test_fields_of_newer_clients_stay_apart() -> None:
    """Given a release that has not a field that is a message / when a newer client sends it / then
    it is not mistaken for an embedded struct.
    """
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"schedulingGroup": {"podGroupName": "g"}, "hostname": "h"}}
    data = ProtobufCodec(release("1.37")).encode(pod)
    assert data is not None
    assert ProtobufCodec(release("1.30")).decode(data) == pod


def test_evictions_of_older_clients() -> None:
    """Given an eviction in a version that is served no more / when it is read / then it says whom
    it is about.
    """
    eviction: Tree = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"}, "deleteOptions": {
        "gracePeriodSeconds": 0}}
    codec = ProtobufCodec(release("1.37"))
    data = codec.encode(eviction)
    assert data is not None
    assert codec.decode(data) == eviction

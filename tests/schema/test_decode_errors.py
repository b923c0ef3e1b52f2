import orjson
import pytest

from fakekube.schema.decode import Codec, DecodeError
from fakekube.schema.scalars import corrupt_base64
from tests.schema.releases import codec, release

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

# Answers of a real 1.37 control plane, without the words before the colon.
RECORDED = [
    ("apps/v1 Deployment", '{"spec":{"replicas":"3"}}', "string", "DeploymentSpec.spec.replicas", "int32"),
    ("apps/v1 Deployment", '{"spec":{"replicas":1.5}}', "number 1.5", "DeploymentSpec.spec.replicas", "int32"),
    ("apps/v1 Deployment", '{"spec":{"replicas":3000000000}}', "number 3000000000", "DeploymentSpec.spec.replicas",
     "int32"),
    ("coordination.k8s.io/v1 Lease", '{"spec":{"leaseDurationSeconds":3.0}}', "number 3.0",
     "LeaseSpec.spec.leaseDurationSeconds", "int32"),
    ("coordination.k8s.io/v1 Lease", '{"spec":{"leaseDurationSeconds":1e2}}', "number 1e2",
     "LeaseSpec.spec.leaseDurationSeconds", "int32"),
    ("v1 ConfigMap", '{"data":{"a":1}}', "number", "ConfigMap.data", "string"),
    ("v1 ConfigMap", '{"immutable":"yes"}', "string", "ConfigMap.immutable", "bool"),
    ("v1 ConfigMap", '{"metadata":{"name":5}}', "number", "ObjectMeta.metadata.name", "string"),
    ("v1 ConfigMap", '{"metadata":{"labels":{"a":true}}}', "bool", "ObjectMeta.metadata.labels", "string"),
    ("v1 Pod", '{"spec":[]}', "array", "Pod.spec", "v1.PodSpec"),
    ("v1 Pod", '{"spec":{"containers":{}}}', "object", "PodSpec.spec.containers", "[]v1.Container"),
    ("v1 Pod", '{"spec":{"restartPolicy":true}}', "bool", "PodSpec.spec.restartPolicy", "v1.RestartPolicy"),
    ("v1 Pod", '{"spec":{"hostNetwork":"yes"}}', "string", "PodSpec.spec.hostNetwork", "bool"),
    ("v1 Service", '{"spec":{"ports":[{"targetPort":true}]}}', "bool", "ServicePort.spec.ports.targetPort", "int32"),
    ("v1 Service", '{"spec":{"ports":[{"targetPort":[1]}]}}', "array", "ServicePort.spec.ports.targetPort", "int32"),
    ("v1 Service", '{"spec":{"ports":[{"targetPort":1.5}]}}', "number 1.5", "ServicePort.spec.ports.targetPort",
     "int32"),
    ("v1 Service", '{"spec":{"ports":[{"targetPort":1.50}]}}', "number 1.50", "ServicePort.spec.ports.targetPort",
     "int32"),
    ("autoscaling/v1 Scale", '{"spec":{"replicas":"1"}}', "string", "ScaleSpec.spec.replicas", "int32"),
    ("scheduling.k8s.io/v1beta1 PodGroup", '{"spec":{"disruptionMode":"Pod"}}', "string",
     "PodGroupSpec.spec.disruptionMode", "v1beta1.DisruptionMode"),
]  # fmt: skip


def _error(kind: str, body: str) -> str:
    with pytest.raises(DecodeError) as caught:
        codec(*kind.split()).decode(orjson.loads(body), body.encode())
    return str(caught.value)


@pytest.mark.parametrize(("kind", "body", "value", "field", "go_type"), RECORDED)
def test_wrong_types_are_told_as_upstream_does(kind: str, body: str, value: str, field: str, go_type: str) -> None:
    """given a value of a wrong type, when decoded, then value, struct, path without indexes and Go
    type are told
    """
    assert _error(kind, body) == f"json: cannot unmarshal {value} into Go struct field {field} of type {go_type}"


@pytest.mark.parametrize(("kind", "body", "text"), [
    ("v1 LimitRange", '{"spec":{"limits":[{"max":{"cpu":"lots"}}]}}',
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ("v1 ConfigMap", '{"metadata":{"creationTimestamp":"yesterday"}}',
     'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'),
    ("coordination.k8s.io/v1 Lease", '{"spec":{"renewTime":"2026-01-01T00:00:00Z"}}',
     'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'),
    ("coordination.k8s.io/v1 Lease", '{"spec":{"renewTime":"2026-01-02 03:04:05"}}',
     'parsing time "2026-01-02 03:04:05" as "2006-01-02T15:04:05.000000Z07:00": cannot parse " 03:04:05" as "T"'),
    ("v1 Secret", '{"data":{"k":"not base64!"}}', "illegal base64 data at input byte 3"),
    ("apiextensions.k8s.io/v1 CustomResourceDefinition",
     '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":"x"}}}]}}',
     "boolean or JSON schema expected"),
])  # fmt: skip
def test_texts_of_a_wrong_form_are_told_as_upstream_does(kind: str, body: str, text: str) -> None:
    """given an amount, a time or base64 that cannot be read, when decoded, then the text is that of
    its reader
    """
    assert _error(kind, body) == text


def test_the_first_wrong_type_of_a_body_is_told() -> None:
    """given two wrong types, when decoded, then the one that the body names first is told"""
    first = _error("v1 Pod", '{"spec":{"hostPID":1,"hostIPC":2},"metadata":3}')
    assert "PodSpec.spec.hostPID" in first


def test_what_decodes_itself_is_told_before_a_wrong_type() -> None:
    """given a wrong type and after it a time that cannot be read, when decoded, then the time is
    told
    """
    assert _error("v1 Pod", '{"spec":3,"metadata":{"creationTimestamp":"x"}}').startswith("parsing time")


def test_embedded_structs_are_part_of_the_path() -> None:
    """given a volume whose source has a wrong type, when decoded, then the embedded struct stands
    in the path
    """
    assert _error("v1 Pod", '{"spec":{"volumes":[{"emptyDir":3}]}}') == (
        "json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir "
        "of type v1.EmptyDirVolumeSource"
    )


def test_metadata_alone_starts_at_its_own_root() -> None:
    """given the metadata of a custom resource, when decoded by itself, then the path starts at
    ObjectMeta
    """
    with pytest.raises(DecodeError, match=r"unmarshal number into Go struct field ObjectMeta.labels of type string$"):
        Codec(release().named(META)).decode({"labels": {"a": 1}})


def test_numbers_too_long_for_a_float_are_told_in_full() -> None:
    """given an integer of 30 digits, when decoded with the body at hand, then all its digits are
    told
    """
    digits = "123456789012345678901234567890"
    assert f"number {digits} into" in _error("apps/v1 Deployment", f'{{"spec":{{"replicas":{digits}}}}}')


def test_a_body_that_is_no_object_is_told_with_its_kind() -> None:
    """given a list for a Pod, when decoded, then the error names the Go type and no field"""
    assert _error("v1 Pod", "[]") == "json: cannot unmarshal array into Go value of type v1.Pod"


@pytest.mark.parametrize(("text", "offset"), [
    ("", None), ("aGk=", None), ("a\r\nGk=\n", None), ("YQ=\n=\n", None),
    ("!", 0), ("not base64!", 3), ("a", 0), ("aG", 0), ("aGk", 0), ("aGka", None), ("aGkaa", 4), ("=", 0), ("a=", 1),
    ("aG=", 3), ("aG=x", 2), ("aGk=x", 4), ("aG==x", 4),
])  # fmt: skip
def test_the_place_of_bad_base64_is_gos(text: str, offset: int | None) -> None:
    """given texts with bad letters or padding, when checked, then the offset is the one that Go's
    decoder names
    """
    assert corrupt_base64(text) == offset


def test_an_empty_list_is_no_map_and_an_empty_map_no_list() -> None:
    """given an empty list for a map and the other way round, when decoded, then each is a mismatch
    """
    assert _error("v1 ConfigMap", '{"data":[]}') == (
        "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string")
    assert _error("v1 ServiceAccount", '{"imagePullSecrets":{}}') == (
        "json: cannot unmarshal object into Go struct field "
        "ServiceAccount.imagePullSecrets of type []v1.LocalObjectReference")

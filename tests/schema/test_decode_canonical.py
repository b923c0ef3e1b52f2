from typing import Any

import pytest

from tests.schema.releases import codec

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def spec(api_version: str, kind: str, tree: dict[str, Any], release: str = "1.37") -> Any:
    """The spec of what a body becomes."""
    body = {"apiVersion": api_version, "kind": kind, "spec": tree}
    return codec(api_version, kind, release).decode(body).tree["spec"]


def test_what_go_always_prints_is_filled_in() -> None:
    """given an empty Deployment, when decoded, then structs and required lists are there, optional
    ones are not
    """
    assert codec("apps/v1", "Deployment").decode({}).tree == {
        "metadata": {},
        "spec": {"selector": None, "template": {"metadata": {}, "spec": {"containers": None}}, "strategy": {}},
        "status": {},
    }


def test_a_canonical_body_is_completed_in_place() -> None:
    """given a Pod with nothing to correct, when decoded, then the same object comes back with
    resources and status
    """
    tree: dict[str, Any] = {**POD, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    decoded = codec("v1", "Pod").decode(tree)
    assert decoded.tree is tree
    assert decoded.unknown == []
    assert tree["spec"]["containers"] == [{"name": "c", "image": "i", "resources": {}}]
    assert tree["status"] == {}


def test_an_event_prints_all_its_old_fields() -> None:
    """given a core Event with nothing set, when it is decoded, then source, times and reporters are
    printed
    """
    assert codec("v1", "Event").decode({"apiVersion": "v1", "kind": "Event", "metadata": {}}).tree == {
        "apiVersion": "v1", "kind": "Event", "metadata": {}, "involvedObject": {}, "source": {}, "firstTimestamp": None,
        "lastTimestamp": None, "eventTime": None, "reportingComponent": "", "reportingInstance": "",
    }  # fmt: skip


def test_an_endpoint_slice_prints_null_lists() -> None:
    """given an EndpointSlice without endpoints, when it is decoded, then both lists are null"""
    tree = codec("discovery.k8s.io/v1", "EndpointSlice").decode({"metadata": {}, "addressType": "IPv4"}).tree
    assert tree == {"metadata": {}, "addressType": "IPv4", "endpoints": None, "ports": None}


def test_nulls_are_what_go_makes_of_them() -> None:
    """given nulls of lists, maps, scalars, values and items, when decoded, then they are absent,
    empty or zero items
    """
    tree = codec("v1", "ConfigMap").decode({
        "metadata": {"name": "a", "labels": {"x": None}, "annotations": None, "finalizers": [None]},
        "data": None, "immutable": None, "binaryData": {"b": None},
    }).tree  # fmt: skip
    assert tree == {"metadata": {"name": "a", "labels": {"x": ""}, "finalizers": [""]}, "binaryData": {"b": None}}
    assert spec("v1", "Pod", {"containers": [None]}) == {"containers": [{"name": "", "resources": {}}]}


def test_zero_values_stay_only_where_go_keeps_them() -> None:
    """given zeros of plain, pointer and required fields, when decoded, then only optional plain
    ones are gone
    """
    assert spec("v1", "Pod", {
        "hostNetwork": False, "nodeName": "", "tolerations": [], "nodeSelector": {},
        "automountServiceAccountToken": False, "priority": 0, "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "", "resources": {}, "tty": False, "ports": [{"containerPort": 0, "hostPort": 0}]}],
    }) == {
        "automountServiceAccountToken": False, "priority": 0, "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "", "resources": {}, "ports": [{"containerPort": 0}]}],
    }  # fmt: skip
    assert spec("v1", "Pod", {"containers": []}) == {"containers": []}


@pytest.mark.parametrize(("given", "printed"), [
    ("1000m", "1"), ("1024Mi", "1Gi"), ("0.5Gi", "512Mi"), ("1.50", "1500m"), ("1e3", "1e3"), ("128Mi", "128Mi"),
    (2, "2"), (0.5, "500m"), (1048576, "1048576"), ("0", "0"),
])  # fmt: skip
def test_amounts_are_canonical(given: str | float, printed: str) -> None:
    """given an amount as text or number, when decoded twice, then it has upstream's form both times
    """
    limits = {"limits": [{"type": "Container", "max": {"cpu": given}}]}
    for _ in range(2):
        assert spec("v1", "LimitRange", limits) == {"limits": [{"type": "Container", "max": {"cpu": printed}}]}


def test_amounts_keep_the_spelling_of_the_body() -> None:
    """given the number 1e3 in a JSON body, when decoded with the body at hand, then its exponent
    survives as in Go
    """
    body = b'{"spec":{"limits":[{"type":"Pod","max":{"cpu":1e3}}]}}'
    tree = {"spec": {"limits": [{"type": "Pod", "max": {"cpu": 1000.0}}]}}
    assert codec("v1", "LimitRange").decode(tree, body).tree["spec"]["limits"][0]["max"] == {"cpu": "1e3"}


@pytest.mark.parametrize(("given", "printed"), [
    ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z"),
    ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
])  # fmt: skip
def test_times_are_utc_in_whole_seconds(given: str, printed: str) -> None:
    """given a time with offset or fraction, when decoded, then it is UTC and whole"""
    tree = codec("v1", "ConfigMap").decode({"metadata": {"creationTimestamp": given}}).tree
    assert tree == {"metadata": {"creationTimestamp": printed}}


def test_micro_times_have_six_digits_in_utc() -> None:
    """given a lease renewed at an offset, when decoded, then the microseconds stay and the zone is
    UTC
    """
    renewed = {"renewTime": "2026-01-02T03:04:05.123456+01:00"}
    assert spec("coordination.k8s.io/v1", "Lease", renewed) == {"renewTime": "2026-01-02T02:04:05.123456Z"}


@pytest.mark.parametrize(("release", "metadata"), [("1.33", {"creationTimestamp": None}), ("1.34", {})])
def test_templates_lost_their_null_timestamp_in_1_34(release: str, metadata: dict[str, Any]) -> None:
    """given a pod template without metadata, when decoded, then releases before 1.34 print
    creationTimestamp: null
    """
    template = codec("apps/v1", "Deployment", release).decode({}).tree["spec"]["template"]
    assert template["metadata"] == metadata


def test_numbers_or_texts_stay_what_they_are() -> None:
    """given target ports as number, text and not at all, when decoded, then number and text stay
    and the third is 0
    """
    ports = [{"port": 1, "targetPort": 80}, {"port": 2, "targetPort": "http"}, {"port": 3}]
    assert [port["targetPort"] for port in spec("v1", "Service", {"ports": ports})["ports"]] == [80, "http", 0]


def test_secrets_are_encoded_anew() -> None:
    """given base64 with line breaks and stray bits, when decoded, then it is what Go's encoder
    prints
    """
    data = {"plain": "aGk=", "broken": "aG\nk=", "bits": "aGl=", "bytes": [104, 105], "empty": ""}
    tree = codec("v1", "Secret").decode({"data": data}).tree
    assert tree["data"] == {"plain": "aGk=", "broken": "aGk=", "bits": "aGk=", "bytes": "aGk=", "empty": ""}


def test_schemas_in_definitions_are_read_by_their_own_rules() -> None:
    """given a CRD with items as schema and list, additionalProperties as bool, and unknown words
    inside, when decoded, then they are kept or dropped, and what is unknown inside of items is not
    told
    """
    props = {
        "type": "array", "items": {"type": "string", "whatever": 1}, "maximum": 5.0, "default": {"any": None},
        "additionalProperties": True, "dependencies": {"a": ["b"], "c": {"type": "object"}}, "odd": 1,
    }  # fmt: skip
    decoded = codec("apiextensions.k8s.io/v1", "CustomResourceDefinition").decode({
        "spec": {"versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": props}}]}
    })
    read = decoded.tree["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert read == {
        "type": "array", "items": {"type": "string"}, "maximum": 5, "default": {"any": None},
        "additionalProperties": True, "dependencies": {"a": ["b"], "c": {"type": "object"}},
    }  # fmt: skip
    assert decoded.unknown == ["spec.versions[0].schema.openAPIV3Schema.odd"]


@pytest.mark.spec("API-036", "API-037")
def test_unknown_fields_are_told_in_the_order_of_the_body() -> None:
    """given unknown fields at five depths and one in other case, when decoded, then all are told in
    order, and gone
    """
    decoded = codec("v1", "PodTemplate").decode({
        "metadata": {"one": 1, "labels": {"free": "x"}}, "two": 2,
        "template": {"three": 3, "spec": {"four": 4, "containers": [{"name": "c", "five": 5}]}}, "Template": {},
    })  # fmt: skip
    assert decoded.unknown == [
        "metadata.one", "two", "template.three", "template.spec.four", "template.spec.containers[0].five", "Template",
    ]  # fmt: skip
    assert decoded.tree == {
        "metadata": {"labels": {"free": "x"}},
        "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}},
    }


def test_at_most_a_hundred_unknown_fields_are_told() -> None:
    """given 150 unknown fields, when decoded, then a hundred are told"""
    assert len(codec("v1", "ConfigMap").decode({f"x{number}": 1 for number in range(150)}).unknown) == 100


@pytest.mark.parametrize(("release", "unknown"), [
    ("1.35", ["spec.schedulingGroup"]), ("1.36", ["spec.workloadRef"]), ("1.37", ["spec.workloadRef"]),
])  # fmt: skip
def test_each_release_has_its_own_fields(release: str, unknown: list[str]) -> None:
    """given a Pod with the gang fields of two releases, when decoded, then each release drops the
    other's
    """
    tree = {"spec": {"containers": [], "schedulingGroup": {"podGroupName": "g"}, "workloadRef": {"name": "w"}}}
    assert codec("v1", "Pod", release).decode(tree).unknown == unknown

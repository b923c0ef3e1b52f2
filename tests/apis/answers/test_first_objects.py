"""What an API server tells of itself in objects that nobody made, and gates that no release has."""

from typing import Any

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apis import server_objects
from fakekube.apis.gates import FeatureGate, Gates, InvalidFeatureGate

ENDPOINTS, SLICES = GroupResource("", "endpoints"), GroupResource("discovery.k8s.io", "endpointslices")


def owned(fields: dict[str, Any], api_version: str = "v1") -> list[dict[str, Any]]:
    return [{
        "manager": "kube-apiserver", "operation": "Update", "apiVersion": api_version, "time": None, "fieldsType": "FieldsV1",
        "fieldsV1": fields}]  # fmt: skip


def test_the_endpoints_of_a_server() -> None:
    """Given the address of a server / when it tells of it / then in Endpoints that stay alone."""
    assert server_objects.endpoints(ENDPOINTS, "1.2.3.4") == {
        "kind": "Endpoints", "apiVersion": "v1",
        "metadata": {
            "name": "kubernetes", "namespace": "default", "resourceVersion": "6",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
            "managedFields": owned({
                "f:metadata": {"f:labels": {".": {}, "f:endpointslice.kubernetes.io/skip-mirror": {}}}, "f:subsets": {}})},
        "subsets": [{
            "addresses": [{"ip": "1.2.3.4"}], "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}]}]}  # fmt: skip


@pytest.mark.parametrize(("address", "kind"), [("1.2.3.4", "IPv4"), ("fd00::1", "IPv6")])
def test_the_slice_of_a_server(address: str, kind: str) -> None:
    """Given the address of a server / when it tells of it / then in a slice of its family."""
    label = "kubernetes.io/service-name"
    assert server_objects.endpoints(SLICES, address) == {
        "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "name": "kubernetes", "namespace": "default", "resourceVersion": "6", "labels": {label: "kubernetes"},
            "managedFields": owned({
                "f:addressType": {}, "f:endpoints": {}, "f:metadata": {"f:labels": {".": {}, f"f:{label}": {}}},
                "f:ports": {}}, "discovery.k8s.io/v1")},
        "addressType": kind, "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}]}  # fmt: skip


def test_the_config_maps_of_a_server() -> None:
    """Given a CA and the time of the start / when a server tells of them / then whose certificates
    it believes, and since when it watches tokens.
    """
    keys = {
        "client-ca-file": "PEM", "requestheader-client-ca-file": "PEM",
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]', "requestheader-username-headers": '["X-Remote-User"]'}  # fmt: skip
    trust, tracking = server_objects.config_maps("PEM", "2026-01-01T00:00:00Z")
    assert trust == {
        "kind": "ConfigMap", "apiVersion": "v1", "data": keys,
        "metadata": {
            "name": "extension-apiserver-authentication", "namespace": "kube-system", "resourceVersion": "2",
            "managedFields": owned({"f:data": {".": {}, **{f"f:{key}": {} for key in keys}}})}}  # fmt: skip
    assert tracking == {
        "kind": "ConfigMap", "apiVersion": "v1", "data": {"since": "2026-01-01"},
        "metadata": {
            "name": "kube-apiserver-legacy-service-account-token-tracking", "namespace": "kube-system",
            "resourceVersion": "1", "managedFields": owned({"f:data": {".": {}, "f:since": {}}})}}  # fmt: skip
    assert server_objects.config_maps("", "") == []
    assert [each["metadata"]["name"] for each in server_objects.config_maps("PEM", "")] == ["extension-apiserver-authentication"]


def test_two_apis_of_workloads_exclude_each_other() -> None:
    """Given the gate of a draft / when it is on beside upstream's / then no server starts; alone it
    is on, and it is none of the release's.
    """
    with pytest.raises(InvalidFeatureGate) as raised:
        Gates("1.36", {"DraftWorkload": True, "GenericWorkload": True})
    assert str(raised.value) == "the feature gates DraftWorkload and GenericWorkload exclude each other"
    gates = Gates("1.36", {"DraftWorkload": True})
    assert (gates["DraftWorkload"], gates.is_on("DraftWorkload"), "DraftWorkload" in list(gates)) == (True, True, False)
    own = ("CronJobWorkloads", "UserWorkloadsForJobs", "ParentCompositePodGroups", "DraftWorkload")
    assert [Gates("1.36")[name] for name in own] == [False] * 4
    assert not gates.is_on("NoSuchGate")


def test_gates_by_stage() -> None:
    """Given all alpha gates on / when a gate is looked up / then those of that stage are, but for
    one that is named, and for the groups themselves.
    """
    gates = Gates("1.30", {"AllAlpha": True, "WatchList": True, "EventedPLEG": False})
    off = [name for name, gate in gates.known.items() if gate.stage == "ALPHA" and not gates[name]]
    assert off == ["EventedPLEG"]
    assert [name for name, gate in gates.known.items() if gate.stage == "BETA" and gates[name] != gate.default] == []
    assert len(gates) == len(list(gates))
    assert gates.known["AllAlpha"] == FeatureGate("AllAlpha", "ALPHA", default=False, locked=False)

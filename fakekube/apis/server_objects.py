"""What an API server tells of itself in objects that were there before anybody asked: two
ConfigMaps, and its own endpoints.

Upstream: pkg/controlplane/controller/legacytokentracking,
pkg/controlplane/controller/clusterauthenticationtrust and pkg/controlplane/reconcilers. What
somebody changes in them is put right by composition/serverobjects.py. Left out: headers of a proxy
that would be believed.
"""

from collections.abc import Mapping

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree

TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
AUTHENTICATION = "extension-apiserver-authentication"
PORT = 6443
"""That of the service ``kubernetes``."""
TRACKING_VERSION, AUTHENTICATION_VERSION, ENDPOINTS_VERSION = "1", "2", "6"


def config_maps(client_ca: str, started: str) -> list[Tree]:
    """Those of ``kube-system``: whose certificates are believed, and since when the use of old
    tokens is noted.

    The first is there where there is a CA (PEM), the second where ``started`` says when (RFC 3339).
    """
    found = []
    if client_ca:
        names = {"client-ca-file": client_ca, "requestheader-client-ca-file": client_ca}
        headers = {
            "requestheader-allowed-names": '["front-proxy-client"]',
            "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
            "requestheader-username-headers": '["X-Remote-User"]',
        }
        found.append(_config_map(AUTHENTICATION, AUTHENTICATION_VERSION, {**names, **headers}))
    if started:
        found.append(_config_map(TRACKING, TRACKING_VERSION, {"since": started[:10]}))
    return found


def _config_map(name: str, version: str, data: Mapping[str, str]) -> Tree:
    fields: Tree = {".": {}, **{f"f:{key}": {} for key in sorted(data)}}
    metadata = {"name": name, "namespace": "kube-system", "resourceVersion": version}
    return {
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata | _owned({"f:data": fields}, "v1"), "data": dict(data)}


def endpoints(resource: GroupResource, address: str) -> Tree:
    """The Endpoints, or the EndpointSlice, of the service ``kubernetes`` at this address."""
    metadata: Tree = {"name": "kubernetes", "namespace": "default", "resourceVersion": ENDPOINTS_VERSION}
    port = {"name": "https", "port": PORT, "protocol": "TCP"}
    if resource.group:
        labels = {"kubernetes.io/service-name": "kubernetes"}
        fields: Tree = {
            "f:addressType": {}, "f:endpoints": {}, "f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/service-name": {}}},
            "f:ports": {}}
        metadata |= {"labels": labels} | _owned(fields, "discovery.k8s.io/v1")
        return {
            "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": metadata,
            "addressType": "IPv6" if ":" in address else "IPv4",
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}], "ports": [port]}
    label = "endpointslice.kubernetes.io/skip-mirror"
    metadata |= {"labels": {label: "true"}} | _owned(
        {"f:metadata": {"f:labels": {".": {}, f"f:{label}": {}}}, "f:subsets": {}}, "v1")
    return {
        "kind": "Endpoints", "apiVersion": "v1", "metadata": metadata,
        "subsets": [{"addresses": [{"ip": address}], "ports": [port]}]}


def _owned(fields: Tree, api_version: str) -> Tree:
    return {"managedFields": [{
        "manager": "kube-apiserver", "operation": "Update", "apiVersion": api_version, "time": None,
        "fieldsType": "FieldsV1", "fieldsV1": fields}]}

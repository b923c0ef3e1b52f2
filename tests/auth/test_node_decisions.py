"""What the Node authorizer says of each verb, without a server."""

from collections.abc import Iterator
from typing import Any

import pytest

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access, Decision
from fakekube.auth.node import Node, node_of
from fakekube.auth.rules import PolicyRule, UserRules

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
GROUPS = {
    "leases": "coordination.k8s.io", "csinodes": "storage.k8s.io", "volumeattachments": "storage.k8s.io",
    "resourceslices": "resource.k8s.io", "resourceclaims": "resource.k8s.io", "podcertificaterequests": "certificates.k8s.io"}
KUBELET = UserInfo("system:node:n", ("system:nodes",))
UNRELATED = "no relationship found between node 'n' and this object"


class Record:
    """One stored object."""

    def __init__(self, tree: Tree) -> None:
        self.stored, self.namespace = tree, tree["metadata"].get("namespace", "")

    def tree(self) -> Tree:
        return self.stored


class Bucket:
    """Objects by namespace and name."""

    def __init__(self, *trees: Tree) -> None:
        self.records = [Record(tree) for tree in trees]

    def get(self, namespace: str, name: str) -> Record | None:
        found = (one for one in self.records if (one.namespace, one.stored["metadata"]["name"]) == (namespace, name))
        return next(found, None)

    def all(self) -> list[Record]:
        return self.records

    def by_field(self, field: str, value: str) -> Iterator[Record]:
        assert field == "spec.nodeName"
        return (one for one in self.records if one.stored["spec"].get("nodeName") == value)


def named(name: str, namespace: str = "", **spec: Any) -> Tree:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


POD = named(
    "p", "t", nodeName="n", serviceAccountName="robot", imagePullSecrets=[{"name": "pull"}],
    volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "c", "configMap": {"name": "conf"}}])
STORED = {
    ("", "pods"): Bucket(POD, named("q", "t", nodeName="m", serviceAccountName="other")),
    ("", "persistentvolumes"): Bucket(
        named("pv", claimRef={"namespace": "t", "name": "data"}), named("free"), named("foreign", claimRef={
            "namespace": "u", "name": "data"})),
    ("storage.k8s.io", "volumeattachments"): Bucket(named("va", nodeName="n"), named("vb", nodeName="m")),
    ("resource.k8s.io", "resourceslices"): Bucket(named("sa", nodeName="n"), named("sb", nodeName="m")),
    ("certificates.k8s.io", "podcertificaterequests"): Bucket(named("ca", "t", nodeName="n"), named("cb", "t", nodeName="m")),
}
RULES = [PolicyRule(("get", "list"), ("",), ("services",))]


def decided(resource: str, verb: str, name: str = "", namespace: str = "", subresource: str = "", field: str = "") -> str | None:
    """Why not; None where it is allowed."""
    node = Node(lambda of: STORED[of.group, of.resource], lambda: RULES)  # type: ignore[arg-type, return-value]
    access = Access(
        verb, GROUPS.get(resource, ""), "v1", resource, subresource, namespace, name, field_selector=field)
    decision = node.decide(KUBELET, access)
    return None if decision == Decision(True) else decision.reason


def allowed(resource: str, name: str = "", namespace: str = "", subresource: str = "", field: str = "") -> str:
    return " ".join(verb for verb in VERBS if decided(resource, verb, name, namespace, subresource, field) is None)


@pytest.mark.parametrize(("asked", "verbs"), [
    (("secrets", "pull", "t"), "get list watch"), (("secrets", "gone", "t"), ""), (("secrets", "", "t"), ""),
    (("secrets", "pull", ""), ""), (("secrets", "pull", "t", "status"), ""), (("secrets", "pull", "u"), ""),
    (("configmaps", "conf", "t"), "get list watch"), (("configmaps", "conf", "t", "x"), ""),
    (("persistentvolumeclaims", "data", "t"), "get"), (("persistentvolumeclaims", "data", "t", "status"), "update patch"),
    (("persistentvolumeclaims", "gone", "t", "status"), ""), (("persistentvolumeclaims", "data", "t", "x"), ""),
    (("persistentvolumes", "pv"), "get"), (("persistentvolumes", "free"), ""), (("persistentvolumes", "foreign"), ""),
    (("persistentvolumes", "gone"), ""), (("persistentvolumes", "pv", "", "status"), ""),
    (("volumeattachments", "va"), "get"), (("volumeattachments", "vb"), ""), (("volumeattachments", "gone"), ""),
    (("serviceaccounts", "robot", "t"), "get"), (("serviceaccounts", "robot", "t", "token"), "create"),
    (("serviceaccounts", "other", "t", "token"), ""), (("serviceaccounts", "robot", "t", "x"), ""),
    (("leases", "n", "kube-node-lease"), "get create update patch delete"), (("leases", "m", "kube-node-lease"), "create"),
    (("leases", "n", "t"), ""), (("csinodes", "n"), "get create update patch delete"), (("csinodes", "m"), "create"),
    (("csinodes", "n", "", "status"), ""),
    (("resourceslices", "sa"), "get create update patch delete"), (("resourceslices", "sb"), "create"),
    (("resourceslices", "", "", "", "spec.nodeName=n"), "list watch create deletecollection"),
    (("resourceslices", "", "", "", "spec.nodeName=m"), "create"), (("resourceslices", "sa", "", "status"), ""),
    (("podcertificaterequests", "ca", "t"), "get create"), (("podcertificaterequests", "cb", "t"), "create"),
    (("podcertificaterequests", "", "", "", "spec.nodeName=n"), "list watch create"),
    (("podcertificaterequests", "ca", "t", "status"), ""),
    (("nodes", "n"), "get list watch create update patch"), (("nodes", "m"), "create update patch"),
    (("nodes", "n", "", "status"), "update patch"), (("nodes", "n", "", "proxy"), ""),
    (("pods", "p", "t"), "get list watch create delete"), (("pods", "q", "t"), "create delete"),
    (("pods", "", "", "", "spec.nodeName=n"), "list watch create delete"),
    (("pods", "", "", "", "spec.nodeName!=n"), "create delete"),
    (("pods", "", "", "", "a=b,c"), "create delete"), (("pods", "p", "t", "status"), "update patch"),
    (("pods", "p", "t", "eviction"), "create"), (("pods", "p", "t", "log"), ""),
    (("services",), "get list"), (("services", "", "", "status"), ""), (("endpoints",), ""),
])
def test_the_verbs_of_each_resource(asked: tuple[str, ...], verbs: str) -> None:
    """Given a resource, a name, a namespace, a sub-resource and a selector / then exactly these
    verbs are a kubelet's.
    """
    assert allowed(*asked) == verbs


@pytest.mark.parametrize(("asked", "reason"), [
    (("secrets", "get", "pull", "t", "x"), "cannot read subresource"), (("secrets", "get", "gone", "t"), UNRELATED),
    (("secrets", "get", "", "t"), "No Object name found"),
    (("secrets", "create", "a", "t"), "can only read resources of this type"),
    (("secrets", "get", "pull"), "can only read namespaced object of this type"),
    (("persistentvolumes", "list"), "can only get individual resources of this type"),
    (("persistentvolumes", "get", "pv", "", "x"), "cannot get subresource"),
    (("persistentvolumeclaims", "get", "data", "t", "status"), "can only get/update/patch this type"),
    (("serviceaccounts", "create", "", "t", "token"), "can only create tokens for individual service accounts"),
    (("serviceaccounts", "delete", "robot", "t"), "can only create tokens for individual service accounts"),
    (("serviceaccounts", "create", "robot", "t"), "can only create token subresource of serviceaccount"),
    (("resourceslices", "get", "sa", "", "x"), "cannot authorize ResourceSlice subresources"),
    (("resourceslices", "connect", "sa"),
        ("only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, "
     "patch, delete, deletecollection")),
    (("resourceslices", "list"), "can only list/watch/deletecollection resourceslices with nodeName field selector"),
    (("podcertificaterequests", "get", "ca", "t", "status"),
     "nodes may not access the status subresource of PodCertificateRequests"),
    (("podcertificaterequests", "list"), "can only list/watch podcertificaterequests with nodeName field selector"),
    (("podcertificaterequests", "delete", "ca", "t"), "nodes may not delete podcertificaterequests"),
    (("pods", "list", "q", "t"), UNRELATED), (("pods", "watch"), "can only list/watch pods with spec.nodeName field selector"),
    (("pods", "update", "p", "t"), ""), (("services", "create"), ""), (("nodes", "delete", "n"), ""),
    (("csinodes", "list"), "can only get, create, update, patch, or delete a CSINode"),
    (("csinodes", "get", "n", "", "status"), "cannot authorize CSINode subresources"),
    (("leases", "list", "", "kube-node-lease"), "can only get, create, update, patch, or delete a node lease"),
])
def test_why_not(asked: tuple[str, ...], reason: str) -> None:
    """Given what is not a kubelet's / then the reason is upstream's."""
    assert decided(*asked) == reason


def test_who_is_a_kubelet() -> None:
    """Given names and groups / then both make a kubelet; its rules cannot be listed, and others
    have none here.
    """
    assert node_of(KUBELET) == "n"
    assert node_of(UserInfo("system:node:n", ())) is None
    assert node_of(UserInfo("n", ("system:nodes",))) is None
    node = Node(lambda of: STORED[of.group, of.resource], lambda: RULES)  # type: ignore[arg-type, return-value]
    assert node.rules(KUBELET, "t") == UserRules([], True, "node authorizer does not support user rule resolution")
    assert node.rules(UserInfo("n", ()), "t") == UserRules([])
    assert node.decide(UserInfo("n", ()), Access("get", resource="services")) == Decision(False)
    assert node.decide(KUBELET, Access("get", path="/healthz")) == Decision(False)

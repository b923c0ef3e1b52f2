"""What a kubelet may write, rule by rule, in upstream's words."""

from typing import Any

import pytest

from fakekube.admission.node_restriction import NodeRestriction
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from tests.admission.world import World, kind

GROUPS = {
    "leases": "coordination.k8s.io", "csinodes": "storage.k8s.io", "resourceslices": "resource.k8s.io"}
MIRROR = {"kubernetes.io/config.mirror": "x"}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-n", "controller": True}


def world() -> World:
    made = World()
    made.put("", "nodes", {"metadata": {"name": "n", "uid": "u-n"}})
    for name, node in (("own", "n"), ("foreign", "m")):
        made.put("", "pods", {"metadata": {"name": name, "namespace": "t", "uid": f"u-{name}"}, "spec": {"nodeName": node}})
    return made


def tried(
    plural: str, obj: Tree | None = None, old: Tree | None = None, operation: str = "", subresource: str = "",
    user: str = "system:node:n", namespace: str = "t",
) -> str:
    """The refusal of a write by the kubelet of the node ``n``; empty where it passes."""
    attrs = world().attributes(
        kind(GROUPS.get(plural, ""), "v1", plural), obj, old, operation=operation, subresource=subresource, namespace=namespace)
    attrs.ctx.user = UserInfo(user, ("system:nodes",))
    try:
        NodeRestriction().admit(attrs)
    except APIError as error:
        name, slash, told = error.message.partition(" is forbidden: ")
        return told if slash else name
    return ""


def named(name: str, **meta: Any) -> Tree:
    return {"metadata": {"name": name, **meta}, "spec": {}}


def mirror(spec: Tree | None = None, *owners: Tree, **meta: Any) -> Tree:
    return {
        "metadata": {"name": "m", "annotations": MIRROR, "ownerReferences": list(owners or (OWNER,)), **meta},
        "spec": {"nodeName": "n", **(spec or {})}}


def test_who_is_no_kubelet_is_not_looked_at() -> None:
    """Given users without the prefix of nodes / then everything passes; a kubelet without a name
    writes nothing.
    """
    assert tried("nodes", named("m"), user="alice") == ""
    assert tried("nodes", named("m"), user="system:node:") == 'could not determine node from user "system:node:"'


@pytest.mark.parametrize(("write", "refusal"), [
    (("own", "DELETE", ""), ""), (("own", "CREATE", "eviction"), ""),
    (("foreign", "DELETE", ""), 'node "n" can only delete pods with spec.nodeName set to itself'),
    (("foreign", "CREATE", "eviction"), "node n can only evict pods with spec.nodeName set to itself"),
    (("gone", "DELETE", ""), 'pod "gone" not found'), (("gone", "CREATE", "eviction"), 'pod "gone" not found'),
    (("own", "UPDATE", ""), 'unexpected operation "UPDATE", node "n" can only create and delete mirror pods'),
    (("own", "CREATE", "binding"), 'unexpected pod subresource "binding", only \'status\' and \'eviction\' are allowed'),
])
def test_deletion_eviction_and_the_rest(write: tuple[str, str, str], refusal: str) -> None:
    """Given pods on this node, on another and none / when one is deleted, evicted, or anything else
    / then only the own may go.
    """
    name, operation, subresource = write
    assert tried("pods", named(name), operation=operation, subresource=subresource) == refusal


@pytest.mark.parametrize(("owners", "refusal"), [
    ([OWNER], ""), ([OWNER, OWNER], "can only create pods with a single owner reference set to itself"),
    *(([{**OWNER, **change}], "can only create pods with an owner reference set to itself") for change in (
        {"apiVersion": "v2"}, {"kind": "Pod"}, {"name": "m"})),
    ([{**OWNER, "controller": False}], "can only create pods with a controller owner reference set to itself"),
    ([{**OWNER, "blockOwnerDeletion": True}], "must not set blockOwnerDeletion on an owner reference"),
])
def test_who_owns_a_mirror_pod(owners: list[Tree], refusal: str) -> None:
    """Given a mirror pod with owners / then it has one, the node, that blocks nothing.
    """
    assert tried("pods", mirror(None, *owners)) == (refusal and f'node "n" {refusal}')


def test_the_node_of_a_mirror_pod() -> None:
    """Given a mirror pod for another node, of a node that is gone, or of one of another uid / then
    it is refused.
    """
    assert tried("pods", mirror({"nodeName": "m"})) == 'node "n" can only create pods with spec.nodeName set to itself'
    assert tried("pods", mirror(None, {**OWNER, "uid": "u"})) == "node n UID mismatch: expected u got u-n"
    gone = {**OWNER, "name": "g"}
    assert tried("pods", mirror({"nodeName": "g"}, gone), user="system:node:g") == 'node "g" not found'
    assert tried("pods", named("m")) == (
        'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create mirror pods')


@pytest.mark.parametrize(("spec", "what"), [
    ({"serviceAccountName": "a"}, "serviceaccounts"),
    ({"imagePullSecrets": [{"name": "s"}]}, "secrets"),
    ({"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "m"}}]}]}, "configmaps"),
    ({"resourceClaims": [{"name": "c"}]}, "resourceclaims"),
    ({"volumes": [{"name": "v", "csi": {"driver": "d"}}]}, "csidrivers (via CSI volumes)"),
    ({"volumes": [{"name": "v", "glusterfs": {"endpoints": "e"}}]}, "endpoints (via glusterFS volumes)"),
    ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, "persistentvolumeclaims"),
    ({"volumes": [{"name": "v", "ephemeral": {}}]}, "persistentvolumeclaims (via ephemeral volumes)"),
    ({"volumes": [{"name": "v", "configMap": {}}]}, "configmaps (via configmap volumes)"),
    ({"volumes": [{"name": "v", "secret": {}}]}, "secrets (via secret volumes)"),
    ({"volumes": [{"name": "v", "azureFile": {}}]}, "secrets (via azureFile volumes)"),
    *(({"volumes": [{"name": "v", "projected": {"sources": [{source: {}}]}}]}, what) for source, what in (
        ("configMap", "configmaps (via projected volumes)"), ("secret", "secrets (via projected volumes)"),
        ("serviceAccountToken", "serviceaccounts (via projected volumes)"), ("clusterTrustBundle", "clustertrustbundles"),
        ("podCertificate", "podcertificates"))),
])
def test_a_mirror_pod_speaks_of_nothing(spec: Tree, what: str) -> None:
    """Given a mirror pod that refers to what the API holds / then it is refused for that."""
    assert tried("pods", mirror(spec)) == f'node "n" can not create pods that reference {what}'


def test_a_mirror_pod_may_have_plain_volumes() -> None:
    """Given volumes of the node, and an empty projection / then nothing is referred to."""
    volumes = [{"name": "h", "hostPath": {"path": "/"}}, {"name": "p", "projected": {}}, {"name": "d", "projected": {
        "sources": [{"downwardAPI": {}}]}}]
    assert tried("pods", mirror({"volumes": volumes})) == ""


def status_of(node: str = "n", labels: Tree | None = None, **status: Any) -> Tree:
    meta: Tree = {"name": "p"} if labels is None else {"name": "p", "labels": labels}
    return {"metadata": meta, "spec": {"nodeName": node}, "status": status}


@pytest.mark.parametrize(("new", "old", "refusal"), [
    (status_of(phase="Running"), status_of(), ""), (status_of(labels={}), status_of(), ""),
    (status_of("n"), status_of("m"), "can only update pod status for pods with spec.nodeName set to itself"),
    (status_of(labels={"a": "b"}), status_of(), "cannot update labels through pod status"),
    (status_of(), status_of(labels={"a": "b"}), "cannot update labels through pod status"),
    (status_of(resourceClaimStatuses=[{"name": "c"}]), status_of(), "cannot update resource claim statues"),
    (status_of(), status_of(extendedResourceClaimStatus={"a": 1}), "cannot update extended resource claim status"),
    (status_of(nodeAllocatableResourceClaimStatuses=[1]), status_of(nodeAllocatableResourceClaimStatuses=[2]),
     "cannot update node allocatable resource claim statuses"),
    (status_of(resourceClaimStatuses=[]), status_of(), ""),
])
def test_the_status_of_pods(new: Tree, old: Tree, refusal: str) -> None:
    """Given a status of a pod / then it is one of this node's, with the labels and claims that it
    had.
    """
    assert tried("pods", new, old, subresource="status") == (refusal and f'node "n" {refusal}')


@pytest.mark.parametrize(("new", "old", "operation", "refusal"), [
    (named("n"), None, "CREATE", ""), (None, named("n"), "DELETE", ""), (named("n"), named("n"), "UPDATE", ""),
    *((named("m"), named("m"), operation, 'node "n" is not allowed to modify node "m"') for operation in (
        "CREATE", "UPDATE", "DELETE")),
    (named("n", labels={"kubernetes.io/x": "1", "b.k8s.io/y": "1", "a/b": "1"}), None, "CREATE",
     'node "n" is not allowed to set the following labels: b.k8s.io/y, kubernetes.io/x'),
    (named("n", labels={"node-restriction.kubernetes.io/a": "1"}), named("n"), "UPDATE",
     "is not allowed to modify labels: node-restriction.kubernetes.io/a"),
    (named("n"), named("n", labels={"node-restriction.kubernetes.io/a": "1", "x.k8s.io/a": "2"}), "UPDATE",
     "is not allowed to modify labels: node-restriction.kubernetes.io/a, x.k8s.io/a"),
    (named("n", labels={"k8s.io/a": "1", "c": "3"}), named("n", labels={"k8s.io/a": "1", "c": "2"}), "UPDATE", ""),
    ({"metadata": {"name": "n"}, "spec": {"taints": [{"key": "a"}]}}, named("n"), "UPDATE",
     'node "n" is not allowed to modify taints'),
    ({"metadata": {"name": "n"}, "spec": {"taints": []}}, named("n"), "UPDATE", ""),
    (named("n", ownerReferences=[OWNER]), named("n"), "UPDATE", 'node "n" is not allowed to modify ownerReferences'),
    (named("n", ownerReferences=[]), named("n"), "UPDATE", ""),
])
def test_the_own_node(new: Tree | None, old: Tree | None, operation: str, refusal: str) -> None:
    """Given writes of nodes / then only the own, with no taints, owners or labels that are not a
    kubelet's.
    """
    assert tried("nodes", new, old, operation) == refusal


def test_labels_of_a_kubelet() -> None:
    """Given labels of all namespaces / then those of Kubernetes are a kubelet's only where they are
    listed.
    """
    own = ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type", "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch", "kubelet.kubernetes.io/a", "x.kubelet.kubernetes.io/a", "node.kubernetes.io/b",
        "x.node.kubernetes.io/b", "plain", "example.com/a", "notkubernetes.io/a", "notk8s.io/a"]
    others = ["a.node-restriction.kubernetes.io/b", "beta.kubernetes.io/other", "k8s.io/a", "kubernetes.io/hostnames",
        "node-restriction.kubernetes.io/a", "notnode.kubernetes.io/b", "topology.kubernetes.io/other", "x.k8s.io/a"]
    told = tried("nodes", named("n", labels=dict.fromkeys([*own, *others], "1")))
    assert told == f'node "n" is not allowed to set the following labels: {", ".join(sorted(others))}'


def claim(version: str = "1", spec: Tree | None = None, **status: Any) -> Tree:
    return {
        "metadata": {"name": "c", "resourceVersion": version, "managedFields": [version]}, "spec": spec or {}, "status": status}


@pytest.mark.parametrize(("new", "refused"), [
    (claim("2", capacity={"a": "1"}, conditions=[1], allocatedResourceStatuses={"a": "b"}, allocatedResources={"a": "1"}), False),
    (claim(phase="Bound"), True), (claim(spec={"volumeName": "v"}), True), (claim(accessModes=["a"]), True),
    ({**claim(), "metadata": {"name": "c", "labels": {"a": "b"}}}, True),
])
def test_the_status_of_claims(new: Tree, refused: bool) -> None:
    """Given a status of a claim / then a kubelet tells capacity and conditions alone."""
    told = 'node "n" is not allowed to update fields other than status.quantity and status.conditions'
    assert tried("persistentvolumeclaims", new, claim(), subresource="status") == (told if refused else "")
    assert tried("persistentvolumeclaims", new, claim()) == "may only update PVC status"


def request(**reference: str) -> Tree:
    return {"metadata": {"name": "a"}, "spec": {"boundObjectRef": reference} if reference else {}}


OWN = {"apiVersion": "v1", "kind": "Pod", "name": "own", "uid": "u-own"}


@pytest.mark.parametrize(("reference", "refusal"), [
    (OWN, ""), ({}, "node requested token not bound to a pod"),
    ({**OWN, "apiVersion": "v2"}, "node requested token not bound to a pod"),
    ({**OWN, "kind": "Secret"}, "node requested token not bound to a pod"),
    ({**OWN, "name": ""}, "node requested token not bound to a pod"),
    ({**OWN, "uid": ""}, "node requested token with a pod binding without a uid"),
    ({**OWN, "name": "gone"}, 'pod "gone" not found'),
    ({**OWN, "uid": "u"}, ("the UID in the bound object reference (u) does not match the UID in record. The object might have "
     "been deleted and then recreated")),
    ({**OWN, "name": "foreign", "uid": "u-foreign"}, "node requested token bound to a pod scheduled on a different node"),
])
def test_tokens(reference: dict[str, str], refusal: str) -> None:
    """Given requests for tokens / then they are bound to a pod of the node; what else is done with
    accounts is no concern.
    """
    assert tried("serviceaccounts", request(**reference), operation="CREATE", subresource="token") == refusal
    assert tried("serviceaccounts", request(**reference), operation="CREATE") == ""
    assert tried("serviceaccounts", request(**reference), operation="UPDATE", subresource="token") == ""


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE"])
def test_leases_and_csi_nodes_are_named_like_the_node(operation: str) -> None:
    """Given leases and CSINodes of the own name and of another / then only the own pass, leases in
    the namespace of those of nodes.
    """
    assert tried("leases", named("n"), operation=operation, namespace="kube-node-lease") == ""
    assert tried("leases", named("m"), operation=operation, namespace="kube-node-lease") == (
        "can only access node lease with the same name as the requesting node")
    assert tried("leases", named("n"), operation=operation) == (
        'can only access leases in the "kube-node-lease" system namespace')
    assert tried("csinodes", named("n"), operation=operation) == ""
    assert tried("csinodes", named("m"), operation=operation) == (
        "can only access CSINode with the same name as the requesting node")


def test_slices_are_of_the_own_node() -> None:
    """Given slices of the own node and of another / when created, deleted and changed / then those
    of others are not a kubelet's; what does not change its node is not looked at.
    """
    own, other = ({"metadata": {"name": "s"}, "spec": {"nodeName": node}} for node in "nm")
    assert [tried("resourceslices", own), tried("resourceslices", None, own), tried("resourceslices", other, other)] == [""] * 3
    for verb, new, old in (("create", other, own), ("delete", own, other)):
        assert tried("resourceslices", new, old, verb.upper()) == (
            f"can only {verb} ResourceSlice with the same NodeName as the requesting node")

"""What kubelets may do: read what the pods of their node speak of."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUMES, PODS
from tests.auth.conftest import Secured

POD: Tree = {
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {
        "nodeName": "n1", "serviceAccountName": "robot", "imagePullSecrets": [{"name": "pull"}],
        "resourceClaims": [{"name": "c", "resourceClaimName": "device"}],
        "containers": [{
            "name": "m", "image": "b", "envFrom": [{"configMapRef": {"name": "env"}}],
            "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}}]}],
        "volumes": [
            {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "s", "secret": {"secretName": "mounted"}},
            {"name": "p", "projected": {"sources": [{"configMap": {"name": "projected"}}]}}]},
}
VOLUME: Tree = {
    "metadata": {"name": "pv"},
    "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": {"namespace": "default", "name": "data"},
        "csi": {"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"name": "stage", "namespace": "vault"}}}}


@pytest.fixture
async def nodes() -> AsyncIterator[Secured]:
    """Pods on two nodes: the one speaks of everything, the other of nothing."""
    async with Cluster(
            nodes=0, controllers="", clock="manual", authorization_mode="Node,RBAC",
            disable_admission_plugins="ServiceAccount") as cluster:
        await cluster.client.create(PODS, POD)
        await cluster.client.create(PERSISTENT_VOLUMES, VOLUME)
        bare = {"nodeName": "n2", "containers": [{"name": "m", "image": "b"}]}
        await cluster.client.create(PODS, {"metadata": {"name": "q", "namespace": "default"}, "spec": bare})
        yield Secured(cluster)


async def may(nodes: Secured, node: str, **asked: Any) -> Tree:
    return await nodes.review(f"system:node:{node}", ["system:nodes"], **asked)


@pytest.mark.parametrize(("resource", "name", "more"), [
    ("secrets", "key", {}), ("secrets", "pull", {}), ("secrets", "mounted", {}), ("configmaps", "env", {}),
    ("configmaps", "projected", {"verb": "watch"}), ("persistentvolumeclaims", "data", {}),
    ("persistentvolumes", "pv", {"namespace": ""}), ("secrets", "stage", {"namespace": "vault"}),
    ("resourceclaims", "device", {"group": "resource.k8s.io"}), ("pods", "p", {}), ("serviceaccounts", "robot", {}),
    ("serviceaccounts", "robot", {"verb": "create", "subresource": "token"}),
    ("persistentvolumeclaims", "data", {"verb": "patch", "subresource": "status"}),
])
async def test_a_kubelet_reads_what_its_pods_speak_of(nodes: Secured, resource: str, name: str, more: Tree) -> None:
    """Given a pod that speaks of an object, when the kubelet of its node asks for it, then it may;
    that of another node may not, and is told why.
    """
    asked = {"verb": "get", "resource": resource, "name": name, "namespace": "default", **more}
    assert await may(nodes, "n1", **asked) == {"allowed": True}
    assert await may(nodes, "n2", **asked) == {
        "allowed": False, "reason": "node: no relationship found between node 'n2' and this object"}
    assert not (await may(nodes, "n1", **{**asked, "name": "other"}))["allowed"]
    await nodes.admin.delete(PODS, "p", "default", grace_period_seconds=0)
    assert not (await may(nodes, "n1", **asked))["allowed"]


async def test_a_mirror_pod_opens_nothing(nodes: Secured) -> None:
    """Given a mirror pod that speaks of a Secret, when its kubelet asks for the Secret, then it may
    not.
    """
    meta = {"name": "m", "namespace": "default", "annotations": {"kubernetes.io/config.mirror": "x"}}
    volumes = [{"name": "s", "emptyDir": {}}]
    spec = {"nodeName": "n2", "containers": POD["spec"]["containers"], "volumes": volumes}
    await nodes.admin.create(PODS, {"metadata": meta, "spec": spec})
    asked = {"verb": "get", "resource": "secrets", "name": "key", "namespace": "default"}
    assert not (await may(nodes, "n2", **asked))["allowed"]


OWN = {"namespace": "kube-node-lease", "group": "coordination.k8s.io", "resource": "leases"}


@pytest.mark.parametrize(("asked", "reason"), [
    ({"verb": "list", "resource": "pods", "fieldSelector": {"rawSelector": "spec.nodeName=n1"}}, None),
    ({"verb": "list", "resource": "pods"}, "can only list/watch pods with spec.nodeName field selector"),
    ({"verb": "list", "resource": "secrets", "namespace": "default"}, "No Object name found"),
    ({"verb": "get", "resource": "secrets", "name": "key"}, "can only read namespaced object of this type"),
    ({"verb": "delete", "resource": "secrets", "name": "key", "namespace": "default"}, "can only read resources of this type"),
    ({"verb": "get", "resource": "nodes", "name": "n1"}, None),
    ({"verb": "get", "resource": "nodes", "name": "n2"}, "node 'n1' cannot read 'n2', only its own Node object"),
    ({"verb": "list", "resource": "nodes"}, "node 'n1' cannot read all nodes, only its own Node object"),
    ({"verb": "patch", "resource": "nodes", "subresource": "status"}, None),
    ({**OWN, "verb": "update", "name": "n1"}, None), ({**OWN, "verb": "create"}, None),
    ({**OWN, "verb": "update", "name": "n2"}, "can only access node lease with the same name as the requesting node"),
    ({**OWN, "verb": "get", "namespace": "default"}, 'can only access leases in the "kube-node-lease" system namespace'),
    ({**OWN, "verb": "list"}, "can only get, create, update, patch, or delete a node lease"),
    ({"verb": "list", "resource": "services"}, None), ({"verb": "create", "resource": "events", "namespace": "x"}, None),
    ({"verb": "create", "resource": "pods", "subresource": "eviction"}, None),
    ({"verb": "create", "resource": "serviceaccounts", "subresource": "token"},
     "can only create tokens for individual service accounts"),
    ({"verb": "get", "group": "storage.k8s.io", "resource": "csinodes", "name": "n2"},
     "can only access CSINode with the same name as the requesting node"),
    ({"verb": "list", "group": "resource.k8s.io", "resource": "resourceslices"},
     "can only list/watch/deletecollection resourceslices with nodeName field selector"),
    ({"verb": "patch", "group": "certificates.k8s.io", "resource": "podcertificaterequests"},
     "nodes may not patch podcertificaterequests"),
])
async def test_what_all_kubelets_may_and_how_they_are_refused(nodes: Secured, asked: Tree, reason: str | None) -> None:
    """Given a kubelet, when it asks for what is told apart by node or by rule, then it may, or is
    refused in upstream's words.
    """
    status = await may(nodes, "n1", **asked)
    assert status == ({"allowed": True} if reason is None else {"allowed": False, "reason": f"node: {reason}"})


async def test_whoever_is_no_kubelet_is_none(nodes: Secured) -> None:
    """Given a node's name without its group, and the group without a name, when they ask, then
    there is nothing for the one, and a reason for the other.
    """
    asked = {"verb": "list", "resource": "services"}
    assert await nodes.review("system:node:n1", [], **asked) == {"allowed": False}
    assert await nodes.review("system:node:", ["system:nodes"], **asked) == {
        "allowed": False, "reason": 'node: unknown node for user "system:node:"'}

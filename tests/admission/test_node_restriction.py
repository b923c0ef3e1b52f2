"""A kubelet writes its own node and the pods on it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client import users
from fakekube.client.client import Client
from fakekube.client.resources import JOBS, LEASES, NODES, PODS
from fakekube.composition.options import OptionError

MIRROR = {"kubernetes.io/config.mirror": "x"}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Two nodes with a pod on each, and no kubelet; what is admitted everybody may do."""
    async with Cluster(
            nodes=0, controllers="", clock="manual", enable_admission_plugins="NodeRestriction",
            disable_admission_plugins="ServiceAccount,TaintNodesByCondition") as cluster:
        for name in ("n1", "n2"):
            await cluster.client.create(NODES, {"metadata": {"name": name, "labels": {"a": "b"}}})
            await cluster.client.create(PODS, pod(f"on-{name}", name))
        yield cluster


def pod(name: str, node: str, **meta: Any) -> Tree:
    spec: Tree = {"nodeName": node, "containers": [{"name": "m", "image": "b"}]}
    return {"metadata": {"name": name, "namespace": "default", **meta}, "spec": spec}


def kubelet(cluster: Cluster) -> Client:
    return cluster.client.with_options(user=users.node("n1"))


async def refusal(asked: Any) -> str:
    with pytest.raises(APIError) as error:
        await asked
    assert (error.value.code, error.value.reason) == (403, "Forbidden")
    return error.value.message


async def test_a_kubelet_writes_its_own_and_no_other(cluster: Cluster) -> None:
    """Given two nodes, when the kubelet of one writes status, leases and pods, then its own pass
    and those of the other are refused in upstream's words; anybody else is not concerned.
    """
    client, ready = kubelet(cluster), {"status": {"phase": "Running"}}
    await client.patch(PODS, "on-n1", "default", ready, subresource="status")
    assert await refusal(client.patch(PODS, "on-n2", "default", ready, subresource="status")) == (
        'pods "on-n2" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself')
    assert "cannot update labels through pod status" in await refusal(
        client.patch(PODS, "on-n1", "default", {"metadata": {"labels": {"x": "y"}}}, subresource="status"))
    assert 'unexpected operation "UPDATE"' in await refusal(
        client.patch(PODS, "on-n1", "default", {"metadata": {"labels": {"x": "y"}}}))
    assert await refusal(client.delete(PODS, "on-n2", "default")) == (
        'pods "on-n2" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself')
    await client.delete(PODS, "on-n1", "default", grace_period_seconds=0)
    await cluster.client.delete(PODS, "on-n2", "default", grace_period_seconds=0)
    lease = {"metadata": {"name": "n1", "namespace": "kube-node-lease"}, "spec": {}}
    await client.create(LEASES, lease)
    assert "can only access node lease with the same name" in await refusal(
        client.create(LEASES, {**lease, "metadata": {**lease["metadata"], "name": "n2"}}))
    assert 'can only access leases in the "kube-node-lease"' in await refusal(
        client.create(LEASES, {**lease, "metadata": {"name": "n1", "namespace": "default"}}))


@pytest.mark.parametrize(("patch", "text"), [
    ({"metadata": {"labels": {"node-restriction.kubernetes.io/x": "y"}}},
     "is not allowed to modify labels: node-restriction.kubernetes.io/x"),
    ({"metadata": {"labels": {"x.k8s.io/b": "1", "kubernetes.io/a": "1", "own/c": "1"}}},
     "is not allowed to modify labels: kubernetes.io/a, x.k8s.io/b"),
    ({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, 'node "n1" is not allowed to modify taints'),
    ({"metadata": {"labels": {"kubernetes.io/os": "linux", "x.kubelet.kubernetes.io/b": "1", "a": "c"}}}, None),
])
async def test_a_kubelet_changes_little_of_its_node(cluster: Cluster, patch: Tree, text: str | None) -> None:
    """Given its own node, when a kubelet changes labels and taints, then those that steer pods are
    refused, each by name; those of kubelets and of nobody pass.
    """
    client = kubelet(cluster)
    if text is None:
        await client.patch(NODES, "n1", body=patch)
    else:
        assert await refusal(client.patch(NODES, "n1", body=patch)) == f'nodes "n1" is forbidden: {text}'
    assert await refusal(client.patch(NODES, "n2", body=patch)) == (
        'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"')


async def test_a_kubelet_makes_mirror_pods_only(cluster: Cluster) -> None:
    """Given a pod that a kubelet makes, when it is no mirror, is of another node, has another
    owner, or speaks of a Secret, then it is refused; a plain mirror pod passes.
    """
    client, uid = kubelet(cluster), (await cluster.client.get(NODES, "n1"))["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": uid, "controller": True}
    made = pod("m", "n1", annotations=MIRROR, ownerReferences=[owner])
    secret = {**made, "spec": {**made["spec"], "volumes": [{"name": "s", "secret": {"secretName": "s"}}]}}
    other = {**owner, "uid": "00000000-0000-0000-0000-000000000000"}
    for tried, text in (
        (pod("m", "n1"), 'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods'),
        (pod("m", "n2", annotations=MIRROR), 'node "n1" can only create pods with spec.nodeName set to itself'),
        (pod("m", "n1", annotations=MIRROR), 'node "n1" can only create pods with an owner reference set to itself'),
        (pod("m", "n1", annotations=MIRROR, ownerReferences=[other]), "node n1 UID mismatch: expected 0000"),
        (secret, 'node "n1" can not create pods that reference secrets'),
    ):
        assert text in await refusal(client.create(PODS, tried))
    await client.create(PODS, made)


async def test_our_kubelets_live_with_it() -> None:
    """Given the Node authorizer, RBAC and NodeRestriction, when a Job runs on two nodes, then it
    completes.
    """
    async with Cluster(
            nodes=2, clock="manual", authorization_mode="Node,RBAC", enable_admission_plugins="NodeRestriction") as cluster:
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "b"}]}}
        spec = {"completions": 4, "parallelism": 4, "template": template}
        await cluster.client.create(JOBS, {"metadata": {"name": "j", "namespace": "default"}, "spec": spec})

        async def complete() -> bool:
            return meta.is_condition_true(await cluster.client.get(JOBS, "j", "default"), "Complete")

        await cluster.run_until(complete)
        assert [one.user for one in cluster.apiserver.log if one.code == 403] == []


def test_a_plugin_is_on_or_off() -> None:
    """Given a plugin in both lists, and one that there is not, then the option is refused in
    upstream's words.
    """
    with pytest.raises(OptionError, match=r"\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped"):
        Cluster(enable_admission_plugins="Priority", disable_admission_plugins="Priority")
    with pytest.raises(OptionError, match='enable-admission-plugins plugin "Nope" is unknown'):
        Cluster(enable_admission_plugins="Nope")

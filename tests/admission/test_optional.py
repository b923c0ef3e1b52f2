"""Admission plugins that are off by default, each switched on in a cluster."""

from pathlib import Path
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import Resource
from fakekube.composition.options import OptionError

PODS, MAPS = Resource("", "v1", "pods", "Pod"), Resource("", "v1", "configmaps", "ConfigMap")
SERVICES, EVENTS = Resource("", "v1", "services", "Service"), Resource("", "v1", "events", "Event")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


def cluster_with(*plugins: str, **options: Any) -> Cluster:
    return Cluster(**{
        "nodes": 0, "controllers": "", "clock": "manual", "disable_admission_plugins": "ServiceAccount",
        "enable_admission_plugins": plugins, **options})


def pod(name: str = "p", **spec: Any) -> Tree:
    containers = spec.pop("containers", [{"name": "c", "image": "a:1"}])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": containers, **spec}}


async def refused(cluster: Cluster, resource: Resource, tree: Tree) -> str:
    with pytest.raises(APIError) as caught:
        await cluster.client.create(resource, tree)
    return caught.value.message


async def annotate(cluster: Cluster, **annotations: str) -> None:
    named = {f"scheduler.alpha.kubernetes.io/{name.replace('_', '-')}": value for name, value in annotations.items()}
    await cluster.client.patch(NAMESPACES, "default", "", {"metadata": {"annotations": named}})


async def test_always_pull_images() -> None:
    """Given AlwaysPullImages, when a pod wants its images never, then all are pulled always."""
    async with cluster_with("AlwaysPullImages") as cluster:
        made = await cluster.client.create(PODS, pod(
            containers=[{"name": "c", "image": "a:1", "imagePullPolicy": "Never"}],
            initContainers=[{"name": "i", "image": "a:1"}]))
        for name in ("containers", "initContainers"):
            assert [each["imagePullPolicy"] for each in made["spec"][name]] == ["Always"]


async def test_limit_pod_hard_anti_affinity_topology() -> None:
    """Given LimitPodHardAntiAffinityTopology, when a pod wants zones for itself, then it is
    refused.
    """
    def apart(key: str) -> Tree:
        term = {"topologyKey": key, "labelSelector": {"matchLabels": {"a": "b"}}}
        return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})

    async with cluster_with("LimitPodHardAntiAffinityTopology") as cluster:
        assert await refused(cluster, PODS, apart("zone")) == (
            'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key '
            "kubernetes.io/hostname is allowed")
        await cluster.client.create(PODS, apart("kubernetes.io/hostname"))


async def test_extended_resource_toleration() -> None:
    """Given ExtendedResourceToleration, when a pod asks for a device, then it tolerates its
    taint.
    """
    resources = {"requests": {"example.com/gpu": "1", "cpu": "1"}, "limits": {"example.com/gpu": "1"}}
    async with cluster_with("ExtendedResourceToleration") as cluster:
        made = await cluster.client.create(PODS, pod(containers=[{"name": "c", "image": "a:1", "resources": resources}]))
        assert {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in made["spec"]["tolerations"]
        assert not any(each.get("key") == "cpu" for each in made["spec"]["tolerations"])


async def test_pod_node_selector(tmp_path: Path) -> None:
    """Given PodNodeSelector and a namespace with a selector, when pods are created, then they have
    it, and may not say otherwise, nor what the configuration does not list."""
    configuration = tmp_path / "admission.yaml"
    configuration.write_text(
        "kind: AdmissionConfiguration\nplugins: [{name: PodNodeSelector, configuration: {podNodeSelectorPluginConfig: "
        "{clusterDefaultNodeSelector: 'a=b', default: 'disk=ssd,a=b,c=d'}}}]\n")
    async with cluster_with("PodNodeSelector", admission_control_config_file=str(configuration)) as cluster:
        assert (await cluster.client.create(PODS, pod("x")))["spec"]["nodeSelector"] == {"a": "b"}
        await annotate(cluster, node_selector="disk=ssd")
        made = await cluster.client.create(PODS, pod(nodeSelector={"c": "d"}))
        assert made["spec"]["nodeSelector"] == {"disk": "ssd", "c": "d"}
        assert (await refused(cluster, PODS, pod(nodeSelector={"disk": "hdd"}))).endswith(
            "pod node label selector conflicts with its namespace node label selector")
        assert (await refused(cluster, PODS, pod(nodeSelector={"other": "1"}))).endswith(
            "pod node label selector labels conflict with its namespace whitelist")


async def test_pod_toleration_restriction() -> None:
    """Given PodTolerationRestriction and a namespace with tolerations, when pods are created, then
    they have them, and no others."""
    async with cluster_with("PodTolerationRestriction") as cluster:
        await annotate(
            cluster, defaultTolerations='[{"key":"a","operator":"Exists"}]',
            tolerationsWhitelist='[{"key":"a","operator":"Exists"},{"operator":"Exists","effect":"NoExecute"}]')
        made = await cluster.client.create(PODS, pod())
        assert {"key": "a", "operator": "Exists"} in made["spec"]["tolerations"]
        assert await refused(cluster, PODS, pod("q", tolerations=[{"key": "b", "operator": "Exists"}])) == (
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist")


async def test_deny_service_external_ips() -> None:
    """Given DenyServiceExternalIPs, when a service wants one, then it is refused."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"},
               "spec": {"ports": [{"port": 80}]}}
    async with cluster_with("DenyServiceExternalIPs") as cluster:
        await cluster.client.create(SERVICES, service)
        service["spec"]["externalIPs"] = ["192.0.2.1"]  # type: ignore[index]
        service["metadata"]["name"] = "t"  # type: ignore[index]
        assert await refused(cluster, SERVICES, service) == (
            'services "t" is forbidden: Use of external IPs is denied by admission control')


async def test_namespaces() -> None:
    """Given NamespaceAutoProvision, when something is created in a namespace that is not there,
    then it is there; a dry run makes none."""
    tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "new"}}
    async with cluster_with("NamespaceAutoProvision", "NamespaceExists") as cluster:
        with pytest.raises(APIError):
            await cluster.client.create(MAPS, tree, dry_run=True)
        await cluster.client.create(MAPS, tree)
        assert (await cluster.client.get(NAMESPACES, "new"))["status"]["phase"] == "Active"


async def test_always_deny() -> None:
    """Given AlwaysDeny, when anything is written, then it is refused."""
    async with cluster_with("AlwaysDeny") as cluster:
        assert await refused(cluster, PODS, pod()) == (
            'pods "p" is forbidden: admission control is denying all modifications')


async def test_event_rate_limit(tmp_path: Path) -> None:
    """Given EventRateLimit with two events a namespace, when a third comes at once, then it is
    refused, and once the cluster's time has passed it is not."""
    configuration = tmp_path / "admission.yaml"
    configuration.write_text(
        "kind: AdmissionConfiguration\nplugins: [{name: EventRateLimit, path: limits.yaml}]\n")
    (tmp_path / "limits.yaml").write_text("kind: Configuration\nlimits: [{type: Namespace, qps: 1, burst: 2}]\n")

    def event(name: str) -> Tree:
        return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
                "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}

    async with cluster_with("EventRateLimit", admission_control_config_file=str(configuration)) as cluster:
        for name in "ab":
            await cluster.client.create(EVENTS, event(name))
        assert await refused(cluster, EVENTS, event("c")) == (
            "Too many requests: limit reached on type Namespace for key default")
        await cluster.advance("2s")
        await cluster.client.create(EVENTS, event("c"))


async def test_owner_references(tmp_path: Path) -> None:
    """Given OwnerReferencesPermissionEnforcement and RBAC, when somebody who may not touch an
    owner's finalizers blocks its deletion, then that is refused; without blocking it passes."""
    from fakekube.apimachinery.http import UserInfo
    from fakekube.client.client import Client
    from fakekube.client.inprocess import InProcess

    roles = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)
    bindings = Resource("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False)
    api = "rbac.authorization.k8s.io"
    async with cluster_with("OwnerReferencesPermissionEnforcement", authorization_mode="RBAC") as cluster:
        await cluster.client.create(roles, {
            "apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": "maps"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]})
        await cluster.client.create(bindings, {
            "apiVersion": f"{api}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "maps"},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": "maps"},
            "subjects": [{"apiGroup": api, "kind": "User", "name": "eve"}]})
        eve = Client(InProcess(cluster.apiserver), user_agent="eve", user=UserInfo("eve", ("system:authenticated",)))

        def owned(name: str, **reference: Any) -> Tree:
            owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", **reference}
            return {"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]}}

        await eve.create(MAPS, owned("free"))
        with pytest.raises(APIError) as caught:
            await eve.create(MAPS, owned("blocking", blockOwnerDeletion=True))
        assert caught.value.message.startswith(
            'configmaps "blocking" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you '
            "can't set finalizers on: ")
        await cluster.client.create(MAPS, owned("blocking", blockOwnerDeletion=True))


@pytest.mark.parametrize("text", ["", "kind: Other", "kind: AdmissionConfiguration\nplugins: [1]", "{"])
def test_configuration_that_is_none(tmp_path: Path, text: str) -> None:
    """Given a file that is no AdmissionConfiguration, when a cluster is made with it, then the
    option is named."""
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(OptionError, match="admission_control_config_file"):
        cluster_with("EventRateLimit", admission_control_config_file=str(tmp_path / "a.yaml"))

"""What calls of a client ask for: paths, queries, bodies, and as whom."""

import base64
from pathlib import Path
from typing import Any

import pytest

from fakekube.apimachinery.http import UserInfo
from fakekube.client import kubeconfig, parameters, resources, users
from fakekube.client.kubeconfig import ConfigError, client_of
from fakekube.client.resources import Resource

NAMESPACED = """
configmaps.v1. ConfigMap, controllerrevisions.v1.apps ControllerRevision, cronjobs.v1.batch CronJob,
csistoragecapacities.v1.storage.k8s.io CSIStorageCapacity, daemonsets.v1.apps DaemonSet, deployments.v1.apps Deployment,
endpoints.v1. Endpoints, endpointslices.v1.discovery.k8s.io EndpointSlice, events.v1. Event,
events.v1.events.k8s.io Event, horizontalpodautoscalers.v2.autoscaling HorizontalPodAutoscaler, jobs.v1.batch Job,
leases.v1.coordination.k8s.io Lease, limitranges.v1. LimitRange, persistentvolumeclaims.v1. PersistentVolumeClaim,
poddisruptionbudgets.v1.policy PodDisruptionBudget, pods.v1. Pod, pods.v1beta1.metrics.k8s.io PodMetrics,
podtemplates.v1. PodTemplate, replicasets.v1.apps ReplicaSet, replicationcontrollers.v1. ReplicationController,
resourceclaims.v1.resource.k8s.io ResourceClaim, resourcequotas.v1. ResourceQuota, secrets.v1. Secret,
serviceaccounts.v1. ServiceAccount, services.v1. Service, statefulsets.v1.apps StatefulSet
"""
WITHOUT_NAMESPACE = """
apiservices.v1.apiregistration.k8s.io APIService, certificatesigningrequests.v1.certificates.k8s.io CertificateSigningRequest,
clusterroles.v1.rbac.authorization.k8s.io ClusterRole, csidrivers.v1.storage.k8s.io CSIDriver,
csinodes.v1.storage.k8s.io CSINode, customresourcedefinitions.v1.apiextensions.k8s.io CustomResourceDefinition,
namespaces.v1. Namespace, nodes.v1. Node, persistentvolumes.v1. PersistentVolume,
priorityclasses.v1.scheduling.k8s.io PriorityClass, runtimeclasses.v1.node.k8s.io RuntimeClass,
storageclasses.v1.storage.k8s.io StorageClass, subjectaccessreviews.v1.authorization.k8s.io SubjectAccessReview,
validatingadmissionpolicies.v1.admissionregistration.k8s.io ValidatingAdmissionPolicy,
volumeattachments.v1.storage.k8s.io VolumeAttachment, volumeattributesclasses.v1.storage.k8s.io VolumeAttributesClass
"""


@pytest.mark.parametrize(("listed", "namespaced"), [(NAMESPACED, True), (WITHOUT_NAMESPACE, False)])
def test_the_resources_that_have_a_name_in_the_code(listed: str, namespaced: bool) -> None:
    """Given the constants for resources / then they are those of upstream's groups, in these
    versions, with these kinds.
    """
    found = {one for one in vars(resources).values() if isinstance(one, Resource) and one.namespaced is namespaced}
    wanted = {" ".join(part.split()) for part in listed.split(",")}
    assert {f"{one.plural}.{one.version}.{one.group} {one.kind}" for one in found} == wanted
    assert resources.JOBS.kind == "Job"
    assert (resources.EVENTS.group, resources.EVENTS_V1.group) == ("", "events.k8s.io")


def test_where_a_resource_is() -> None:
    """Given resources of both sorts / when paths and names are asked for / then they are those of
    the API.
    """
    jobs, nodes = resources.JOBS, resources.NODES
    assert [jobs.path(), jobs.path("ns"), jobs.path("ns", "a"), jobs.path("ns", "a", "status"), jobs.path("", "", "x")] == [
        "/apis/batch/v1/jobs", "/apis/batch/v1/namespaces/ns/jobs", "/apis/batch/v1/namespaces/ns/jobs/a",
        "/apis/batch/v1/namespaces/ns/jobs/a/status", "/apis/batch/v1/jobs/x"]
    assert [nodes.path("ns"), nodes.path("ns", "a"), nodes.path("", "a", "proxy")] == [
        "/api/v1/nodes", "/api/v1/nodes/a", "/api/v1/nodes/a/proxy"]
    assert [str(jobs), str(nodes), jobs.api_version, nodes.api_version] == ["jobs.v1.batch", "nodes", "batch/v1", "v1"]
    assert [tuple(jobs.gvk), tuple(jobs.gvr), str(jobs.group_kind), str(jobs.group_resource)] == [
        ("batch", "v1", "Job"), ("batch", "v1", "jobs"), "Job.batch", "jobs.batch"]


def test_queries_and_bodies_of_calls() -> None:
    """Given arguments of calls / when they become queries and bodies / then what is empty is left
    out, and the rest is named as upstream names it.
    """
    assert parameters.selectors("", "") == {}
    assert parameters.list_options("a=b", "c=d", 5, "t", "7", "Exact") == {
        "labelSelector": ["a=b"], "fieldSelector": ["c=d"], "limit": ["5"], "continue": ["t"], "resourceVersion": ["7"],
        "resourceVersionMatch": ["Exact"]}
    assert parameters.list_options("", "", 0, "", "", "") == {}
    assert parameters.watch_options("", "", "", False, None, False) == {"watch": ["true"]}
    assert parameters.watch_options("a", "b", "7", True, 0, False) == {
        "labelSelector": ["a"], "fieldSelector": ["b"], "watch": ["true"], "resourceVersion": ["7"],
        "allowWatchBookmarks": ["true"], "timeoutSeconds": ["0"]}
    assert parameters.watch_options("", "", "", False, None, True) == {
        "watch": ["true"], "allowWatchBookmarks": ["true"], "sendInitialEvents": ["true"],
        "resourceVersionMatch": ["NotOlderThan"]}
    assert parameters.write_options("", "", False) is None
    assert parameters.write_options("m", "Strict", True, force=True) == {
        "fieldManager": ["m"], "fieldValidation": ["Strict"], "dryRun": ["All"], "force": ["true"]}
    assert [parameters.write_options("m", "", False), parameters.write_options("", "Warn", False)] == [
        {"fieldManager": ["m"]}, {"fieldValidation": ["Warn"]}]
    assert [parameters.write_options("", "", True), parameters.write_options("", "", False, force=True)] == [
        {"dryRun": ["All"]}, {"force": ["true"]}]
    assert parameters.delete_options("", "", "", None, False) is None
    assert parameters.delete_options("", "", "", 0, False) == {
        "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    assert parameters.delete_options("Foreground", "u", "7", None, True) == {
        "kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "u", "resourceVersion": "7"},
        "propagationPolicy": "Foreground", "dryRun": ["All"]}
    assert parameters.with_type(resources.JOBS, {"a": 1}) == {"apiVersion": "batch/v1", "kind": "Job", "a": 1}
    assert parameters.with_type(resources.JOBS, {"kind": "X"}) == {"kind": "X"}
    assert dict(parameters.PATCH_CONTENT_TYPES) == {
        "merge": "application/merge-patch+json", "json": "application/json-patch+json",
        "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}


@pytest.mark.parametrize(("user", "name", "groups"), [
    (users.service_account("ns", "a"), "system:serviceaccount:ns:a",
     "system:serviceaccounts system:serviceaccounts:ns system:authenticated"),
    (users.controller_account("job-controller"), "system:serviceaccount:kube-system:job-controller",
     "system:serviceaccounts system:serviceaccounts:kube-system system:authenticated"),
    (users.named("a", ("g",)), "a", "g"), (users.named("system:serviceaccount:a"), "system:serviceaccount:a", ""),
    (users.named("xsystem:serviceaccount:a:b"), "xsystem:serviceaccount:a:b", ""),
    (users.named("system:serviceaccount:ns:a", ("g", "system:authenticated")), "system:serviceaccount:ns:a",
     "system:serviceaccounts system:serviceaccounts:ns g system:authenticated"),
    (users.component_user("kube-scheduler"), "system:kube-scheduler", "system:authenticated"),
    (users.admin(), "kubernetes-admin", "system:masters system:authenticated"),
    (users.node("n"), "system:node:n", "system:nodes system:authenticated"),
    (users.node("n", privileged=True), "system:node:n", "system:nodes system:masters system:authenticated"),
])
def test_who_a_client_is(user: UserInfo, name: str, groups: str) -> None:
    """Given sorts of users / then they have upstream's names and groups, in this order."""
    assert (user.name, " ".join(user.groups), user.uid) == (name, groups, "")


CONFIG: dict[str, Any] = {
    "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
    "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:1"}}], "users": [{"name": "u", "user": {}}]}


def config(user: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {**CONFIG, **({} if user is None else {"users": [{"name": "u", "user": user}]}), **changes}


@pytest.mark.parametrize(("tree", "text"), [
    ([], "s: not a kubeconfig"), ({}, "the kubeconfig has no context ''"),
    (config(contexts=None), "the kubeconfig has no context 'c'"), (config(clusters=[]), "the kubeconfig has no cluster 'k'"),
    (config(users=[]), "the kubeconfig has no user 'u'"),
    (config(contexts=[{"name": "c"}]), "the kubeconfig has no cluster ''"),
    (config(clusters=[{"name": "k"}]), "s: cluster 'k' has no server"),
    (config({"exec": {"command": "x"}}), "credentials by 'exec' are not supported: put a token or a certificate there"),
    (config({"auth-provider": {"name": "x"}}),
     "credentials by 'auth-provider' are not supported: put a token or a certificate there"),
    (config({"tokenFile": "none"}), "s: [Errno 2] No such file or directory: 'none'"),
    (config(users=5), "s: 'int' object is not iterable"),
])
def test_a_kubeconfig_that_cannot_be_used_says_why(tree: Any, text: str) -> None:
    """Given a kubeconfig that lacks something, or asks for more than there is / then the refusal
    says what.
    """
    with pytest.raises(ConfigError) as error:
        client_of(tree, "s")
    assert str(error.value) == text


@pytest.mark.parametrize(("user", "headers"), [
    ({}, {}), ({"token": "t"}, {"Authorization": "Bearer t"}),
    ({"tokenFile": "file", "token": "t"}, {"Authorization": "Bearer from-file"}),
    ({"username": "a", "password": "b"}, {"Authorization": f"Basic {base64.b64encode(b'a:b').decode()}"}),
    ({"username": "a"}, {"Authorization": f"Basic {base64.b64encode(b'a:').decode()}"}),
    ({"token": "t", "as": "other"}, {"Authorization": "Bearer t", "Impersonate-User": "other"}),
])
def test_credentials_become_headers(user: dict[str, Any], headers: dict[str, str], tmp_path: Path) -> None:
    """Given credentials of every sort / then they are sent as upstream's clients send them."""
    (tmp_path / "file").write_text("from-file\n")
    assert kubeconfig._headers(user, tmp_path) == headers


async def test_a_context_says_where_and_in_which_namespace() -> None:
    """Given a kubeconfig with two contexts / when a client is made for either / then it is for that
    context's server and namespace.
    """
    tree = config(
        contexts=[*CONFIG["contexts"], {"name": "d", "context": {"cluster": "l", "namespace": "ns"}}],
        clusters=[*CONFIG["clusters"], {"name": "l", "cluster": {"server": "http://127.0.0.2:2"}}])
    asked: list[str] = []
    for context, url, namespace in (("", "http://127.0.0.1:1", "default"), ("d", "http://127.0.0.2:2", "ns")):
        client = client_of(tree, "s", context=context, user_agent="me", find=asked.append)
        assert (asked[-1], client.transport.url) == (url, url)  # type: ignore[attr-defined]
        assert client.namespace == namespace
        await client.close()


async def test_without_a_file_a_pod_has_its_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no kubeconfig / when a client is loaded, in a pod and outside / then it is the pod's,
    or the refusal says what can be done; the first file that exists is taken.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:")
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT_FOLDER", tmp_path)
    for name, value in (("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("KUBERNETES_SERVICE_PORT", "443")):
        monkeypatch.delenv("KUBERNETES_SERVICE_PORT", raising=False)
        monkeypatch.setenv(name, value)
        with pytest.raises(ConfigError, match=r"^no kubeconfig: give a path, set KUBECONFIG, or run in a pod$"):
            kubeconfig.load_client()
    (tmp_path / "config").write_text("clusters: 5")
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("x: 1")
    with pytest.raises(ConfigError, match=r"^the kubeconfig has no context ''$"):
        kubeconfig.load_client()
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:{tmp_path / 'config'}")
    with pytest.raises(ConfigError, match=r"^the kubeconfig has no context 'x'$"):
        kubeconfig.load_client(context="x")
    with pytest.raises(ConfigError, match="nowhere"):
        kubeconfig.load_client(tmp_path / "nowhere")

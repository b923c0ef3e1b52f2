"""What users of kubectl write: creating, applying, editing, patching, scaling and deleting, against
a served cluster.
"""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
]

Kubectl = Callable[..., str]


def deployment(image: str = "nginx:1.25", replicas: int = 2) -> str:
    """A manifest."""
    return json.dumps({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": image, "ports": [{"containerPort": 80}]}]}}}})


def settings(mode: str, **more: str) -> str:
    """A manifest."""
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "labels": {"app": "web"}},
                       "data": {"mode": mode, **more}})


def read(inside: Kubectl, *what: str) -> Any:
    """The object as kubectl prints it."""
    return json.loads(inside("get", *what, "-o", "json"))


@pytest.mark.spec("API-105", "API-172")
def test_applying_changes_only_what_the_manifest_says(inside: Kubectl) -> None:
    """Given a Deployment that was applied and then scaled and relabelled by hand, when manifests
    are applied again, then the same is unchanged, a dry run and a diff change nothing, and a new
    image leaves what the manifest does not say.
    """
    assert inside("apply", "-f", "-", stdin=deployment()) == "deployment.apps/web created\n"
    assert inside("apply", "-f", "-", stdin=deployment()) == "deployment.apps/web unchanged\n"
    inside("label", "deployment", "web", "by=hand")
    newer = deployment("nginx:1.26", 3)
    difference = inside("diff", "-f", "-", stdin=newer, code=1)
    for line in ("-  replicas: 2", "+  replicas: 3", "-      - image: nginx:1.25", "+      - image: nginx:1.26"):
        assert line in difference
    assert inside("apply", "--dry-run=server", "-f", "-", stdin=newer) == "deployment.apps/web configured (server dry run)\n"
    assert read(inside, "deployment", "web")["metadata"]["generation"] == 1
    assert inside("apply", "-f", "-", stdin=newer) == "deployment.apps/web configured\n"
    assert inside("diff", "-f", "-", stdin=newer) == ""
    found = read(inside, "deployment", "web")
    assert found["metadata"]["generation"] == 2
    assert found["metadata"]["labels"] == {"app": "web", "by": "hand"}
    assert found["spec"]["replicas"] == 3
    assert "AlreadyExists" in inside("create", "-f", "-", stdin=newer, code=1)


@pytest.mark.spec("API-115", "API-116", "API-127")
def test_server_side_apply_and_what_others_have_changed(inside: Kubectl) -> None:
    """Given a ConfigMap that was applied from the client, when it is applied from the server and
    then edited by somebody else, then ownership moves over without a conflict, the edit is one, and
    force wins.
    """
    inside("apply", "-f", "-", stdin=settings("fast"))
    assert inside("apply", "--server-side", "-f", "-", stdin=settings("slow")) == "configmap/settings serverside-applied\n"
    managers = [entry["manager"] for entry in json.loads(
        inside("get", "configmap", "settings", "-o", "json", "--show-managed-fields"))["metadata"]["managedFields"]]
    assert managers == ["kubectl-last-applied", "kubectl"]
    assert inside("edit", "configmap", "settings", editor="sed -i 's/^  mode: slow/  mode: other/'") == (
        "configmap/settings edited\n")
    assert read(inside, "configmap", "settings")["data"] == {"mode": "other"}
    refused = inside("apply", "--server-side", "-f", "-", stdin=settings("slow"), code=1)
    assert 'Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.mode' in refused
    inside("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=settings("slow"))
    assert read(inside, "configmap", "settings")["data"] == {"mode": "slow"}


@pytest.mark.spec("API-172")
def test_edit_and_replace(inside: Kubectl) -> None:
    """Given a ConfigMap, when an edit changes nothing, and when it is replaced without and with
    force, then it is as before, the same with other data, and another object; what is not there
    cannot be replaced.
    """
    inside("create", "-f", "-", stdin=settings("fast"))
    before = read(inside, "configmap", "settings")
    inside("edit", "configmap", "settings", editor="true")
    assert read(inside, "configmap", "settings") == before
    inside("replace", "-f", "-", stdin=settings("slow", more="1"))
    first = read(inside, "configmap", "settings")
    assert first["data"] == {"mode": "slow", "more": "1"}
    forced = inside("replace", "--force", "-f", "-", stdin=settings("new"))
    assert 'configmap "settings" deleted' in forced
    assert "configmap/settings replaced" in forced
    second = read(inside, "configmap", "settings")
    assert second["data"] == {"mode": "new"}
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    missing = inside("replace", "-f", "-", stdin=settings("x").replace("settings", "gone"), code=1)
    assert 'configmaps "gone" not found' in missing


@pytest.mark.spec("API-101", "API-104", "API-105")
def test_labels_annotations_and_three_kinds_of_patches(inside: Kubectl) -> None:
    """Given a Deployment, when it is labelled, annotated and patched in three ways, then each
    leaves what it says, and kubectl refuses to overwrite a label that it was not told to.
    """
    inside("create", "-f", "-", stdin=deployment())
    assert inside("label", "deployment", "web", "tier=a") == "deployment.apps/web labeled\n"
    assert "'tier' already has a value (a)" in inside("label", "deployment", "web", "tier=b", code=1)
    inside("label", "--overwrite", "deployment", "web", "tier=b")
    inside("annotate", "deployments", "--all", "note=x")
    two = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox"}]}}}}
    inside("patch", "deployment", "web", "-p", json.dumps(two))
    inside("patch", "deployment", "web", "--type=merge", "-p", '{"metadata":{"annotations":{"note":null,"more":"y"}}}')
    inside("patch", "deployment", "web", "--type=json", "-p", '[{"op":"replace","path":"/spec/replicas","value":7}]')
    inside("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", '{"status":{"observedGeneration":1}}')
    found = read(inside, "deployment", "web")
    assert found["metadata"]["labels"] == {"app": "web", "tier": "b"}
    ours = {name: value for name, value in found["metadata"]["annotations"].items() if "kubernetes.io/" not in name}
    assert ours == {"more": "y"}, "a Deployment controller adds its own"
    assert sorted(item["name"] for item in found["spec"]["template"]["spec"]["containers"]) == ["side", "web"]
    assert found["spec"]["replicas"] == 7
    inside("label", "deployment", "web", "tier-")
    assert inside("get", "deployments", "-l", "!tier", "-o", "name") == "deployment.apps/web\n"
    failing = '[{"op":"test","path":"/spec/replicas","value":1}]'
    refused = inside("patch", "deployment", "web", "--type=json", "-p", failing, code=1)
    assert "the server rejected our request due to an error in our request" in refused


@pytest.mark.spec("API-132")
def test_scale_set_expose_and_rollout(inside: Kubectl) -> None:
    """Given a Deployment, when it is scaled, given another image, environment and limits, exposed,
    autoscaled and restarted, then its spec says so; a precondition on the replicas that does not
    hold changes nothing.
    """
    inside("create", "deployment", "web", "--image=nginx", "--replicas=2", "--port=80")
    assert inside("scale", "deployment", "web", "--replicas=5") == "deployment.apps/web scaled\n"
    assert "Expected replicas to be 4, was 5" in inside(
        "scale", "deployment", "web", "--current-replicas=4", "--replicas=1", code=1)
    scale = inside("get", "deployment", "web", "--subresource=scale").splitlines()
    assert scale[0].split() == ["NAME", "DESIRED", "AVAILABLE", "AGE"]
    assert scale[1].split()[:2] == ["web", "5"]
    inside("scale", "deployment", "web", "--current-replicas=5", "--replicas=0")
    inside("set", "image", "deployment/web", "nginx=nginx:1.27")
    inside("set", "env", "deployment/web", "A=b")
    inside("set", "resources", "deployment/web", "--limits=cpu=1")
    inside("rollout", "restart", "deployment/web")
    inside("rollout", "pause", "deployment/web")
    found = read(inside, "deployment", "web")
    assert found["spec"]["replicas"] == 0
    assert found["spec"]["paused"] is True
    template = found["spec"]["template"]
    assert "kubectl.kubernetes.io/restartedAt" in template["metadata"]["annotations"]
    container = template["spec"]["containers"][0]
    assert container["image"] == "nginx:1.27"
    assert container["env"] == [{"name": "A", "value": "b"}]
    assert container["resources"] == {"limits": {"cpu": "1"}}
    assert inside("expose", "deployment", "web", "--port=80", "--target-port=8080") == "service/web exposed\n"
    service = read(inside, "service", "web")
    assert service["spec"]["selector"] == {"app": "web"}
    assert service["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 8080}]
    inside("autoscale", "deployment", "web", "--min=1", "--max=3", "--cpu-percent=50")
    assert "Deployment/web" in inside("get", "hpa")


CREATED = {
    "job j --image=busybox": "job.batch/j created",
    "cronjob c --image=busybox --schedule=@hourly": "cronjob.batch/c created",
    "job k --from=cronjob/c": "job.batch/k created",
    "configmap m --from-literal=a=b": "configmap/m created",
    "secret generic s --from-literal=a=b": "secret/s created",
    "serviceaccount robot": "serviceaccount/robot created",
    "quota q --hard=pods=10,count/jobs.batch=5": "resourcequota/q created",
    "role r --verb=get,list --resource=pods,jobs.batch": "role.rbac.authorization.k8s.io/r created",
    "rolebinding b --role=r --serviceaccount={namespace}:robot": "rolebinding.rbac.authorization.k8s.io/b created",
    "pdb p --selector=app=web --min-available=1": "poddisruptionbudget.policy/p created",
    "service clusterip v --tcp=80:8080": "service/v created",
    "ingress i --rule=example.org/a=v:80": "ingress.networking.k8s.io/i created",
}


@pytest.mark.spec("API-027", "API-135")
def test_everything_that_create_can_make(inside: Kubectl, namespace: str) -> None:
    """Given a namespace, when kubectl creates one of each kind that it knows, most of them sent in
    protobuf, then each is there, with what the flags said.
    """
    for command, said in CREATED.items():
        assert inside("create", *command.format(namespace=namespace).split()) == f"{said}\n"
    assert read(inside, "job", "k")["spec"]["template"]["spec"]["containers"][0]["name"] == "c"
    assert read(inside, "job", "k")["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    assert read(inside, "secret", "s")["data"] == {"a": "Yg=="}
    assert read(inside, "quota", "q")["spec"]["hard"] == {"count/jobs.batch": "5", "pods": "10"}
    assert read(inside, "role", "r")["rules"][1] == {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list"]}
    assert read(inside, "rolebinding", "b")["subjects"] == [{"kind": "ServiceAccount", "name": "robot", "namespace": namespace}]
    assert inside("create", "token", "robot", "--duration=1h").count(".") == 2
    robot = f"--as=system:serviceaccount:{namespace}:robot"
    assert inside("auth", "can-i", "list", "pods", robot) == "yes\n"


def test_what_belongs_to_no_namespace_is_created_and_deleted(kubectl: Kubectl, namespace: str) -> None:
    """Given names that nobody has, when kubectl creates a namespace, a PriorityClass, a ClusterRole
    and a binding, then they are there until it deletes them, the namespace with what is in it.
    """
    kubectl("create", "namespace", f"{namespace}-more")
    kubectl("create", "priorityclass", namespace, "--value=100", "--description=x")
    kubectl("create", "clusterrole", namespace, "--verb=get", "--resource=nodes")
    kubectl("create", "clusterrolebinding", namespace, f"--clusterrole={namespace}", "--user=u")
    assert kubectl("get", "priorityclass", namespace, "-o", "jsonpath={.value}") == "100"
    assert kubectl("get", "clusterrolebinding", namespace, "-o", "jsonpath={.roleRef.name}") == namespace
    deleted = kubectl("delete", f"namespace/{namespace}-more", f"priorityclass/{namespace}", f"clusterrole/{namespace}",
                      f"clusterrolebinding/{namespace}")
    assert deleted.splitlines()[0] == f'namespace "{namespace}-more" deleted'
    assert "not found" in kubectl("get", "namespace", f"{namespace}-more", code=1)


@pytest.mark.spec("API-145", "API-146", "API-148", "API-172")
def test_delete_by_label_all_now_and_cascade(inside: Kubectl) -> None:
    """Given objects and two suspended Jobs that own something, when they are deleted in all the
    ways that kubectl has, then what was meant is gone and nothing else: orphans stay, a foreground
    deletion waits for dependents.
    """
    for name in ("a", "b", "c"):
        inside("create", "configmap", name)
    inside("label", "configmap", "a", "b", "go=yes")
    deleted = inside("delete", "configmap", "-l", "go=yes").splitlines()
    assert [line.partition(" from ")[0] for line in deleted] == ['configmap "a" deleted', 'configmap "b" deleted']
    assert inside("delete", "configmap", "c", "--now").startswith('configmap "c" deleted')
    assert inside("delete", "configmap", "c", "--ignore-not-found") == ""
    for job in ("kept", "taken"):
        inside("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job}, "spec": {"suspend": True, "template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}))
        uid = inside("get", "job", job, "-o", "jsonpath={.metadata.uid}")
        inside("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"of-{job}", "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid, "blockOwnerDeletion": True}]}}))
    inside("delete", "job", "kept", "--cascade=orphan")
    inside("delete", "job", "taken", "--cascade=foreground")
    assert "ownerReferences" not in read(inside, "configmap", "of-kept")["metadata"]
    assert "not found" in inside("get", "configmap", "of-taken", code=1)
    inside("create", "secret", "generic", "s")
    assert inside("delete", "secrets", "--all").startswith('secret "s" deleted')
    assert "not found" in inside("delete", "secret", "s", code=1)

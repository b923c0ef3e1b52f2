"""Every kubectl that is to be found, old ones too: what all of them can, against the same server.

Found are ``kubectl``, ``kubectl.1.NN`` beside it, and the programs that the variable KUBECTLS
lists, separated by colons.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Kubectl = Callable[..., str]


def kubectls() -> list[str]:
    """The paths of all kubectls, the oldest first where names tell."""
    found = shutil.which("kubectl")
    beside = sorted(str(path) for path in Path(found).resolve().parent.glob("kubectl.1.*")) if found else []
    listed = [path for path in os.environ.get("KUBECTLS", "").split(":") if path]
    return [*beside, *listed] or [found or ""]


pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.slow,
    pytest.mark.skipif(not kubectls()[0], reason="no kubectl on this machine"),
]

MANIFEST = {"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"mode": "fast"}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
        "replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "one"}]}}}},
    {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"suspend": True, "template": {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}},
]}


@pytest.fixture(params=kubectls())
def old(request: pytest.FixtureRequest, kubeconfig: Path, namespace: str, tmp_path: Path) -> Kubectl:
    """One of the kubectls, in a namespace of the test's own. Without ``code`` it must succeed."""
    environment = os.environ | {"KUBECONFIG": str(kubeconfig), "HOME": str(tmp_path), "KUBECTL_EXTERNAL_DIFF": "diff -u"}

    def run(*arguments: str, stdin: str = "", code: int = 0) -> str:
        done = subprocess.run([request.param, "-n", namespace, *arguments], env=environment, input=stdin,
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, f"{request.param} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout + ("" if code == 0 else done.stderr)

    return run


@pytest.mark.spec("API-172")
def test_objects_go_from_apply_to_delete(old: Kubectl) -> None:
    """Given a kubectl of any age, when it applies, compares, changes, shows and deletes objects,
    then all goes well.
    """
    manifest = json.dumps(MANIFEST)
    created = old("apply", "-f", "-", stdin=manifest).splitlines()
    assert created == ["configmap/settings created", "deployment.apps/web created", "job.batch/job created"]
    assert "unchanged" in old("apply", "-f", "-", stdin=manifest)
    assert "+  mode: slow" in old("diff", "-f", "-", stdin=manifest.replace("fast", "slow"), code=1)
    assert "settings configured" in old("apply", "-f", "-", stdin=manifest.replace("fast", "slow"))
    server_side = ("apply", "--server-side", "--force-conflicts", "--field-manager=me", "-f", "-")
    assert "serverside-applied" in old(*server_side, stdin=json.dumps(MANIFEST["items"][0]))
    old("label", "deployment", "web", "tier=a")
    old("annotate", "deployment", "web", "note=b")
    old("patch", "deployment", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"two"}]}}}}')
    old("patch", "deployment", "web", "--type=json", "-p", '[{"op":"add","path":"/metadata/labels/x","value":"y"}]')
    old("set", "image", "deployment/web", "main=three")
    found = json.loads(old("get", "deployment", "web", "-o", "json"))
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "three"
    assert found["metadata"]["labels"] == {"app": "web", "tier": "a", "x": "y"}
    assert re.search(r"web +0/0 +0 +0 +\S+ +main +three +app=web", old("get", "deploy", "-l", "tier=a", "-o", "wide"))
    assert re.search(r"Replicas: +0 desired", old("describe", "deployment", "web"))
    assert re.search(r"Parallelism: +1", old("describe", "job", "job"))
    assert old("get", "all", "-o", "name").split()[:1] == ["deployment.apps/web"]
    old("scale", "deployment", "web", "--replicas=0", "--current-replicas=0")
    old("create", "secret", "generic", "s", "--from-literal=a=b")
    old("create", "service", "clusterip", "web", "--tcp=80:80")
    old("replace", "-f", "-", stdin=json.dumps(MANIFEST["items"][0]))
    assert '"settings" deleted' in old("delete", "-f", "-", stdin=manifest)
    assert "NotFound" in old("get", "configmap", "settings", code=1)


@pytest.mark.spec("API-168", "API-172")
def test_the_server_is_looked_at(old: Kubectl) -> None:
    """Given a kubectl of any age, when it asks what is served and what it may do, then it is told;
    a manifest with a mistake is refused, by whoever checks it.
    """
    assert re.search(r"deployments +deploy +apps/v1 +true +Deployment", old("api-resources"))
    assert "batch/v1\n" in old("api-versions")
    assert "backoffLimit" in old("explain", "job.spec")
    assert old("auth", "can-i", "create", "pods") == "yes\n"
    assert re.search(r"kube-system +Active", old("get", "namespaces"))
    assert old("get", "--raw", "/readyz") == "ok"
    wrong = json.dumps(MANIFEST["items"][0] | {"dta": {}})
    assert "dta" in old("create", "-f", "-", stdin=wrong, code=1)


@pytest.mark.fake_only(reason="it needs nodes with kubelets")
@pytest.mark.fakekube(nodes=1, clock=20)
@pytest.mark.spec("API-172")
def test_pods_run_and_are_read(old: Kubectl) -> None:
    """Given a kubectl of any age, when it runs a pod, waits for it, reads its logs and deletes it,
    then all goes well.
    """
    old("run", "talker", "--image=busybox", "--restart=Never", "--command", "--", "sh", "-c", "echo one; sleep 1h")
    old("wait", "--for=condition=Ready", "pod/talker", "--timeout=30s")
    assert old("logs", "talker", "--tail=1") == "one\n"
    assert re.search(r"talker +1/1 +Running", old("get", "pods"))
    assert "talker" in old("get", "events", "--field-selector=involvedObject.name=talker")
    assert 'pod "talker" deleted' in old("delete", "pod", "talker", "--now")
    assert re.search(r"Ready +control-plane|Ready +<none>", old("get", "nodes"))
    assert "cordoned" in old("cordon", "node-0")

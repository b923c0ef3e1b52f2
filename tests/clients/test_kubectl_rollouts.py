"""What users of kubectl do with workloads: rolling out, watching it, going back, pausing,
restarting, scaling.
"""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it needs nodes whose kubelets run any image"),
    pytest.mark.fakekube(nodes=2, clock=20),
]

Kubectl = Callable[..., str]


def workload(kind: str, name: str, **spec: Any) -> str:
    """A manifest of a workload whose pods run ``image:1``."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "image:1"}]}}
    return json.dumps({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": {"app": name}}, "template": template, **spec}})


def images(inside: Kubectl, name: str) -> set[str]:
    """The images of the pods that are not on their way out."""
    found = json.loads(inside("get", "pods", "-l", f"app={name}", "-o", "json"))["items"]
    return {pod["spec"]["containers"][0]["image"] for pod in found if "deletionTimestamp" not in pod["metadata"]}


def numbers(history: str) -> list[str]:
    """The revisions in what ``rollout history`` prints."""
    return [line.split()[0] for line in history.splitlines()[2:] if line.strip()]


@pytest.mark.spec("JOB-174", "JOB-175", "JOB-176", "API-172")
def test_a_deployment_is_rolled_out_and_back(inside: Kubectl) -> None:
    """Given a Deployment, when images are set, undone, undone to a revision, and restarted, then
    ``rollout status`` waits for each, history numbers them, and describe and get show the sets.
    """
    def rolled_out() -> None:
        assert inside("rollout", "status", "deployment/web", "--timeout=30s").endswith("successfully rolled out\n")

    inside("create", "deployment", "web", "--image=image:1", "--replicas=3")
    rolled_out()
    assert inside("get", "deployment", "web").splitlines()[1].split()[:4] == ["web", "3/3", "3", "3"]
    inside("set", "image", "deployment/web", "*=image:2")
    inside("annotate", "deployment/web", "kubernetes.io/change-cause=a better image")
    rolled_out()
    assert images(inside, "web") == {"image:2"}
    history = inside("rollout", "history", "deployment/web")
    assert numbers(history) == ["1", "2"]
    assert "a better image" in history
    assert "image:1" in inside("rollout", "history", "deployment/web", "--revision=1")
    assert inside("rollout", "undo", "deployment/web") == "deployment.apps/web rolled back\n"
    rolled_out()
    assert images(inside, "web") == {"image:1"}
    assert numbers(inside("rollout", "history", "deployment/web")) == ["2", "3"]
    inside("rollout", "undo", "deployment/web", "--to-revision=2")
    rolled_out()
    assert images(inside, "web") == {"image:2"}
    assert "unable to find specified revision 9" in inside("rollout", "undo", "deployment/web", "--to-revision=9", code=1)
    inside("rollout", "restart", "deployment/web")
    rolled_out()
    described = inside("describe", "deployment", "web")
    for text in ("MinimumReplicasAvailable", "NewReplicaSetAvailable", "(3/3 replicas created)", "Scaled up replica set web-"):
        assert text in described
    assert len(inside("get", "replicasets", "-o", "name").split()) == 3


@pytest.mark.spec("JOB-178", "API-172")
def test_a_deployment_is_paused_scaled_and_waited_for(inside: Kubectl) -> None:
    """Given a Deployment, when it is paused, changed, scaled, resumed and autoscaled, then nothing
    is rolled out before it is resumed, and ``wait`` sees conditions, numbers and the end of its
    pods.
    """
    inside("create", "deployment", "web", "--image=image:1", "--replicas=2")
    inside("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    assert inside("rollout", "pause", "deployment/web") == "deployment.apps/web paused\n"
    assert "is already paused" in inside("rollout", "pause", "deployment/web", code=1)
    assert "can't restart paused deployment" in inside("rollout", "restart", "deployment/web", code=1)
    inside("set", "image", "deployment/web", "*=image:2")
    inside("scale", "deployment/web", "--replicas=3")
    inside("wait", "--for=jsonpath={.status.availableReplicas}=3", "deployment/web", "--timeout=30s")
    assert images(inside, "web") == {"image:1"}
    inside("rollout", "resume", "deployment/web")
    inside("rollout", "status", "deployment/web", "--timeout=30s")
    assert images(inside, "web") == {"image:2"}
    inside("autoscale", "deployment", "web", "--min=1", "--max=3", "--cpu-percent=50")
    inside("scale", "deployment/web", "--current-replicas=3", "--replicas=0")
    inside("wait", "--for=delete", "pod", "-l", "app=web", "--timeout=30s")
    inside("delete", "deployment", "web")
    inside("wait", "--for=delete", "replicaset", "-l", "app=web", "--timeout=30s")


@pytest.mark.spec("API-172")
@pytest.mark.parametrize(("kind", "spec", "done"), [
    ("StatefulSet", {"replicas": 2, "serviceName": "x"}, "partitioned roll out complete"),
    ("DaemonSet", {}, "successfully rolled out"),
])
def test_stateful_and_daemon_sets_are_rolled_out_and_back(
    inside: Kubectl, kind: str, spec: dict[str, Any], done: str,
) -> None:
    """Given a StatefulSet or DaemonSet, when its image is set, undone, and it is restarted, then
    status, history and pods follow.
    """
    what = f"{kind.lower()}/x"

    def rolled_out() -> None:
        assert done in inside("rollout", "status", what, "--timeout=30s")

    inside("apply", "-f", "-", stdin=workload(kind, "x", **spec))
    rolled_out()
    inside("set", "image", what, "main=image:2")
    rolled_out()
    assert images(inside, "x") == {"image:2"}
    assert numbers(inside("rollout", "history", what)) == ["1", "2"]
    assert "image:1" in inside("rollout", "history", what, "--revision=1")
    inside("rollout", "undo", what)
    rolled_out()
    assert images(inside, "x") == {"image:1"}
    assert numbers(inside("rollout", "history", what)) == ["2", "3"]
    inside("rollout", "restart", what)
    rolled_out()
    assert "SuccessfulCreate" in inside("describe", what)


@pytest.mark.fakekube(default_storage_class=True)
def test_stateful_pods_have_names_and_claims(inside: Kubectl) -> None:
    """Given a StatefulSet with claims, when it is scaled, then pods and claims carry ordinals, and
    claims stay.
    """
    claim = {"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    inside("apply", "-f", "-", stdin=workload("StatefulSet", "db", replicas=2, serviceName="db", volumeClaimTemplates=[claim]))
    inside("rollout", "status", "statefulset/db", "--timeout=30s")
    assert inside("get", "pods", "-o", "name").split() == ["pod/db-0", "pod/db-1"]
    inside("scale", "statefulset/db", "--replicas=1")
    inside("wait", "--for=delete", "pod/db-1", "--timeout=30s")
    assert inside("get", "pvc", "-o", "name").split() == [f"persistentvolumeclaim/data-db-{number}" for number in range(2)]
    assert inside("get", "statefulset", "db").splitlines()[1].split()[:2] == ["db", "1/1"]

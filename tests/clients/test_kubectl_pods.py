"""What users of kubectl do with pods and nodes: running, waiting, logs, events, describing,
draining.
"""

import json
import re
import shutil
from collections.abc import Callable

import pytest

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it needs nodes whose kubelets read what becomes of a pod from its annotations"),
    pytest.mark.fakekube(nodes=2, clock=20),
]

Kubectl = Callable[..., str]
FOREVER = "--annotations=fakekube.dev/run-duration=forever"


@pytest.fixture
def running(kubectl: Kubectl, namespace: str) -> Kubectl:
    """kubectl in a namespace in which the pod ``one`` is running for good, on node-0, and has said
    two lines.
    """
    def inside(*arguments: str, **options: object) -> str:
        return kubectl("-n", namespace, *arguments, **options)

    inside("run", "one", "--image=busybox", "--labels=app=one", FOREVER, "--annotations=fakekube.dev/log=first\nsecond",
           '--overrides={"spec":{"nodeSelector":{"kubernetes.io/hostname":"node-0"}}}')
    inside("wait", "--for=condition=Ready", "pod/one", "--timeout=30s")
    return inside


@pytest.mark.spec("API-136", "API-172")
def test_a_running_pod_is_shown_described_and_read(running: Kubectl) -> None:
    """Given a running pod, when it is got, described, asked for its logs and its events, then all
    tell the same story.
    """
    wide = running("get", "pods", "-o", "wide").splitlines()[1].split()
    assert (wide[:4], wide[6]) == (["one", "1/1", "Running", "0"], "node-0")
    assert running("get", "pods", "--field-selector=status.phase=Running,spec.nodeName=node-0", "-o", "name") == "pod/one\n"
    described = running("describe", "pod", "one")
    for text in ("Node:             node-0/", "Status:           Running", "Ready:          True",
                 "QoS Class:                   BestEffort", "Successfully assigned", "Started"):
        assert text in described
    assert running("logs", "one") == "first\nsecond\n"
    assert running("logs", "one", "--tail=1", "--since=1h") == "second\n"
    assert running("logs", "one", "--timestamps", "--tail=1").endswith("Z second\n")
    assert running("logs", "-l", "app=one", "--prefix", "--tail=1") == "[pod/one/one] second\n"
    assert 'previous terminated container "one" in pod "one" not found' in running("logs", "one", "--previous", code=1)
    assert "container nonsense is not valid for pod one" in running("logs", "one", "-c", "nonsense", code=1)
    assert "Scheduled" in running("events", "--for", "pod/one")
    assert "pod/one" in running("get", "events", "--sort-by=.metadata.creationTimestamp", "--field-selector=reason=Started")


@pytest.mark.spec("API-141", "API-143", "API-172")
def test_pods_are_deleted_gracefully_or_at_once(running: Kubectl) -> None:
    """Given running pods, when one is deleted with grace, one at once and the rest by force, then
    each is gone when kubectl returns, and a wait for deletion agrees.
    """
    for name in ("two", "three"):
        running("run", name, "--image=busybox", FOREVER)
    assert running("delete", "pod", "one").startswith('pod "one" deleted')
    assert running("delete", "pod", "two", "--now").startswith('pod "two" deleted')
    assert 'pod "three" force deleted' in running("delete", "pods", "--all", "--force", "--grace-period=0")
    running("wait", "--for=delete", "pod/one", "--timeout=5s")
    assert running("get", "pods") == ""


@pytest.mark.spec("API-134")
def test_a_node_is_cordoned_tainted_and_drained(running: Kubectl) -> None:
    """Given a running pod without a controller and one of a DaemonSet on a node, when the node is
    cordoned, tainted and drained, then the table says so, drain insists on force for the one and
    leaves the other.
    """
    assert running("cordon", "node-0") == "node/node-0 cordoned\n"
    assert "Ready,SchedulingDisabled" in running("get", "node", "node-0")
    assert running("uncordon", "node-0") == "node/node-0 uncordoned\n"
    running("taint", "node", "node-0", "a=b:NoSchedule")
    described = running("describe", "node", "node-0")
    for text in ("Taints:             a=b:NoSchedule", "Unschedulable:      false", "KubeletReady", "HolderIdentity:  node-0"):
        assert text in described
    running("taint", "node", "node-0", "a-")
    template = {"metadata": {"labels": {"d": "d"}, "annotations": {"fakekube.dev/run-duration": "forever"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}
    running("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"d": "d"}}, "template": template}}))
    running("rollout", "status", "daemonset/d", "--timeout=30s")
    daemons = running("get", "pods", "-l", "d=d", "-o", "name")
    assert len(daemons.splitlines()) == 2
    refused = running("drain", "node-0", "--ignore-daemonsets", code=1)
    assert re.search(r"cannot delete Pods (that )?declare no controller .*/one\n", refused)
    drained = running("drain", "node-0", "--ignore-daemonsets", "--force")
    assert "evicting pod" in drained
    assert drained.endswith("node/node-0 drained\n")
    assert running("get", "pods", "-o", "name") == daemons


@pytest.mark.spec("API-146", "API-172")
def test_jobs_of_kubectl_run_to_their_end(running: Kubectl) -> None:
    """Given a Job, and one that fails, when kubectl waits for their conditions, then both come;
    deleting a Job with its orphans left keeps the pod, and deleting the other takes its own.
    """
    running("create", "job", "good", "--image=busybox", "--", "echo", "hi")
    made = json.loads(running(
        "create", "job", "bad", "--image=busybox", "--dry-run=client", "-o", "json", "--", "sh", "-c", "exit 3"))
    made["spec"]["backoffLimit"] = 0
    running("create", "-f", "-", stdin=json.dumps(made))
    assert running("wait", "--for=condition=complete", "job/good", "--timeout=30s") == "job.batch/good condition met\n"
    running("wait", "--for=jsonpath={.status.succeeded}=1", "job/good", "--timeout=30s")
    running("wait", "--for=condition=failed", "job/bad", "--timeout=30s")
    assert running("logs", "job/good") == "hi\n"
    described = running("describe", "job", "bad")
    assert "0 Succeeded / 1 Failed" in described
    assert "BackoffLimitExceeded" in described
    running("delete", "job", "good", "--cascade=orphan")
    running("delete", "job", "bad")
    left = running("get", "pods", "-l", "job-name in (good,bad)", "-o", "name").split()
    assert [name.rsplit("-", 1)[0] for name in left] == ["pod/good"]

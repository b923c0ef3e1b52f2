"""What users of kubectl see of Kueue: the user stories of KEP-77 (jobs that change their size) and
KEP-976 (plain pods), the third of KEP-77 on three served clusters.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it counts on its own queues"),
    pytest.mark.fakekube(controllers="*,kueue", nodes=2, clock=20),
]

Kubectl = Callable[..., str]
FIXTURES = Path(__file__).parents[2] / "fixtures" / "keps"
START_SECONDS = 60


def forever(name: str) -> str:
    """An example whose pods run on, as a List."""
    objects = [*yaml.safe_load_all((FIXTURES / f"{name}.yaml").read_text())]
    for obj in objects:
        template = obj["spec"]["template"] if obj["kind"] == "Job" else obj
        annotations = template.setdefault("metadata", {}).setdefault("annotations", {})
        annotations["fakekube.dev/run-duration"] = "forever"
        for container in template["spec"]["containers"]:  # the nodes have no GPUs
            for kind in ("requests", "limits"):
                container["resources"].get(kind, {}).pop("vendor.com/gpu", None)
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def rows(kubectl: Kubectl, kind: str, *arguments: str) -> list[list[str]]:
    """The cells of ``kubectl get`` without header and age."""
    return [line.split()[:-1] for line in kubectl("get", kind, "--no-headers", *arguments).splitlines()]


def running(kubectl: Kubectl, *arguments: str) -> int:
    """How many pods run."""
    return sum(row[2] == "Running" for row in rows(kubectl, "pods", *arguments))


@pytest.fixture
def queues(kubectl: Kubectl) -> Kubectl:
    """kubectl, on a cluster with the queues of the examples."""
    kubectl("apply", "-f", str(FIXTURES / "queues.yaml"))
    kubectl("wait", "--for=condition=Active", "clusterqueue/cluster-queue", "--timeout=30s")
    return kubectl


@pytest.mark.spec("KUEUE-101")
def test_a_job_is_scaled_down(queues: Kubectl, until: Callable[..., Any]) -> None:
    """Given the Job of the KEP with three pods, when kubectl scales it to one, then its Workload is
    the same, the queue has the rest back, and one pod runs on.
    """
    queues("apply", "-f", "-", stdin=forever("77-0.19-job"))
    queues("wait", "--for=condition=Admitted", "workloads", "--all", "-n", "demo", "--timeout=30s")
    until(lambda: running(queues, "-n", "demo") == 3)
    before = rows(queues, "workloads", "-n", "demo")
    assert [row[1:] for row in before] == [["demo", "cluster-queue", "True"]]
    queues("patch", "job/demo-slice", "-n", "demo", "--type=merge", "-p", '{"spec":{"parallelism":1}}')
    until(lambda: running(queues, "-n", "demo") == 1)
    assert rows(queues, "workloads", "-n", "demo") == before
    usage = "jsonpath={.status.flavorsUsage[0].resources[0].total}"
    until(lambda: queues("get", "clusterqueue/cluster-queue", "-o", usage) == "100m")


@pytest.mark.spec("KUEUE-102")
def test_a_job_is_scaled_up(queues: Kubectl, until: Callable[..., Any]) -> None:
    """Given the Job of the KEP, when kubectl scales it to five, then a second Workload is admitted
    and the first is finished, five pods run, and the Job was never suspended.
    """
    queues("apply", "-f", "-", stdin=forever("77-0.19-job"))
    until(lambda: running(queues, "-n", "demo") == 3)
    queues("patch", "job/demo-slice", "-n", "demo", "--type=merge", "-p", '{"spec":{"parallelism":5}}')
    until(lambda: running(queues, "-n", "demo") == 5)
    until(lambda: sorted(row[3:] for row in rows(queues, "workloads", "-n", "demo")) == [["True"], ["True", "True"]])
    reasons = queues("get", "workloads", "-n", "demo", "-o", 'jsonpath={..conditions[?(@.type=="Finished")].reason}')
    assert reasons == "WorkloadSliceReplaced"
    assert "Suspended" not in queues("describe", "job/demo-slice", "-n", "demo").partition("Events:")[2].replace(
        "Job suspended", ""
    ).replace("Suspended  ", "")


@pytest.mark.spec("KUEUE-128", "KUEUE-132")
def test_pods_wait_for_quota(queues: Kubectl, until: Callable[..., Any]) -> None:
    """Given a stopped queue, when the pod and the group of the KEP are created, then kubectl shows
    them gated, and once it goes on all run; the Events of the group say who admitted it.
    """
    queues("patch", "clusterqueue/cluster-queue", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}')
    for name in ("976-0.19-pod", "976-0.19-group"):
        queues("apply", "-f", "-", stdin=forever(name))
    assert [row[2] for row in rows(queues, "pods", "-n", "pod-namespace")] == ["SchedulingGated"] * 4
    until(lambda: [row[0] for row in rows(queues, "workloads", "-n", "pod-namespace")][-1:] == ["pod-group"])
    queues("patch", "clusterqueue/cluster-queue", "--type=merge", "-p", '{"spec":{"stopPolicy":"None"}}')
    until(lambda: running(queues, "-n", "pod-namespace") == 4)
    assert "Admitted by clusterQueue cluster-queue" in queues("describe", "pod/job-worker-0", "-n", "pod-namespace")
    told = queues("get", "events", "-n", "pod-namespace", "--field-selector", "reason=QuotaReserved")
    assert "Quota reserved in ClusterQueue cluster-queue" in told


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl with the kubeconfig of three served clusters: the name of one, and arguments."""
    file = tmp_path / "fleet"
    command = [
        sys.executable,
        "-m",
        "fakekube",
        "serve",
        "--fleet",
        "manager,worker1,worker2",
        "--controllers",
        "*,kueue",
        "--nodes",
        "1",
        "--tls",
        "--kubeconfig",
        str(file),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        end = time.monotonic() + START_SECONDS
        while not file.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert file.exists(), process.communicate()[0]

        def run(name: str, *arguments: str, stdin: str = "") -> str:
            environment = os.environ | {"KUBECONFIG": str(file), "HOME": str(tmp_path)}
            done = subprocess.run(
                ["kubectl", "--context", name, *arguments],
                env=environment,
                input=stdin,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, f"{name}: kubectl {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
            return done.stdout

        try:
            yield run
        finally:
            process.terminate()


def connect(fleet: Kubectl, name: str) -> None:
    """Let the manager know a worker by what kubectl has of it."""
    config = fleet(name, "config", "view", "--minify", "--raw", "-o", "json")
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "kueue-system"},
        "data": {"kubeconfig": base64.b64encode(config.encode()).decode()},
    }
    cluster = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "MultiKueueCluster",
        "metadata": {"name": name},
        "spec": {"clusterSource": {"kubeConfig": {"location": name, "locationType": "Secret"}}},
    }
    for obj in (secret, cluster):
        fleet("manager", "apply", "-f", "-", stdin=json.dumps(obj))
    fleet("manager", "wait", "--for=condition=Active", f"multikueuecluster/{name}", "--timeout=30s")


@pytest.mark.spec("KUEUE-163")
def test_a_job_changes_its_size_on_another_cluster(fleet: Kubectl, until: Callable[..., Any]) -> None:
    """Given three served clusters with MultiKueue between them, when the Job of the KEP is applied
    to the manager and then scaled up, then it runs on one worker alone, and grows there.
    """
    for name in ("worker1", "worker2"):
        fleet(name, "apply", "-f", str(FIXTURES / "queues.yaml"))
        connect(fleet, name)
    version = "kueue.x-k8s.io/v1beta2"
    config = {
        "apiVersion": version,
        "kind": "MultiKueueConfig",
        "metadata": {"name": "all"},
        "spec": {"clusters": ["worker1", "worker2"]},
    }
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
    check = {
        "apiVersion": version,
        "kind": "AdmissionCheck",
        "metadata": {"name": "elsewhere"},
        "spec": {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters},
    }
    for obj in (config, check):
        fleet("manager", "apply", "-f", "-", stdin=json.dumps(obj))
    fleet("manager", "wait", "--for=condition=Active", "admissioncheck/elsewhere", "--timeout=30s")
    fleet("manager", "apply", "-f", str(FIXTURES / "queues.yaml"))
    checks = {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "elsewhere"}]}}}
    fleet("manager", "patch", "clusterqueue/cluster-queue", "--type=merge", "-p", json.dumps(checks))
    fleet("manager", "wait", "--for=condition=Active", "clusterqueue/cluster-queue", "--timeout=30s")
    fleet("manager", "apply", "-f", "-", stdin=forever("77-0.19-job"))
    fleet("manager", "wait", "--for=condition=Admitted", "workloads", "--all", "-n", "demo", "--timeout=60s")

    def pods(name: str) -> int:
        return sum(
            line.split()[2] == "Running"
            for line in fleet(name, "get", "pods", "-n", "demo", "--no-headers", "--ignore-not-found").splitlines()
        )

    until(lambda: sorted([pods("worker1"), pods("worker2")]) == [0, 3])
    where = fleet("manager", "get", "workloads", "-n", "demo", "-o", "jsonpath={.items[0].status.clusterName}")
    assert (pods(where), pods("manager")) == (3, 0)
    fleet("manager", "patch", "job/demo-slice", "-n", "demo", "--type=merge", "-p", '{"spec":{"parallelism":4}}')
    until(lambda: pods(where) == 4, seconds=60.0)
    [other] = [name for name in ("worker1", "worker2") if name != where]
    assert fleet(other, "get", "jobs,workloads", "-n", "demo", "--ignore-not-found") == ""

"""Upstream's own kube-controller-manager and kube-scheduler, with the gates of workload-aware
scheduling on, beside a server whose controllers are off, all but the kubelet.

Skipped where they are not named; see ``components.py``.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.components import MARKS, World, components

GATES = ("GenericWorkload", "WorkloadWithJob", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy")
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default"
PODS, JOBS = "/api/v1/namespaces/default/pods", "/apis/batch/v1/namespaces/default/jobs"

pytestmark = MARKS


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server with two nodes, the two components beside it."""
    gates = ",".join(f"{gate}=true" for gate in GATES)
    folder = tmp_path_factory.mktemp("group-components")
    with components(folder, gates=gates, feature_gates="workload-aware") as world:
        yield world


def container(cpu: int) -> Any:
    """A container that asks for so many CPUs."""
    return {"name": "main", "image": "registry.k8s.io/pause", "resources": {"requests": {"cpu": str(cpu)}}}


def bound(world: World, prefix: str) -> int:
    """How many pods with a name like that have a node."""
    pods = world.send("GET", PODS)["items"]
    return sum(1 for pod in pods if pod["metadata"]["name"].startswith(prefix) and pod["spec"].get("nodeName"))


def test_a_job_as_a_gang(world: World) -> None:
    """Given a Job that is a gang, when upstream's controller and scheduler run, then it has a
    Workload and a PodGroup, and completes.
    """
    template = {"spec": {"restartPolicy": "Never", "containers": [container(1) | {"image": "busybox", "command": ["true"]}]}}
    world.create(JOBS, "gang", spec={
        "parallelism": 4, "completions": 4, "completionMode": "Indexed", "template": template,
        "scheduling": {"schedulingPolicy": {"gang": {}}}})
    world.until(lambda: world.status(f"{JOBS}/gang").get("succeeded") == 4)
    group = world.send("GET", f"{GROUPS}/podgroups")["items"][0]
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}
    assert group["status"]["conditions"][0]["reason"] == "Scheduled"
    assert len(world.send("GET", f"{GROUPS}/workloads")["items"]) == 1


def test_a_gang_waits_for_room_and_goes_whole(world: World) -> None:
    """Given nodes with one CPU left each, when a gang of three comes, then none of it is bound and
    its PodGroup says why; when there is room, all of it is.
    """
    cpus = int(world.send("GET", "/api/v1/nodes")["items"][0]["status"]["allocatable"]["cpu"])
    for name in ("blocker-a", "blocker-b"):
        world.create(PODS, name, spec={"containers": [container(cpus - 1)], "terminationGracePeriodSeconds": 0})
    world.until(lambda: bound(world, "blocker") == 2)
    world.create(f"{GROUPS}/podgroups", "waits", spec={"schedulingPolicy": {"gang": {"minCount": 3}}})
    for number in range(3):
        world.create(PODS, f"waits-{number}", spec={
            "containers": [container(1)], "schedulingGroup": {"podGroupName": "waits"}})

    def told() -> str:
        conditions = world.status(f"{GROUPS}/podgroups/waits").get("conditions") or [{}]
        return str(conditions[0].get("message"))

    world.until(lambda: "minCount (3) cannot be satisfied" in told())
    assert bound(world, "waits") == 0
    for name in ("blocker-a", "blocker-b"):
        world.send("DELETE", f"{PODS}/{name}")
    world.until(lambda: bound(world, "waits") == 3)

"""Kueue with the official client: ours, and upstream's own manager beside a cluster of ours.

The manager is started as those of ``test_managers.py`` are.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.clients import managers

GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
QUEUE = {f"{GROUP}/queue-name": "q"}
OURS = pytest.param("ours", marks=pytest.mark.fakekube(controllers="*,kueue", nodes=2))
UPSTREAMS = pytest.param("upstream", marks=[
    *managers.MARKS, pytest.mark.fakekube(tls=True, authorization_mode="Node,RBAC", nodes=2)])

pytestmark = pytest.mark.fake_only(reason="a real cluster has its own queues")


class Queues:
    """A namespace with a queue of two cpus."""

    def __init__(self, api: client.ApiClient, namespace: str, until: Callable[..., Any]) -> None:
        self.batch, self.core, self.custom = client.BatchV1Api(api), client.CoreV1Api(api), client.CustomObjectsApi(api)
        self.namespace, self.until = namespace, until

    def set_up(self) -> None:
        """Make it, and wait until it takes Workloads."""
        flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]
        groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
        spec = {
            "namespaceSelector": {}, "resourceGroups": groups, "preemption": {"withinClusterQueue": "LowerPriority"}}
        for plural, kind, name, body in (
            ("resourceflavors", "ResourceFlavor", "f", {}), ("clusterqueues", "ClusterQueue", "cq", {"spec": spec}),
            ("workloadpriorityclasses", "WorkloadPriorityClass", "high", {"value": 100}),
        ):
            self.custom.create_cluster_custom_object(GROUP, VERSION, plural, self._object(kind, name, body))
        self.custom.create_namespaced_custom_object(
            GROUP, VERSION, self.namespace, "localqueues", self._object("LocalQueue", "q", {"spec": {"clusterQueue": "cq"}}))
        self.until(lambda: self.is_active())

    @staticmethod
    def _object(kind: str, name: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name}, **body}

    def is_active(self) -> bool:
        """Whether the LocalQueue takes Workloads."""
        found = self.custom.get_namespaced_custom_object(GROUP, VERSION, self.namespace, "localqueues", "q")
        return any(each["status"] == "True" for each in found.get("status", {}).get("conditions", ()))

    def job(self, name: str, cpu: str = "1", priority: str = "") -> None:
        """Create a Job in the queue."""
        labels = QUEUE | ({f"{GROUP}/priority-class": priority} if priority else {})
        container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
        self.batch.create_namespaced_job(self.namespace, {
            "metadata": {"name": name, "labels": labels},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}})

    def suspended(self) -> dict[str, bool]:
        """Whether each Job waits."""
        found = self.batch.list_namespaced_job(self.namespace).items
        return {job.metadata.name: job.spec.suspend for job in found}

    def usage(self) -> str:
        """The cpus that are reserved."""
        found = self.custom.get_cluster_custom_object(GROUP, VERSION, "clusterqueues", "cq")
        return str(found["status"]["flavorsReservation"][0]["resources"][0]["total"])

    def messages(self) -> list[str]:
        """Why Workloads have no quota."""
        found = self.custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, "workloads")["items"]
        return [
            condition["message"] for workload in found for condition in workload.get("status", {}).get("conditions", ())
            if (condition["type"], condition["status"]) == ("QuotaReserved", "False")]


@pytest.fixture(params=[OURS, UPSTREAMS])
def queues(
    request: pytest.FixtureRequest, api: client.ApiClient, kubeconfig: Path, namespace: str, until: Callable[..., Any],
    tmp_path: Path,
) -> Iterator[Queues]:
    """Kueue is there, ours or upstream's."""
    world = Queues(api, namespace, until)
    if request.param == "ours":
        world.set_up()
        yield world
        return
    with managers.running("kueue", kubeconfig, tmp_path) as log:
        until(lambda: b"beside" in log.read_bytes(), seconds=managers.SECONDS)
        world.set_up()
        yield world


@pytest.mark.spec("KUEUE-036", "KUEUE-085", "KUEUE-087")
def test_jobs_wait_for_quota(queues: Queues) -> None:
    """Given a queue of two cpus, when three Jobs of one are created, then two run, and the third
    says what it lacks; when one is deleted, the third runs.
    """
    for name in ("a", "b", "c"):
        queues.job(name)
    queues.until(lambda: sorted(queues.suspended().values()) == [False, False, True])
    queues.until(lambda: queues.usage() == "2")
    [waiting] = [name for name, waits in queues.suspended().items() if waits]
    lacking = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 1 more needed"
    queues.until(lambda: queues.messages() == [lacking])
    [runs, *_] = [name for name, waits in queues.suspended().items() if not waits]
    queues.batch.delete_namespaced_job(runs, queues.namespace, propagation_policy="Background")
    queues.until(lambda: queues.suspended()[waiting] is False)


@pytest.mark.spec("KUEUE-067", "KUEUE-073")
def test_a_higher_priority_takes_the_place_of_a_lower_one(queues: Queues) -> None:
    """Given a Job that uses all of a queue, when one of a higher priority comes, then the first is
    suspended and the other runs.
    """
    queues.job("low", "2")
    queues.until(lambda: queues.suspended() == {"low": False})
    queues.job("high", "2", "high")
    queues.until(lambda: queues.suspended() == {"low": True, "high": False})


@pytest.mark.spec("KUEUE-132", "KUEUE-133")
def test_a_group_of_pods_is_admitted_as_one(queues: Queues) -> None:
    """Given a group of two pods, when the first is created, then it waits behind a gate; when the
    second is, both run.
    """
    for name in ("a", "b"):
        assert not any(pod.spec.node_name for pod in queues.core.list_namespaced_pod(queues.namespace).items)
        container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}
        queues.core.create_namespaced_pod(queues.namespace, {
            "metadata": {
                "name": name, "labels": QUEUE | {f"{GROUP}/pod-group-name": "g"},
                "annotations": {f"{GROUP}/pod-group-total-count": "2"}},
            "spec": {"containers": [container]}})
    queues.until(lambda: all(pod.spec.node_name for pod in queues.core.list_namespaced_pod(queues.namespace).items))
    queues.until(lambda: queues.usage() == "2")


@pytest.mark.spec("KUEUE-005")
def test_a_queue_that_makes_no_sense_is_refused(queues: Queues) -> None:
    """Given a ClusterQueue whose flavor misses a resource, when it is created, then it is refused
    in upstream's words.
    """
    spec = {"resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
        {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]}
    body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "ClusterQueue", "metadata": {"name": "wrong"}, "spec": spec}
    with pytest.raises(client.ApiException) as refused:
        queues.custom.create_cluster_custom_object(GROUP, VERSION, "clusterqueues", body)
    assert refused.value.status == 422
    assert "flavors must have the same number of resources as the coveredResources" in refused.value.body

"""What pods a RayJob asks for: those of its cluster, of its submitter, and as many as an autoscaler
made.
"""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.ray.cluster import RayCluster
from fakekube_controllers.kueue.jobs.ray.job import RayJob
from fakekube_controllers.kueue.podset import InvalidPodSetInfo, PodSetInfo

FEATURES = Features(TopologyAwareScheduling=False)
ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}
SUBMITTER: Tree = {
    "name": "ray-job-submitter", "resources": {
        "limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "200Mi"}}}


def template(**spec: Any) -> Tree:
    """A template of one container."""
    return {"spec": {"containers": [{"name": "ray", "image": "i"}], **spec}}


def group(name: str = "Small", replicas: int | None = 2, hosts: int | None = None) -> Tree:
    """A group of workers."""
    made: Tree = {"groupName": name, "template": template()}
    if replicas is not None:
        made["replicas"] = replicas
    return made if hosts is None else {**made, "numOfHosts": hosts}


def cluster_spec(*groups: Tree, **fields: Any) -> Tree:
    """A head and groups."""
    return {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [*groups], **fields}


def job(spec: Tree, annotations: Tree | None = None, status: Tree | None = None, **fields: Any) -> RayJob:
    """A RayJob with its own cluster."""
    metadata: Tree = {"name": "j", "namespace": "n", "annotations": annotations or {}}
    return RayJob(FEATURES, {"metadata": metadata, "spec": {"rayClusterSpec": spec, **fields}, "status": status or {}})


class Server:
    """Has one RayCluster, or none."""

    def __init__(self, spec: Tree | None) -> None:
        self.spec = spec
        self.asked: list[tuple[str, str]] = []

    async def get(self, _resource: Any, name: str, namespace: str, *, missing_ok: bool) -> Tree | None:
        assert missing_ok
        self.asked.append((name, namespace))
        return None if self.spec is None else {"metadata": {"name": name}, "spec": self.spec}


async def sizes(of: RayJob, server: Any = None) -> list[tuple[str, int]]:
    """Names and sizes of the pod sets."""
    return [(each["name"], each["count"]) for each in await of.pod_sets(server)]


async def test_who_submits_is_a_pod_or_a_container() -> None:
    """Given a RayJob, when its pod sets are asked for, then a Job that submits it is one more, of
    its own template if it has one; a sidecar that submits it is a container of the head's pod.
    """
    spec = cluster_spec(group())
    assert await sizes(job(spec)) == [("head", 1), ("small", 2)]
    assert await sizes(job(spec, submissionMode="K8sJobMode")) == [("head", 1), ("small", 2), ("submitter", 1)]
    [_, _, submitter] = await job(spec, submissionMode="K8sJobMode").pod_sets(None)
    assert submitter["template"] == {"spec": {"containers": [{**SUBMITTER, "image": "i"}], "restartPolicy": "Never"}}
    [_, _, own] = await job(spec, submissionMode="K8sJobMode", submitterPodTemplate=template(nodeName="x")).pod_sets(None)
    assert own["template"] == template(nodeName="x")
    [head, _] = await job(spec, submissionMode="SidecarMode").pod_sets(None)
    assert head["template"]["spec"]["containers"] == [{"name": "ray", "image": "i"}, SUBMITTER]
    assert spec == cluster_spec(group())


@pytest.mark.parametrize(("annotations", "status", "scales", "wanted"), [
    (ELASTIC, {"rayClusterName": "c"}, True, [("head", 1), ("small", 10), ("big", 3), ("last", 1)]),
    (ELASTIC, {}, True, [("head", 1), ("small", 2), ("big", 3), ("last", 1)]),
    (ELASTIC, {"rayClusterName": "c"}, False, [("head", 1), ("small", 2), ("big", 3), ("last", 1)]),
    ({}, {"rayClusterName": "c"}, True, [("head", 1), ("small", 2), ("big", 3), ("last", 1)]),
])
async def test_an_elastic_job_is_as_large_as_its_cluster(
    annotations: Tree, status: Tree, scales: bool, wanted: list[tuple[str, int]],
) -> None:
    """Given an elastic RayJob whose cluster scales itself, when its pod sets are asked for, then
    they are as large as the groups of the cluster that say so; else as the job's.
    """
    groups = group(), group("BIG", 3), group("last", None)
    of = job(cluster_spec(*groups, enableInTreeAutoscaling=scales), annotations, status)
    server = Server(cluster_spec(group("Small", 5, 2), group("BIG", None)))
    assert await sizes(of, server) == wanted
    follows = bool(annotations) and scales and bool(status)
    assert server.asked == ([("c", "n")] if follows else [])
    assert (await sizes(of, Server(None)))[1] == ("small", 2)


async def test_a_cluster_with_other_groups_is_not_the_job_s() -> None:
    """Given an elastic RayJob, when its cluster has a group that it has not, then that is an
    error which names both.
    """
    of = job(cluster_spec(group(), enableInTreeAutoscaling=True), ELASTIC, {"rayClusterName": "c"})
    with pytest.raises(ValueError, match="PodSet") as refused:
        await of.pod_sets(Server(cluster_spec(group("Other"))))  # type: ignore[arg-type]
    assert str(refused.value) == (
        "PodSet name mismatch: RayCluster c has worker group Other which is not found in Ray object j spec")


def infos(*labels: str) -> list[PodSetInfo]:
    """What each pod set gets."""
    return [PodSetInfo(name=label, labels={"l": label}) for label in labels]


def test_a_job_gets_what_each_of_its_pod_sets_gets_and_gives_it_back() -> None:
    """Given a RayJob with a submitter, when it runs, then head, workers and submitter get theirs;
    when it is stopped they have what they had, and with another number of pod sets nothing changes.
    """
    of = job(cluster_spec(group()), suspend=True, submissionMode="K8sJobMode", submitterPodTemplate=template())
    with pytest.raises(InvalidPodSetInfo) as refused:
        of.run_with_podsets_info(infos("h", "w"))
    assert str(refused.value) == "invalid podset infos: expecting 3 podset, got 2"
    of.run_with_podsets_info(infos("h", "w", "s"))
    spec = of.obj["spec"]
    assert spec["suspend"] is False
    assert spec["rayClusterSpec"]["headGroupSpec"]["template"]["metadata"] == {"labels": {"l": "h"}}
    assert spec["rayClusterSpec"]["workerGroupSpecs"][0]["template"]["metadata"] == {"labels": {"l": "w"}}
    assert spec["submitterPodTemplate"]["metadata"] == {"labels": {"l": "s"}}
    empty = [PodSetInfo(), PodSetInfo(), PodSetInfo()]
    assert of.restore_podsets_info(empty[:2]) is False
    assert spec["submitterPodTemplate"]["metadata"] == {"labels": {"l": "s"}}
    assert of.restore_podsets_info([*infos("h", "w"), PodSetInfo()]) is True
    assert spec["submitterPodTemplate"]["metadata"] == {}
    assert of.restore_podsets_info(empty) is True
    assert spec["rayClusterSpec"]["workerGroupSpecs"][0]["template"]["metadata"] == {}
    assert of.restore_podsets_info(empty) is False


def test_a_cluster_gives_back_as_much_as_it_has() -> None:
    """Given a RayCluster that runs, when it is stopped, then its pods have what they had, and with
    another number of pod sets nothing changes.
    """
    of = RayCluster(FEATURES, {"metadata": {"name": "c"}, "spec": cluster_spec(group(), suspend=True)})
    of.run_with_podsets_info(infos("h", "w"))
    running = of.obj["spec"]["workerGroupSpecs"][0]["template"]
    assert (of.obj["spec"]["suspend"], running["metadata"]) == (False, {"labels": {"l": "w"}})
    assert of.restore_podsets_info([PodSetInfo()]) is False
    assert of.restore_podsets_info([PodSetInfo()] * 3) is False
    assert running["metadata"] == {"labels": {"l": "w"}}
    assert of.restore_podsets_info([PodSetInfo()] * 2) is True
    assert running["metadata"] == {}

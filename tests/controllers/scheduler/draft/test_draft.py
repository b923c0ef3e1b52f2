"""The first text of KEP-4671: what becomes of each of its notions."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apis.gates import Gates
from fakekube.client.resources import JOBS, NODES, PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers.scheduler.draft.definition import WORKLOADS
from fakekube_controllers.scheduler.draft.groups import POD_GROUP, REPLICA, WORKLOAD, resolved
from tests.controllers.world import NAMESPACE, condition, job_manifest


class Drafts:
    """A cluster with the gate and the add-on."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def node(self, name="n", cpu="4"):
        resources = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
        node = await self.client.create(NODES, {
            "metadata": {"name": name}, "status": {"capacity": resources, "allocatable": resources}})
        node["spec"]["taints"] = []
        await self.client.update(NODES, node)
        await self.cluster.settle()

    async def workload(self, *groups, name="w", **spec):
        made = await self.client.create(WORKLOADS, {
            "apiVersion": "scheduling.fakekube.dev/v1alpha1", "kind": "Workload",
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"podGroups": list(groups), **spec}})
        await self.cluster.settle()
        return made

    async def pod(self, name, cpu="1", labels=None, **named):
        keys = {"workload": WORKLOAD, "group": POD_GROUP, "replica": REPLICA}
        annotations = {keys[key]: value for key, value in named.items()}
        container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
        await self.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations, "labels": labels or {}},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}})
        await self.cluster.settle()

    async def bound(self):
        listed = (await self.client.list(PODS, NAMESPACE)).items
        return {pod["metadata"]["name"] for pod in listed if pod["spec"].get("nodeName")}

    async def read(self, name):
        return await self.client.get(PODS, name, NAMESPACE)

    async def why(self, name):
        return (condition(await self.read(name), "PodScheduled") or {}).get("message")


@pytest.fixture(params=["1.37", "1.35"])
async def drafts(request):
    async with Cluster(
        nodes=0, clock="manual", controllers="scheduler,serviceaccount", kubernetes_version=request.param,
        feature_gates={"DraftWorkload": True},
    ) as cluster:
        yield Drafts(cluster)


async def test_single_is_a_gang_and_the_default(drafts):
    """Given a group without a mode and a minCount of two / then one pod waits on its node, without
    a condition / when the second comes / then both are bound.
    """
    await drafts.node()
    made = await drafts.workload({"name": "g", "minCount": 2})
    assert made["spec"]["podGroups"][0]["gangMode"] == "Single"
    await drafts.pod("a", workload="w", group="g")
    assert [await drafts.bound(), await drafts.why("a")] == [set(), None]
    await drafts.pod("b", workload="w", group="g")
    assert await drafts.bound() == {"a", "b"}


async def test_off_is_each_pod_for_itself(drafts):
    """Given a group with the mode Off / then a pod of it is bound as it comes."""
    await drafts.node()
    await drafts.workload({"name": "g", "gangMode": "Off"})
    await drafts.pod("a", workload="w", group="g")
    assert await drafts.bound() == {"a"}


@pytest.mark.parametrize("by_label", [False, True])
async def test_replicated_is_a_gang_for_each_replica(drafts, by_label):
    """Given a replicated group / then pods go together by replica: the one that they name, or the
    value of the label that the group names.
    """
    await drafts.node(cpu="9")
    await drafts.workload({
        "name": "g", "gangMode": "Replicated", "minCount": 2, "replicas": 2, "replicatedGangKey": "metadata.labels['key']"})
    for name in ("a0", "a1", "b1"):
        replica = {"labels": {"key": name[1]}} if by_label else {"replica": name[1]}
        await drafts.pod(name, workload="w", group="g", **replica)
    assert await drafts.bound() == {"a1", "b1"}


async def test_the_minimum_is_the_parallelism_of_the_job_or_one(drafts):
    """Given groups without minCount / then that of a Job's Workload needs as many pods as the Job
    runs at once, any other one pod.
    """
    await drafts.node()
    await drafts.client.create(JOBS, job_manifest("j", parallelism=2, suspend=True))
    await drafts.workload({"name": "g"}, name="of-job", controllerRef={
        "apiVersion": "batch/v1", "kind": "Job", "name": "j", "namespace": NAMESPACE, "uid": "u"})
    await drafts.workload({"name": "g"}, name="of-none")
    await drafts.pod("a", workload="of-job", group="g")
    await drafts.pod("x", workload="of-none", group="g")
    assert await drafts.bound() == {"x"}
    await drafts.pod("b", workload="of-job", group="g")
    assert await drafts.bound() == {"a", "b", "x"}


async def test_a_gang_whose_time_is_over_gives_its_nodes_back(drafts):
    """Given a gang with a timeout that holds a node and lacks a pod, and a gang that lacks room /
    when the time is over / then the first says so, is nominated no more, and the second is bound
    whole.
    """
    await drafts.node(cpu="3")
    await drafts.workload({"name": "g", "minCount": 3, "schedulingTimeoutSeconds": 20}, name="slow")
    await drafts.workload({"name": "g", "minCount": 2}, name="other")
    for name, cpu in (("a", "1"), ("b", "1"), ("c", "9")):
        await drafts.pod(name, cpu, workload="slow", group="g")
    await drafts.pod("x", workload="other", group="g")
    await drafts.pod("y", workload="other", group="g")
    assert await drafts.bound() == set()
    await drafts.cluster.advance(19)
    assert await drafts.bound() == set()
    await drafts.cluster.advance(3)
    assert await drafts.bound() == {"x", "y"}
    assert "rejected due to timeout after waiting 20s at plugin DraftWorkload" in (await drafts.why("a") or "") + (
        await drafts.why("b") or "")


async def test_selectors_say_which_group_a_pod_is_in(drafts):
    """Given groups with selectors / then a pod that one selects is in that group, in the first of
    several, and a pod that none selects is in none.
    """
    await drafts.node()
    await drafts.workload(
        {"name": "one", "minCount": 2, "podGroupSelector": {"role": "one"}},
        {"name": "two", "minCount": 2, "podGroupSelector": {"matchLabels": {"role": "two"}}})
    await drafts.pod("a", labels={"role": "one"})
    await drafts.pod("b", labels={"role": "two"})
    await drafts.pod("free", labels={"role": "three"})
    assert await drafts.bound() == {"free"}
    annotations = (await drafts.read("b"))["metadata"]["annotations"]
    assert annotations == {WORKLOAD: "w", POD_GROUP: "two"}
    await drafts.pod("c", labels={"role": "two"})
    assert await drafts.bound() == {"free", "b", "c"}


async def test_the_only_group_needs_no_name(drafts):
    """Given a pod that names a Workload alone / then it is in its only group; of several in none,
    and is held.
    """
    await drafts.node()
    await drafts.workload({"name": "g"}, name="one")
    await drafts.workload({"name": "g"}, {"name": "h"}, name="several")
    await drafts.pod("a", workload="one")
    await drafts.pod("b", workload="several")
    assert await drafts.bound() == {"a"}


async def test_pods_may_come_first(drafts):
    """Given pods of a Workload that is not there / then they are held until it comes."""
    await drafts.node()
    await drafts.pod("a", workload="w", group="g")
    await drafts.cluster.advance(60)
    assert await drafts.bound() == set()
    await drafts.workload({"name": "g", "minCount": 1})
    assert await drafts.bound() == {"a"}


@pytest.mark.parametrize(("groups", "message"), [
    ([{"name": "g", "gangMode": "Off", "minCount": 2}], "forbidden when gangMode is Off"),
    ([{"name": "g", "gangMode": "Off", "gangSchedulingPolicy": {"schedulingTimeoutSeconds": 2}}], "when gangMode is Off"),
    ([{"name": "g", "gangMode": "Replicated"}], "replicatedGangKey: must be metadata.labels['KEY']"),
    ([{"name": "g", "gangMode": "Replicated", "replicatedGangKey": "spec.x"}], "must be metadata.labels['KEY']"),
    ([{"name": "g", "replicas": 2}], "replicas: forbidden unless gangMode is Replicated"),
    ([{"name": "g", "gangMode": "Double"}], "Unsupported value"),
    ([{"name": "g", "minCount": 0}], "greater than or equal to 1"),
    ([{"name": "a", "podGroupSelector": {"x": "1"}}, {"name": "b", "podGroupSelector": {"y": "1"}}], "must have the same keys"),
    ([{"name": "a", "podGroupSelector": {"x": "1"}}, {"name": "b", "podGroupSelector": {"x": "1"}}], "exactly one key may"),
    ([{"name": "a", "podGroupSelector": {"x": "1"}}, {"name": "b", "podGroupSelector": {"x": "2"}},
      {"name": "c", "podGroupSelector": {"x": "1"}}], "must be distinct"),
    ([], "should have at least 1 items"),
])
async def test_what_contradicts_itself_is_refused(drafts, groups, message):
    """Given a Workload that contradicts itself / then it is 422, and says why."""
    with pytest.raises(APIError) as refused:
        await drafts.workload(*groups)
    assert refused.value.code == 422
    assert message in str(refused.value)


def test_the_first_workload_that_selects_wins():
    """Given two Workloads that select a pod / then it is in the group of the first."""
    def workload(name):
        return {"metadata": {"name": name}, "spec": {"podGroups": [{"name": "g", "podGroupSelector": {"x": "1"}}]}}

    pod = {"metadata": {"labels": {"x": "1"}}}
    assert resolved(pod, [workload("a"), workload("b")]) == ("a", "g", "")


def test_both_kinds_of_groups_are_too_many():
    """Given the gate together with GenericWorkload / then no server starts."""
    with pytest.raises(ValueError, match="DraftWorkload and GenericWorkload exclude each other"):
        Gates("1.37", {"DraftWorkload": True, "GenericWorkload": True})

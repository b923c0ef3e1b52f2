"""The examples of KEP-6089, building blocks for controllers, in the form of 1.37."""

from typing import Any

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube_controllers.jobset import addon
from tests.keps.examples import RACK, ZONE, Examples, cluster_with


async def test_a_job_as_a_gang_in_a_zone() -> None:
    """Given the blocks of a Job, when its objects are made, then the PodGroup has all of them and a
    size, and the pods run in one zone.
    """
    async with cluster_with("6089-1.37-job-gang") as cluster:
        found = Examples(cluster)
        await found.nodes()
        [group] = await found.all_groups()
        blocks = {key: group["spec"][key] for key in ("schedulingPolicy", "schedulingConstraints", "disruptionMode")}
        assert blocks == {
            "schedulingPolicy": {"gang": {"minCount": 4}}, "schedulingConstraints": {"topology": [{"key": ZONE}]},
            "disruptionMode": {"all": {}}}
        assert (len(await found.zones()), (await found.places())[""]) == (1, 0)


async def test_a_job_without_blocks() -> None:
    """Given no block, when the Job is created, then its PodGroup is a basic one, whose pods may be
    disrupted one by one, and they run.
    """
    async with cluster_with("6089-1.37-job-basic") as cluster:
        found = Examples(cluster)
        await found.nodes()
        [group] = await found.all_groups()
        assert (group["spec"]["schedulingPolicy"], group["spec"]["disruptionMode"]) == ({"basic": {}}, {"single": {}})
        assert ((await found.places())[""], sum((await found.places()).values())) == (0, 10)


def leaves(workload: Tree) -> dict[str, Any]:
    """The templates of PodGroups in a JobSet's Workload."""
    [root] = workload["spec"]["compositePodGroupTemplates"]
    return {meta.name_of({"metadata": group}): group["podGroupTemplates"][0] for group in root["compositePodGroupTemplates"]}


@pytest.mark.parametrize("shape", ["templates", "targets"])
async def test_a_job_set_in_both_shapes(shape: str) -> None:
    """Given a driver and sixteen workers that stay in a rack each, said in either shape, when there
    are nodes without racks, then the driver runs, since the replicated jobs do not wait for each
    other, and no worker; with racks, all run.
    """
    async with cluster_with(f"6089-1.37-jobset-{shape}", extra=[addon(WorkloadAwareScheduling=True)]) as cluster:
        found = Examples(cluster)
        await cluster.advance(1)
        [workload] = (await found.client.list(found.workloads)).items
        assert workload["spec"]["compositePodGroupTemplates"][0]["schedulingPolicy"] == {"basic": {}}
        constraints = {name: leaf["schedulingConstraints"] for name, leaf in leaves(workload).items()}
        assert constraints == {"group-driver": None, "group-workers": {"topology": [{"key": RACK}]}}
        await found.node("plain")
        assert await found.places() == {"plain": 1, "": 16}
        [driver] = [pod for pod in await found.pods() if "nodeName" in pod["spec"]]
        assert meta.name_of(driver).startswith("training-driver-0-")
        await found.nodes()
        places = await found.places()
        assert (places[""], places["plain"], sum(places.values())) == (0, 1, 17)
        assert set((await found.told()).values()) == {("True", "Scheduled")}

"""The examples of KEP-4671, gang scheduling, in the form of 1.37."""

from fakekube.apimachinery import meta
from tests.keps.examples import Examples, cluster_with, example, kinds


async def test_a_job_waits_until_all_of_it_has_room() -> None:
    """Given a Job of 100 pods in a group of 100, when there is room for 96, then none of them has
    a node, and the group says that it is unschedulable; with room for all, they run.
    """
    async with cluster_with("4671-1.37-job") as cluster:
        found = Examples(cluster)
        await found.nodes("rack-a1", "rack-a2", "rack-b1")
        assert await found.places() == {"": 100}
        assert await found.told() == {"job-1-pg1": ("False", "Unschedulable")}
        await found.nodes("rack-b2")
        places = await found.places()
        assert sum(places.values()) == 100
        assert set(places) == {"rack-a1", "rack-a2", "rack-b1", "rack-b2"}
        assert await found.told() == {"job-1-pg1": ("True", "Scheduled")}
        assert [meta.name_of(workload) for workload in (await found.client.list(found.workloads)).items] == ["job-1"]


async def test_a_replica_waits_for_its_own_pods() -> None:
    """Given two replicas of a group, one of which has one pod of 100, when the others come to the
    wrong replica, then nothing more is said of it; when they come to its own, then it starts.
    """
    async with cluster_with("4671-1.37-replicas") as cluster:
        found = Examples(cluster)
        await found.nodes()
        [pod] = await found.pods()
        assert ("nodeName" in pod["spec"], pod["status"].get("conditions")) == (False, None)
        other = {**pod, "spec": {**pod["spec"], "schedulingGroup": {"podGroupName": "jobset-job-1-key-1"}}}
        await found.more({**other, "metadata": {"name": "other"}}, 99)
        assert await found.places() == {"": 100}
        assert await found.told() == {"jobset-job-1-key-1": None, "jobset-job-1-key-2": None}
        [like] = kinds(example("4671-1.37-replicas"), "Pod")
        await found.more(like, 99)
        assert (await found.places())[""] == 99
        assert await found.told() == {"jobset-job-1-key-1": None, "jobset-job-1-key-2": ("True", "Scheduled")}

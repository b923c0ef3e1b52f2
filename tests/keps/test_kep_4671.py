"""The examples of KEP-4671, gang scheduling, in the form of each release."""

from typing import Any

import pytest

from fakekube.apimachinery import meta
from tests.keps.examples import Examples, cluster_with, example, kinds

WITH_GROUPS = pytest.mark.parametrize("release", ["1.36", "1.37"])


@WITH_GROUPS
async def test_a_job_waits_until_all_of_it_has_room(release: str) -> None:
    """Given a Job of 100 pods in a group of 100, when there is room for 96, then none of them has
    a node, and the group says that it is unschedulable; with room for all, they run.
    """
    async with cluster_with(f"4671-{release}-job", release=release) as cluster:
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


async def test_a_job_of_1_35_holds_what_there_is_and_starts_whole() -> None:
    """Given the same in 1.35, when there is room for 96, then none of the pods has a node, and 96
    are nominated for one; with room for all, they run.
    """
    async with cluster_with("4671-1.35-job", release="1.35") as cluster:
        found = Examples(cluster)
        await found.nodes("rack-a1", "rack-a2", "rack-b1")
        assert await found.places() == {"": 100}
        assert sum("nominatedNodeName" in pod["status"] for pod in await found.pods()) == 96
        await found.nodes("rack-b2")
        places = await found.places()
        assert (sum(places.values()), places[""]) == (100, 0)


@WITH_GROUPS
async def test_a_replica_waits_for_its_own_pods(release: str) -> None:
    """Given two replicas of a group, one of which has one pod of 100, when the others come to the
    wrong replica, then nothing more is said of it; when they come to its own, then it starts.
    """
    name = f"4671-{release}-replicas"
    async with cluster_with(name, release=release) as cluster:
        found = Examples(cluster)
        await _fill(found, name, schedulingGroup={"podGroupName": "jobset-job-1-key-1"})
        assert await found.told() == {"jobset-job-1-key-1": None, "jobset-job-1-key-2": ("True", "Scheduled")}


async def test_a_replica_of_1_35_waits_for_its_own_pods() -> None:
    """Given the same in 1.35, whose pods say which replica they are of, then it is the same."""
    async with cluster_with("4671-1.35-replicas", release="1.35") as cluster:
        other = {"name": "jobset", "podGroup": "job-1", "podGroupReplicaKey": "key-1"}
        await _fill(Examples(cluster), "4671-1.35-replicas", workloadRef=other)


async def _fill(found: Examples, name: str, **other: Any) -> None:
    """Make 99 pods of another replica, which changes nothing, then 99 of the right one, which all
    run with the first.
    """
    await found.nodes()
    [pod] = await found.pods()
    assert ("nodeName" in pod["spec"], pod["status"].get("conditions")) == (False, None)
    [like] = kinds(example(name), "Pod")
    elsewhere = {**like, "metadata": {"name": "other"}, "spec": {**like["spec"], **other}}
    await found.more(elsewhere, 99)
    assert await found.places() == {"": 100}
    await found.more(like, 99)
    assert (await found.places())[""] == 99

"""What patched objects share: with the one before, and with others that were told the same."""

from typing import Any

import pytest

from fakekube.client.resources import PODS
from fakekube.cluster import Cluster

CONDITION = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}


async def tell(cluster: Cluster, name: str, **status: Any) -> dict[str, Any]:
    return await cluster.client.patch(PODS, name, "default", {"status": status}, subresource="status")


def stored(cluster: Cluster, name: str) -> dict[str, Any]:
    record = cluster.apiserver.stores.storage.bucket(PODS.group_resource).get("default", name)
    assert record is not None
    return record.tree()


@pytest.fixture
async def cluster() -> Any:
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await cluster.settle()
        for name in ("a", "b", "c"):
            await cluster.client.create(PODS, pod(name))
        yield cluster


async def test_pods_that_are_told_the_same_share_it(cluster: Cluster) -> None:
    """Given pods whose status gets the same conditions / then from the second on they have the same list, complete as ever,
    and share their spec with what they were before.
    """
    before = stored(cluster, "c")
    answers = [await tell(cluster, name, phase="Running", conditions=[CONDITION]) for name in "abc"]
    lists = [stored(cluster, name)["status"]["conditions"] for name in "abc"]
    assert lists[1] is lists[2]
    assert lists[0] == lists[1] == [{"lastProbeTime": None, **CONDITION}]
    assert stored(cluster, "c")["spec"] is before["spec"]
    fields = [answer["metadata"]["managedFields"] for answer in answers]
    assert fields[0] == fields[1] == fields[2]


async def test_what_is_shared_changes_for_nobody_else(cluster: Cluster) -> None:
    """Given pods that share their conditions / when one is told others / then the rest keep theirs
    / and what a client does to its answer is its own affair.
    """
    for name in "abc":
        await tell(cluster, name, conditions=[CONDITION])
    answer = await tell(cluster, "b", conditions=[{**CONDITION, "status": "False"}])
    answer["status"]["conditions"][0]["status"] = "Unknown"
    (await cluster.client.get(PODS, "a", "default"))["status"]["conditions"].clear()
    assert [stored(cluster, name)["status"]["conditions"][0]["status"] for name in "abc"] == ["True", "False", "True"]


async def test_a_list_that_is_complained_of_is_complained_of_each_time(cluster: Cluster) -> None:
    """Given conditions with an unknown field / when several pods get them / then each answer leaves it out."""
    for name in "abc":
        answer = await tell(cluster, name, conditions=[{**CONDITION, "odd": 1}])
        assert answer["status"]["conditions"] == [{"lastProbeTime": None, **CONDITION}]


async def test_numbers_and_truths_are_told_apart(cluster: Cluster) -> None:
    """Given a generation that came as a number / when it comes as a truth / then it is refused as it would be the first time."""
    first = {**CONDITION, "observedGeneration": 1}
    await tell(cluster, "a", conditions=[first])
    with pytest.raises(Exception, match="cannot unmarshal bool into Go struct field"):
        await tell(cluster, "b", conditions=[{**first, "observedGeneration": True}])
    with pytest.raises(Exception, match="cannot unmarshal bool into Go struct field"):
        await cluster.client.patch(PODS, "a", "default", {"metadata": {"generation": True}})

"""How many nodes preemption looks at before it takes the best."""

from typing import Any

import pytest

from fakekube.client.resources import NODES, PODS
from fakekube.composition.cluster import Cluster

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
ROOM = {"cpu": "1", "memory": "1Gi", "pods": "10"}
CLOSED = {"key": "closed", "effect": "NoSchedule"}


def pod(name: str, priority: int, **spec: Any) -> dict[str, Any]:
    """A pod that fills a node."""
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {
        "containers": [container], "priorityClassName": f"p{priority}", "terminationGracePeriodSeconds": 0, **spec}}


@pytest.mark.parametrize(("percentage", "nominated"), [(50, "a"), (100, "b")])
async def test_the_percentage_is_one_of_the_nodes_where_evictions_may_help(percentage: int, nominated: str) -> None:
    """Given two nodes full of pods, of which the second's matters less, and two with a taint, when
    a pod preempts with half of the nodes to be looked at, then it has the first, as one of two is
    enough; with all of them it has the second.
    """
    arguments = {"minCandidateNodesPercentage": percentage, "minCandidateNodesAbsolute": 0}
    profile = {"pluginConfig": [{"name": "DefaultPreemption", "args": arguments}]}
    async with Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount",
                       scheduler_config={**HEAD, "profiles": [profile]}) as cluster:
        client = cluster.client
        for priority in (1, 5, 10):
            await client.create(await client.for_object({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}), {
                "metadata": {"name": f"p{priority}"}, "value": priority})
        for name in "abcd":
            made = await client.create(NODES, {
                "metadata": {"name": name}, "spec": {}, "status": {"capacity": ROOM, "allocatable": ROOM}})
            await client.update(NODES, {**made, "spec": {"taints": [CLOSED] if name in "cd" else []}})
        await client.create(PODS, pod("first", 5, nodeName="a"))
        await client.create(PODS, pod("second", 1, nodeName="b"))
        await cluster.settle()
        await client.create(PODS, pod("new", 10))
        await cluster.settle()
        left = [each["metadata"]["name"] for each in (await client.list(PODS, "default"))[0]]
        assert sorted(left) == sorted(["new", "second" if nominated == "a" else "first"])

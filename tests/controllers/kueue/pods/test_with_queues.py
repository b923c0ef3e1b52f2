"""Groups of pods in queues, with the whole of Kueue."""

import pytest

from fakekube.composition.cluster import Cluster
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration, RequeuingStrategy, WaitForPodsReady
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.kueue.pods.conftest import Pods, member
from tests.controllers.kueue.pods.test_any_group import queue
from tests.controllers.world import CONTROLLERS, NAMESPACE

LIMIT = RequeuingStrategy(backoff_limit_count=0)


@pytest.fixture
def configuration():
    """What Kueue is told; a test may override it."""
    return Configuration()


@pytest.fixture
async def pods(configuration):
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon(configuration)]) as cluster:
        world = Pods(cluster, configuration)
        await queue(cluster.client)
        await world.advance(2)
        yield world


async def workload(pods, name):
    return await pods.client.get(names.WORKLOADS, name, NAMESPACE)


@pytest.mark.spec("KUEUE-139")
async def test_a_group_preempts_another(pods):
    """Given a running group, when one of higher priority has no room, then the first is evicted,
    its running pods are deleted, the second runs, and the first waits with its replacements and
    runs after it."""
    await pods.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 100})
    preemption = {"preemption": {"withinClusterQueue": "LowerPriority"}}
    await pods.client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": preemption})
    low = {"group": "low", "count": 2, "cpu": "1"}
    await pods.add(member("a", **low), member("b", **low))
    await pods.advance(5)
    assert await pods.gated() == []
    for name in "ab":
        await pods.says(name, "Running")
    first = {names.WORKLOAD_PRIORITY_CLASS_LABEL: "high"}
    await pods.add(member("x", group="top", count=1, cpu="1", labels=first))
    await pods.advance(40)
    assert condition_of(await workload(pods, "low"), "Evicted")[:2] == ("True", "Preempted")
    assert condition_of(await workload(pods, "low"), "WaitingForReplacementPods")[:2] == ("True", "Preempted")
    assert await pods.gated() == []
    await pods.add(member("a1", **low), member("b1", **low))
    await pods.advance(5)
    assert await pods.all_names() == ["a1", "b1", "x"]
    assert await pods.gated() == ["a1", "b1"]
    assert condition_of(await workload(pods, "low"), "WaitingForReplacementPods")[0] == "False"
    await pods.says("x", "Succeeded")
    await pods.advance(5)
    assert await pods.gated() == []
    assert condition_of(await workload(pods, "low"), "Admitted")[0] == "True"


@pytest.mark.spec("KUEUE-145")
async def test_what_a_group_gives_back_is_used(pods):
    """Given a group that takes the whole quota, when one of its pods succeeds, then a pod that
    waits for as much runs."""
    await pods.add(member("a", count=2, cpu="1"), member("b", count=2, cpu="1"))
    await pods.add(member("c", group="next", count=1, cpu="1"))
    await pods.advance(5)
    assert await pods.gated() == ["c"]
    await pods.says("a", "Succeeded")
    await pods.advance(5)
    assert await pods.gated() == []


@pytest.mark.spec("KUEUE-150")
@pytest.mark.parametrize("configuration", [
    Configuration(wait_for_pods_ready=WaitForPodsReady(timeout_seconds=60.0, requeuing_strategy=LIMIT))])
async def test_a_group_that_is_never_ready(pods):
    """Given a group that is admitted and may not be tried again, when its pods are not ready in
    time, then it is deactivated, and those of its pods that run are deleted."""
    await pods.add(member("a", count=2), member("b", count=2))
    await pods.advance(5)
    await pods.says("a", "Running")
    await pods.advance(120)
    found = await workload(pods, "g")
    assert found["spec"]["active"] is False
    assert condition_of(found, "Evicted")[:2] == ("True", "DeactivatedDueToRequeuingLimitExceeded")
    target = [each for each in (await pods.pod("a"))["status"]["conditions"] if each["type"] == "TerminationTarget"]
    assert target[0]["reason"] == "WorkloadEvictedDueToDeactivatedDueToRequeuingLimitExceeded"
    assert condition_of(found, "WaitingForReplacementPods")[:2] == ("True", "DeactivatedDueToRequeuingLimitExceeded")

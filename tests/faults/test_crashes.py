"""Components that die: of their own writes, while they start, at once with others, or not at all.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.client.resources import JOBS, PODS
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import OptionError
from fakekube.faults.plan import FaultNeverMet
from fakekube.faults.rules import FaultError
from tests.faults.asking import create

JOB = {"metadata": {"name": "a"}, "spec": {"completions": 3, "parallelism": 3, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}


async def complete(cluster: Cluster) -> int:
    """Let a Job complete; how many pods it took."""
    await cluster.client.create(JOBS, JOB, "default")

    async def done() -> bool:
        found = await cluster.client.get(JOBS, "a", "default")
        return any(one["type"] == "Complete" for one in found.get("status", {}).get("conditions", ()))

    await cluster.run_until(done, within="10m")
    return len((await cluster.client.list(PODS, "default")).items)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("component", ["kubelet", "scheduler", "job"])
async def test_a_component_that_dies_of_its_own_writes(component: str, moment: str) -> None:
    """Given a component that dies with every second of its writes, those of its start among them /
    when a Job runs / then it completes with three pods, and nothing is held.
    """
    async with Cluster() as cluster:
        cluster.faults.add(crash=component, components=component, verbs="write", every=2, times=6, moment=moment)
        assert await complete(cluster) == 3
        assert (cluster.activity.asleep, cluster.activity.idle) == (0, True)


async def test_several_die_at_once() -> None:
    """Given the same request with which the Job controller dies twice, and the scheduler / when a
    Job runs / then it completes with three pods.
    """
    async with Cluster() as cluster:
        for crash, moment in (("job", "before"), ("scheduler", "before"), ("job", "after")):
            cluster.faults.add(crash=crash, verbs="create", resources="pods", nth=1, moment=moment)
        assert await complete(cluster) == 3
        assert len(cluster.faults.meetings) == 3


async def test_a_component_that_dies_while_it_starts() -> None:
    """Given a Job controller that dies with the first lists of a cluster / when it starts, and a
    Job runs / then it completes with three pods.
    """
    plan = [{"crash": "job", "verbs": "list", "times": 3}]
    async with Cluster(faults=plan) as cluster:
        assert await complete(cluster) == 3


async def test_an_add_on_of_several_parts_dies() -> None:
    """Given Kueue, which dies whenever a pod is created / when a Job runs that is none of Kueue's /
    then it completes, and Kueue runs.
    """
    async with Cluster(controllers="*,kueue") as cluster:
        cluster.faults.add(crash="kueue", components="job", verbs="create", times=3)
        assert await complete(cluster) == 3
        parts = [name for name in cluster.manager.names if "kueue" in name]
        assert parts
        assert all(cluster.manager.is_running(part) for part in parts)


async def test_who_does_not_run_does_not_die() -> None:
    """Given a controller that was stopped / when it is to die / then it is not started by that."""
    async with Cluster() as cluster:
        await cluster.stop_controller("job")
        cluster.faults.add(crash="job", verbs="create", resources="configmaps")
        await create(cluster, "a")
        assert not cluster.manager.is_running("job")


async def test_a_component_that_is_none() -> None:
    """Given a name that no component has / when it is to die / then the rule is refused, in a plan
    of several with all others.
    """
    async with Cluster(nodes=0) as cluster:
        rules: list[dict[str, Any]] = [{"compact": True}, {"crash": "jobb"}]
        with pytest.raises(FaultError, match=r'^crash: controllers: "jobb" is not in the list of known controllers: '):
            cluster.faults.add(rules[1])
        assert len(cluster.faults) == 0
    with pytest.raises(OptionError, match=r'^crash: controllers: "jobb" is not in the list'):
        async with Cluster(nodes=0, faults=rules):
            pass


@pytest.mark.parametrize("met", [True, False])
async def test_a_plan_for_a_fleet(met: bool) -> None:
    """Given a plan for a fleet / when one member's requests meet it, or none's / then that is
    enough, or the fleet ends with FaultNeverMet.
    """
    plan = [{"name": "full", "verbs": "create", "resources": "configmaps", "error": "EtcdNoSpace"}]

    async def run() -> list[int]:
        async with Fleet("one", "two", controllers="", nodes=0, clock="manual", faults=plan) as fleet:
            if met:
                assert (await create(fleet["two"], "a")).status == 500
            return [next(iter(cluster.faults)).met for cluster in (fleet["one"], fleet["two"])]

    if met:
        assert await run() == [0, 1]
    else:
        with pytest.raises(FaultNeverMet, match="full"):
            await run()

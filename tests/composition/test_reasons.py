"""What ``Stalled`` says of a cluster: the reasons that pods and Jobs have, once, before anything of ours."""

import pytest

from fakekube.client.resources import JOBS, PODS
from fakekube.composition.cluster import Cluster
from fakekube.util.driver import Stalled


def never() -> bool:
    return False


def pod(name: str, image: str = "busybox", annotations: dict[str, str] | None = None, **spec: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
            "spec": {"restartPolicy": "Never", **spec, "containers": [{"name": "main", "image": image}]}}


async def stalled(cluster: Cluster) -> list[str]:
    with pytest.raises(Stalled) as caught:
        await cluster.run_until(never, within="10m")
    return [line.strip() for line in str(caught.value).splitlines()]


async def test_a_pod_that_fits_nowhere_says_why() -> None:
    """Given a pod for a node that there is not, when a test waits in vain, then the scheduler's text comes first, once."""
    async with Cluster(clock="manual") as cluster:
        await cluster.client.create(PODS, pod("big", nodeSelector={"disk": "ssd"}))
        lines = await stalled(cluster)
    assert lines[1].startswith("pod default/big is not scheduled: Unschedulable: 0/1 nodes are available: 1 node(s) didn't match")
    assert sum("didn't match" in line for line in lines) == 1


async def test_a_container_that_fails_says_how() -> None:
    """Given a pod whose container ends with 3, and a Job whose pods do, when a test waits in vain, then exit codes, and what the
    Job's conditions say, are there."""
    async with Cluster(clock="manual") as cluster:
        await cluster.client.create(PODS, pod("broken", annotations={"fakekube.dev/exit-codes": "3"}))
        template = pod("", annotations={"fakekube.dev/exit-codes": "4"})
        del template["metadata"]["name"], template["metadata"]["namespace"]  # type: ignore[attr-defined]
        await cluster.client.create(JOBS, {
            "metadata": {"name": "tried", "namespace": "default"}, "spec": {"backoffLimit": 0, "template": template}})
        lines = await stalled(cluster)
    assert "pod default/broken: container main ended with exit code 3: Error" in lines
    assert ("job default/tried: 0 active, 0 succeeded, 1 failed; "
            "Failed: BackoffLimitExceeded: Job has reached the specified backoff limit") in lines
    assert not any(line.startswith("event BackoffLimitExceeded") for line in lines)


async def test_what_is_well_is_not_told_and_daemon_timers_are_counted() -> None:
    """Given a pod that succeeded, when a test waits in vain, then nothing is told of it, and daemon timers have one line."""
    async with Cluster(clock="manual") as cluster:
        await cluster.client.create(PODS, pod("fine"))
        lines = await stalled(cluster)
    assert not any("default/fine" in line for line in lines)
    assert sum("daemon timer" in line for line in lines) == 1

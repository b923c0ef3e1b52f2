"""What a queueing controller does to a Job: the patches that start, stop and shrink it."""

from collections.abc import AsyncIterator

import pytest

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, NODES, PODS

NS = "default"


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with Cluster(nodes=1, clock="manual") as made:
        await made.client.patch(NODES, "node-0", "", {"metadata": {"labels": {"zone": "a"}}})
        yield made


async def create(cluster: Cluster, parallelism: int) -> Tree:
    """A suspended Job whose pods run on, and take ten seconds to end."""
    annotations = {"fakekube.dev/run-duration": "forever", "fakekube.dev/term-duration": "10s"}
    container = {"name": "c", "image": "busybox"}
    template = {"metadata": {"annotations": annotations}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {
        "metadata": {"name": "j", "namespace": NS},
        "spec": {"suspend": True, "parallelism": parallelism, "completions": 5, "template": template}}
    made = await cluster.client.create(JOBS, job)
    await cluster.settle()
    return made


async def start(cluster: Cluster, **fields: object) -> Tree:
    """Let the Job run in a zone, in one patch."""
    patch = {"spec": {"suspend": False, "template": {"spec": {"nodeSelector": {"zone": "a"}}}, **fields}}
    changed = await cluster.client.patch(JOBS, "j", NS, patch)
    await cluster.advance(5)
    return changed


async def pods(cluster: Cluster) -> list[Tree]:
    return list((await cluster.client.list(PODS, NS)).items)


@pytest.mark.spec("JOB-208")
async def test_it_starts_where_it_is_told_in_one_patch(cluster: Cluster) -> None:
    """Given a suspended Job, when one patch resumes it and names a zone, then it is accepted, and
    its pods run there.
    """
    await create(cluster, 2)
    await start(cluster)
    assert [(pod["spec"]["nodeSelector"], pod["status"]["phase"]) for pod in await pods(cluster)] == [
        ({"zone": "a"}, "Running")] * 2


@pytest.mark.spec("JOB-209")
async def test_it_is_stopped_and_restored_while_its_pods_run(cluster: Cluster) -> None:
    """Given a running Job, when it is suspended, its start is forgotten and its template is given
    back, one patch after the other while its pods still end, then all are accepted, and it can be
    started elsewhere.
    """
    before = await create(cluster, 2)
    await start(cluster)
    client = cluster.client
    await client.patch(JOBS, "j", NS, {"spec": {"suspend": True}})
    await cluster.settle()
    assert [pod["status"]["phase"] for pod in await pods(cluster)] == ["Running"] * 2
    await client.patch(JOBS, "j", NS, {"status": {"startTime": None}}, subresource="status")
    restored = await client.patch(JOBS, "j", NS, {"spec": {"template": {"spec": {"nodeSelector": None}}}})
    assert restored["spec"]["template"] == before["spec"]["template"]
    assert len(await pods(cluster)) == 2
    await cluster.advance(60)
    job = await client.get(JOBS, "j", NS)
    assert (await pods(cluster), job["status"].get("active", 0), "startTime" in job["status"]) == ([], 0, False)
    await start(cluster)
    assert len(await pods(cluster)) == 2


@pytest.mark.spec("JOB-210")
async def test_it_starts_with_fewer_pods_than_it_asked_for(cluster: Cluster) -> None:
    """Given a suspended Job of five pods at a time, when one patch resumes it with three, then
    three run; stopped, it can be given its five again.
    """
    await create(cluster, 5)
    assert (await start(cluster, parallelism=3))["spec"]["parallelism"] == 3
    assert len(await pods(cluster)) == 3
    await cluster.client.patch(JOBS, "j", NS, {"spec": {"suspend": True}})
    await cluster.advance(60)
    assert (await cluster.client.patch(JOBS, "j", NS, {"spec": {"parallelism": 5}}))["spec"]["parallelism"] == 5

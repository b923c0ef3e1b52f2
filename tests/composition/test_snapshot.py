"""A cluster at one moment: to go back to, to go on from, in this process and in another."""

import asyncio
import gzip
from pathlib import Path

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS
from fakekube.composition import snapshot_diff
from fakekube.composition.options import OptionError
from fakekube.composition.snapshot import Snapshot, SnapshotError, decode, read

JOB = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"completions": 3, "parallelism": 1, "template": {
    "metadata": {"annotations": {"fakekube.dev/run-duration": "60s", "fakekube.dev/log": "hello"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}
CONTROLLERS = "job,garbagecollector,scheduler,kubelet,namespace,serviceaccount"


def cluster_of(**options) -> Cluster:
    return Cluster(**{"nodes": 2, "clock": "manual", "controllers": CONTROLLERS, **options})


async def job_of(cluster: Cluster):
    return (await cluster.client.get(JOBS, "j", "default"))["status"]


@pytest.mark.parametrize("by_file", [False, True])
async def test_a_cluster_goes_on_from_a_snapshot_as_it_would_have(by_file: bool) -> None:
    """Given a Job whose second pod is running, when a snapshot of it, in memory or as a file,
    becomes a cluster of its own, then the pod runs on and the Job completes at the same second.
    """
    async with cluster_of() as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance(90)
        taken = cluster.snapshot()
        if by_file:
            taken = decode(taken.encode())
        await cluster.advance(300)
        before = await job_of(cluster)
        async with Cluster(state=taken) as other:
            assert other.clock.now().isoformat() == "2026-01-01T00:01:30+00:00"
            phases = [pod["status"]["phase"] for pod in (await other.client.list(PODS, "default")).items]
            assert sorted(phases) == ["Running", "Succeeded"]
            await other.advance(300)
            assert await job_of(other) == before
            logs = [await other.client.request("GET", f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/log")
                    for pod in (await other.client.list(PODS, "default")).items]
            assert [log.body for log in logs] == [b"hello\n"] * 3


async def test_one_snapshot_has_one_future() -> None:
    """Given a snapshot of a running Job, when two clusters go on from it, then what they come to is
    the same, byte for byte: names, uids, history and all.
    """
    async with cluster_of() as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance(90)
        taken = cluster.snapshot()
    ends = []
    for _ in range(2):
        async with Cluster(state=taken) as other:
            await other.advance(300)
            assert (await job_of(other))["succeeded"] == 3
            ends.append(other.snapshot().encode())
    assert ends[0] == ends[1]


async def test_forks_go_their_own_ways() -> None:
    """Given a running cluster and a fork of it, when each is changed, then neither sees the other's
    changes, and a comparison tells them apart by object and field.
    """
    async with cluster_of() as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1"}})
        async with cluster.fork() as other:
            await other.client.patch(CONFIG_MAPS, "a", "default", {"data": {"x": "2"}})
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "b", "namespace": "default"}})
            assert (await cluster.client.get(CONFIG_MAPS, "a", "default"))["data"] == {"x": "1"}
            with pytest.raises(APIError, match='configmaps "b" not found'):
                await other.client.get(CONFIG_MAPS, "b", "default")
            found = list(snapshot_diff.between(cluster.snapshot(), other.snapshot(), ["configmaps"]))
            assert [line for one in found for line in one.lines()] == [
                "~ configmaps default/a", '    data.x: "1" -> "2"', "- configmaps default/b"]


async def test_a_cluster_goes_back() -> None:
    """Given a snapshot from before a Job ran, when the cluster is restored to it, then time,
    objects and versions are those of then, a watch that was open is told to begin anew, and the Job
    runs again to the same end.
    """
    async with cluster_of() as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance(90)
        taken = cluster.snapshot()
        watch = await cluster.client.watch(PODS, "default")
        await cluster.advance(300)
        first = await job_of(cluster)
        await cluster.restore(taken)
        assert cluster.clock.now().isoformat() == "2026-01-01T00:01:30+00:00"
        assert (await job_of(cluster)).get("succeeded") == 1
        with pytest.raises(APIError, match="the cluster was restored to another state") as caught:
            _ = [event async for event in watch]
        assert caught.value.code == 410
        await cluster.advance(300)
        assert await job_of(cluster) == first


async def test_a_served_cluster_stays_where_it_is_when_it_is_restored() -> None:
    """Given a served cluster, when it is restored, then clients on the network see the restored
    state at the same address.
    """
    async with cluster_of(controllers="namespace", nodes=0) as cluster:
        server = await cluster.serve()
        taken = cluster.snapshot()
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "later", "namespace": "default"}})
        await cluster.restore(taken)
        from fakekube.client.client import Client
        from fakekube.client.http import HTTP

        client = Client(HTTP(server.url))
        assert await client.get(CONFIG_MAPS, "later", "default", missing_ok=True) is None
        await client.create(CONFIG_MAPS, {"metadata": {"name": "other", "namespace": "default"}})
        assert await cluster.client.get(CONFIG_MAPS, "other", "default")
        await client.close()


async def test_a_file_holds_all_that_the_snapshot_does(tmp_path: Path) -> None:
    """Given a snapshot with a history, when it is written and read, then it is the same, byte for
    byte, causes and past states among it.
    """
    async with cluster_of() as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance(30)
        taken = cluster.snapshot()
        taken.write(tmp_path / "one")
        again = read(tmp_path / "one")
        assert again.encode() == taken.encode()
        assert (again.options, again.time, again.revision) == (taken.options, taken.time, taken.revision)
        pods, same = (next(b for b in s.storage.buckets if b.resource == ("", "pods")) for s in (taken, again))
        assert [(e.type, e.record.data, e.cause and e.cause.user_agent) for e in pods.history()] == [
            (e.type, e.record.data, e.cause and e.cause.user_agent) for e in same.history()]
        assert list(snapshot_diff.between(taken, again)) == []


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    async with cluster_of(controllers="", nodes=0) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        cluster.snapshot().write(tmp_path / "file")
    return tmp_path / "file"


def altered(path: Path, change) -> None:
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    change(lines)
    path.write_bytes(gzip.compress(b"\n".join(lines)))


def of_header(**values: object):
    def change(lines: list[bytes]) -> None:
        lines[0] = orjson.dumps({**orjson.loads(lines[0]), **values})

    return change


@pytest.mark.parametrize(("spoil", "text"), [
    (lambda path: path.write_bytes(path.read_bytes()[:-100]), "is cut short"),
    (lambda path: path.write_bytes(b""), "is no snapshot of fakekube"),
    (lambda path: path.write_text("kind: Pod"), "is no snapshot of fakekube"),
    (lambda path: path.write_bytes(gzip.compress(b"{}\n")), "is no snapshot of fakekube"),
    (lambda path: altered(path, lambda lines: lines.pop(3)), "is cut short: its end is missing"),
    (lambda path: altered(path, lambda lines: lines.pop()), "is cut short"),
    (lambda path: altered(path, lambda lines: lines.__setitem__(2, b'{"metadata":1}')), "is damaged: a line cannot be read"),
    (lambda path: altered(path, of_header(version=2)), "has format 2 of snapshots, and this fakekube reads format 1"),
    (lambda path: altered(path, of_header(started="yesterday")), "is damaged: its header has no usable"),
    (lambda path: altered(path, of_header(started=5)), "is damaged: its header has no usable"),
])
async def test_what_is_no_snapshot_leaves_everything_as_it_was(file: Path, spoil, text: str) -> None:
    """Given a file that was cut short, altered, or written by another release, when a cluster is
    restored from it, then one sentence says what is wrong, and the cluster is as it was.
    """
    spoil(file)
    async with cluster_of(controllers="", nodes=0) as cluster:
        before = cluster.snapshot().encode()
        with pytest.raises(SnapshotError, match=text) as caught:
            await cluster.restore(file)
        assert str(file) in str(caught.value)
        assert cluster.snapshot().encode() == before


async def test_the_snapshot_decides_what_its_cluster_is_like(file: Path) -> None:
    """Given a snapshot, when a cluster of another version is to go on from it, then that is
    refused; another clock is not.
    """
    taken: Snapshot = read(file)
    with pytest.raises(OptionError, match="nodes: the snapshot decides that; only clock and controllers may"):
        Cluster(state=taken, nodes=3)
    assert Cluster(state=taken, clock="auto").clock.mode == "auto"


def test_a_cluster_without_pods_is_taken_outside_of_its_loop() -> None:
    """Given a cluster that never had a pod, whose loop does not run at the moment / when a snapshot
    is taken, as the report of a failed test does / then there is one, and nothing was started.
    """
    loop = asyncio.new_event_loop()
    cluster = cluster_of()
    try:
        loop.run_until_complete(cluster.start())
        assert decode(cluster.snapshot().encode()).revision == cluster.snapshot().revision
    finally:
        loop.run_until_complete(cluster.stop())
        loop.close()

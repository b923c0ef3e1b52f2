"""A cluster that is made as new, and what of it stays."""

import json
from pathlib import Path

import aiohttp
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, JOBS
from fakekube.testing.history import History

JOB = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: loaded, namespace: default}\n"


def told(cluster: Cluster) -> list[tuple[float, str, str, bytes]]:
    """All that happened, as bytes."""
    return [(change.time, change.type, change.name, change.event.record.data) for change in History.of(cluster).changes]


async def lived(cluster: Cluster) -> list[tuple[float, str, str, bytes]]:
    await cluster.client.create(JOBS, JOB)
    await cluster.advance("5m")
    return told(cluster)


@pytest.mark.parametrize("clock", ["manual", "auto"])
async def test_it_is_as_a_new_one(clock: str) -> None:
    """Given a cluster that has lived, in which time was stopped and a controller, too, when it is
    reset, then it has the history of a new one, byte for byte, and lives as that does.
    """
    async with Cluster(clock=clock, load=MAP, seed=3) as new:
        begun, life = told(new), await lived(new)
    async with Cluster(clock=clock, load=MAP, seed=3) as cluster:
        await lived(cluster)
        await cluster.client.delete(CONFIG_MAPS, "loaded", "default")
        await cluster.stop_controller("job")
        cluster.clock.pause()
        await cluster.reset()
        assert cluster.clock.paused == (clock == "manual")
        assert told(cluster) == begun
        assert await lived(cluster) == life


async def test_connections_and_the_port_stay_and_watches_end() -> None:
    """Given a served cluster with a client that watches, when it is reset, then the watch is told
    to begin anew, the client needs no other connection, the address is the same, and what the
    client had created is gone.
    """
    made = []
    tracing = aiohttp.TraceConfig()

    async def count(*_: object) -> None:
        made.append("connection")

    tracing.on_connection_create_end.append(count)
    maps = "/api/v1/namespaces/default/configmaps"
    async with Cluster(nodes=0, controllers="", clock="real") as cluster:
        server = await cluster.serve()
        url = server.url
        async with aiohttp.ClientSession(url, trace_configs=[tracing]) as http:
            async with http.post(maps, json={"metadata": {"name": "old"}}) as answer:
                assert answer.status == 201
            async with http.get(f"{maps}?watch=true") as watch:
                await cluster.reset()
                assert json.loads((await watch.read()).splitlines()[-1])["object"]["code"] == 410
            async with http.get(f"{maps}/old") as answer:
                assert answer.status == 404
        assert (server.url, made) == (url, ["connection"])


async def test_after_a_restore_it_is_what_it_was_made_as(tmp_path: Path) -> None:
    """Given a cluster that was restored to another one's snapshot, when it is reset, then it is
    what its own options say; one that began with a snapshot, the file of one here, goes back to
    that.
    """
    async with Cluster(clock="manual", nodes=0, controllers="") as other:
        await other.client.create(CONFIG_MAPS, {"metadata": {"name": "kept", "namespace": "default"}})
        other.snapshot().write(tmp_path / "file")
    async with Cluster(clock="manual", nodes=2) as cluster:
        await cluster.restore(tmp_path / "file")
        assert cluster.options.nodes == 0
        await cluster.reset()
        assert cluster.options.nodes == 2
        assert await cluster.client.get(CONFIG_MAPS, "kept", "default", missing_ok=True) is None
    async with Cluster(state=tmp_path / "file") as cluster:
        await cluster.client.delete(CONFIG_MAPS, "kept", "default")
        await cluster.advance("1h")
        await cluster.reset()
        assert await cluster.client.get(CONFIG_MAPS, "kept", "default")


async def test_what_was_counted_is_forgotten() -> None:
    """Given a cluster whose controllers have counted and whose log has requests, when it is reset,
    then both begin anew.
    """
    async with Cluster(clock="manual") as cluster:
        await lived(cluster)
        assert any(entry.verb == "create" and entry.resource == "jobs" for entry in cluster.apiserver.log)
        before = cluster.metrics
        await cluster.reset()
        assert not any(entry.resource == "jobs" and entry.verb == "create" for entry in cluster.apiserver.log)
        assert cluster.metrics is not before


async def test_a_failure_that_nobody_saw_is_raised_once() -> None:
    """Given a component that has failed, when the cluster is reset, then that raises its error, and
    the cluster is new.
    """
    async with Cluster(clock="manual", nodes=0) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "old", "namespace": "default"}})
        cluster.driver.fail(ZeroDivisionError("broken"))
        with pytest.raises(ZeroDivisionError, match="broken"):
            await cluster.reset()
        with pytest.raises(APIError, match="not found"):
            await cluster.client.get(CONFIG_MAPS, "old", "default")
        await cluster.reset()

"""Rules that never end: whoever waits is told why, and nobody waits for ever."""

import asyncio
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, JOBS, NODES
from fakekube.client.transport import TransportError
from fakekube.util.driver import Stalled
from tests.faults.asking import create, is_there, outcome
from tests.faults.test_latency import JOB

REFUSED = [
    {"error": "ServiceUnavailable"}, {"error": "TooManyRequests"}, {"error": "Unauthorized"}, {"cut": "before"}, {"cut": "after"},
    {"cut": "body"}, {"error": "ServiceUnavailable", "verbs": "list,watch"}, {"latency": "1h"}, {"latency": "1000000h"},
    {"error": "Conflict"}, {"watch": "stall"}, {"watch": "late", "lasting": "10000h"}, {"stale": True}]
"""Nothing comes of a Job while these last."""

HINDERED = [
    {"watch": "end"}, {"watch": "cut"}, {"watch": "expire"}, {"compact": True}, {"crash": "job"}, {"crash": "scheduler"},
    {"crash": "job", "moment": "after"}, {"error": "EtcdTimeout", "moment": "after", "verbs": "write"}]
"""A Job completes all the same."""


async def make(cluster: Cluster) -> None:
    """Create a Job, whatever is answered."""
    try:
        await cluster.client.create(JOBS, JOB, "default")
    except (APIError, TransportError):
        return


async def is_done(cluster: Cluster) -> bool:
    """Whether the Job has completed; what asks is no part of the experiment."""
    jobs = (await cluster.client.list(JOBS)).items
    return bool(jobs) and jobs[0].get("status", {}).get("succeeded") == 3


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("rule", [*REFUSED, *HINDERED], ids=str)
async def test_who_waits_is_told_why(rule: dict[str, Any], early: bool) -> None:
    """Given a rule for everything that never ends, from the beginning or later / when a cluster
    settles, time passes, and a test waits for a Job / then each returns: the Job is done, or the
    last names the rule.
    """
    async with asyncio.timeout(60), Cluster(nodes=1, faults=[{**rule, "optional": True}] if early else ()) as cluster:
        if not early:
            cluster.faults.add(**rule, optional=True)
        task = asyncio.ensure_future(make(cluster))
        await cluster.settle()
        await cluster.advance("1m")

        async def done() -> bool:
            return await is_done(cluster)

        if rule in HINDERED:
            await cluster.run_until(done, within="1h")
        else:
            with pytest.raises(Stalled, match=r"fault fault-1 \(.*\): \d+ of \d+ matching requests met it"):
                await cluster.run_until(done, within="1h")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    "rule", [{"error": "ServiceUnavailable"}, {"error": "Conflict"}, {"cut": "after"}, {"latency": "10s"}], ids=str)
async def test_a_cluster_comes_up_once_the_rule_is_over(rule: dict[str, Any]) -> None:
    """Given a server that fails for a minute from the beginning / when that is over / then the
    nodes are registered, and a Job runs.
    """
    async with Cluster(nodes=2, faults=[{**rule, "until": "1m"}]) as cluster:
        await cluster.advance("3m")
        nodes = (await cluster.client.list(NODES)).items
        assert [node["status"]["conditions"][-1]["status"] for node in nodes] == ["True", "True"]
        await make(cluster)

        async def done() -> bool:
            return await is_done(cluster)

        await cluster.run_until(done, within="10m")


async def test_a_garbage_collector_that_is_not_told_of_types() -> None:
    """Given a discovery that fails / when the garbage collector starts / then it starts, and asks
    again: later it collects.
    """
    refused = {"error": "ServiceUnavailable", "paths": "/api, /apis", "until": "1m"}
    async with Cluster(nodes=0, controllers="garbagecollector", faults=[refused]) as cluster:
        owner = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "owner"}}, "default")
        refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}]
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "owned", "ownerReferences": refs}}, "default")
        await cluster.client.delete(CONFIG_MAPS, "owner", "default")
        await cluster.settle()
        assert await is_there(cluster, "owned")
        await cluster.advance("2m")
        assert not await is_there(cluster, "owned")


# what is no part of the experiment


async def test_what_the_options_load_meets_no_fault() -> None:
    """Given manifests and a plan that refuses everything / when the cluster starts / then they are
    there, and what a test creates is refused.
    """
    manifest = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}]
    async with Cluster(nodes=0, controllers="", load=[manifest], faults=[{"error": "ServiceUnavailable"}]) as cluster:
        assert await is_there(cluster, "a")
        with pytest.raises(APIError, match="service unavailable"):
            await outcome(cluster, "b")


async def test_a_predicate_uses_no_fault_up() -> None:
    """Given a fault of the first two reads / when a predicate reads before the test does / then the
    test's own reads meet it.
    """
    async with Cluster(nodes=0, controllers="") as cluster:
        await create(cluster, "a")
        fault = cluster.faults.add(error="ServiceUnavailable", verbs="get", nth=[1, 2])

        async def there() -> bool:
            return (await cluster.client.get(CONFIG_MAPS, "a", "default"))["metadata"]["name"] == "a"

        await cluster.run_until(there)
        assert (fault.seen, fault.met) == (0, 0)
        for _ in range(2):
            with pytest.raises(APIError, match="service unavailable"):
                await there()
        assert await there()


# requests that wait while another state takes the place of theirs


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("restored", [True, False])
async def test_a_request_that_waits_does_not_outlive_its_state(moment: str, restored: bool) -> None:
    """Given a write that waits, before its commit or after it / when the cluster is reset or
    restored meanwhile / then its connection breaks, and nothing of it is in the new state.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        began = cluster.snapshot()
        cluster.faults.add(latency="1m", verbs="create", moment=moment)
        task = asyncio.ensure_future(create(cluster, "a"))
        await cluster.settle()
        assert cluster.activity.asleep == 1
        await (cluster.restore(began) if restored else cluster.reset())
        await cluster.advance("2m")
        assert (await task).cut == 0
        assert not await is_there(cluster, "a")
        assert cluster.activity.asleep == 0
        cluster.faults.clear()
        assert (await create(cluster, "b")).status == 201

"""Numbers at the edge of what a field holds: through the API, all controllers and the kubelet."""

import gzip
import logging
from typing import Any

import pytest

from fakekube.apimachinery import meta
from fakekube.client.resources import CRON_JOBS, JOBS, NODES, PODS, STATEFUL_SETS
from fakekube.composition import snapshot
from fakekube.composition.cluster import Cluster
from fakekube.composition.options import ClusterOptions, OptionError

LARGEST = 2**63 - 1
COUNTS = [LARGEST, LARGEST - 1, 2**62, 9_223_372_037, 9_223_372_036]
"""The last of them is the largest that Go's durations hold, in seconds."""


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    """A pod that runs for ever."""
    containers = [{"name": "c", "image": "nginx", **spec.pop("container", {})}]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": containers, **spec}}


def no_tracebacks(caplog: pytest.LogCaptureFixture) -> bool:
    """Whether no controller has failed with anything but an error of the API."""
    return not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


@pytest.mark.parametrize("count", COUNTS)
async def test_a_pod_with_a_huge_grace_period_is_deleted(count: int, caplog: pytest.LogCaptureFixture) -> None:
    """Given a pod that may take int64 seconds to end, when it is deleted, then it goes, and all
    that is told has a time.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        hooks = {"lifecycle": {"preStop": {"sleep": {"seconds": count}}}}
        for name, container in (("p", {}), ("q", hooks)):
            await cluster.client.create(PODS, pod(name, terminationGracePeriodSeconds=count, container=container))
        await cluster.clock.advance("1m")
        for name in ("p", "q"):
            going = await cluster.client.delete(PODS, name, "default")
            assert going is None or len(going["metadata"].get("deletionTimestamp", "2026-01-01T00:00:00Z")) == 20
            again = await cluster.client.delete(PODS, name, "default", grace_period_seconds=count, missing_ok=True)
            assert again is None or again["metadata"]["deletionGracePeriodSeconds"] >= 0
        await cluster.clock.advance("1h")
        assert await cluster.client.get(PODS, "p", "default", missing_ok=True) is None
        assert no_tracebacks(caplog)


@pytest.mark.parametrize("count", COUNTS)
async def test_controllers_live_with_counts_of_seconds_near_int64(count: int, caplog: pytest.LogCaptureFixture) -> None:
    """Given Jobs, CronJobs and tolerations of int64 seconds, when a day passes, then no controller
    has failed at them.
    """
    ends = {"restartPolicy": "Never", "terminationGracePeriodSeconds": count}
    template = {"spec": {"containers": [{"name": "c", "image": "nginx"}], **ends}}
    spec = {"activeDeadlineSeconds": count, "template": template}
    async with Cluster(nodes=1, clock="manual") as cluster:
        create = cluster.client.create
        await create(JOBS, {"metadata": {"name": "j", "namespace": "default"}, "spec": spec})
        await create(CRON_JOBS, {"metadata": {"name": "c", "namespace": "default"}, "spec": {
            "schedule": "@hourly", "startingDeadlineSeconds": count, "jobTemplate": {"spec": spec}}})
        await create(PODS, pod(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": count}]))
        await cluster.clock.advance("1m")
        node = (await cluster.client.list(NODES)).items[0]
        await cluster.client.patch(NODES, meta.name_of(node), "", {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
        await cluster.clock.advance("24h")
        left = await cluster.client.get(PODS, "p", "default", missing_ok=True)
        assert (left is None) == (count == 2**62), "what wraps to nothing is over at once, all else is for ever or for centuries"
        assert no_tracebacks(caplog)


async def test_clocks_near_their_end_go_on(caplog: pytest.LogCaptureFixture) -> None:
    """Given a cluster whose clock is set to the last time it may have, when pods live there, then
    nothing fails.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.clock.set("9699-12-31T00:00:00Z")
        await cluster.client.create(PODS, pod())
        await cluster.clock.advance("1h")
        assert (await cluster.client.get(PODS, "p", "default"))["status"]["phase"] == "Running"
        assert no_tracebacks(caplog)


async def test_a_set_of_two_thousand_million_replicas_is_made_in_bursts() -> None:
    """Given a StatefulSet of as many replicas as an int32 holds, when it is made, then pods come
    one after the other.
    """
    spec = {"replicas": 2**31 - 1, "serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(STATEFUL_SETS, {"metadata": {"name": "s", "namespace": "default"}, "spec": spec})
        await cluster.clock.advance("5s")
        found = await cluster.client.get(STATEFUL_SETS, "s", "default")
        assert 0 < found["status"]["replicas"] < 1000


@pytest.mark.parametrize("start", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_cluster_cannot_start_where_no_clock_can_be(start: str) -> None:
    """Given a start at the edge of all years, when options are made of it, then that is an
    OptionError.
    """
    with pytest.raises(OptionError, match="a clock holds the times from"):
        ClusterOptions.of(start=start)


def test_a_snapshot_that_unpacks_to_a_thousand_times_its_size_is_refused() -> None:
    """Given a small file that unpacks to much, when it is read, then it is refused before all of it
    is unpacked.
    """
    bomb = gzip.compress(b"0" * (100 << 20))
    assert len(bomb) < 1 << 20
    with pytest.raises(snapshot.SnapshotError, match=f"its {len(bomb)} bytes unpack to more than"):
        snapshot.decode(bomb)

"""Controllers whose caches are behind what they wrote themselves, for long."""

import pytest

from fakekube.client.resources import DAEMON_SETS, JOBS, PODS, REPLICA_SETS
from fakekube.composition.cluster import Cluster

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SELECTED = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
FAILING = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
TOUCHED = {"metadata": {"annotations": {"touched": "yes"}}}


@pytest.mark.parametrize(("release", "pods"), [("1.37", 2), ("1.35", 4)])
@pytest.mark.parametrize(("resource", "spec"), [
    (REPLICA_SETS, {"replicas": 2, **SELECTED}), (DAEMON_SETS, SELECTED),
    (JOBS, {"parallelism": 2, "completions": 2, "template": FAILING})], ids=lambda value: getattr(value, "plural", ""))
async def test_pods_that_are_not_seen_for_long_are_not_made_again(resource, spec, release, pods):
    """Given a controller that has made two pods, which its cache does not show / when it has waited
    for them for longer than five minutes, and is to look again / then it makes no others; before
    1.36 it does.
    """
    async with Cluster(nodes=2, clock="manual", kubernetes_version=release, controllers="*,-scheduler") as cluster:
        await cluster.client.create(PODS, {"metadata": {"name": "other", "namespace": "default"}, "spec": TEMPLATE["spec"]})
        await cluster.advance("10s")
        await cluster.client.delete(PODS, "other", "default", grace_period_seconds=0)
        await cluster.advance("10s")
        with cluster.faults.add(watch="stall", resources="pods", lasting="20m"):
            await cluster.client.create(resource, {"metadata": {"name": "x", "namespace": "default"}, "spec": spec})
            await cluster.advance("6m")
            await cluster.client.patch(resource, "x", "default", TOUCHED)
            await cluster.advance("1m")
            assert len((await cluster.client.list(PODS, "default")).items) == pods
        await cluster.advance("10m")
        if resource != JOBS:
            assert len((await cluster.client.list(PODS, "default")).items) == 2

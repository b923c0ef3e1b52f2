"""Aggregated APIs of add-ons, and of clusters in the background."""

import json

from fakekube.apimachinery.http import Request
from fakekube.composition.cluster import Cluster
from fakekube.runtime import AddOn, AggregatedAPI
from fakekube.testing.background import BackgroundCluster
from tests.aggregator.servers import API_SERVICES, NAME, PATH, Fish
from tests.aggregator.test_handlers import ask, read


async def test_an_addon_brings_its_apis() -> None:
    """Given an add-on with a Handler / when a cluster runs it / then the Handler answers, with the
    priorities that the add-on names.
    """
    addon = AddOn("pond", apis=(AggregatedAPI(NAME, Fish(), group_priority=7, version_priority=8),))
    async with Cluster(controllers="", extra=[addon]) as cluster:
        await cluster.settle()
        spec = (await read(cluster, f"{API_SERVICES}/{NAME}"))["spec"]
        assert (spec["groupPriorityMinimum"], spec["versionPriority"]) == (7, 8)
        assert (await ask(cluster, f"{PATH}/fischers")).status == 200


def test_a_cluster_in_the_background_has_them() -> None:
    """Given a cluster in the background / when a Handler is to answer for a version / then it does.
    """
    with BackgroundCluster(controllers="") as cluster:
        cluster.aggregate(NAME, Fish())
        cluster.settle()
        answer = cluster.call(lambda inner: inner.apiserver.handle(Request("GET", f"{PATH}/fischers")))
        assert json.loads(answer.body)["kind"] == "FischerList"

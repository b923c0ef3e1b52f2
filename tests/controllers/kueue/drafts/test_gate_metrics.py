"""The three counters of KEP-976 about gates: PodGateMetrics."""

import pytest

from fakekube.composition.cluster import Cluster
from fakekube_controllers import kueue
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from tests.controllers.kueue.pods.conftest import Pods, manifest, member
from tests.controllers.kueue.pods.test_any_group import queue
from tests.controllers.world import CONTROLLERS

COUNTED = Configuration(features=Features(PodGateMetrics=True))
NAMES = ("pods_gated_total", "pods_ungated_total", "pods_rejected_total")


def figures(world):
    return tuple(world.cluster.metrics.value(f"kueue_{name}") for name in NAMES)


async def test_gates_are_counted():
    """Given quota for one of two pods, when both come, then two were gated and one ungated; a pod
    that its group has too many is gated and rejected; a pod that goes while it is gated was not
    ungated.
    """
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon(COUNTED)]) as cluster:
        world = Pods(cluster, COUNTED)
        await queue(cluster.client, "1")
        await world.advance(2)
        await world.add(manifest("one", cpu="600m"), manifest("two", cpu="600m"))
        assert figures(world) == (2, 1, 0)
        await world.add(member("a", count=1), member("b", count=1))
        await world.advance(2)
        assert figures(world) == (4, 2, 1)
        await world.remove("two")
        assert figures(world) == (4, 2, 1)


async def test_without_the_gate_there_are_no_such_counters():
    """Given Kueue as it is, when a pod comes, then nobody counts its gates."""
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon()]) as cluster:
        world = Pods(cluster, Configuration())
        await queue(cluster.client)
        await world.add(manifest("one"))
        with pytest.raises(KeyError):
            figures(world)

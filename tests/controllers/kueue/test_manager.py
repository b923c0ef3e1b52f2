"""Kueue as a component: it starts, stops, and starts again with nothing but the objects."""

from fakekube.composition.cluster import Cluster
from fakekube_controllers.kueue import addon


async def test_a_restart_makes_everything_anew():
    """Given a cluster with Kueue When it is stopped and started Then what its controllers share is
    gone while it is stopped, and another one afterwards."""
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[addon()]) as cluster:
        manager = cluster.component("kueue")
        first = manager.kueue
        assert first is not None
        await cluster.stop_controller("kueue")
        assert manager.kueue is None
        await cluster.start_controller("kueue")
        await cluster.settle()
        assert cluster.component("kueue").kueue not in (None, first)

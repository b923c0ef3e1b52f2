"""A cluster with the integrations of Kueue, JobSet and LeaderWorkerSet: the test plays Kueue's
scheduler and the kubelet.
"""

import pytest

from fakekube.composition.cluster import Cluster
from fakekube_controllers import jobset, leaderworkerset
from fakekube_controllers.kueue.configuration import Configuration
from tests.controllers.kueue.jobs.conftest import integrations
from tests.controllers.kueue.pods.conftest import Pods
from tests.controllers.world import CONTROLLERS


@pytest.fixture
def configuration():
    """What Kueue is told; a test may override it."""
    return Configuration()


@pytest.fixture
async def apps(configuration):
    extra = [jobset.addon(), leaderworkerset.addon(), integrations(configuration)]
    controllers = f"{CONTROLLERS},deployment,replicaset,statefulset"
    async with Cluster(nodes=0, clock="manual", controllers=controllers, extra=extra) as cluster:
        world = Pods(cluster, configuration)
        await world.flavor(nodeLabels={"zone": "a"})
        yield world

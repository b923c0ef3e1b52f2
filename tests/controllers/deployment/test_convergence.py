"""Whatever happens to a Deployment on its way, it comes to where it was told to go."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakekube.client.resources import DEPLOYMENTS, REPLICA_SETS
from tests.controllers.deployment.conftest import CONTROLLERS
from tests.controllers.workloads import NAMESPACE, Workloads, image_of
from tests.controllers.world import condition, is_active, manual_cluster

REPLICAS, SURGE, UNAVAILABLE = 5, 2, 1

STEPS = st.lists(st.one_of(
    st.tuples(st.just("image"), st.sampled_from(["one", "two", "three"])),
    st.tuples(st.just("ready"), st.integers(0, 6)),
    st.tuples(st.just("fail"), st.integers(0, 6)),
    st.tuples(st.just("delete"), st.integers(0, 6)),
    st.tuples(st.just("pause"), st.booleans()),
    st.tuples(st.just("restart"), st.sampled_from(["deployment", "replicaset"])),
    st.tuples(st.just("wait"), st.sampled_from([1, 30, 700])),
), max_size=12)


async def take(world, step, argument):
    """One thing that users, kubelets or time do."""
    pods = [pod for pod in await world.pods() if is_active(pod)]
    if step == "image":
        await world.set_image(DEPLOYMENTS, argument)
    elif step == "pause":
        await world.patch(DEPLOYMENTS, paused=argument)
    elif step == "restart":
        await world.restart(argument)
    elif step == "wait":
        await world.advance(argument)
    elif argument < len(pods):
        await {"ready": world.ready, "fail": world.fail, "delete": world.drop}[step](pods[argument])
        await world.settle()


async def check_limits(world):
    """Never more than the surge allows is asked for."""
    sets = (await world.client.list(REPLICA_SETS, NAMESPACE)).items
    assert sum(found["spec"]["replicas"] for found in sets) <= REPLICAS + SURGE


async def play(steps, kind):
    rolling = {"maxSurge": SURGE, "maxUnavailable": UNAVAILABLE}
    strategy = {"type": kind} | ({"rollingUpdate": rolling} if kind == "RollingUpdate" else {})
    async with manual_cluster(CONTROLLERS) as cluster:
        world = Workloads(cluster)
        await world.create(DEPLOYMENTS, image="one", replicas=REPLICAS, strategy=strategy)
        for step, argument in steps:
            await take(world, step, argument)
            await check_limits(world)
        await world.patch(DEPLOYMENTS, paused=False)
        await world.ready_all()
        await world.advance(1)
        found = await world.deployment()
        assert {image_of(pod) for pod in await world.active()} == {image_of(found)}
        assert len(await world.active()) == REPLICAS
        status = found["status"]
        assert {status.get(name) for name in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")} == {REPLICAS}
        assert "unavailableReplicas" not in status
        assert condition(found, "Progressing")["reason"] == "NewReplicaSetAvailable"
        assert status["observedGeneration"] == found["metadata"]["generation"]


@given(steps=STEPS, kind=st.sampled_from(["RollingUpdate", "Recreate"]))
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_deployment_comes_to_its_end_whatever_happens(steps, kind):
    """Given a Deployment / when images change, pods become ready, fail or vanish, controllers
    restart and time passes / then never more pods are asked for than allowed, and once nothing
    happens any more the last image runs, and says so.
    """
    asyncio.run(play(steps, kind))

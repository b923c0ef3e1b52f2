"""Plays of groups of pods. The test is the kubelet, and there is no node."""

from typing import Any

from fakekube import Cluster
from fakekube.client.resources import PODS
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration
from tests.controllers.kueue.pods.conftest import Pods, member
from tests.controllers.kueue.pods.test_any_group import queue
from tests.controllers.kueue.restarts.dying import Play, cluster
from tests.controllers.world import CONTROLLERS, NAMESPACE

FAST = {names.POD_GROUP_FAST_ADMISSION_ANNOTATION: "true"}
SERVING = {names.POD_GROUP_SERVING_ANNOTATION: "true"}
HIGH = {names.WORKLOAD_PRIORITY_CLASS_LABEL: "high"}


async def begin(made: Cluster) -> Any:
    """A queue of two CPUs, in which higher priorities preempt."""
    world = Pods(made, Configuration())  # type: ignore[no-untyped-call]  # the helpers of tests are not typed
    await queue(made.client)  # type: ignore[no-untyped-call]
    preemption = {"preemption": {"withinClusterQueue": "LowerPriority"}}
    await made.client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": preemption})
    await made.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 100})
    await world.advance(3)
    return world


async def complete(made: Cluster) -> None:
    """A group of two roles runs; what its first role gives back is used by a second group, and what
    is left by a third; the first ends.
    """
    world = await begin(made)
    for name, cpu in (("a", "500m"), ("b", "500m"), ("c", "1")):
        await world.add(member(name, cpu=cpu))
    await world.add(member("x", group="x", count=1, cpu="1"))
    await world.add(member("y", group="y", count=1, cpu="1"))
    await world.advance(5)
    for name in "abc":
        await world.says(name, "Running", ready=True)
    for name in "abc":
        await world.says(name, "Succeeded")
        await world.advance(5)
    await world.says("x", "Running", ready=True)
    await world.advance(10)


async def excess(made: Cluster) -> None:
    """More pods come than the group has places, before and after it is admitted."""
    world = await begin(made)
    await world.add(member("a", count=2), member("b", count=2))
    await world.add(member("c", count=2))
    await world.advance(5)
    await world.add(member("d", count=2))
    for name in "ab":
        await world.says(name, "Running", ready=True)
    await world.add(member("e", count=2))
    await world.says("a", "Succeeded")
    await world.advance(40)


async def replacement(made: Cluster) -> None:
    """A pod fails and a pod is deleted; both are replaced; one more says that none is replaced
    any more.
    """
    world = await begin(made)
    for name in "abc":
        await world.add(member(name))
    await world.advance(5)
    for name in "abc":
        await world.says(name, "Running", ready=True)
    await world.says("b", "Failed")
    await world.advance(5)
    await world.add(member("r"))
    await world.remove("c")
    await world.advance(5)
    await world.add(member("s"))
    await world.advance(5)
    for name in "rs":
        await world.says(name, "Running", ready=True)
    await world.says("a", "Succeeded")
    await made.client.patch(
        PODS, "r", NAMESPACE, {"metadata": {"annotations": {names.RETRIABLE_IN_GROUP_ANNOTATION: "false"}}})
    await world.says("r", "Failed")
    await world.says("s", "Failed")
    await world.advance(40)


async def serving(made: Cluster) -> None:
    """A group that serves and is admitted by its first pod: a pod ends and is replaced; it goes
    with its Workload.
    """
    world = await begin(made)
    annotations = {**FAST, **SERVING}
    await world.add(member("a", annotations=annotations))
    await world.advance(5)
    await world.add(member("b", annotations=annotations), member("c", annotations=annotations))
    for name in "abc":
        await world.says(name, "Running", ready=True)
    await world.says("b", "Failed")
    await world.advance(5)
    await world.remove("b")
    await world.add(member("r", annotations=annotations))
    await world.advance(5)
    await world.add(member("z", group="z", count=1, annotations=annotations))
    await world.advance(5)
    await made.client.delete(names.WORKLOADS, "z", NAMESPACE)
    await world.advance(40)


async def preempted(made: Cluster) -> None:
    """A group of high priority takes the place of another, which is replaced and runs again."""
    world = await begin(made)
    low = {"group": "low", "count": 2, "cpu": "1"}
    await world.add(member("a", **low), member("b", **low))
    await world.advance(5)
    for name in "ab":
        await world.says(name, "Running", ready=True)
    await world.add(member("x", group="top", count=1, cpu="1", labels=HIGH))
    await world.advance(40)
    await world.add(member("a1", **low), member("b1", **low))
    await world.advance(5)
    await world.says("x", "Running", ready=True)
    await world.says("x", "Succeeded")
    await world.advance(10)


async def single(made: Cluster) -> None:
    """Single pods: one runs and ends, one is deleted while it waits, one is preempted."""
    world = await begin(made)
    labels = {names.POD_GROUP_NAME_LABEL: None}
    for name, more in (("a", {}), ("b", {}), ("c", HIGH)):
        pod = member(name, cpu="2", labels={**labels, **more})
        pod["metadata"]["labels"].pop(names.POD_GROUP_NAME_LABEL)
        pod["metadata"]["annotations"] = {}
        await world.add(pod)
        await world.advance(5)
        if name == "a":
            await world.says("a", "Running", ready=True)
    await world.remove("b")
    await world.advance(40)
    await world.says("c", "Running", ready=True)
    await world.says("c", "Succeeded")
    await world.advance(40)


def _scene() -> Any:
    return cluster(nodes=0, controllers=CONTROLLERS, extra=[kueue.addon()])


PLAYS = [
    Play(act.__name__, _scene, act) for act in (complete, excess, replacement, serving, preempted, single)]

"""Plays of Jobs: elastic ones, such that get places in a topology, such that are not ready in time,
and such that wait for admission checks. The test is the kubelet, and binds pods.
"""

from typing import Any

from fakekube import Cluster
from fakekube.client.resources import JOBS, PODS
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.admissionchecks.autoscaler import autoscaler
from fakekube_controllers.kueue.admissionchecks.deciding import Answer, Decision, admission_check
from fakekube_controllers.kueue.configuration import Configuration, RequeuingStrategy, WaitForPodsReady
from tests.controllers.kueue.jobs.conftest import manifest
from tests.controllers.kueue.jobs.queues import Queues
from tests.controllers.kueue.restarts.dying import Play, cluster
from tests.controllers.kueue.topology.conftest import CONTROLLERS as OF_TOPOLOGY
from tests.controllers.kueue.topology.conftest import REQUIRED, Topologies
from tests.controllers.world import CONTROLLERS, NAMESPACE

HIGH = {names.WORKLOAD_PRIORITY_CLASS_LABEL: "high"}
STRICT = {"preemption": {"withinClusterQueue": "LowerPriority"}}
NOT_READY = Configuration(wait_for_pods_ready=WaitForPodsReady(
    timeout_seconds=60.0, recovery_timeout_seconds=60.0,
    requeuing_strategy=RequeuingStrategy(backoff_limit_count=2, backoff_base_seconds=10)))
BLOCKING = Configuration(wait_for_pods_ready=WaitForPodsReady(
    timeout_seconds=60.0, block_admission=True, requeuing_strategy=RequeuingStrategy(backoff_base_seconds=10)))


async def begin(made: Cluster, *pods: int, **spec: Any) -> Any:
    """A queue for so many pods, and a high priority."""
    world = Queues(made, Configuration())  # type: ignore[no-untyped-call]  # the helpers of tests are not typed
    await made.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 100})
    await world.queue(*pods, **spec)
    return world


async def _change_queue(world: Any, **spec: Any) -> None:
    await world.client.patch(names.CLUSTER_QUEUES, "q", "", {"spec": spec})
    await world.advance(5)


async def _run_all(world: Any, ready: bool = True) -> None:
    """Let every pod that waits for nothing run."""
    for pod in await world.active():
        if not pod["spec"].get("schedulingGates") and pod["status"].get("phase") != "Running":
            await world.run(pod, ready=ready)
    await world.advance(3)


async def grows_and_shrinks(made: Cluster, **fields: Any) -> None:
    """An elastic Job grows twice, the second time into quota that it has to wait for; it shrinks,
    is evicted as a whole, comes back, and ends.
    """
    world = await begin(made, 6)
    indexed = "completionMode" in fields

    async def resize(size: int) -> None:
        spec = {"parallelism": size, **({"completions": size} if indexed else {})}
        await made.client.patch(JOBS, "j", NAMESPACE, {"spec": spec})
        await world.advance(4)

    await world.submit("j", 1, **{"completions": 1 if indexed else 9, **fields})
    await world.submit("other", 2, completions=2)
    await _run_all(world)
    for size in (3, 5, 6):
        await resize(size)
    await _run_all(world)
    for pod in (await made.client.list(PODS, NAMESPACE, label_selector="job-name=other")).items:
        await world.succeed(pod)
    await world.advance(5)
    await _run_all(world)
    await resize(2)
    await _change_queue(world, stopPolicy="HoldAndDrain")
    await world.advance(40)
    await _change_queue(world, stopPolicy="None")
    await _run_all(world)
    for _ in range(4):
        await world.succeed(*await world.active())
        await world.advance(5)
        await _run_all(world)


async def indexed(made: Cluster) -> None:
    """The same of a Job with indices."""
    await grows_and_shrinks(made, completionMode="Indexed")


async def preempts_as_it_grows(made: Cluster) -> None:
    """An elastic Job of high priority grows, and evicts others for that; it is itself evicted by
    a drain while a slice waits.
    """
    world = await begin(made, 5, **STRICT)
    await world.submit("low", 2)
    await world.submit("lower", 1, completions=1, annotations={})
    await world.submit("high", 1, labels={names.QUEUE_LABEL: "q", **HIGH})
    await world.scale(4, "high")
    await world.advance(10)
    await world.scale(9, "high")
    await world.scale(7, "high")
    await _change_queue(world, stopPolicy="HoldAndDrain")
    await world.scale(2, "high")
    await _change_queue(world, stopPolicy="None")
    await world.advance(20)
    await world.scale(3, "low")
    await world.advance(20)


async def preempts(made: Cluster) -> None:
    """A Job of high priority takes the quota of one of low priority; a third waits, a fourth runs.
    """
    world = await begin(made, 5, **STRICT)
    for name, size, labels in (("first", 4, {}), ("small", 1, HIGH), ("second", 4, HIGH), ("third", 3, {})):
        await made.client.create(
            JOBS, manifest(name, parallelism=size, completions=size, labels={names.QUEUE_LABEL: "q", **labels}))
        await world.advance(5)
    await world.advance(400)


async def moves_to_another_flavor(made: Cluster) -> None:
    """Jobs fill one flavor and then another; one is partially admitted, one deleted."""
    world = await begin(made, 3, 4, **STRICT)
    for name, size, fields in (
        ("a", 3, {}), ("b", 5, {"annotations": {names.JOB_MIN_PARALLELISM_ANNOTATION: "2"}}), ("c", 2, {}),
        ("d", 2, {"labels": {names.QUEUE_LABEL: "q", **HIGH}})):
        await made.client.create(JOBS, manifest(name, parallelism=size, completions=size, **fields))
        await world.advance(4)
        await _run_all(world)
    await made.client.delete(JOBS, "a", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    await made.client.patch(JOBS, "d", NAMESPACE, {"spec": {"suspend": True}})
    await world.advance(40)


async def not_ready(made: Cluster) -> None:
    """A Job is never ready and given up after it was queued again; one recovers too late; one is
    ready.
    """
    world = await begin(made, 4)
    for name in ("never", "once", "always"):
        await made.client.create(JOBS, manifest(name, parallelism=1, completions=1))
        await world.advance(2)
    for pod in await world.active():
        if pod["metadata"]["labels"]["job-name"] != "never":
            await world.run(pod)
    await world.advance(20)
    for pod in await world.active():
        if pod["metadata"]["labels"]["job-name"] == "once":
            await world.run(pod, ready=False)
    await world.advance(300)


async def blocking(made: Cluster) -> None:
    """While a Job is not ready nothing else is admitted."""
    world = await begin(made, 4)
    for name in ("a", "b", "c"):
        await made.client.create(JOBS, manifest(name, parallelism=1, completions=1))
        await world.advance(2)
    await world.advance(20)
    for _ in range(4):
        await _run_all(world)
        await world.advance(40)


def budget(workload: Any) -> Answer:
    """Ready at the second try; large ones are rejected once there are nodes for them."""
    if workload["spec"]["podSets"][0]["count"] > 2:
        states = {each["name"]: each["state"] for each in workload["status"]["admissionChecks"]}
        return "Rejected" if states["prov"] == "Ready" else None
    conditions = workload["status"].get("conditions", ())
    if any(each["type"] == "Requeued" for each in conditions):
        return Decision("Ready", "enough is left", [{"name": "main", "labels": {"paid-by": "research"}}])
    return Decision("Retry", "later", requeue_after_seconds=5)


async def checked(made: Cluster) -> None:
    """Jobs wait for a function and for nodes: one gets both at its second try, one is rejected, and
    a third waits until the first has ended.
    """
    check = {"controllerName": names.PROVISIONING_REQUEST_CONTROLLER_NAME, "parameters": {
        "apiGroup": names.GROUP, "kind": "ProvisioningRequestConfig", "name": "config"}}
    await made.client.create(names.ADMISSION_CHECKS, {"metadata": {"name": "prov"}, "spec": check})
    await made.client.create(names.PROVISIONING_REQUEST_CONFIGS, {"metadata": {"name": "config"}, "spec": {
        "provisioningClassName": "check-capacity.autoscaling.x-k8s.io"}})
    world = await begin(made, 3, admissionChecksStrategy={"admissionChecks": [{"name": "budget"}, {"name": "prov"}]})
    for name, size in (("a", 2), ("b", 3), ("c", 2)):
        await made.client.create(JOBS, manifest(name, parallelism=size, completions=size))
        await world.advance(20)
    await _run_all(world)
    await world.succeed(*await world.active())
    await world.advance(60)


async def placed(made: Cluster) -> None:
    """Jobs get racks and nodes; a node fails, and its pods get another; one Job has to wait until
    another has ended.
    """
    world = Topologies(made)  # type: ignore[no-untyped-call]
    await world.start("rack", "kubernetes.io/hostname")
    await world.nodes(a="r1", b="r1", c="r2", d="r2")
    rack = {REQUIRED: "rack"}
    await world.submit("one", 4, annotations=rack)
    await world.submit("two", 2, annotations={REQUIRED: "kubernetes.io/hostname"})
    await world.submit("three", 4, annotations=rack)
    await world.run("one")
    await world.run("two")
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    taken = next(iter(await world.places("two")))
    await world.change_node(taken, {"status": {"conditions": [ready]}}, "status")
    await world.delete_pods(*await world.pods_of("two"), grace_period_seconds=0)
    await world.advance(40)
    await world.run("two")
    await world.succeed(*await world.pods_of("one"))
    await world.advance(20)
    await world.run("three")
    await world.advance(5)


def _scene(configuration: Configuration | None = None, *more: Any) -> Any:
    return cluster(nodes=0, controllers=CONTROLLERS, extra=[kueue.addon(configuration), *more])


def topology_scene() -> Any:
    """With what topologies need."""
    return cluster(nodes=0, controllers=OF_TOPOLOGY)


PLAYS = [
    Play("grows and shrinks", _scene, grows_and_shrinks),
    Play("indexed", _scene, indexed),
    Play("preempts as it grows", _scene, preempts_as_it_grows),
    Play("preempts", _scene, preempts),
    Play("flavors", _scene, moves_to_another_flavor),
    Play("not ready", lambda: _scene(NOT_READY), not_ready),
    Play("blocking", lambda: _scene(BLOCKING), blocking),
    Play("checked", lambda: _scene(None, admission_check("budget", decide=budget), autoscaler(lambda _: "Provisioned")), checked),
    Play("placed", topology_scene, placed)]

"""Pods that need ConfigMaps and Secrets, images that do not exist, and probes that run commands."""

import pytest

from fakekube.client.resources import CONFIG_MAPS, EVENTS, PODS, SECRETS
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, World

CONFIG_MAP = {"metadata": {"name": "x", "namespace": NAMESPACE}, "data": {"k": "v"}}


@pytest.fixture
async def world():
    """A cluster of one node on manual time."""
    async with Cluster(nodes=1, clock="manual") as cluster:
        yield World(cluster)


async def run(world, container=None, volumes=(), annotations=None, **spec):
    """Create a pod and give it five seconds."""
    await world.client.create(PODS, {
        "metadata": {"name": "p", "namespace": NAMESPACE, "annotations": annotations or {}}, "spec": {
            "containers": [{"name": "main", "image": "nginx", **(container or {})}], "volumes": list(volumes), **spec}})
    await world.advance(5)


async def status(world):
    return (await world.client.get(PODS, "p", NAMESPACE))["status"]


async def state(world):
    """The phase, and what the container does: its reason, or its state."""
    found = await status(world)
    [(name, what)] = found["containerStatuses"][0]["state"].items()
    return found["phase"], what.get("reason", name)


async def messages(world, reason):
    return [each["message"] for each in (await world.client.list(EVENTS, NAMESPACE)).items if each["reason"] == reason]


@pytest.mark.parametrize(("container", "why", "resource"), [
    ({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k"}}}]},
     'configmap "x" not found', CONFIG_MAPS),
    ({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}}]}, 'secret "x" not found', SECRETS),
    ({"envFrom": [{"configMapRef": {"name": "x"}}]}, 'configmap "x" not found', CONFIG_MAPS),
    ({"envFrom": [{"secretRef": {"name": "x"}}]}, 'secret "x" not found', SECRETS),
])
async def test_a_variable_from_what_is_missing_holds_the_container(world, container, why, resource):
    """Given no such object / then the container is not made, and Event and status say why / when it
    appears / then it runs.
    """
    await run(world, container)
    assert await state(world) == ("Pending", "CreateContainerConfigError")
    assert (await status(world))["containerStatuses"][0]["state"]["waiting"]["message"] == why
    assert await messages(world, "Failed") == [f"Error: {why}"]
    data = {"data": {"k": "v" if resource is CONFIG_MAPS else "dg=="}}
    await world.client.create(resource, {**CONFIG_MAP, **data})
    await world.advance(1)
    assert await state(world) == ("Running", "running")


async def test_a_key_that_is_missing_holds_the_container_too(world):
    """Given a ConfigMap without the key / then the message names it / when the key is added / then
    the container runs.
    """
    await world.client.create(CONFIG_MAPS, {**CONFIG_MAP, "data": {}})
    await run(world, {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k"}}}]})
    assert await messages(world, "Failed") == ["Error: couldn't find key k in ConfigMap default/x"]
    await world.client.patch(CONFIG_MAPS, "x", NAMESPACE, {"data": {"k": "v"}})
    await world.advance(1)
    assert await state(world) == ("Running", "running")


@pytest.mark.parametrize(("source", "why"), [
    ({"configMap": {"name": "x"}}, 'configmap "x" not found'),
    ({"secret": {"secretName": "x"}}, 'secret "x" not found'),
    ({"projected": {"sources": [{"configMap": {"name": "x"}}, {"secret": {"name": "x"}}]}},
     'configmap "x" not found, secret "x" not found'),
])
async def test_a_volume_of_what_is_missing_holds_the_pod(world, source, why):
    """Given no such object / then nothing is started, and an Event says why / when it appears /
    then the pod runs.
    """
    await run(world, volumes=[{"name": "v", **source}], initContainers=[{"name": "first", "image": "busybox"}])
    assert await state(world) == ("Pending", "PodInitializing")
    assert (await status(world))["initContainerStatuses"][0]["restartCount"] == 0
    assert await messages(world, "FailedMount") == [f'MountVolume.SetUp failed for volume "v" : {why}']
    await world.client.create(CONFIG_MAPS, CONFIG_MAP)
    await world.client.create(SECRETS, {**CONFIG_MAP, "data": {}})
    await world.advance(3)
    assert await state(world) == ("Running", "running")


async def test_an_item_that_is_missing_holds_the_pod(world):
    """Given a Secret without the key that a volume shows / then the Event names the key."""
    await world.client.create(SECRETS, {**CONFIG_MAP, "data": {}})
    await run(world, volumes=[{"name": "v", "secret": {"secretName": "x", "items": [{"key": "k", "path": "p"}]}}])
    assert await state(world) == ("Pending", "ContainerCreating")
    assert await messages(world, "FailedMount") == [
        'MountVolume.SetUp failed for volume "v" : references non-existent secret key: k']


async def test_what_is_optional_may_be_missing(world):
    """Given references that are optional / then the pod runs."""
    await run(
        world, {"envFrom": [{"secretRef": {"name": "x", "optional": True}}],
                "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k", "optional": True}}}]},
        [{"name": "v", "configMap": {"name": "x", "optional": True}}])
    assert await state(world) == ("Running", "running")


async def test_a_pod_that_is_held_goes_when_it_is_deleted(world):
    """Given a pod that waits for a volume / when it is deleted / then it is gone."""
    await run(world, volumes=[{"name": "v", "configMap": {"name": "x"}}])
    await world.client.delete(PODS, "p", NAMESPACE)
    await world.advance(60)
    assert await world.client.get(PODS, "p", NAMESPACE, missing_ok=True) is None


async def test_a_held_pod_goes_on_in_a_fork(world):
    """Given a pod that waits for a variable / when the object is made in a fork / then the pod runs
    there, and only there.
    """
    await run(world, {"envFrom": [{"configMapRef": {"name": "x"}}]})
    async with world.cluster.fork() as cluster:
        other = World(cluster)
        await cluster.client.create(CONFIG_MAPS, CONFIG_MAP)
        await other.advance(5)
        assert await state(other) == ("Running", "running")
    assert await state(world) == ("Pending", "CreateContainerConfigError")


@pytest.mark.parametrize("image", ["nginx:does-not-exist", "registry.example.com/team/does-not-exist"])
async def test_an_image_that_does_not_exist_fails_to_pull(world, image):
    """Given an image that ends in ``does-not-exist`` / then it is not pulled, in containerd's
    words.
    """
    await run(world, {"image": image})
    assert await state(world) == ("Pending", "ImagePullBackOff")
    assert "not found" in (await messages(world, "Failed"))[0]


@pytest.mark.parametrize("answer", ['{"/probe --all": 1}', '{"/probe --all": {"exitCode": 1}}'])
async def test_an_exec_probe_asks_the_script(world, answer):
    """Given a probe with a command that the shell does not know / then what the pod's annotation
    says of it counts.
    """
    probe = {"exec": {"command": ["/probe", "--all"]}, "periodSeconds": 1}
    await run(world, {"readinessProbe": probe}, annotations={"fakekube.dev/exec": answer})
    assert (await status(world))["containerStatuses"][0]["ready"] is False
    await world.client.delete(PODS, "p", NAMESPACE, grace_period_seconds=0)
    await run(world, {"readinessProbe": probe}, annotations={"fakekube.dev/exec": '{"/probe --all": 0}'})
    assert (await status(world))["containerStatuses"][0]["ready"] is True


async def test_an_exec_probe_with_a_command_that_fails_fails(world):
    """Given a liveness probe that runs ``false`` / then the container is restarted when it has
    failed as often as it may.
    """
    await run(world, {"livenessProbe": {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 2}})
    assert (await status(world))["containerStatuses"][0]["restartCount"] > 0

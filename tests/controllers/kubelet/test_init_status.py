"""What kubectl shows of a pod while its init containers keep it back."""

import json

import pytest

from tests.controllers.kubelet.machine import container


async def shown(machine) -> str:
    """kubectl's column STATUS."""
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
    answer = await machine.client.request("GET", "/api/v1/namespaces/default/pods/p", accept=accept)
    return json.loads(answer.body)["rows"][0]["cells"][2]


@pytest.mark.parametrize("pull", ["0s", "3s"])
async def test_a_pod_shows_how_many_init_containers_have_ended(machine, pull):
    """Given two init containers of 5 s, their images there or to be pulled / then kubectl shows
    ``Init:0/2``, ``Init:1/2``, and ``PodInitializing`` while the app's image is pulled.
    """
    await machine.run(
        initContainers=[container("a", "sleep", "5"), container("b", "sleep", "5")], restart_policy="Always",
        annotations={"image-pull": pull})
    seen = []
    for _ in range(30):
        await machine.advance(0.5)
        seen.append(await shown(machine))
    told = [word for number, word in enumerate(seen) if number == 0 or word != seen[number - 1]]
    assert told == ["Init:0/2", "Init:1/2", *(["PodInitializing"] if pull == "3s" else []), "Running"]


async def test_containers_wait_for_their_pod_to_be_initialized(machine):
    """Given an init container that runs / then the app container says PodInitializing."""
    await machine.run(initContainers=[container("a", "sleep", "60")])
    await machine.advance(10)
    status = await machine.status()
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert "running" in status["initContainerStatuses"][0]["state"]


async def test_a_pod_without_init_containers_is_being_created(machine):
    """Given no init containers and an image that takes its time / then kubectl shows
    ContainerCreating.
    """
    await machine.run(annotations={"image-pull": "10s"})
    await machine.advance(5)
    assert await shown(machine) == "ContainerCreating"

"""Pods that come to a node past the scheduler, and what the node takes."""

import pytest

from fakekube.client.resources import NODES, PODS
from tests.controllers.kubelet.machine import container


async def put(machine, name="p", *, node="node-0", **spec):
    """Bind a pod at its creation."""
    await machine.client.create(PODS, {"metadata": {"name": name, "namespace": "default"}, "spec": {
        "nodeName": node, "containers": [container()], **spec}})
    await machine.cluster.settle()


def asks(**requests):
    return [container(resources={"requests": requests})]


@pytest.mark.parametrize(("spec", "reason", "message"), [
    ({"containers": asks(cpu="9")}, "OutOfcpu",
     "Node didn't have enough resource: cpu, requested: 9000, used: 1000, capacity: 8000"),
    ({"containers": asks(memory="64Gi")}, "OutOfmemory",
     "Node didn't have enough resource: memory, requested: 68719476736, used: 0, capacity: 34359738368"),
    ({"nodeSelector": {"disk": "fast"}}, "NodeAffinity",
     "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"),
    ({"containers": [container(ports=[{"containerPort": 80, "hostPort": 80}])]}, "NodePorts",
     "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"),
])
async def test_a_pod_that_does_not_fit_is_refused(machine, spec, reason, message):
    """Given a node with a pod on it / when one is bound to it that does not fit / then it has
    failed, in upstream's words.
    """
    await put(machine, "first", containers=[
        container(resources={"requests": {"cpu": "1"}}, ports=[{"containerPort": 80, "hostPort": 80}])])
    await put(machine, **spec)
    status = await machine.status()
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", reason, f"Pod was rejected: {message}")
    assert "containerStatuses" not in status
    assert (reason, message) in [(e["reason"], e["message"]) for e in await machine.events()]


async def test_what_has_ended_makes_room(machine):
    """Given a node that is full / when the pod on it has ended / then it takes another."""
    await put(machine, "first", containers=asks(cpu="8"), restartPolicy="Never")
    await machine.advance(3)
    await put(machine, containers=asks(cpu="8"))
    await machine.advance(2)
    assert await machine.phase() == "Running"


async def test_a_kubelet_that_is_back_knows_what_it_has_given(machine):
    """Given a node that is full / when the kubelet was stopped and started / then it refuses
    another pod as before.
    """
    await put(machine, "first", containers=asks(cpu="8"))
    await machine.advance(2)
    await machine.cluster.manager.stop_component("kubelet")
    await machine.cluster.manager.start_component("kubelet")
    await put(machine, containers=asks(cpu="8"))
    assert (await machine.status())["reason"] == "OutOfcpu"


async def test_a_node_has_places_for_so_many_pods(machine):
    """Given a node with one place / when two pods are bound to it / then the second has failed."""
    await machine.client.create(NODES, {"metadata": {"name": "small"}, "status": {"capacity": {"cpu": "4", "pods": "1"}}})
    await machine.advance(1)
    await put(machine, "first", node="small")
    await put(machine, node="small")
    assert (await machine.status())["reason"] == "OutOfpods"


async def test_a_node_that_is_being_shut_down_ends_its_pods_and_takes_no_more(machine):
    """Given a running pod / when its node shuts down / then the pod has failed for that, and
    another one is refused.
    """
    await put(machine, "first")
    await machine.advance(2)
    await machine.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": "shutdown"}}})
    await machine.advance(1)
    first = await machine.client.get(PODS, "first", "default")
    assert (first["status"]["phase"], first["status"]["reason"], first["status"]["message"]) == (
        "Failed", "Terminated", "Pod was terminated in response to imminent node shutdown.")
    await put(machine, tolerations=[{"operator": "Exists"}])
    assert (await machine.status())["reason"] == "NodeShutdown"

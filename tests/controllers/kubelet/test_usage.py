"""What containers use, for whoever serves metrics."""

import pytest

from fakekube.client.resources import NODES, PODS
from fakekube_controllers.kubelet.outcomes.annotations import InvalidOutcome
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from tests.controllers.kubelet.machine import Machine, container

MI = 2**20


def used(machine):
    found = machine.cluster.component("kubelet").server.stats.of_pod("default", "p")
    return found and {name: (usage.cpu_nanocores // 10**6, usage.memory_bytes // MI) for name, usage in found.items()}


async def test_what_is_said_is_used(machine):
    """Given annotations for the pod and for one container / then each running container uses what
    is said of it.
    """
    await machine.run(container("a"), container("b"), restart_policy="Always", annotations={
        "cpu-usage": "250m", "memory-usage": "64Mi", "cpu-usage.b": "2"})
    assert used(machine) == {}
    await machine.advance(2)
    assert used(machine) == {"a": (250, 64), "b": (2000, 64)}
    assert machine.cluster.component("kubelet").server.stats.of_node("node-0").cpu_nanocores == 2_250_000_000


async def test_usage_goes_by_time(machine):
    """Given steps in time / then the last that has come counts."""
    await machine.run(restart_policy="Always", annotations={"cpu-usage": "0s=100m,5m=900m,10m=200m"})
    seen = []
    for _ in range(3):
        await machine.advance(301)
        seen.append(used(machine)["main"][0])
    assert seen == [900, 200, 200]


async def test_usage_can_be_changed_while_it_runs(machine):
    """Given a running pod that said nothing / then it uses the default / when it is annotated /
    then what that says.
    """
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    assert used(machine) == {"main": (1, 8)}
    await machine.client.patch(PODS, "p", "default", {"metadata": {"annotations": {"fakekube.dev/cpu-usage": "3"}}})
    await machine.advance(0)
    assert used(machine) == {"main": (3000, 8)}


async def test_a_callback_may_say_it():
    """Given an Outcome with usage / then that is used."""
    async with Machine(outcome=lambda *_: Outcome(None, cpu="1500m", memory="1Gi")) as machine:
        await machine.run()
        await machine.advance(2)
        assert used(machine) == {"main": (1500, 1024)}


async def test_nothing_is_known_of_what_is_not_heard_of(machine):
    """Given no pod, and a node whose kubelet is stopped / then nothing is known."""
    kubelet = machine.cluster.component("kubelet")
    assert (kubelet.server.stats.of_pod("default", "nobody"), kubelet.server.stats.of_node("nowhere")) == (None, None)
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    await machine.client.patch(NODES, "node-0", body={"metadata": {"annotations": {"fakekube.dev/kubelet": "stopped"}}})
    await machine.cluster.settle()
    assert (used(machine), kubelet.server.stats.of_node("node-0")) == (None, None)


async def test_what_is_no_quantity_is_refused(machine):
    """Given an amount that is none / when somebody asks / then the annotation is named."""
    await machine.run(restart_policy="Always", annotations={"memory-usage": "much"})
    await machine.advance(2)
    with pytest.raises(InvalidOutcome, match=r"annotation fakekube\.dev/memory-usage: 'much'"):
        used(machine)

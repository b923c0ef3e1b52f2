"""Of nodes that look the same one is tried, and the victims are those of trying every node."""

import random

import pytest

from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status, unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.preemption import pods
from fakekube_controllers.scheduler.preemption.victims import Candidate, Units
from tests.controllers.scheduler.contexts import framework
from tests.controllers.scheduler.test_search import some_node

NODES = 120


def some_pod(rng, name, priority):
    requests = {"cpu": rng.choice(["500m", "1"]), "memory": "1Gi"}
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {
        "containers": [{"name": "c", "resources": {"requests": requests}}], "priority": priority}}


@pytest.mark.parametrize("seed", range(30))
def test_equal_nodes_are_tried_once(seed, monkeypatch):
    """Given nodes and pods made at random, many alike, when room is looked for on all of them,
    then the candidates and the reasons are those of trying every node, with fewer trials.
    """
    rng = random.Random(seed)
    cache = Cache()
    for number in range(NODES):
        name = f"n{number:03}"
        made = some_node(rng, name)
        made["status"]["allocatable"] = {"cpu": "2", "memory": "4Gi", "pods": "10"}
        cache.set_node(made)
        for each in range(rng.randrange(4)):
            cache.add_pod(some_pod(rng, f"{name}-{each}", rng.choice([0, 5, 20])), name)
    handle, snapshot, state = framework(), cache.snapshot(), CycleState()
    pod = pod_info(some_pod(rng, "new", 10))
    handle.run_pre_filter_plugins(state, pod, snapshot)
    attempt = pods.Attempt(handle, state, pod, snapshot, Units(None))
    expected = []
    for node in snapshot.infos():
        victims = sorted((each for each in attempt.units.victims([node]) if each.priority < 10), key=lambda each: each.importance)
        expected.append(pods._try_node(attempt, node, victims, ()) if victims else pods.NO_VICTIMS)
    tries, real = [], pods._try_node

    def counted(attempt, node, victims, budgets):
        tries.append(node.name)
        return real(attempt, node, victims, budgets)

    monkeypatch.setattr(pods, "_try_node", counted)
    found, text = pods.find_candidates(attempt, dict.fromkeys(snapshot.nodes, unschedulable("full")), (), NODES)
    assert found == [each for each in expected if isinstance(each, Candidate)]
    reasons = pods.histogram([each for each in expected if isinstance(each, Status)])
    assert text.message == f"0/{NODES} nodes are available: {reasons}."
    assert len(tries) < sum(each is not pods.NO_VICTIMS for each in expected)

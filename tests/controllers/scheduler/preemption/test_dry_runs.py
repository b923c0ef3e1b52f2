"""Of nodes that look the same one is tried, and the victims are those of trying every node."""

import random

import pytest

from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.queued import EntityType
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status, unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.preemption import pods
from fakekube_controllers.scheduler.preemption.victims import Candidate, Units, Victim
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
    then the candidates are those of trying every node, with fewer trials, and where there are none
    so are the reasons.
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
    statuses = dict.fromkeys(snapshot.nodes, unschedulable("full"))
    found, why_none = pods.find_candidates(attempt, statuses, (), NODES)
    assert found == [each for each in expected if isinstance(each, Candidate)]
    assert why_none is None
    assert len(tries) < sum(each is not pods.NO_VICTIMS for each in expected)
    rejections = [each if isinstance(each, Status) and each.is_rejection else pods.NOT_HELPFUL for each in expected]
    rejecting = {name: statuses[name] for name, each in zip(statuses, rejections, strict=True) if each is not pods.NOT_HELPFUL}
    none, why_none = pods.find_candidates(attempt, rejecting, (), NODES)
    reasons = pods.histogram(rejections)
    assert (none, why_none.message) == ([], f"0/{NODES} nodes are available: {reasons}.")


def made(name, cpu, priority=0):
    """A pod."""
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], "priority": priority}}


@pytest.mark.parametrize(("nominated", "large", "tried"), [
    (None, True, ["large"]),  # what is on the others above the pod leaves too little
    (made("earlier", "1", 10), True, ["large"]),  # of no less priority
    (made("earlier", "1", 9), True, ["nominated", "large"]),
    (None, False, ["high", "nominated"]),
])
def test_nodes_that_are_too_small_are_tried_to_hear_why(nominated, large, tried, monkeypatch):
    """Given nodes with too little room even when all go that may, as others are on them or are
    nominated for them, when room is found elsewhere, then they are not tried; when there is none
    they are, and it is said in the words of the filters what they lack.
    """
    cache = Cache()
    for name in ("high", "nominated", *(["large"] if large else [])):
        cache.set_node({"metadata": {"name": name}, "spec": {}, "status": {"allocatable": {"cpu": "2", "pods": "10"}}})
        cache.add_pod(made(f"{name}-low", "1"), name)
    cache.add_pod(made("high-high", "1", 20), "high")
    handle, snapshot, state, real, tries = framework(), cache.snapshot(), CycleState(), pods._try_node, []
    if nominated is not None:
        handle.nominator.add_nominated_pod(pod_info(nominated), NominatingInfo("nominated"))
    elif not large:
        handle.nominator.add_nominated_pod(pod_info(made("earlier", "1", 20)), NominatingInfo("nominated"))
    else:
        cache.add_pod(made("nominated-high", "1", 20), "nominated")
        snapshot = cache.snapshot()
    info = pod_info(made("new", "1500m", 10))
    handle.run_pre_filter_plugins(state, info, snapshot)
    attempt = pods.Attempt(handle, state, info, snapshot, Units(None))

    def noted(attempt, node, victims, budgets):
        tries.append(node.name)
        return real(attempt, node, victims, budgets)

    monkeypatch.setattr(pods, "_try_node", noted)
    found, why_none = pods.find_candidates(attempt, dict.fromkeys(snapshot.nodes, unschedulable("full")), (), 100)
    assert tries == tried
    assert [each.node_name for each in found] == [name for name in tried if large]
    assert (why_none and why_none.message) == (None if large else "0/2 nodes are available: 2 Insufficient cpu.")


@pytest.mark.parametrize(("nominated", "gone", "fits"), [
    ((), [("low", "n")], True), ((), [], False), ((), [("low", "elsewhere")], False),
    ([made("high", "1", 20)], [("low", "n")], True),  # it is there already
    ([made("new", "1500m", 10)], [("low", "n")], True),  # the pod itself
    ([made("other", "1", 20)], [("low", "n")], False),
])
def test_what_may_fit_once_others_have_gone(nominated, gone, fits):
    """Given a node of three CPUs with a pod that stays and one that may go / then another pod may
    fit if that one goes from there, and no others are to come.
    """
    cache = Cache()
    cache.set_node({"metadata": {"name": "n"}, "spec": {}, "status": {"allocatable": {"cpu": "3", "pods": "2"}}})
    for name, priority in (("high", 20), ("low", 0)):
        cache.add_pod(made(name, "1", priority), "n")
    handle, snapshot, state = framework(), cache.snapshot(), CycleState()
    for each in nominated:
        handle.nominator.add_nominated_pod(pod_info(each), NominatingInfo("n"))
    info, node = pod_info(made("new", "1500m", 10)), snapshot.all_nodes["n"]
    handle.run_pre_filter_plugins(state, info, snapshot)
    trials = pods.Trials(pods.Attempt(handle, state, info, snapshot, Units(None)))
    victims = [Victim(((node.pods[uid], name),), 0, EntityType.POD, 0.0) for uid, name in gone]
    assert trials.may_fit(node, victims) is fits

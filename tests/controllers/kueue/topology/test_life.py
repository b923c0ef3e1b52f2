"""Topologies end to end: from a Job's annotation to the node selectors of its pods."""

import random

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, NODES, PODS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from tests.controllers.kueue.topology.conftest import PREFERRED, REQUIRED, SIZE, SLICE, UNCONSTRAINED, Topologies, places_of
from tests.controllers.world import NAMESPACE, condition, true_conditions

GATE = {"name": "kueue.x-k8s.io/topology"}
RACK = "rack"


@pytest.mark.spec("KUEUE-165")
async def test_required_topology(world: Topologies) -> None:
    """Given racks of three nodes and two, when a Job must be in one and two nodes hold it, then it
    is in the tighter one, and its pods get the nodes as selectors and lose their gates.
    """
    await world.nodes(a="r1", b="r1", c="r1", d="r2", e="r2")
    await world.start(RACK, HOSTNAME)
    workload = await world.submit(annotations={REQUIRED: RACK})
    asked = workload["spec"]["podSets"][0]["topologyRequest"]
    assert asked == {"required": RACK, "podIndexLabel": "batch.kubernetes.io/job-completion-index"}
    assert places_of(workload) == {"d": 2, "e": 2}
    assert workload["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["levels"] == [HOSTNAME]
    job = await world.job()
    assert job["spec"]["template"]["spec"]["schedulingGates"] == [GATE]
    pods = await world.pods_of()
    assert sorted(pod["spec"]["nodeSelector"][HOSTNAME] for pod in pods) == ["d", "d", "e", "e"]
    assert not any(pod["spec"].get("schedulingGates") for pod in pods)


@pytest.mark.spec("KUEUE-165")
async def test_preferred_topology(world: Topologies) -> None:
    """Given racks of four CPUs and three, when a Job of five pods prefers one, then it gets both;
    and one of three pods the smaller.
    """
    await world.nodes(a="r1", b="r1", c="r2", d="r2 1")
    await world.start(RACK, HOSTNAME)
    assert places_of(await world.submit("five", 5, annotations={PREFERRED: RACK})) == {"a": 2, "b": 2, "d": 1}
    await world.client.delete(JOBS, "five", NAMESPACE, propagation_policy="Background")
    await world.advance(3)
    assert places_of(await world.submit("three", 3, annotations={PREFERRED: RACK})) == {"c": 2, "d": 1}


@pytest.mark.spec("KUEUE-166")
@pytest.mark.parametrize("annotations", [{UNCONSTRAINED: "true"}, {}])
async def test_unconstrained_topology(world: Topologies, annotations: dict[str, str]) -> None:
    """Given nodes of one to four CPUs, when a Job asks for none in particular, or nothing at all,
    then the tightest that holds it has it, and what no node holds takes the smallest first.
    """
    await world.nodes(a="r1 4", b="r1 1", c="r2 2", d="r2 3")
    await world.start(RACK, HOSTNAME)
    assert places_of(await world.submit("two", 2, annotations=annotations)) == {"c": 2}
    assert places_of(await world.submit("five", 5, annotations=annotations)) == {"b": 1, "d": 3, "a": 1}
    pods = await world.pods_of("two")
    assert [pod["metadata"]["annotations"][UNCONSTRAINED] for pod in pods] == ["true", "true"]


@pytest.mark.spec("KUEUE-167")
async def test_no_room_in_a_domain(world: Topologies) -> None:
    """Given quota and no room, when a Job waits, then it is told how many would fit and which nodes
    were left out; and it is admitted once a node is uncordoned.
    """
    await world.nodes(a="r1", b="r1", c="r2")
    await world.node("x", [{"key": "k", "value": "v", "effect": "NoSchedule"}], rack="r2")
    await world.change_node("b", {"spec": {"unschedulable": True}})
    await world.start(RACK, HOSTNAME)
    await world.submit("four", annotations={REQUIRED: RACK})
    prefix = "couldn't assign flavors to pod set main: "
    assert await world.why("four") == (
        f'{prefix}topology "t" allows to fit only 2 out of 4 pod(s). Total nodes: 3; excluded: taint "k=v:NoSchedule": 1')
    await world.submit("large", 1, "3", annotations={REQUIRED: RACK})
    assert await world.why("large") == (
        f'{prefix}topology "t" doesn\'t allow to fit any of 1 pod(s). Total nodes: 3; excluded: resource "cpu": 2, '
        'taint "k=v:NoSchedule": 1')
    await world.submit("nowhere", 1, annotations={REQUIRED: "zone"})
    assert await world.why("nowhere") == f'{prefix}Flavor "f" does not contain the requested level'
    await world.change_node("b", {"spec": {"unschedulable": None}})
    assert await world.places("four") == {"a": 2, "b": 2}


@pytest.mark.spec("KUEUE-168")
async def test_topology_that_ends_at_racks(world: Topologies) -> None:
    """Given a topology of blocks and racks, when a Job is admitted, then its domains are racks with
    their blocks, and so are the selectors of its pods.
    """
    await world.nodes(a="b1/r1", b="b1/r2", c="b2/r1")
    await world.start("block", RACK)
    assert places_of(await world.submit(annotations={REQUIRED: "block"})) == {"b1/r1": 2, "b1/r2": 2}
    found = {(pod["spec"]["nodeSelector"]["block"], pod["spec"]["nodeSelector"]["rack"]) for pod in await world.pods_of()}
    assert found == {("b1", "r1"), ("b1", "r2")}


@pytest.mark.spec("KUEUE-169")
async def test_indexed_job_by_rank(world: Topologies) -> None:
    """Given an indexed Job, when its pods are let go, then neighbours share a node."""
    await world.nodes(a="r1", b="r1", c="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit(count=6, annotations={REQUIRED: RACK}, completionMode="Indexed")
    found = {index: pod["spec"]["nodeSelector"][HOSTNAME] for index, pod in (await world.by_index()).items()}
    assert found == {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "c"}


@pytest.mark.spec("KUEUE-170")
async def test_slices(world: Topologies) -> None:
    """Given racks of three CPUs, when a Job has slices of two pods in a rack, then no rack has an
    odd number of pods.
    """
    await world.nodes(a="b1/r1", b="b1/r1 1", c="b1/r2", d="b1/r2 1")
    await world.start("block", RACK, HOSTNAME)
    asked = {REQUIRED: "block", SLICE: RACK, SIZE: "2"}
    found = places_of(await world.submit(annotations=asked))
    assert found["a"] + found.get("b", 0) == 2
    assert found["c"] + found.get("d", 0) == 2
    with pytest.raises(APIError, match="must not be greater than pod set count 1"):
        await world.submit("one", 1, annotations=asked)
    text = f"annotations.{REQUIRED}: Forbidden: required topology is not supported with elastic jobs"
    with pytest.raises(APIError, match=text):
        await world.submit("elastic", annotations={REQUIRED: "block"}, on_job={names.ELASTIC_JOB_ANNOTATION: "true"})


@pytest.mark.spec("KUEUE-171")
async def test_topology_in_use(world: Topologies) -> None:
    """Given a topology, when a flavor names it, then it stays until the flavor is gone; its levels
    may not change.
    """
    await world.start(RACK, HOSTNAME)
    [found] = (await world.client.list(names.TOPOLOGIES)).items
    assert found["metadata"]["finalizers"] == [names.RESOURCE_IN_USE_FINALIZER]
    with pytest.raises(APIError, match="field is immutable"):
        await world.client.patch(names.TOPOLOGIES, "t", "", {"spec": {"levels": [{"nodeLabel": RACK}]}})
    await world.client.delete(names.TOPOLOGIES, "t")
    await world.advance(2)
    assert (await world.client.get(names.TOPOLOGIES, "t"))["metadata"]["deletionTimestamp"]
    await world.client.delete(names.CLUSTER_QUEUES, "cq")
    await world.client.delete(names.RESOURCE_FLAVORS, "f")
    await world.advance(3)
    assert await world.client.get(names.TOPOLOGIES, "t", missing_ok=True) is None


@pytest.mark.spec("KUEUE-171")
async def test_topology_that_is_missing(world: Topologies) -> None:
    """Given a flavor, when its topology is not there, then its queue is not active, and Jobs wait;
    until the topology comes.
    """
    await world.nodes(a="r1")
    await world.start(topology=False)
    active = condition(await world.client.get(names.CLUSTER_QUEUES, "cq"), "Active")
    assert (active["status"], active["reason"]) == ("False", "TopologyNotFound")
    assert active["message"] == 'Can\'t admit new workloads: there is no Topology "t" for TAS flavor "f".'
    await world.submit(count=2)
    assert not await world.places()
    await world.topology(RACK, HOSTNAME)
    await world.advance(3)
    assert await world.places() == {"a": 2}


@pytest.mark.spec("KUEUE-172")
async def test_other_pods_take_room(world: Topologies) -> None:
    """Given a pod of nobody on a node, when a Job needs its room, then it waits, and gets it when
    the pod is over.
    """
    await world.nodes(a="r1")
    await world.start(RACK, HOSTNAME)
    other = {"metadata": {"name": "o", "namespace": NAMESPACE}, "spec": {"nodeName": "a", "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
    pod = await world.client.create(PODS, other)
    await world.submit(count=2, annotations={REQUIRED: RACK})
    assert "allows to fit only 1 out of 2 pod(s)" in await world.why()
    await world.set_status(pod, phase="Succeeded")
    await world.advance(13)
    assert await world.places() == {"a": 2}


@pytest.mark.spec("KUEUE-172")
async def test_pods_per_node(world: Topologies) -> None:
    """Given a node for two pods, when a Job has three small ones, then they do not fit."""
    await world.node("a", pods="2", rack="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit(count=3, cpu="100m", annotations={REQUIRED: RACK})
    assert "allows to fit only 2 out of 3 pod(s)" in await world.why()


@pytest.mark.spec("KUEUE-173")
async def test_node_that_is_lost(world: Topologies) -> None:
    """Given a running Job, when the node of two of its pods is deleted, then they get another one,
    and the Job is not evicted.
    """
    await world.nodes(a="r1", b="r1", c="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit(annotations={REQUIRED: RACK})
    assert await world.places() == {"a": 2, "b": 2}
    await world.run()
    await world.client.delete(NODES, "b")
    await world.advance(120)
    assert await world.places() == {"a": 2, "c": 2}
    workload = await world.workload()
    assert "Evicted" not in true_conditions(workload)
    assert not workload["status"].get("unhealthyNodes")
    assert sorted(pod["spec"]["nodeSelector"][HOSTNAME] for pod in await world.pods_of()) == ["a", "a", "c", "c"]


@pytest.mark.spec("KUEUE-173")
async def test_node_that_nothing_replaces(world: Topologies) -> None:
    """Given a Job that needs both nodes, when one is lost and there is no other, then it is
    evicted.
    """
    await world.nodes(a="r1", b="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit(annotations={REQUIRED: RACK})
    await world.run()
    await world.client.delete(NODES, "b")
    await world.advance(60)
    evicted = condition(await world.workload(), "Evicted")
    assert (evicted["status"], evicted["reason"]) == ("True", "NodeFailures")


@pytest.mark.spec("KUEUE-174")
async def test_preemption_in_a_domain(world: Topologies) -> None:
    """Given quota, and a rack that a Job of low priority fills, when one of high priority needs a
    rack, then that one goes, and not the one that leaves too little room.
    """
    for name, value in (("low", 1), ("high", 100)):
        await world.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
    await world.nodes(a="r1", b="r1", c="r2 1")
    await world.start(RACK, HOSTNAME, preemption={"withinClusterQueue": "LowerPriority"})
    await world.submit("small", 1, annotations={REQUIRED: RACK}, priority="low")
    await world.submit("victim", 4, annotations={REQUIRED: RACK}, priority="low")
    assert await world.places("small") == {"c": 1}
    await world.submit("high", 4, annotations={REQUIRED: RACK}, priority="high")
    await world.advance(10)
    assert await world.places("high") == {"a": 2, "b": 2}
    assert await world.places("small") == {"c": 1}
    preempted = condition(await world.workload("victim"), "Preempted")
    assert preempted["status"] == "True"


@pytest.mark.spec("KUEUE-169")
async def test_pod_group_by_the_index_of_its_pods(world: Topologies) -> None:
    """Given a group of pods with an index, when all are there, then neighbours share a node."""
    await world.nodes(a="r1", b="r1")
    await world.start(RACK, HOSTNAME)
    for index in (3, 1, 0, 2):
        await world.client.create(PODS, {
            "metadata": {
                "name": f"p{index}", "namespace": NAMESPACE,
                "labels": {names.QUEUE_LABEL: "q", names.POD_GROUP_NAME_LABEL: "g", "index": str(index)},
                "annotations": {
                    names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "4", REQUIRED: RACK,
                    names.POD_GROUP_POD_INDEX_LABEL_ANNOTATION: "index"}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}})
    await world.advance(4)
    found = {pod["metadata"]["name"]: pod["spec"]["nodeSelector"][HOSTNAME] for pod in await world.pods()}
    assert found == {"p0": "a", "p1": "a", "p2": "b", "p3": "b"}


@pytest.mark.spec("KUEUE-173")
async def test_node_with_a_taint(world: Topologies) -> None:
    """Given pods that nobody has put on their node yet, when the node gets a taint, then they fail,
    and those that come in their place go to another node.
    """
    await world.nodes(a="r1", b="r1", c="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit(annotations={REQUIRED: RACK})
    await world.change_node("a", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
    await world.advance(30)
    assert await world.places() == {"b": 2, "c": 2}
    assert sorted(pod["spec"]["nodeSelector"][HOSTNAME] for pod in await world.pods_of()) == ["b", "b", "c", "c"]
    failed = [condition(pod, "TerminatedByKueue") for pod in await world.pods() if pod["status"]["phase"] == "Failed"]
    assert [each["reason"] for each in failed] == ["UnschedulableOnAssignedNode"] * 2


@pytest.mark.spec("KUEUE-173")
async def test_two_nodes_lost_at_once(world: Topologies) -> None:
    """Given a Job on three nodes, when two of them are lost before there is another, then it is
    evicted.
    """
    await world.nodes(a="r1", b="r1", c="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit(count=6, annotations={REQUIRED: RACK})
    await world.client.delete(NODES, "b")
    await world.client.delete(NODES, "c")
    await world.advance(20)
    evicted = condition(await world.workload(), "Evicted")
    assert (evicted["status"], evicted["reason"]) == ("True", "NodeFailures")


async def test_restart_knows_what_is_taken(world: Topologies) -> None:
    """Given a Job and a pod of nobody on nodes, when Kueue is started anew, then what they take is
    still taken.
    """
    await world.nodes(a="r1", b="r1")
    await world.start(RACK, HOSTNAME)
    await world.submit("first", 2, annotations={REQUIRED: RACK})
    other = {"metadata": {"name": "o", "namespace": NAMESPACE}, "spec": {"nodeName": "b", "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
    await world.client.create(PODS, other)
    await world.submit("second", 2, annotations={REQUIRED: RACK})
    before = await world.why("second")
    assert "allows to fit only 1 out of 2 pod(s)" in before
    await world.cluster.restart_controller("kueue")
    await world.advance(30)
    assert await world.places("first") == {"a": 2}
    assert await world.why("second") == before
    assert not await world.places("second")


@pytest.mark.spec("KUEUE-173")
@pytest.mark.parametrize("seed", range(3))
async def test_nodes_come_and_go(world: Topologies, seed: int) -> None:
    """Given Jobs on nodes that come and go in any way, while Kueue is started anew or not, when all
    has settled, then every domain of a running Workload is there, and holds what is assigned to it.
    """
    rng = random.Random(seed)
    await world.nodes(**{name: f"r{place % 2}" for place, name in enumerate("abcdef")})
    await world.start(RACK, HOSTNAME)
    for place, count in enumerate((4, 3, 2)):
        await world.submit(f"j{place}", count, annotations={rng.choice((REQUIRED, PREFERRED)): RACK})
    there, number = list("abcdef"), 0
    for _ in range(8):
        if there and rng.random() < 0.6:
            await world.client.delete(NODES, there.pop(rng.randrange(len(there))))
        else:
            number += 1
            there.append(f"n{number}")
            await world.nodes(**{there[-1]: f"r{rng.randrange(2)}"})
        await world.advance(rng.choice((0.3, 1, 20, 60)))
        if seed % 2 and rng.random() < 0.6:
            await world.cluster.restart_controller("kueue")
    await world.advance(120)
    taken = dict[str, int]()
    for workload in (await world.client.list(names.WORKLOADS, NAMESPACE)).items:
        for node, count in places_of(workload).items():
            taken[node] = taken.get(node, 0) + count
        if places_of(workload):
            assert not workload["status"].get("unhealthyNodes")
    assert taken.keys() <= {*there}
    assert all(count <= 2 for count in taken.values())

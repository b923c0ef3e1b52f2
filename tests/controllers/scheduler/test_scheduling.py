"""Pods get nodes: which ones, when not, and what is said then."""

import pytest

from fakekube.client.resources import EVENTS, NODES, PODS
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, condition


class Nodes:
    """A cluster with a scheduler and nodes made by hand."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def node(self, name, *, cpu="4", pods="20", labels=None, taints=(), unschedulable=False, **capacity):
        resources = {"cpu": cpu, "memory": "8Gi", "pods": pods, **capacity}
        node = await self.client.create(NODES, {
            "metadata": {"name": name, "labels": labels or {}}, "spec": {"unschedulable": unschedulable},
            "status": {"capacity": resources, "allocatable": resources}})
        # the one that every new node has goes, as its kubelet would see to
        node["spec"]["taints"] = list(taints)
        await self.client.update(NODES, node)
        await self.cluster.settle()

    async def pod(self, name, *, cpu="1", image="i", ports=(), **spec):
        requests = {"cpu": cpu} if cpu else {}
        if "extended" in spec:
            requests |= spec.pop("extended")
        container = {"name": "main", "image": image, "resources": {"requests": requests, "limits": {
            key: value for key, value in requests.items() if "/" in key}}, "ports": list(ports)}
        await self.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"containers": [container], **spec}})
        await self.cluster.settle()
        return await self.where(name)

    async def where(self, name):
        return (await self.client.get(PODS, name, NAMESPACE))["spec"].get("nodeName")

    async def why(self, name):
        """The message of the condition that says why it has no node."""
        found = condition(await self.client.get(PODS, name, NAMESPACE), "PodScheduled")
        return found["message"] if found and found["status"] == "False" else None

    async def end(self, name, phase="Succeeded"):
        await self.client.patch(PODS, name, NAMESPACE, {"status": {"phase": phase}}, subresource="status")


@pytest.fixture
async def nodes():
    async with Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount") as cluster:
        yield Nodes(cluster)


async def test_a_pod_without_nodes_waits_for_one(nodes):
    """Given no node / then a pod says so / when a node comes / then it is bound to it, and events
    tell both.
    """
    assert await nodes.pod("a") is None
    assert await nodes.why("a") == "no nodes available to schedule pods"
    await nodes.node("n")
    await nodes.cluster.advance(2)
    assert await nodes.where("a") == "n"
    events = [e for e in (await nodes.client.list(EVENTS, NAMESPACE)).items if e["involvedObject"]["name"] == "a"]
    assert [(e["type"], e["reason"], e["action"], e["reportingComponent"]) for e in events] == [
        ("Warning", "FailedScheduling", "Scheduling", "default-scheduler"),
        ("Normal", "Scheduled", "Binding", "default-scheduler")]
    assert events[1]["message"] == "Successfully assigned default/a to n"


async def test_the_emptier_node_is_better(nodes):
    """Given two nodes alike / then the first in name order gets the first pod, and the other the
    next.
    """
    await nodes.node("one")
    await nodes.node("two")
    assert [await nodes.pod(name) for name in "abcd"] == ["one", "two", "one", "two"]


async def test_what_does_not_fit_says_what_lacks_and_fits_when_there_is_room(nodes):
    """Given a node that is taken / then a pod says what lacks / when what is there has ended / then
    it is bound.
    """
    await nodes.node("n", cpu="2")
    assert await nodes.pod("a", cpu="2") == "n"
    assert await nodes.pod("b", cpu="1") is None
    assert await nodes.why("b") == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")
    await nodes.end("a")
    await nodes.cluster.advance(2)
    assert await nodes.where("b") == "n"


@pytest.mark.parametrize(("node", "pod", "message"), [
    ({"taints": [{"key": "gpu", "value": "x", "effect": "NoSchedule"}]}, {}, "1 node(s) had untolerated taint(s)"),
    ({"unschedulable": True}, {}, "1 node(s) were unschedulable"),
    ({}, {"nodeSelector": {"disk": "fast"}}, "1 node(s) didn't match Pod's node affinity/selector"),
    ({"pods": "0"}, {}, "1 Too many pods"),
    ({}, {"extended": {"example.com/gpu": "1"}}, "1 Insufficient example.com/gpu"),
    ({}, {"cpu": "5", "extended": {"example.com/gpu": "1"}}, "1 Insufficient cpu, 1 Insufficient example.com/gpu"),
    ({}, {"cpu": "5"}, "1 Insufficient cpu"),
])
async def test_reasons_are_counted(nodes, node, pod, message):
    """Given a node that a pod cannot be on / then the pod says why."""
    await nodes.node("n", **node)
    assert await nodes.pod("a", **pod) is None
    assert (await nodes.why("a")).startswith(f"0/1 nodes are available: {message}. preemption: 0/1 nodes are available: 1 ")


@pytest.mark.parametrize(("node", "pod"), [
    ({"taints": [{"key": "gpu", "value": "x", "effect": "NoSchedule"}]}, {"tolerations": [{"key": "gpu", "operator": "Exists"}]}),
    ({"taints": [{"key": "a", "effect": "PreferNoSchedule"}]}, {}),
    ({"unschedulable": True}, {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}),
    ({"labels": {"disk": "fast"}}, {"nodeSelector": {"disk": "fast"}}),
    ({"example.com/gpu": "1"}, {"extended": {"example.com/gpu": "1"}}),
])
async def test_what_is_asked_for_is_found(nodes, node, pod):
    """Given a node that has, or a pod that bears, what is needed / then the pod is bound."""
    await nodes.node("n", **node)
    assert await nodes.pod("a", **pod) == "n"


async def test_taints_that_put_off_do_so(nodes):
    """Given a node with a PreferNoSchedule taint and a fuller one without / then the fuller one is
    taken.
    """
    await nodes.node("a", taints=[{"key": "x", "effect": "PreferNoSchedule"}])
    await nodes.node("b")
    assert [await nodes.pod(name) for name in ("p", "q")] == ["b", "b"]


async def test_preferred_nodes_are_taken_first(nodes):
    """Given a preference for a label / then the node with it gets the pod though another comes
    first.
    """
    await nodes.node("a")
    await nodes.node("b", labels={"disk": "fast"})
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["fast"]}]}
    preferred = [{"weight": 10, "preference": term}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    assert await nodes.pod("p", affinity=affinity) == "b"


async def test_a_node_named_by_affinity_is_the_only_one(nodes):
    """Given two nodes / when a pod's affinity names one / then it goes there / when it names
    neither / then it says so.
    """
    await nodes.node("a")
    await nodes.node("b")

    def named(name):
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}

    assert await nodes.pod("p", affinity=named("b")) == "b"
    assert await nodes.pod("q", affinity=named("c")) is None
    assert await nodes.why("q") == (
        "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")


async def test_room_that_a_resize_gives_back_is_used(nodes):
    """Given a pod that wishes for less than its kubelet has allocated for it / then what is
    allocated counts / when the kubelet has given it back / then a pod that waited for room is
    tried, and fits.
    """
    async def allocate(cpu):
        given = {"name": "main", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
        given["allocatedResources"] = {"cpu": cpu}
        await nodes.client.patch(PODS, "a", NAMESPACE, {"status": {"containerStatuses": [given]}}, subresource="status")
        await nodes.cluster.settle()

    await nodes.node("n", cpu="4")
    assert await nodes.pod("a", cpu="1") == "n"
    await allocate("4")
    assert await nodes.pod("b", cpu="3") is None
    assert "1 Insufficient cpu" in await nodes.why("b")
    await allocate("1")
    await nodes.cluster.advance(2)
    assert await nodes.where("b") == "n"


async def test_an_event_that_cannot_help_is_no_reason_to_try_again(nodes):
    """Given a pod that selects a label / when nodes without it come, and one has its heartbeat /
    then it is not tried / when one gets the label / then it is bound.
    """
    await nodes.node("a")
    assert await nodes.pod("p", nodeSelector={"disk": "fast"}) is None
    for name in ("b", "c"):
        await nodes.node(name)
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2030-01-01T00:00:00Z"}
    await nodes.client.patch(NODES, "a", "", {"status": {"conditions": [ready]}}, subresource="status")
    await nodes.cluster.advance(60)
    assert (await nodes.why("p")).startswith("0/1 nodes are available")
    await nodes.client.patch(NODES, "b", "", {"metadata": {"labels": {"disk": "fast"}}})
    await nodes.cluster.advance(1)
    assert await nodes.where("p") == "b"


async def test_a_host_port_is_given_once(nodes):
    """Given one node / when two pods want the same host port / then the second waits; another
    protocol would do.
    """
    await nodes.node("n")
    assert await nodes.pod("a", ports=[{"containerPort": 80, "hostPort": 80}]) == "n"
    assert await nodes.pod("b", ports=[{"containerPort": 80, "hostPort": 80}]) is None
    assert "1 node(s) didn't have free ports for the requested pod ports" in await nodes.why("b")
    assert await nodes.pod("c", ports=[{"containerPort": 80, "hostPort": 80, "protocol": "UDP"}]) == "n"


async def test_a_gated_pod_is_not_tried(nodes):
    """Given a pod with a gate / then it has no node and no event / when the gate goes / then it is
    bound.
    """
    await nodes.node("n")
    assert await nodes.pod("a", schedulingGates=[{"name": "example.com/wait"}]) is None
    assert (await nodes.client.list(EVENTS, NAMESPACE)).items == []
    pod = await nodes.client.get(PODS, "a", NAMESPACE)
    pod["spec"].pop("schedulingGates")
    await nodes.client.update(PODS, pod)
    await nodes.cluster.settle()
    assert await nodes.where("a") == "n"


async def test_pods_of_other_schedulers_are_left_alone(nodes):
    """Given a pod for another scheduler / then it has no node and no condition."""
    await nodes.node("n")
    assert await nodes.pod("a", schedulerName="mine") is None
    assert condition(await nodes.client.get(PODS, "a", NAMESPACE), "PodScheduled") is None


async def test_a_pod_without_nodes_is_tried_ever_later(nodes):
    """Given a pod and no node / then it is tried after each back-off, in windows of a second / when
    a node comes that does not help / then the next try finds it.
    """
    await nodes.pod("a", cpu="100")

    async def tries():
        events = (await nodes.client.list(EVENTS, NAMESPACE)).items
        return sum((event.get("series") or {}).get("count", 1) for event in events)

    counts = []
    for _ in range(8):
        counts.append(await tries())
        await nodes.cluster.advance(1)
    assert counts == [1, 1, 2, 2, 2, 3, 3, 3]
    await nodes.node("n")
    assert await nodes.why("a") == "no nodes available to schedule pods"
    await nodes.cluster.advance(10)
    assert (await nodes.why("a")).startswith("0/1 nodes")


async def test_a_bound_pod_is_not_bound_again_when_the_scheduler_restarts(nodes):
    """Given bound pods / when the scheduler stops and starts / then it counts them, and binds only
    what waits.
    """
    await nodes.node("n", cpu="2")
    assert await nodes.pod("a", cpu="2") == "n"
    await nodes.cluster.manager.stop_component("scheduler")
    assert await nodes.pod("b", cpu="1") is None
    await nodes.cluster.manager.start_component("scheduler")
    await nodes.cluster.advance(2)
    assert "Insufficient cpu" in await nodes.why("b")

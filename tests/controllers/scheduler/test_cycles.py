"""Plugins that let pods wait, nominate, reserve, raise: what the scheduler makes of it."""

import contextlib

import pytest

from fakekube.client.resources import EVENTS, NODES, PODS, Resource
from fakekube.composition.cluster import Cluster
from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.interface import PostFilterResult
from fakekube_controllers.scheduler.framework.status import SKIP, WAIT, error, unschedulable
from tests.controllers.world import NAMESPACE, condition

PRIORITY_CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)


class Plugin:
    """A plugin that the test tells what to say."""

    made: "Plugin"

    def __init__(self, args, handle):
        type(self).made, self.handle, self.said = self, handle, []


class Gatekeeper(Plugin):
    """Permit: lets pods wait that have the label ``waits``."""

    name = "Gatekeeper"

    def permit(self, state, pod, node_name):
        seconds = pod.pod["metadata"].get("labels", {}).get("waits")
        return (WAIT, float(seconds)) if seconds else (None, 0.0)

    def events_to_register(self):
        return []


class Slow(Plugin):
    """PreBind: takes its time for pods with the label ``slow``."""

    name = "Slow"

    def pre_bind_pre_flight(self, state, pod, node_name):
        return None if "slow" in pod.pod["metadata"].get("labels", {}) else SKIP

    async def pre_bind(self, state, pod, node_name):
        try:
            await self.handle.wait_for(lambda: self.said or None, 30)
        except TimeoutError:
            return error("took too long")
        return self.said[0] if self.said[0] != "go" else None


class Reserving(Plugin):
    """Reserve: keeps a list, and refuses pods with the label ``refused``."""

    name = "Reserving"

    def reserve(self, state, pod, node_name):
        self.said.append(f"+{pod.uid[:2]}")
        return unschedulable("no room to reserve") if "refused" in pod.pod["metadata"].get("labels", {}) else None

    def unreserve(self, state, pod, node_name):
        self.said.append(f"-{pod.uid[:2]}")

    def events_to_register(self):
        return []


class Nominating(Plugin):
    """PostFilter: nominates the first node for pods with priority, and says so of others."""

    name = "Nominating"

    async def post_filter(self, state, pod, snapshot, statuses):
        if not pod.priority:
            return None, unschedulable("not important")
        return PostFilterResult(NominatingInfo(next(iter(snapshot.nodes)))), None


class World:
    """A cluster with some plugins, and nodes of two cpus."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    async def node(self, name):
        resources = {"cpu": "2", "memory": "8Gi", "pods": "20"}
        made = await self.client.create(NODES, {
            "metadata": {"name": name}, "spec": {}, "status": {"capacity": resources, "allocatable": resources}})
        made["spec"]["taints"] = []
        await self.client.update(NODES, made)
        await self.cluster.settle()

    async def pod(self, name, *labels, cpu="1", **spec):
        container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
        await self.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": dict(label.split("=") for label in labels)},
            "spec": {"containers": [container], **spec}})
        await self.cluster.settle()
        return await self.where(name)

    async def get(self, name):
        return await self.client.get(PODS, name, NAMESPACE)

    async def where(self, name):
        return (await self.get(name))["spec"].get("nodeName")

    async def why(self, name):
        found = condition(await self.get(name), "PodScheduled")
        return (found["reason"], found["message"]) if found else None


@contextlib.asynccontextmanager
async def world(*plugins, nodes=1, **options):
    async with Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount",
                       scheduler_plugins=lambda _: plugins, **options) as cluster:
        made = World(cluster)
        for number in range(nodes):
            await made.node(f"n{number}")
        yield made


async def test_a_pod_that_waits_keeps_its_room_and_holds_nobody_up():
    """Given a plugin that lets a pod wait / then it has no node, but is nominated for it, and its
    room is taken / when another pod comes / then that one is bound meanwhile / when the plugin
    allows the first / then it is bound.
    """
    async with world(Gatekeeper) as w:
        assert await w.pod("a", "waits=60") is None
        assert (await w.get("a"))["status"]["nominatedNodeName"] == "n0"
        assert await w.pod("b") == "n0"
        assert await w.pod("c") is None
        assert "1 Insufficient cpu" in (await w.why("c"))[1]
        [waiting] = Gatekeeper.made.handle.waiting_pods()
        assert (waiting.node_name, waiting.pending_plugins) == ("n0", ["Gatekeeper"])
        waiting.allow("Somebody")
        waiting.allow("Gatekeeper")
        await w.cluster.settle()
        assert await w.where("a") == "n0"
        assert list(Gatekeeper.made.handle.waiting_pods()) == []


async def test_a_pod_that_waits_too_long_is_unschedulable():
    """Given a pod that waits / when its time is over / then it says so, its room is free for
    others, and it is nominated no more.
    """
    async with world(Gatekeeper) as w:
        await w.pod("a", "waits=300", cpu="2")
        assert await w.pod("b", cpu="2") is None
        await w.cluster.advance(299)
        assert await w.why("a") is None
        await w.cluster.advance(1)
        assert await w.why("a") == (
            "Unschedulable", "0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin Gatekeeper.")
        assert "nominatedNodeName" not in (await w.get("a"))["status"]
        assert await w.where("b") == "n0"


async def test_a_pod_that_is_rejected_while_it_waits_says_why():
    """Given a pod that waits / when a plugin rejects it / then it is told why; allowing it then
    comes too late / given another that is preempted there / then that is an error.
    """
    async with world(Gatekeeper) as w:
        await w.pod("a", "waits=60")
        [waiting] = Gatekeeper.made.handle.waiting_pods()
        assert waiting.reject("Gatekeeper", "not today")
        assert not waiting.reject("Gatekeeper", "twice")
        waiting.allow("Gatekeeper")
        await w.cluster.settle()
        assert await w.why("a") == ("Unschedulable", "0/1 nodes are available: 1 not today.")
        await w.pod("b", "waits=60")
        [waiting] = Gatekeeper.made.handle.waiting_pods()
        waiting.preempt("Gatekeeper", "for another")
        await w.cluster.settle()
        assert await w.why("b") == ("SchedulerError", "waiting on permit for pod: for another")


async def test_a_pod_that_is_deleted_while_it_waits_leaves_its_room():
    """Given a pod that waits / when it is deleted / then another has its room."""
    async with world(Gatekeeper) as w:
        await w.pod("a", "waits=60", cpu="2")
        assert await w.pod("b", cpu="2") is None
        await w.client.delete(PODS, "a", NAMESPACE)
        await w.cluster.settle()
        assert await w.where("b") == "n0"
        assert list(Gatekeeper.made.handle.waiting_pods()) == []


async def test_what_is_prepared_slowly_holds_nobody_up():
    """Given a PreBind plugin that takes its time for one pod / when another pod comes / then it is
    bound meanwhile / when the plugin is done, and an event comes / then the first is bound.
    """
    async with world(Slow) as w:
        assert await w.pod("a", "slow=yes") is None
        assert (await w.get("a"))["status"]["nominatedNodeName"] == "n0"
        assert await w.pod("b") == "n0"
        assert await w.pod("c") is None
        Slow.made.said.append("go")
        await w.cluster.advance(31)
        assert await w.where("a") == "n0"


async def test_what_cannot_be_prepared_is_an_error_and_tried_again():
    """Given a PreBind plugin that waits in vain / then the pod has a SchedulerError, its room is
    free, and it is tried again after its back-off.
    """
    async with world(Slow) as w:
        await w.pod("a", "slow=yes", cpu="2")
        assert await w.pod("b", cpu="2") is None
        await w.cluster.advance(30)
        assert await w.why("a") == ("SchedulerError", 'running PreBind plugin "Slow": took too long')
        assert await w.where("b") == "n0"


async def test_a_binding_can_be_cancelled_while_it_is_prepared():
    """Given a PreBind plugin that takes its time / when another plugin cancels the binding / then
    the pod is told so, and cancelling once more finds nothing.
    """
    async with world(Slow) as w:
        await w.pod("a", "slow=yes")
        handle, uid = Slow.made.handle, (await w.get("a"))["metadata"]["uid"]
        assert handle.cancel_pod_in_pre_bind(uid, "preempted")
        await w.cluster.settle()
        assert await w.why("a") == ("SchedulerError", "preempted")
        assert not handle.cancel_pod_in_pre_bind(uid, "again")


async def test_what_was_reserved_is_given_back():
    """Given a Reserve plugin that refuses a pod / then it is told of the end of it, and the pod
    says why / given one that is bound / then what it has reserved stays.
    """
    async with world(Reserving) as w:
        await w.pod("a", "refused=yes")
        uid = (await w.get("a"))["metadata"]["uid"][:2]
        assert await w.why("a") == ("Unschedulable", "0/1 nodes are available: 1 no room to reserve.")
        assert Reserving.made.said == [f"+{uid}", f"-{uid}"]
        assert await w.pod("b", cpu="2") == "n0"
        assert len(Reserving.made.said) == 3


async def test_a_nominated_pod_s_room_is_kept_from_those_of_no_more_priority():
    """Given a pod that a PostFilter plugin nominated for a full node / then its status names it /
    when the node is empty / then a pod of no more priority does not get its room, one of more does.
    """
    async with world(Nominating) as w:
        await w.client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 5})
        await w.pod("old", cpu="2")
        assert await w.pod("a", cpu="2", priorityClassName="high") is None
        assert (await w.get("a"))["status"]["nominatedNodeName"] == "n0"
        assert await w.pod("b", cpu="1") is None
        assert (await w.why("b"))[1].endswith(", not important")
        nominator = Nominating.made.handle.nominator
        assert [each.pod["metadata"]["name"] for each in nominator.nominated_pods_for_node("n0")] == ["a"]
        await w.client.delete(PODS, "old", NAMESPACE, grace_period_seconds=0)
        await w.cluster.settle()
        await w.cluster.advance(2)
        assert [await w.where(name) for name in ("a", "b")] == ["n0", None]
        assert list(nominator.nominated_pods_for_node("n0")) == []


class Raising(Plugin):
    """Raises wherever the pod's label says."""

    name = "Raising"

    def _raise(self, pod, point):
        if pod.pod["metadata"].get("labels", {}).get("raises") == point:
            raise RuntimeError(point)

    def pre_enqueue(self, pod):
        self._raise(pod, "pre_enqueue")

    def pre_filter(self, state, pod, snapshot):
        self._raise(pod, "pre_filter")

    def filter(self, state, pod, node):
        self._raise(pod, "filter")

    def score(self, state, pod, node):
        self._raise(pod, "score")
        return 0

    def reserve(self, state, pod, node_name):
        self._raise(pod, "reserve")

    def unreserve(self, state, pod, node_name):
        self._raise(pod, "unreserve")

    def permit(self, state, pod, node_name):
        self._raise(pod, "permit")
        return None, 0.0

    def pre_bind_pre_flight(self, state, pod, node_name):
        self._raise(pod, "pre_bind_pre_flight")

    async def pre_bind(self, state, pod, node_name):
        self._raise(pod, "pre_bind")

    async def post_filter(self, state, pod, snapshot, statuses):
        self._raise(pod, "post_filter")
        return None, unschedulable()

    async def bind(self, state, pod, node_name):
        self._raise(pod, "bind")
        return SKIP

    def post_bind(self, state, pod, node_name):
        self._raise(pod, "post_bind")


@pytest.mark.parametrize("point", [
    "pre_filter", "filter", "score", "reserve", "permit", "pre_bind_pre_flight", "pre_bind"])
async def test_a_plugin_that_raises_harms_only_its_pod(point):
    """Given a plugin that raises for one pod / then that one has a SchedulerError and keeps no
    room; the others are bound.
    """
    async with world(Raising, nodes=2) as w:
        assert await w.pod("a", f"raises={point}", cpu="2") is None
        reason, message = await w.why("a")
        assert (reason, point in message) == ("SchedulerError", True)
        assert [await w.pod(name, cpu="2") for name in "bc"] == ["n0", "n1"]
        events = [e for e in (await w.client.list(EVENTS, NAMESPACE)).items if e["involvedObject"]["name"] == "a"]
        assert {event["reason"] for event in events} == {"FailedScheduling"}


async def test_a_pod_whose_gate_raises_is_held():
    """Given a PreEnqueue plugin that raises for one pod / then that one waits; others are bound."""
    async with world(Raising) as w:
        assert await w.pod("a", "raises=pre_enqueue") is None
        assert await w.pod("b") == "n0"


async def test_a_post_filter_that_raises_keeps_nobody_from_the_queue():
    """Given a PostFilter plugin that raises for a pod that does not fit / then the pod says so, and
    is tried again when there is room.
    """
    async with world(Raising) as w:
        await w.pod("old", cpu="2")
        assert await w.pod("a", "raises=post_filter") is None
        assert (await w.why("a"))[1].endswith("RuntimeError('post_filter')")
        await w.client.delete(PODS, "old", NAMESPACE, grace_period_seconds=0)
        await w.cluster.settle()
        assert await w.where("a") == "n0"


async def test_attempts_are_counted():
    """Given pods that are bound, do not fit, wait, and meet an error / then the metrics tell how
    often, by profile, and how many pods wait in which queue.
    """
    async with world(Gatekeeper, Raising) as w:
        value = w.cluster.metrics.value
        await w.pod("bound")
        await w.pod("waits", "waits=5")
        await w.pod("large", cpu="9")
        await w.pod("gated", schedulingGates=[{"name": "example.com/g"}])
        await w.pod("broken", "raises=pre_filter")
        results = ("scheduled", "unschedulable", "error")
        assert [value("scheduler_schedule_attempts_total", result=each, profile="default-scheduler") for each in results] == [
            1, 1, 1]
        queues = ("active", "backoff", "unschedulable", "gated")
        assert [value("scheduler_pending_pods", queue=each) for each in queues] == [0, 1, 1, 1]
        await w.cluster.advance(5)
        assert value("scheduler_permit_wait_duration_seconds", result="Unschedulable") == 1
        assert value("scheduler_pod_scheduling_sli_duration_seconds", attempts="1") == 1
        assert value("scheduler_pod_scheduling_attempts") == 1

"""Extenders over HTTP: what they are asked, and what becomes of their answers."""

import json
from types import SimpleNamespace

import pytest
from aiohttp import web

from fakekube.client.resources import NODES, PODS, Resource
from fakekube.composition.cluster import Cluster
from fakekube_controllers.scheduler import extending
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework.extender import EXTENDER_NAME, FilterResult
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import FitError
from fakekube_controllers.scheduler.framework.types import pod_info
from tests.controllers.scheduler.contexts import algorithm
from tests.controllers.world import NAMESPACE, condition

POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


class Extending:
    """An extender that answers what the test says, and keeps what it was asked."""

    def __init__(self):
        self.asked, self.answers = [], {}

    async def answer(self, request):
        verb, asked = request.path.rpartition("/")[2], await request.json()
        self.asked.append((verb, asked))
        found = self.answers.get(verb, 404)
        if isinstance(found, int):
            return web.Response(status=found)
        return web.json_response(found(asked) if callable(found) else found)


class World:
    """A cluster with three nodes and an extender."""

    def __init__(self, cluster, extender):
        self.cluster, self.client, self.extender = cluster, cluster.client, extender

    async def pod(self, name, cpu="1", **resources):
        container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu, **resources}, "limits": resources}}
        await self.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"containers": [container]}})
        await self.cluster.settle()
        made = await self.client.get(PODS, name, NAMESPACE)
        found = condition(made, "PodScheduled") or {}
        return made["spec"].get("nodeName") or (found.get("reason"), found.get("message"))


@pytest.fixture
async def extended(aiohttp_server):
    """Makes a world with an extender of a configuration."""
    extender, opened = Extending(), []
    app = web.Application()
    app.router.add_post("/scheduler/{verb}", extender.answer)
    url = (await aiohttp_server(app)).make_url("/scheduler")

    async def make(**config):
        cluster = Cluster(nodes=0, clock="manual", controllers="scheduler,serviceaccount", feature_gates="workload-aware",
                          scheduler_config={**HEAD, "extenders": [{"urlPrefix": str(url), **config}]})
        opened.append(cluster)
        await cluster.start()
        for name in "abc":
            resources = {"cpu": "4", "memory": "8Gi", "pods": "20", "example.com/x": "9"}
            made = await cluster.client.create(NODES, {
                "metadata": {"name": name}, "spec": {}, "status": {"capacity": resources, "allocatable": resources}})
            await cluster.client.update(NODES, {**made, "spec": {"taints": []}})
        await cluster.settle()
        return World(cluster, extender)

    yield make
    for cluster in opened:
        await cluster.stop()


async def test_an_extender_narrows_the_nodes(extended):
    """Given an extender that lets one node pass / then pods go there / when it lets none pass /
    then the pod says why, by the words of the extender.
    """
    world = await extended(filterVerb="filter", nodeCacheCapable=True)
    world.extender.answers["filter"] = {"NodeNames": ["b"], "FailedNodes": {"a": "no", "c": "no"}}
    assert await world.pod("p") == "b"
    [(verb, asked)] = world.extender.asked
    assert (verb, asked["NodeNames"], asked["Nodes"], asked["Pod"]["metadata"]["name"]) == ("filter", ["a", "b", "c"], None, "p")
    world.extender.answers["filter"] = {
        "NodeNames": [], "FailedNodes": {"a": "too warm", "b": "too warm"}, "FailedAndUnresolvableNodes": {"c": "too cold"}}
    reason, message = await world.pod("q")
    assert reason == "Unschedulable"
    assert message.startswith("0/3 nodes are available: 1 too cold, 2 too warm.")


@pytest.mark.parametrize(("cpu", "plugins"), [("1", ("NodeResourcesFit", EXTENDER_NAME)), ("9", ("NodeResourcesFit",))])
async def test_who_has_rejected_a_pod(cpu, plugins):
    """Given a node that is too small and one that an extender rejects / when a pod fits neither /
    then the extender is among those that rejected it, but not where no node was left for it.
    """
    async def rejects(_pod, nodes):
        return FilterResult([], {node.name: "no" for node in nodes}, {})

    extender = SimpleNamespace(name="e", is_interested=lambda _: True, is_filter=True, filter=rejects)
    cache = Cache()
    for name, has in (("small", "500m"), ("large", "4")):
        cache.set_node({"metadata": {"name": name}, "spec": {}, "status": {"allocatable": {"cpu": has, "pods": "9"}}})
    info = pod_info({"metadata": {"name": "p", "uid": "p"}, "spec": {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
    with pytest.raises(FitError) as caught:
        await extending.schedule(algorithm(), [extender], CycleState(), info, cache.snapshot())
    assert caught.value.plugins == plugins


async def test_an_extender_without_a_cache_gets_the_nodes_themselves(extended):
    """Given an extender that keeps no nodes / then it gets them whole, and answers with nodes."""
    world = await extended(filterVerb="filter")
    world.extender.answers["filter"] = lambda asked: {"Nodes": {"items": asked["Nodes"]["items"][2:]}}
    assert await world.pod("p") == "c"
    assert world.extender.asked[0][1]["Nodes"]["items"][0]["status"]["allocatable"]["cpu"] == "4"


async def test_an_extender_s_scores_are_added(extended):
    """Given an extender that prefers a node / then pods go there while its weight is large / when
    it fails / then the plugins decide alone.
    """
    world = await extended(prioritizeVerb="prioritize", weight=5, nodeCacheCapable=True)
    world.extender.answers["prioritize"] = [{"Host": "a", "Score": 0}, {"Host": "c", "Score": 10}]
    assert await world.pod("p") == "c"
    world.extender.answers["prioritize"] = 500
    assert await world.pod("q") == "a"


async def test_an_extender_binds(extended):
    """Given an extender that binds / then it is told the pod and the node, and nobody else binds /
    when it says that it could not / then the pod has a SchedulerError.
    """
    world = await extended(bindVerb="bind")
    world.extender.answers["bind"] = {"Error": "not today"}
    assert await world.pod("p") == ("SchedulerError", "not today")
    (verb, asked), *_ = world.extender.asked
    assert (verb, asked["PodName"], asked["PodNamespace"], asked["Node"]) == ("bind", "p", NAMESPACE, "a")


@pytest.mark.parametrize(("ignorable", "found"), [(True, "a"), (False, "SchedulerError")])
async def test_an_extender_that_fails_is_ignored_if_that_is_said(extended, ignorable, found):
    """Given an extender that answers 500 / then pods are scheduled without it where it is
    ignorable, and else have a SchedulerError that says so.
    """
    world = await extended(filterVerb="filter", ignorable=ignorable)
    world.extender.answers["filter"] = 500
    seen = await world.pod("p")
    assert (seen if ignorable else seen[0]) == found
    if not ignorable:
        assert (seen[1].startswith("failed filter with extender at URL http://"), seen[1].endswith(", code 500")) == (True, True)


async def test_an_extender_is_asked_about_what_it_manages(extended):
    """Given an extender that manages a resource / then it is asked about pods that request it, and
    about no other.
    """
    world = await extended(filterVerb="filter", nodeCacheCapable=True, managedResources=[{"name": "example.com/x"}])
    world.extender.answers["filter"] = {"NodeNames": ["c"]}
    assert await world.pod("p") == "a"
    assert world.extender.asked == []
    assert await world.pod("q", **{"example.com/x": "1"}) == "c"


@pytest.mark.parametrize("answer", [{"NodeNames": ["z"]}, [], {"Error": "broken"}])
async def test_an_answer_that_makes_no_sense_is_an_error(extended, answer):
    """Given an extender that names a node that is not there, or answers something else / then the
    pod has a SchedulerError.
    """
    world = await extended(filterVerb="filter", nodeCacheCapable=True)
    world.extender.answers["filter"] = json.loads(json.dumps(answer))
    assert (await world.pod("p"))[0] == "SchedulerError"


async def test_an_extender_is_asked_about_every_pod_of_a_group(extended):
    """Given an extender that lets one node pass and a gang of three, then it is asked about each,
    and all go there; when it lets no node pass for the last, then none of the gang goes anywhere.
    """
    world = await extended(filterVerb="filter", nodeCacheCapable=True, prioritizeVerb="prioritize", weight=1)
    world.extender.answers["prioritize"] = [{"Host": "b", "Score": 10}]
    refused = ["q2"]

    def answer(asked):
        name = asked["Pod"]["metadata"]["name"]
        return {"NodeNames": [], "FailedNodes": dict.fromkeys("abc", "no")} if name in refused else {"NodeNames": ["b", "c"]}

    world.extender.answers["filter"] = answer
    for group in ("p", "q"):
        await world.client.create(POD_GROUPS, {"metadata": {"name": group, "namespace": NAMESPACE}, "spec": {
            "schedulingPolicy": {"gang": {"minCount": 3}}}})
        for number in range(3):
            await world.client.create(PODS, {"metadata": {"name": f"{group}{number}", "namespace": NAMESPACE}, "spec": {
                "schedulingGroup": {"podGroupName": group}, "containers": [{"name": "main", "image": "i"}]}})
    await world.cluster.settle()
    found = {each["metadata"]["name"]: each for each in (await world.client.list(PODS, NAMESPACE)).items}
    nodes = {name: each["spec"].get("nodeName") for name, each in found.items()}
    assert nodes == {"p0": "b", "p1": "b", "p2": "b", "q0": None, "q1": None, "q2": None}
    assert "0/3 nodes are available: 3 no." in condition(found["q2"], "PodScheduled")["message"]
    refused.clear()
    await world.cluster.advance("6m")
    found = (await world.client.list(PODS, NAMESPACE)).items
    assert [each["spec"].get("nodeName") for each in found] == ["b"] * 6


async def test_an_extender_that_fails_fails_the_group(extended):
    """Given an extender that cannot be asked and a gang, then its pods say so, and nothing of it
    stays reserved: when the extender is back, all of them are bound.
    """
    world = await extended(filterVerb="filter", nodeCacheCapable=True)
    await world.client.create(POD_GROUPS, {"metadata": {"name": "p", "namespace": NAMESPACE}, "spec": {
        "schedulingPolicy": {"gang": {"minCount": 4}}}})
    for number in range(4):
        requests = {"requests": {"cpu": "3"}}
        await world.client.create(PODS, {"metadata": {"name": f"p{number}", "namespace": NAMESPACE}, "spec": {
            "schedulingGroup": {"podGroupName": "p"}, "containers": [{"name": "main", "image": "i", "resources": requests}]}})
    world.extender.answers["filter"] = lambda asked: {"NodeNames": asked["NodeNames"]}
    await world.cluster.settle()
    assert "code 404" not in str((await world.client.list(PODS, NAMESPACE)).items)
    world.extender.answers.clear()
    await world.client.delete(PODS, "p3", NAMESPACE, grace_period_seconds=0)
    await world.client.patch(POD_GROUPS, "p", NAMESPACE, {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}, type="merge")
    await world.cluster.advance(4)
    found = (await world.client.list(PODS, NAMESPACE)).items
    assert ["code 404" in condition(each, "PodScheduled")["message"] for each in found] == [True, True, True]
    assert not any(each["spec"].get("nodeName") for each in found)
    world.extender.answers["filter"] = lambda asked: {"NodeNames": asked["NodeNames"]}
    await world.cluster.advance("6m")
    found = (await world.client.list(PODS, NAMESPACE)).items
    assert sorted(each["spec"].get("nodeName", "") for each in found) == ["a", "b", "c"]

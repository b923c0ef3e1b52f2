"""What plugins of users and webhooks may do wrong with gangs: nothing is stuck, or lost."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from fakekube.util.driver import Stalled
from fakekube.webhooks import AdmissionRequest, Denied
from fakekube_controllers.scheduler.framework.status import Code, Status
from tests.controllers.scheduler.groups.gangs import COMPOSITE_POD_GROUPS, Gangs, cluster_of_gangs
from tests.controllers.world import NAMESPACE

ENDS_SECONDS = 30.0  # on the wall: what ends at all is done in a fraction of it
ASYNC = ("post_filter", "pod_group_post_filter", "pre_bind", "bind")
NO = Status(Code.UNSCHEDULABLE, ("no",))
# methods of plugins, each with what it returns when all is well
METHODS: dict[str, Any] = {
    "pre_enqueue": None, "pre_filter": None, "filter": None, "pre_score": None, "score": 0, "normalize_score": None,
    "reserve": None, "unreserve": None, "permit": (None, 0), "pre_bind_pre_flight": None, "pre_bind": None,
    "bind": Status(Code.SKIP), "post_bind": None, "post_filter": (None, NO), "pod_group_post_filter": ({}, NO),
    "placement_feasible": None, "generate_placements": [("all", None)], "score_placement": 0, "normalize_placement_score": None,
    "sign_pod": "", "sign_node": "", "node_fields": None,
}
TOGETHER = [
    ("reserve", "unreserve"), ("score", "normalize_score"), ("score_placement", "normalize_placement_score"),
    ("pre_bind", "pre_bind_pre_flight"), ("sign_pod", "sign_node", "node_fields", "filter"),
]



def configuration_with(*replaced: str) -> Any:
    """A profile whose plugin is asked before those that would answer in its place."""
    first = [{"name": name} for name in ("Faulty", "DefaultPreemption", "DefaultBinder")]
    disabled = [*first, *({"name": name} for name in replaced)]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"enabled": first, "disabled": disabled}}}]}


class Fault:
    """What a method says or raises until it is mended."""

    def __init__(self, what: Any) -> None:
        self.what, self.is_mended, self.calls = what, False, 0

    def __call__(self, fine: Any) -> Any:
        """Misbehave, or return what is ``fine``."""
        if self.is_mended:
            return fine
        self.calls += 1
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def faulty_plugin(faulty: str, fault: Fault) -> type:
    """A class of plugins with one method that misbehaves, and the others that it needs."""
    def method(name: str) -> Callable[..., Any]:
        fine = METHODS[name]

        def plain(*_: Any) -> Any:
            return fault(fine) if name == faulty else fine

        async def later(*_: Any) -> Any:
            return plain()

        return later if name in ASYNC else plain

    names = next((names for names in TOGETHER if faulty in names and faulty != "filter"), (faulty,))
    methods = {name: method(name) for name in names}
    return type("Faulty", (), {"name": "Faulty", "__init__": lambda *_: None, **methods})


@pytest.mark.parametrize("what", [ValueError("oops"), [None], NO], ids=["raises", "nonsense", "no"])
@pytest.mark.parametrize("method", METHODS)
async def test_a_plugin_that_fails_neither_ends_the_scheduler_nor_loses_pods(method: str, what: Any) -> None:
    """Given a plugin of which one method raises, returns nonsense or refuses all, when a gang with
    two placements, one that does not fit and a pod are tried, then that ends; when it is mended,
    all are bound that fit.
    """
    fault = Fault(what)
    config = configuration_with(*["TopologyPlacementGenerator"] if method == "generate_placements" else [])
    async with cluster_of_gangs(scheduler_plugins=lambda _: [faulty_plugin(method, fault)], scheduler_config=config) as cluster:
        world = Gangs(cluster)
        async with asyncio.timeout(ENDS_SECONDS):
            for zone in "ab":
                await world.node(zone, 4, zone=zone)
            await world.group("g", 2, topology="zone")
            await world.pods("a", "b", group="g")
            await world.group("large", 4)
            await world.pods("l1", "l2", "l3", "l4", group="large", cpu=4)
            await world.pods("single")
            await world.pods("too-large", cpu=5)
            await world.advance(100)
            fault.is_mended = True
            await world.node("late", 4, zone="a")
            await world.advance(700)
            await world.pods("later")
            await world.advance(100)
        assert await world.bound() == ["a", "b", "later", "single"]
    assert fault.calls


@pytest.fixture
async def gangs() -> AsyncIterator[Gangs]:
    """A cluster of one node with four CPUs, and a priority that preempts."""
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.node("n")
        await world.priority_class("high", 100)
        yield world


@pytest.mark.parametrize("is_gang", [False, True])
@pytest.mark.parametrize(("resource", "operation"), [("pods", "DELETE"), ("pods/status", "UPDATE"), ("pods/binding", "CREATE")])
async def test_what_is_refused_for_ever_is_not_tried_for_ever(
    gangs: Gangs, resource: str, operation: str, is_gang: bool,
) -> None:
    """Given a webhook that refuses evictions, their conditions or bindings, when pods that would
    evict another are tried, alone or as a gang, then the cluster comes to rest at each instant,
    and time does not go on by itself for ever; when the webhook lets them, they are bound.
    """
    refuses_all = True

    @gangs.cluster.webhook(resource, operations=(operation,))
    def refuses(_: AdmissionRequest) -> None:
        if refuses_all:
            raise Denied("never")

    await gangs.pods("low", cpu=3)
    high = {"priorityClassName": "high"}
    async with asyncio.timeout(ENDS_SECONDS):
        if is_gang:
            await gangs.group("g", 2, **high)
        await gangs.pods("a", "b", group="g" if is_gang else "", cpu=2, **high)
        with pytest.raises(Stalled):
            await gangs.cluster.run_until(lambda: False)
        assert not {"a", "b"} & set(await gangs.bound())
        refuses_all = False
        await gangs.advance(700)
        assert await gangs.bound() == ["a", "b"]


@pytest.mark.parametrize("minimum", [2, 3, None, 0])
@pytest.mark.parametrize("method", ["permit", "pre_bind", "bind"])
async def test_pods_that_may_not_have_their_node_wait(method: str, minimum: int | None) -> None:
    """Given a plugin that refuses every node to two of three pods, when they are tried, alone or in
    a group, then that ends at one instant, and the third is bound; when it refuses no more and
    something happens, so are they.
    """
    fault = Fault((NO, 0) if method == "permit" else NO)
    plain = faulty_plugin(method, fault)
    inner = getattr(plain, method)

    def only_some(self: Any, state: Any, pod: Any, node_name: str) -> Any:
        async def nothing() -> Any:
            return METHODS[method]

        if pod.pod["metadata"]["name"] != "b":
            return inner(self, state, pod, node_name)
        return METHODS[method] if method == "permit" else nothing()

    setattr(plain, method, only_some)
    async with cluster_of_gangs(scheduler_plugins=lambda _: [plain], scheduler_config=configuration_with()) as cluster:
        world = Gangs(cluster)
        await world.node("n", 4)
        async with asyncio.timeout(ENDS_SECONDS):
            if minimum != 0:
                await world.group("g", minimum)
            await world.pods("a", "b", "c", group="g" if minimum != 0 else "")
            assert await world.bound() == ["b"]
            assert await world.told("a") == ("Unschedulable", "0/1 nodes are available: 1 no.")
            fault.is_mended = True
            await world.node("more")
            await world.advance(30)
            assert await world.bound() == ["a", "b", "c"]


@pytest.mark.parametrize("is_root_first", [False, True])
async def test_a_tree_of_a_thousand_levels_is_not_tried_and_hinders_nobody(
    gangs: Gangs, is_root_first: bool,
) -> None:
    """Given composite groups that are each the parent of the next, a thousand of them, in either
    order, when a pod of the lowest comes, then it waits, and a gang beside it is bound.
    """
    await gangs.group("leaf", 1, parent="c999")
    await gangs.pods("deep", group="leaf")
    for number in range(1000) if is_root_first else reversed(range(1000)):
        parent = {"parentCompositePodGroupName": f"c{number - 1}"} if number else {}
        workload = {"workloadName": "w", "templateName": "t"}
        await gangs.client.create(COMPOSITE_POD_GROUPS, {
            "metadata": {"name": f"c{number}", "namespace": NAMESPACE},
            "spec": {"schedulingPolicy": {"basic": {}}, "workloadRef": workload, **parent}})
    await gangs.group("g", 2)
    await gangs.pods("a", "b", group="g")
    assert await gangs.bound() == ["a", "b"]

"""Who may evict others, who goes, and how an eviction is carried out: each step alone."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS
from fakekube.util.clock import ManualClock
from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.groups.states import GroupStates
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.plugins.default_preemption import DefaultPreemption
from fakekube_controllers.scheduler.plugins.older import PodPreemption
from fakekube_controllers.scheduler.preemption import groups, pods
from fakekube_controllers.scheduler.preemption.executor import Preemptor
from fakekube_controllers.scheduler.preemption.victims import Units, Victim, split_by_budgets
from tests.controllers.scheduler.contexts import framework
from tests.controllers.scheduler.groups.trees import pod_group, queued
from tests.controllers.scheduler.plugins.cases import Handle, node, pod, said, snapshot


class World(Handle):
    """What the plugin is given: one that keeps what it is asked for."""

    profile_name = "s"

    def __init__(
        self, *, kind: Any = DefaultPreemption, gates: Any = (), known: Any = None, refusal: int = 0, **objects: Any,
    ) -> None:
        super().__init__(gates=gates, **objects)
        self.groups, self.client, self.clock = known, self, ManualClock()  # type: ignore[assignment]
        self.nominator: Any = Nominator()
        self.recorder, self.refusal, self.waiting = self, refusal, dict[str, Any]()
        self.done: list[Any] = []
        self.is_preempting: list[bool] = []  # when each pod was deleted
        self.spawned: list[Any] = []
        made: Any = self
        self.plugin = kind({}, made)

    def spawn(self, work: Any, what: str) -> None:
        """Keep it."""
        self.spawned.append((work, what))

    def activate(self, uids: Any) -> None:
        """Try pods now."""
        self.done.append(("activate", *uids))

    def get_waiting_pod(self, uid: str) -> Any:
        """One that waits for Permit plugins."""
        return self.waiting.get(uid)

    def cancel_pod_in_pre_bind(self, uid: str, text: str) -> bool:
        """None is."""
        return uid == "n/binding" and text == "preempted by DefaultPreemption"

    def report(self, about: Any, kind: str, reason: str, action: str, text: str, *, related: Any) -> None:
        """Keep an Event."""
        self.done.append((kind, reason, action, about["metadata"]["name"], text, related and related["metadata"]["name"]))

    async def patch(self, _: Any, name: str, __: str, body: Any, **___: Any) -> None:
        """Change it."""
        self.done.append(("patch", name, sorted(key for key in body["status"] if not key.startswith("$"))))

    async def delete(self, resource: Any, name: str, _: str) -> None:
        """Delete it, or refuse to."""
        assert resource == PODS
        if self.refusal:
            raise APIError(self.refusal, "R", "no")
        self.done.append(("delete", name))
        self.is_preempting.append(self.plugin._executor.is_preempting("n/p"))


@pytest.mark.parametrize(("args", "text"), [
    ({"minCandidateNodesPercentage": 101}, "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"),
    ({"minCandidateNodesPercentage": -1}, "minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]"),
    ({"minCandidateNodesAbsolute": -1}, "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"),
    ({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}, ""), ({"minCandidateNodesPercentage": 100}, ""),
])
def test_arguments_out_of_their_ranges(args: Any, text: str) -> None:
    """Given numbers of candidates / when the plugin is made / then those out of their ranges are
    refused.
    """
    handle: Any = Handle()
    if not text:
        DefaultPreemption(args, handle)
        return
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        DefaultPreemption(args, handle)


def test_pods_that_wait_for_their_evictions_are_not_tried() -> None:
    """Given a pod or a group whose evictions are still to be asked for / then it is held until they
    are; the deletion of a pod helps nobody by this plugin.
    """
    known, (key, made) = GroupStates(), pod_group("g")
    made["metadata"]["uid"] = "ug"
    known.set_group(key, made)
    alone, member = pod_info(pod()), pod_info(pod("m", namespace="default", schedulingGroup={"podGroupName": "g"}))
    by_pod = unresolvable("waiting for the preemption for this pod to be finished")
    by_group = unresolvable("waiting for the preemption for this pod group to be finished")
    for kind, gates in ((DefaultPreemption, ()), (PodPreemption, ("WorkloadAwarePreemption",))):
        world = World(kind=kind, gates=gates, known=known)
        assert [world.plugin.pre_enqueue(each) for each in (alone, member)] == [None, None]
        world.plugin._executor._preempting = {"n/p": None, "ug": None, "default/m": None}
        assert [world.plugin.pre_enqueue(each) for each in (alone, member)] == [by_pod, by_group]
    older = World(kind=PodPreemption, known=known).plugin
    older._executor._preempting = {"ug": None}
    assert older.pre_enqueue(member) is None
    older._executor._preempting = {"default/m": None}
    assert older.pre_enqueue(member) == by_pod
    [registered] = older.events_to_register()
    assert (registered.hint and registered.hint(alone, None, None).name) == "QUEUE_SKIP"


@pytest.mark.parametrize(("listed", "expected"), [
    ([], (Code.ERROR, 'preemption: pod "p" not found')),
    ([pod(preemptionPolicy="Never")], (Code.UNSCHEDULABLE, "preemption: not eligible due to preemptionPolicy=Never.")),
    ([pod()], (Code.UNSCHEDULABLE, "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")),
])
async def test_a_pod_that_may_not_evict(listed: Any, expected: Any) -> None:
    """Given a pod that is gone, that never evicts, or has nobody to evict / then that is told."""
    world = World(pods=listed)
    found = await world.plugin.post_filter(CycleState(), pod_info(pod()), snapshot(node("n1")), {"n1": unschedulable("full")})
    assert said(found[1]) == expected
    assert world.spawned == []


async def test_a_pod_of_a_group_that_is_not_there_does_not_evict() -> None:
    """Given 1.36 with topology / when a pod's group is not there / then it evicts nobody."""
    world, of = World(kind=PodPreemption, gates=("TopologyAwareWorkloadScheduling",)), pod(schedulingGroup={"podGroupName": "g"})
    found = await world.plugin.post_filter(CycleState(), pod_info(of), snapshot(), {})
    assert (found[0], said(found[1])) == (None, (Code.UNSCHEDULABLE, "preemption: pod group for pod not found"))


GOING = {"deletionTimestamp": "x"}


def evicted(priority: int, *, by: str = "PreemptionByScheduler", status: str = "True", going: bool = True) -> Any:
    made = pod("v", priority=priority)
    made["metadata"] |= GOING if going else {}
    made["status"] = {"conditions": [{"type": "DisruptionTarget", "status": status, "reason": by}]}
    return made


TERMINATING = "not eligible due to a terminating pod on the nominated node."


@pytest.mark.parametrize(("victim", "nominated", "status", "expected"), [
    (evicted(1), "n1", unschedulable("full"), TERMINATING), (evicted(1), "", unschedulable("full"), ""),
    (evicted(1), "n2", unschedulable("full"), ""), (evicted(1), "n1", unresolvable("never"), ""), (evicted(1), "n1", None, ""),
    (evicted(5), "n1", unschedulable("full"), ""), (evicted(4), "n1", unschedulable("full"), TERMINATING),
    (evicted(1, by="Other"), "n1", unschedulable("full"), ""), (evicted(1, status="False"), "n1", unschedulable("full"), ""),
    (evicted(1, going=False), "n1", unschedulable("full"), ""),
])
def test_who_waits_for_those_that_go_already(victim: Any, nominated: str, status: Any, expected: str) -> None:
    """Given a pod of priority 5 that is nominated for a node / when a pod of less priority was
    evicted there and is still going / then it evicts nobody else, unless it cannot be there at all.
    """
    attempt = pods.Attempt(None, CycleState(), pod_info(pod(priority=5)), snapshot(node("n1", victim)), Units(None))  # type: ignore[arg-type]
    statuses = {name: status for name in ("n1", "n2") if status is not None}
    assert pods.not_eligible(attempt, {**pod(), "status": {"nominatedNodeName": nominated}}, statuses) == expected


@pytest.mark.parametrize(("selector", "allowed", "gone"), [
    ({"matchLabels": {"a": "b"}}, 0, "high"), ({"matchLabels": {"a": "b"}}, 1, "low"), (None, 0, "low"),
    ({"matchExpressions": [{"key": "a", "operator": "Near"}]}, 0, "low"), ({"matchLabels": {}}, 0, "low")])
def test_pods_that_a_budget_keeps_are_spared_first(selector: Any, allowed: int, gone: str) -> None:
    """Given two pods of which one has to go, and a budget for the less important / when that would
    break it / then the other one goes; a selector that makes no sense keeps nobody.
    """
    high, low = pod("high", priority=2, requests={"cpu": "2"}), pod("low", {"a": "b"}, priority=1, requests={"cpu": "2"})
    budget = {"metadata": {"namespace": "n"}, "spec": {"selector": selector}, "status": {"disruptionsAllowed": allowed}}
    handle, nodes, state = framework(), snapshot(node("n1", high, low)), CycleState()
    wanted = pod_info(pod(priority=5, requests={"cpu": "2"}))
    handle.run_pre_filter_plugins(state, wanted, nodes)
    attempt = pods.Attempt(handle, state, wanted, nodes, Units(None))
    found, _ = pods.find_candidates(attempt, {"n1": unschedulable("full")}, [budget], 1)
    assert [[info.pod["metadata"]["name"] for victim in each.victims for info, _ in victim.pods] for each in found] == [[gone]]
    assert [each.violations for each in found] == [0]


def test_all_go_where_none_can_be_spared() -> None:
    """Given pods that all have to go, and a budget for two of them that allows none / then all do,
    and two break the budget.
    """
    one, two = (pod(name, {"a": "b"}, priority=1, requests={"cpu": "1"}) for name in ("one", "two"))
    other = pod("other", priority=1, requests={"cpu": "2"})
    budget = {"metadata": {"namespace": "n"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}
    handle, nodes, state = framework(), snapshot(node("n1", one, two, other)), CycleState()
    wanted = pod_info(pod(priority=5, requests={"cpu": "4"}))
    handle.run_pre_filter_plugins(state, wanted, nodes)
    [found], _ = pods.find_candidates(
        pods.Attempt(handle, state, wanted, nodes, Units(None)), {"n1": unschedulable("full")}, [budget], 1)
    assert (found.violations, len(found.victims)) == (2, 3)


def test_a_budget_counts_what_it_lets_go() -> None:
    """Given a budget for one pod, of which another one has gone already / when three are looked
    at / then the first one that is left does not break it, the next does.
    """
    budget = {"metadata": {"namespace": "n"}, "spec": {"selector": {"matchLabels": {"a": "b"}}},
              "status": {"disruptionsAllowed": 1, "disruptedPods": {"gone": "x"}}}
    victims = [Victim(((pod_info(pod(name, {"a": "b"})), "n1"),), 0, EntityType.POD, 0.0) for name in ("gone", "x", "y")]
    breaking, others = split_by_budgets(victims, [budget])
    assert (breaking, others) == ([(victims[2], 1)], victims[:2])


async def carried_out(world: World, *victims: Any, place: str = "n1") -> list[Any]:
    """What is done for a pod of priority 5."""
    preemptor = Preemptor(EntityType.POD, pod(), 5, ("n/p",))
    world.plugin._executor.start(preemptor, [(pod_info(each), "n1") for each in victims], place)
    for work, what in world.spawned:
        assert what == "preemption for p"
        assert world.plugin._executor.is_preempting("n/p")
        await work
    assert not world.plugin._executor.is_preempting("n/p")
    return world.done


def going(name: str) -> Any:
    made = pod(name)
    made["metadata"] |= GOING
    return made


TEXT = "Preempted by pod n/p on node n1"


async def test_how_pods_are_evicted() -> None:
    """Given pods that have to go / then each is told why and deleted, the ones that wait or are
    being bound give their nodes up, and those that go already are left alone; the preemptor is
    tried at once if the last one had no node yet. Events name a preempting pod before 1.37 only.
    """
    older = World()
    older.version = "1.36"
    assert (await carried_out(older, pod("v")))[-1] == ("Normal", "Preempted", "Preempting", "v", TEXT, "p")
    assert await carried_out(World(), going("v")) == []
    assert await carried_out(World(), pod("v"), going("w")) == [
        ("patch", "v", ["conditions"]), ("delete", "v"), ("Normal", "Preempted", "Preempting", "v", TEXT, None)]
    world, told = World(), list[Any]()
    world.waiting["n/v"] = SimpleNamespace(preempt=lambda *words: [*map(told.append, [words])] == [None])
    memory = f"{TEXT} (in kube-scheduler memory)."
    assert await carried_out(world, pod("v")) == [
        ("Normal", "Preempted", "Preempting", "v", memory, None), ("activate", "n/p")]
    assert told == [("DefaultPreemption", "preempted")]
    assert await carried_out(World(), pod("binding"), pod("v")) == [
        ("Normal", "Preempted", "Preempting", "binding", memory, None),
        ("patch", "v", ["conditions"]), ("delete", "v"), ("Normal", "Preempted", "Preempting", "v", TEXT, None)]
    world = World()
    world.waiting["n/v"] = SimpleNamespace(preempt=lambda *_: False)
    assert ("delete", "v") in await carried_out(world, pod("v"))


async def test_the_last_eviction_finds_the_pod_in_the_queue() -> None:
    """Given three pods that have to go / when they are deleted / then the one that they go for is
    held until the last of them.
    """
    world = World()
    await carried_out(world, pod("v"), pod("w"), pod("x"))
    assert world.is_preempting == [True, True, False]


@pytest.mark.parametrize(("code", "expected"), [(404, []), (500, [("activate", "n/p")])])
async def test_an_eviction_that_is_refused(code: int, expected: Any) -> None:
    """Given a pod that has to go / when it is gone, nothing more is told; when the server refuses,
    the preemptor is tried again.
    """
    assert await carried_out(World(refusal=code), pod("v")) == [("patch", "v", ["conditions"]), *expected]


async def test_who_waits_for_the_same_room_looks_elsewhere() -> None:
    """Given pods that are nominated for the node / then those of less priority lose that."""
    world = World()
    for name, priority in (("low", 4), ("equal", 5), ("high", 6)):
        world.nominator.add_nominated_pod(pod_info(pod(name, priority=priority)), NominatingInfo("n1"))
    assert (await carried_out(world, pod("v")))[0] == ("patch", "low", ["nominatedNodeName"])
    assert len([each for each in world.done if each[0] == "patch"]) == 2


@pytest.mark.parametrize(("said_of_it", "expected"), [
    (Status(Code.SUCCESS), (Code.SUCCESS, "")),
    (unschedulable("no room"), (Code.UNSCHEDULABLE, "pod group preemption: no room"))])
async def test_what_is_said_of_a_group(monkeypatch: pytest.MonkeyPatch, said_of_it: Status, expected: Any) -> None:
    """Given what became of a preemption for a group / then it is told as such."""
    key, made = pod_group("g")
    world = World(known=GroupStates())

    async def preempted(*_: Any) -> Any:
        return {"x": 1}, said_of_it

    monkeypatch.setattr(world.plugin, "_preempt_for_group", preempted)
    found = await world.plugin.pod_group_post_filter(CycleState(), PodGroupInfo(key, made), snapshot(), None)
    assert (found[0], said(found[1])) == ({"x": 1}, expected)


async def test_a_group_evicts_for_all_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given room for a group where two pods go / then they are evicted for the group, in the whole
    cluster, and its pods have their nodes.
    """
    key, made = pod_group("g", 1, priority=7)
    made["metadata"]["uid"] = "ug"
    victims = [Victim(tuple((pod_info(pod(name)), "n1") for name in ("v", "w")), 0, EntityType.POD, 0.0)]
    nominations = {"n/p": NominatingInfo("n1")}

    async def room(*_: Any) -> Any:
        return groups.Room(victims, nominations)

    monkeypatch.setattr(groups, "make_room", room)
    world = World(known=GroupStates())
    info = PodGroupInfo(key, made, unscheduled_pods=[queued(pod_info(pod()))])
    found = await world.plugin.pod_group_post_filter(CycleState(), info, snapshot(), None)
    assert (found[0], said(found[1])) == (
        nominations, (Code.SUCCESS, "pod group preemption: found a placement for podgroup, preempting 2 victims"))
    [(work, what)] = world.spawned
    await work
    assert what == "preemption for g"
    assert [each for each in world.done if each[0] == "delete"] == [("delete", "v"), ("delete", "w")]
    assert world.done[-1][4].startswith("Preempted by podgroup ug on node ")


def test_pods_of_a_group_above_which_one_is_not_known() -> None:
    """Given a group whose parent is not known / then its pods are units by what is known."""
    known = GroupStates()
    key, made = pod_group("g", 1, "gone", priority=3)
    known.set_group(key, made)
    units = Units(known)
    assert [found.name for found, _ in units._ancestors(pod(namespace="default", schedulingGroup={"podGroupName": "g"}))] == ["g"]
    assert units._ancestors(pod(namespace="default", schedulingGroup={"podGroupName": "other"})) == []
    assert EntityKey(EntityType.POD_GROUP, "default", "g") == key

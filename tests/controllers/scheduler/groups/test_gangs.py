"""Gangs and basic groups in a cluster: when they are tried, what is bound, and what is told."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakekube.client.resources import NODES, PODS
from fakekube.webhooks import AdmissionRequest, Denied
from fakekube_controllers.scheduler.plugins.gang_scheduling import GangScheduling
from tests.controllers.scheduler.groups.gangs import POD_GROUPS, Gangs, cluster_of_gangs
from tests.controllers.world import NAMESPACE, condition

GATE = [{"name": "example.com/wait"}]
SCHEDULED = ("True", "Scheduled", "")


@pytest.fixture
async def gangs() -> AsyncIterator[Gangs]:
    """A cluster of one node with four CPUs."""
    async with cluster_of_gangs() as cluster:
        world = Gangs(cluster)
        await world.node("n")
        yield world


@pytest.mark.spec("WAS-038", "WAS-039", "WAS-064")
async def test_a_gang_waits_for_its_quorum(gangs: Gangs) -> None:
    """Given a gang of three, when two pods are there, and one of the same group's name in another
    namespace, then none is tried and nothing is told; with the third all are bound.
    """
    await gangs.group("g", 3)
    await gangs.pods("a", "b", group="g")
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    await gangs.client.create(PODS, {
        "metadata": {"name": "c", "namespace": "kube-system"},
        "spec": {"containers": [container], "schedulingGroup": {"podGroupName": "g"}}})
    await gangs.advance(600)
    assert await gangs.bound() == []
    assert [await gangs.told("a"), await gangs.told("b"), await gangs.status("g")] == [None, None, None]
    await gangs.pods("c", group="g")
    assert await gangs.bound() == ["a", "b", "c"]
    assert await gangs.status("g") == SCHEDULED


@pytest.mark.spec("WAS-040", "WAS-048")
@pytest.mark.parametrize("minimum", [2, None])
async def test_pods_wait_for_their_group(gangs: Gangs, minimum: int | None) -> None:
    """Given pods whose group is not there, when it comes, gang or basic, then they are bound."""
    await gangs.pods("a", "b", group="g")
    await gangs.advance()
    assert [await gangs.bound(), await gangs.told("a")] == [[], None]
    await gangs.group("g", minimum)
    assert await gangs.bound() == ["a", "b"]


@pytest.mark.spec("WAS-041")
async def test_a_gang_without_room_goes_nowhere_until_there_is_room(gangs: Gangs) -> None:
    """Given room for two of a gang of three, when it is tried, then no pod is bound and all say
    why; when there is room, all are bound.
    """
    await gangs.pods("blocker", cpu=2)
    await gangs.group("g", 3)
    await gangs.pods("a", "b", "c", group="g")
    text = ("pod group is unschedulable, 0/1 placements are available, first placement status: minCount (3) cannot be satisfied: "
            "2 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor")
    assert await gangs.bound() == ["blocker"]
    assert await gangs.status("g") == ("False", "Unschedulable", text)
    assert await gangs.told("a") == ("Unschedulable", f"pod group is unschedulable, {text}")
    assert await gangs.told("c") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")
    await gangs.delete("blocker")
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "c"]
    assert await gangs.status("g") == SCHEDULED


@pytest.mark.spec("WAS-042", "WAS-053", "WAS-061")
async def test_pods_beyond_the_minimum_go_where_there_is_room(gangs: Gangs) -> None:
    """Given a gang of three with five pods and four CPUs, when it is tried, then four are bound and
    the group stays scheduled, though the fifth waits until there is room.
    """
    await gangs.group("g", 3)
    await gangs.pods("a", "b", "c", "d", group="g")
    await gangs.advance()
    before = condition(await gangs.client.get(POD_GROUPS, "g", "default"), "PodGroupInitiallyScheduled")
    await gangs.pods("e", group="g")
    assert await gangs.bound() == ["a", "b", "c", "d"]
    assert (await gangs.told("e") or ("",))[0] == "Unschedulable"
    after = condition(await gangs.client.get(POD_GROUPS, "g", "default"), "PodGroupInitiallyScheduled")
    assert after == before
    await gangs.node("more")
    await gangs.advance()
    assert await gangs.where("e") == ["more"]


@pytest.mark.spec("WAS-043", "WAS-044")
@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
async def test_of_two_gangs_one_is_whole_and_then_the_other(gangs: Gangs, order: tuple[str, str]) -> None:
    """Given two gangs of three with interleaved pods and room for one, when they are tried, then
    the one that was whole first is bound, and the other once the first is gone.
    """
    first, second = order
    for name in order:
        await gangs.group(name, 3)
    await gangs.cluster.stop_controller("scheduler")
    for number in range(3):
        for name in order:
            await gangs.pods(f"{name}-{number}", group=name)
    await gangs.cluster.start_controller("scheduler")
    await gangs.advance()
    assert await gangs.bound() == [f"{first}-{number}" for number in range(3)]
    assert (await gangs.status(second) or ("",))[0] == "False"
    await gangs.delete(*[f"{first}-{number}" for number in range(3)])
    await gangs.advance()
    assert await gangs.bound() == [f"{second}-{number}" for number in range(3)]


@pytest.mark.spec("WAS-045")
async def test_gangs_and_single_pods_do_not_starve_each_other(gangs: Gangs) -> None:
    """Given gangs among single pods, when finished ones make room, then all are bound at last."""
    await gangs.cluster.stop_controller("scheduler")
    for number in range(3):
        await gangs.group(f"g{number}", 3)
        await gangs.pods(f"g{number}-a", f"g{number}-b", f"g{number}-c", group=f"g{number}")
        await gangs.pods(f"single-{number}")
    await gangs.cluster.start_controller("scheduler")
    seen: list[str] = []
    for _ in range(12):
        await gangs.advance()
        bound = await gangs.bound()
        seen += bound
        await gangs.delete(*bound)
    assert sorted(seen) == sorted([f"single-{n}" for n in range(3)] + [f"g{n}-{each}" for n in range(3) for each in "abc"])


@pytest.mark.spec("WAS-046", "WAS-047")
async def test_pods_of_a_basic_group_go_as_they_come(gangs: Gangs) -> None:
    """Given a basic group, when pods come, then each is bound while there is room, and waits for
    room after that.
    """
    await gangs.group("g")
    await gangs.pods("a", group="g", cpu=3)
    assert await gangs.bound() == ["a"]
    await gangs.pods("b", "c", group="g")
    assert await gangs.bound() == ["a", "b"]
    assert (await gangs.told("c") or ("",))[0] == "Unschedulable"
    await gangs.delete("a")
    await gangs.advance()
    assert await gangs.bound() == ["b", "c"]


@pytest.mark.spec("WAS-049", "WAS-067")
async def test_a_gang_larger_than_the_cluster_takes_nothing(gangs: Gangs) -> None:
    """Given a gang that no empty cluster holds, of the highest priority, when it is tried again and
    again, then nothing is bound, nobody evicted and nobody nominated.
    """
    await gangs.priority_class("high", 1000)
    await gangs.pods("low")
    await gangs.group("g", 6, priorityClassName="high")
    names = [f"p{number}" for number in range(6)]
    await gangs.pods(*names, group="g", priorityClassName="high")
    await gangs.advance(900)
    assert await gangs.bound() == ["low"]
    assert [name for name in names if (await gangs.pod(name))["status"].get("nominatedNodeName")] == []
    assert await gangs.events("Preempted") == []


@pytest.mark.spec("WAS-050", "WAS-051")
async def test_a_lower_minimum_lets_a_gang_go(gangs: Gangs) -> None:
    """Given a gang of three with two pods, when its minimum is raised, then it waits on; lowered to
    two, then both are bound; raised again, then nothing is evicted.
    """
    await gangs.group("g", 3)
    await gangs.pods("a", "b", group="g")
    await gangs.set_minimum("g", 4)
    assert await gangs.bound() == []
    await gangs.set_minimum("g", 2)
    assert await gangs.bound() == ["a", "b"]
    await gangs.set_minimum("g", 4)
    await gangs.advance(600)
    assert await gangs.bound() == ["a", "b"]


@pytest.mark.spec("WAS-052")
@pytest.mark.parametrize("change", ["a node", "capacity", "a label"])
async def test_what_may_help_a_gang_has_it_tried_again(gangs: Gangs, change: str) -> None:
    """Given a gang that does not fit, when a node comes, grows or is labelled, then it is bound."""
    await gangs.group("g", 3)
    selector = {"nodeSelector": {"example.com/pool": "x"}} if change == "a label" else {}
    await gangs.pods("a", "b", "c", group="g", cpu=1 if selector else 2, **selector)
    await gangs.advance()
    assert await gangs.bound() == []
    if change == "a node":
        await gangs.node("more")
    elif change == "capacity":
        more = {"cpu": "8", "memory": "8Gi", "pods": "50"}
        await gangs.client.patch(NODES, "n", None, {"status": {"allocatable": more}}, type="merge", subresource="status")
    else:
        await gangs.client.patch(NODES, "n", None, {"metadata": {"labels": {"example.com/pool": "x"}}}, type="merge")
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "c"]


@pytest.mark.spec("WAS-054")
async def test_a_pod_that_comes_while_its_group_is_tried_is_tried_next(gangs: Gangs) -> None:
    """Given a gang of two that is being bound, when a third pod comes in the same instant, then it
    is bound too; and one that comes while the gang fails has it tried again.
    """
    await gangs.group("g", 2)
    await gangs.client.create(PODS, _member("a", "g"))
    await gangs.client.create(PODS, _member("b", "g"))
    await gangs.cluster.run_until(lambda: _has_node(gangs, "a"))
    await gangs.client.create(PODS, _member("c", "g"))
    await gangs.cluster.settle()
    assert await gangs.bound() == ["a", "b", "c"]
    await gangs.group("h", 2)
    await gangs.pods("d", "e", group="h")
    assert await gangs.bound() == ["a", "b", "c"]
    await gangs.pods("f", group="h")
    await gangs.node("more")
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "c", "d", "e", "f"]


def _member(name: str, group: str) -> dict[str, object]:
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [container], "schedulingGroup": {"podGroupName": group}}}


async def _has_node(gangs: Gangs, name: str) -> bool:
    return await gangs.where(name) != [""]


@pytest.mark.spec("WAS-055", "WAS-056")
@pytest.mark.parametrize("minimum", [2, None])
async def test_one_gated_pod_holds_its_group(gangs: Gangs, minimum: int | None) -> None:
    """Given a group with a gated pod, when it is there, then the whole group waits until the gate
    is lifted; so do later pods beside a gated one.
    """
    await gangs.group("g", minimum)
    await gangs.cluster.stop_controller("scheduler")
    await gangs.pods("a", "b", group="g")
    await gangs.pods("gated", group="g", schedulingGates=GATE)
    await gangs.cluster.start_controller("scheduler")
    await gangs.advance()
    assert await gangs.bound() == []
    await gangs.lift_gates("gated")
    assert await gangs.bound() == ["a", "b", "gated"]
    await gangs.cluster.stop_controller("scheduler")
    await gangs.pods("late-gated", group="g", cpu=0, schedulingGates=GATE)
    await gangs.pods("late", group="g", cpu=0)
    await gangs.cluster.start_controller("scheduler")
    await gangs.advance()
    assert "late" not in await gangs.bound()
    await gangs.lift_gates("late-gated")
    assert {"late", "late-gated"} <= set(await gangs.bound())


async def test_who_holds_a_group_and_goes_holds_it_no_more(gangs: Gangs) -> None:
    """Given a group with two gated pods, when one is deleted, then the other holds the group; when
    that is deleted, too, then the others go.
    """
    await gangs.group("g", 2)
    await gangs.pods("gated", "gated-too", group="g", schedulingGates=GATE)
    await gangs.pods("a", "b", group="g")
    await gangs.delete("gated")
    await gangs.advance()
    assert await gangs.bound() == []
    await gangs.delete("gated-too")
    await gangs.advance()
    assert await gangs.bound() == ["a", "b"]


async def test_what_is_written_of_one_gang_asks_nobody_about_the_others(
    gangs: Gangs, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given gangs without room, when the status of one changes, then no hint is asked about the
    others; when its minimum is lowered, then they are asked about it.
    """
    for number in range(20):
        await gangs.group(f"g{number}", 2)
        await gangs.pods(f"a{number}", f"b{number}", group=f"g{number}", cpu=9)
    await gangs.advance()
    asked = []
    real = GangScheduling._after_pod_group_updated

    def counted(self: GangScheduling, *arguments: Any) -> Any:
        asked.append(arguments)
        return real(self, *arguments)

    monkeypatch.setattr(GangScheduling, "_after_pod_group_updated", counted)
    await gangs.cluster.restart_controller("scheduler")
    await gangs.advance(60)
    asked.clear()
    condition = {"type": "Other", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await gangs.client.patch(
        POD_GROUPS, "g0", NAMESPACE, {"status": {"conditions": [condition]}}, type="merge", subresource="status")
    await gangs.advance(60)
    assert asked == []
    await gangs.set_minimum("g0", 1)
    assert asked


@pytest.mark.spec("WAS-057")
async def test_a_pod_of_another_scheduler_counts_for_nothing(gangs: Gangs) -> None:
    """Given a gang of two with one pod of a scheduler that is not there, when it is looked at, then
    the quorum lacks one; with one more it goes.
    """
    await gangs.group("g", 2)
    await gangs.pods("a", group="g")
    await gangs.pods("other", group="g", schedulerName="other")
    await gangs.advance()
    assert [await gangs.bound(), await gangs.told("a")] == [[], None]
    await gangs.pods("b", group="g")
    assert await gangs.bound() == ["a", "b"]


@pytest.mark.spec("WAS-058")
async def test_pods_have_the_priority_of_their_group(gangs: Gangs) -> None:
    """Given pods of priority 100 in a group of priority 0, when it is tried, then both say so."""
    await gangs.priority_class("high", 100)
    await gangs.group("g", 2)
    await gangs.pods("a", "b", group="g", priorityClassName="high")
    text = "all pods in a single pod group should have the same priority as the pod group's priority, got 100 and 0"
    assert await gangs.told("a") == ("SchedulerError", text)
    assert await gangs.status("g") == ("False", "SchedulerError", text)


@pytest.mark.spec("WAS-059")
async def test_pods_of_a_group_have_one_preemption_policy(gangs: Gangs) -> None:
    """Given pods that preempt and pods that do not, when their group is tried, then it fails."""
    await gangs.priority_class("never", 0, preemptionPolicy="Never")
    await gangs.group("g", 2)
    await gangs.pods("a", group="g")
    await gangs.pods("b", group="g", priorityClassName="never")
    text = ("all pods in a single pod group should have the same preemption policy as the pod group's preemption policy, "
            "got Never and PreemptLowerPriority")
    assert await gangs.told("b") == ("SchedulerError", text)
    assert await gangs.bound() == []


@pytest.mark.spec("WAS-060")
async def test_a_binding_that_fails_hinders_no_other_member(gangs: Gangs) -> None:
    """Given a gang of which one binding is refused three times, when it is tried, then the others
    stay bound, and that one is tried again after its back-off.
    """
    refused: list[str] = []

    @gangs.cluster.webhook("pods/binding", operations=("CREATE",))
    def refuses(request: AdmissionRequest) -> None:
        if request.name == "b" and len(refused) < 3:
            refused.append("b")
            raise Denied("not now")

    await gangs.group("g", 3)
    await gangs.pods("a", "b", "c", group="g")
    assert await gangs.bound() == ["a", "c"]
    assert (await gangs.told("b") or ("",))[0] == "SchedulerError"
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "c"]
    assert len(refused) == 3


@pytest.mark.spec("WAS-062")
async def test_the_gang_of_higher_priority_goes_first(gangs: Gangs) -> None:
    """Given a waiting gang of low priority and one of high priority, when there is room for one,
    then it is that of high priority.
    """
    await gangs.priority_class("high", 100)
    await gangs.cluster.stop_controller("scheduler")
    await gangs.group("low", 3)
    await gangs.group("high", 3, priorityClassName="high")
    await gangs.pods("l1", "l2", "l3", group="low")
    await gangs.pods("h1", "h2", "h3", group="high", priorityClassName="high")
    await gangs.cluster.start_controller("scheduler")
    await gangs.advance()
    assert await gangs.bound() == ["h1", "h2", "h3"]


@pytest.mark.spec("WAS-063")
async def test_a_rejected_gang_that_loses_a_pod_fails_until_one_comes(gangs: Gangs) -> None:
    """Given a gang that does not fit, when a pod of it is deleted, then the rest is tried once more
    and has an error; with another pod and room it is bound.
    """
    await gangs.group("g", 3)
    await gangs.pods("a", "b", "c", group="g", cpu=2)
    await gangs.delete("c")
    await gangs.advance()
    assert (await gangs.told("a") or ("",))[0] == "SchedulerError"
    await gangs.node("more")
    await gangs.pods("d", group="g", cpu=2)
    await gangs.advance()
    assert await gangs.bound() == ["a", "b", "d"]


async def test_gangs_of_two_profiles_go_beside_each_other() -> None:
    """Given two profiles, when each has a gang, then both are bound; a gang with pods of both is an
    error that says so, until its pods are of one.
    """
    profiles = [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}]
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles}
    async with cluster_of_gangs(scheduler_config=config) as cluster:
        world = Gangs(cluster)
        await world.node("n", 8)
        for group, names, name in (("g", ("a", "b"), "other"), ("h", ("c", "d"), "default-scheduler")):
            await world.group(group, 2)
            await world.pods(*names, group=group, schedulerName=name)
        await world.group("mixed", 2)
        await world.pods("x", group="mixed")
        await world.pods("y", group="mixed", schedulerName="other")
        await world.advance()
        assert await world.bound() == ["a", "b", "c", "d"]
        assert (await world.status("mixed") or ("",) * 2)[1] == "SchedulerError"
        await world.delete("y")
        await world.pods("z", group="mixed")
        await world.advance()
        assert await world.bound() == ["a", "b", "c", "d", "x", "z"]

"""Groups of 1.36: pods are queued one by one, Permit asks for the quorum on a snapshot."""

import pytest

from fakekube.client.resources import PODS
from fakekube_controllers.scheduler.framework.status import unschedulable
from tests.controllers.scheduler.groups.older_gangs import PRIORITY_CLASSES, OlderGangs, cluster
from tests.controllers.world import NAMESPACE

ALL = ("GangScheduling", "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling")
WAITS = ("pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, "
         "one or more plugins asked to wait and no plugin rejected pod")
NO_CPU = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
NO_VICTIMS = "0/1 nodes are available: 1 No preemption victims found for incoming pod."
FOR_GROUPS = "not eligible due to workload aware preemption enabled"
NO_PLACEMENT = "0/1 placements are available, first placement status: pod group is unschedulable"
NOBODY = "No preemption victims found for incoming preemptor"
SCHEDULED = ("PodGroupScheduled", "True", "Scheduled", "")


def unschedulable_for(message):
    return "PodGroupScheduled", "False", "Unschedulable", message


@pytest.fixture
async def gangs():
    async with cluster("1.36", *ALL) as made:
        yield OlderGangs(made)


@pytest.fixture
async def plain():
    """Without placements and without preemption for groups."""
    async with cluster("1.36", "GangScheduling") as made:
        yield OlderGangs(made)


@pytest.mark.spec("WAS-038", "WAS-039")
async def test_a_gang_is_bound_as_soon_as_it_has_its_minimum(gangs):
    """Given a gang of three / when two are there / then nothing is said, to them or to the group /
    when the third comes / then all are bound and the group says so by the type of 1.36.
    """
    await gangs.node()
    await gangs.group("g", 3)
    await gangs.pod("a", "g")
    await gangs.pod("b", "g")
    assert await gangs.bound() == {}
    assert [await gangs.reason("a"), await gangs.told("g")] == [None, None]
    await gangs.pod("c", "g")
    assert await gangs.bound() == {"a": "n", "b": "n", "c": "n"}
    assert await gangs.told("g") == SCHEDULED


@pytest.mark.spec("WAS-040", "WAS-048")
@pytest.mark.parametrize("minimum", [2, None])
async def test_pods_wait_for_their_group_without_a_word(gangs, minimum):
    """Given pods whose PodGroup is not there / then they are held / when it comes / then they are
    bound.
    """
    await gangs.node()
    await gangs.pod("a", "g")
    await gangs.pod("b", "g")
    await gangs.cluster.advance(60)
    assert [await gangs.reason("a"), await gangs.bound()] == [None, {}]
    await gangs.group("g", minimum)
    assert await gangs.bound() == {"a": "n", "b": "n"}


@pytest.mark.spec("WAS-041")
async def test_what_pods_and_group_are_told_when_some_do_not_fit(gangs):
    """Given room for two of three / then those that fit say that they wait, the other why it does
    not fit, and the group counts placements / when there is room / then all are bound.
    """
    await gangs.node()
    await gangs.pod("blocker", cpu="2")
    await gangs.group("g", 3)
    for name in "abc":
        await gangs.pod(name, "g")
    assert [await gangs.why(name) for name in "abc"] == [WAITS, WAITS, NO_CPU + FOR_GROUPS]
    assert await gangs.told("g") == unschedulable_for(f"{NO_PLACEMENT}, {NOBODY}")
    assert [await gangs.nominated(name) for name in "abc"] == [None, None, None]
    assert await gangs.events("g") == []
    assert await gangs.events("c") == [NO_CPU + FOR_GROUPS]
    await gangs.delete("blocker")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"a", "b", "c"}
    assert await gangs.told("g") == SCHEDULED


async def test_the_texts_without_placements_and_preemption_for_groups(plain):
    """Given those gates off and room for two of three / then the group's message is the bare one,
    and the pod that does not fit tells what preemption for itself said.
    """
    await plain.node()
    await plain.pod("blocker", cpu="2")
    await plain.group("g", 3)
    for name in "abc":
        await plain.pod(name, "g")
    assert [await plain.why(name) for name in "abc"] == [WAITS, WAITS, NO_CPU + NO_VICTIMS]
    assert await plain.told("g") == unschedulable_for("pod group is unschedulable")


async def test_the_text_without_placements(plain):
    """Given preemption for groups, no placements / then the group says both without counting."""
    async with cluster("1.36", "GangScheduling", "WorkloadAwarePreemption") as made:
        gangs = OlderGangs(made)
        await gangs.node(cpu="1")
        await gangs.group("g", 2)
        for name in "ab":
            await gangs.pod(name, "g")
        assert await gangs.told("g") == unschedulable_for(f"pod group is unschedulable, {NOBODY}")


@pytest.mark.spec("WAS-055")
async def test_a_gated_member_counts_and_the_others_are_tried(gangs):
    """Given a gang of three of which one is gated / then the two others and the group say that they
    wait / when it is ungated / then all are bound. Given a minimum of one / then the others do not
    wait for a gated one.
    """
    await gangs.node(cpu="9")
    await gangs.group("g", 3)
    await gangs.pod("a", "g")
    await gangs.pod("b", "g")
    await gangs.pod("c", "g", schedulingGates=[{"name": "example.com/g"}])
    assert [await gangs.why(name) for name in "ab"] == [WAITS, WAITS]
    assert await gangs.reason("c") == "SchedulingGated"
    assert await gangs.told("g") == unschedulable_for(f"{NO_PLACEMENT}, {NOBODY}")
    await gangs.client.patch(PODS, "c", NAMESPACE, {"spec": {"schedulingGates": None}})
    await gangs.cluster.settle()
    assert set(await gangs.bound()) == {"a", "b", "c"}
    await gangs.group("h", 1)
    await gangs.pod("d", "h", schedulingGates=[{"name": "example.com/g"}])
    await gangs.pod("e", "h")
    assert set(await gangs.bound()) == {"a", "b", "c", "e"}


@pytest.mark.spec("WAS-043", "WAS-044")
async def test_of_two_gangs_one_is_bound_whole(gangs):
    """Given two gangs of three in turns and four CPUs / then one is bound whole and the other not
    at all / when the first ends / then the other follows.
    """
    await gangs.node()
    await gangs.group("g", 3)
    await gangs.group("h", 3)
    for name in ("g1", "h1", "g2", "h2", "g3", "h3"):
        await gangs.pod(name, name[0])
    assert set(await gangs.bound()) == {"g1", "g2", "g3"}
    for name in ("g1", "g2"):
        await gangs.client.patch(PODS, name, NAMESPACE, {"status": {"phase": "Succeeded"}}, subresource="status")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"g1", "g2", "g3", "h1", "h2", "h3"}


@pytest.mark.spec("WAS-058")
async def test_priorities_need_not_agree(gangs):
    """Given pods of other priorities than their group's / then they are bound all the same."""
    await gangs.priority_class("high", 100)
    await gangs.node()
    await gangs.group("g", 2)
    await gangs.pod("a", "g", priorityClassName="high")
    await gangs.pod("b", "g")
    assert set(await gangs.bound()) == {"a", "b"}


@pytest.mark.spec("WAS-057")
async def test_members_of_one_cycle_name_one_scheduler(gangs):
    """Given a member of a scheduler that is not there / then it counts for nothing."""
    await gangs.node()
    await gangs.group("g", 2)
    await gangs.pod("a", "g")
    await gangs.pod("b", "g", schedulerName="another")
    assert [await gangs.bound(), await gangs.reason("a")] == [{}, None]
    await gangs.pod("c", "g")
    assert set(await gangs.bound()) == {"a", "c"}


@pytest.mark.spec("WAS-065", "WAS-067", "WAS-070")
async def test_a_group_evicts_what_is_in_its_way(gangs):
    """Given pods of low priority / when a group of the same comes, and one that fits nowhere / then
    nobody goes, and the group says so / when one of higher priority comes / then they go for it.
    """
    await gangs.priority_class("high", 1000)
    await gangs.node(cpu="2")
    await gangs.pod("low-1")
    await gangs.pod("low-2")
    await gangs.group("equal", 2)
    for name in ("e1", "e2"):
        await gangs.pod(name, "equal")
    assert await gangs.told("equal") == unschedulable_for(f"{NO_PLACEMENT}, {NOBODY}")
    await gangs.group("large", 2, priorityClassName="high")
    for name in ("l1", "l2"):
        await gangs.pod(name, "large", cpu="2", priorityClassName="high")
    assert await gangs.told("large") == unschedulable_for(f"{NO_PLACEMENT}, {NO_PLACEMENT}")
    await gangs.delete("e1", "e2", "l1", "l2")
    assert set(await gangs.bound()) == {"low-1", "low-2"}
    await gangs.group("high", 2, priorityClassName="high")
    for name in ("h1", "h2"):
        await gangs.pod(name, "high", priorityClassName="high")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"h1", "h2"}
    assert await gangs.told("high") == SCHEDULED


@pytest.mark.spec("WAS-072")
async def test_a_group_waits_for_its_victims_without_a_nomination(gangs):
    """Given victims that take their time / then the group's message has no word of preemption, its
    pods are not nominated, and nobody else goes / when they are gone / then it is bound.
    """
    await gangs.priority_class("high", 1000)
    await gangs.node(cpu="2")
    await gangs.pod("low", cpu="2", terminationGracePeriodSeconds=30)
    await gangs.group("g", 1, priorityClassName="high")
    await gangs.pod("a", "g", cpu="2", priorityClassName="high")
    assert await gangs.told("g") == unschedulable_for(NO_PLACEMENT)
    assert [await gangs.why("a"), await gangs.nominated("a")] == [NO_CPU + FOR_GROUPS, None]
    found = next(each for each in (await gangs.read("low"))["status"]["conditions"] if each["type"] == "DisruptionTarget")
    assert found["message"] == "default-scheduler: preempting to accommodate a higher priority podgroup"
    group = await gangs.client.get(gangs.GROUPS, "g", NAMESPACE)
    assert await gangs.events("low") == [
        "Successfully assigned default/low to n", f"Preempted by podgroup {group['metadata']['uid']} on node cluster"]
    await gangs.delete("low")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"a"}


@pytest.mark.spec("WAS-065")
async def test_pods_evict_for_themselves_without_that_gate(plain):
    """Given no preemption for groups / when a gang lacks room / then each pod that lacks it evicts,
    and is nominated / then the gang is bound.
    """
    await plain.priority_class("high", 1000)
    await plain.node(cpu="2")
    await plain.pod("low-1", terminationGracePeriodSeconds=30)
    await plain.pod("low-2", terminationGracePeriodSeconds=30)
    await plain.group("g", 2)
    for name in "ab":
        await plain.pod(name, "g", priorityClassName="high")
    assert [await plain.nominated(name) for name in "ab"] == ["n", "n"]
    waits = "pod group is unschedulable, pod group is waiting for preemption to complete"
    assert await plain.told("g") == unschedulable_for(waits)
    await plain.delete("low-1", "low-2")
    await plain.cluster.advance(15)
    assert set(await plain.bound()) == {"a", "b"}
    assert await plain.told("g") == SCHEDULED


@pytest.mark.spec("WAS-068", "WAS-069")
@pytest.mark.parametrize(("mode", "gone"), [("PodGroup", {"v1", "v2"}), ("Pod", {"v2"})])
async def test_a_group_evicts_by_the_mode_of_its_victim(gangs, mode, gone):
    """Given a victim group of a mode / when a group needs one CPU / then all of it goes, or one."""
    await gangs.priority_class("high", 1000)
    await gangs.node(cpu="2")
    await gangs.group("victim", 1, disruptionMode=mode)
    await gangs.pod("v1", "victim")
    await gangs.cluster.advance(5)
    await gangs.pod("v2", "victim")
    await gangs.group("g", 1, priorityClassName="high")
    await gangs.pod("a", "g", priorityClassName="high")
    await gangs.cluster.advance(15)
    assert {"v1", "v2"} - set(await gangs.names()) == gone or len(gone) == 1
    assert len(await gangs.names()) == 3 - len(gone)


@pytest.mark.spec("WAS-069")
async def test_a_pod_evicts_one_of_a_group_whatever_its_mode(gangs):
    """Given a victim group of mode PodGroup / when a single pod needs one CPU / then one goes."""
    await gangs.priority_class("high", 1000)
    await gangs.node(cpu="2")
    await gangs.group("victim", 2, disruptionMode="PodGroup")
    await gangs.pod("v1", "victim")
    await gangs.pod("v2", "victim")
    await gangs.pod("single", priorityClassName="high")
    await gangs.cluster.advance(15)
    assert len(await gangs.bound()) == 2
    assert "single" in await gangs.bound()


@pytest.mark.spec("WAS-071")
async def test_a_member_that_must_not_evict_keeps_its_group_from_it(gangs):
    """Given a member with preemptionPolicy Never / then nobody goes for its group."""
    await gangs.client.create(
        PRIORITY_CLASSES, {"metadata": {"name": "meek"}, "value": 1000, "preemptionPolicy": "Never"})
    await gangs.node(cpu="1")
    await gangs.pod("low")
    await gangs.group("g", 1, priorityClassName="meek")
    await gangs.pod("a", "g", priorityClassName="meek")
    assert await gangs.told("g") == unschedulable_for(f"{NO_PLACEMENT}, not eligible due to preemptionPolicy=Never.")
    assert set(await gangs.bound()) == {"low"}


@pytest.mark.spec("WAS-076", "WAS-079")
async def test_a_group_with_a_topology_key_evicts_nobody(gangs):
    """Given a rack with low pods and a group with that key / then it says that preemption is not
    for it, and pods say the same in their words; a key that no node has has no placement.
    """
    await gangs.priority_class("high", 1000)
    await gangs.node(cpu="1", labels={"rack": "r1"})
    await gangs.pod("low")
    await gangs.group("g", 1, priorityClassName="high", schedulingConstraints={"topology": [{"key": "rack"}]})
    await gangs.pod("a", "g", priorityClassName="high")
    not_supported = "workload aware preemption is not supported for pod groups with scheduling constraints"
    assert await gangs.told("g") == unschedulable_for(f"{NO_PLACEMENT}, {not_supported}")
    assert await gangs.why("a") == NO_CPU + "not eligible due to placement-based pod group scheduling limitation"
    await gangs.group("h", 1, schedulingConstraints={"topology": [{"key": "zone"}]})
    await gangs.pod("x", "h")
    assert await gangs.told("h") == unschedulable_for(f"no feasible placements found, {not_supported}")
    assert await gangs.why("x") == f"no feasible placements found, {not_supported}"
    assert set(await gangs.bound()) == {"low"}
    await gangs.node("z", labels={"zone": "a"})
    await gangs.cluster.advance(15)
    assert (await gangs.bound())["x"] == "z"


@pytest.mark.spec("WAS-078", "WAS-082")
async def test_a_gang_goes_to_one_rack_and_stays_there(gangs):
    """Given racks of two and four CPUs / when a gang of three has the key / then all are on the
    larger, and one that comes later waits for that one.
    """
    await gangs.node("small", "9")
    await gangs.node("r1", "2", {"rack": "r1"})
    await gangs.node("r2", "3", {"rack": "r2"})
    await gangs.group("g", 3, schedulingConstraints={"topology": [{"key": "rack"}]})
    for name in "abc":
        await gangs.pod(name, "g")
    assert await gangs.bound() == {"a": "r2", "b": "r2", "c": "r2"}
    await gangs.pod("d", "g")
    assert await gangs.why("d") == NO_CPU + "not eligible due to placement-based pod group scheduling limitation"
    assert await gangs.told("g") == SCHEDULED
    await gangs.delete("a")
    await gangs.cluster.advance(15)
    assert (await gangs.bound())["d"] == "r2"


@pytest.mark.spec("WAS-042", "WAS-047")
@pytest.mark.parametrize("minimum", [2, None])
async def test_what_fits_is_bound_with_its_group(gangs, minimum):
    """Given room for two of three, and two are enough / then two are bound, the third waits, and
    the group stays scheduled / when there is room / then the third follows.
    """
    await gangs.node(cpu="2")
    await gangs.group("g", minimum)
    for name in "abc":
        await gangs.pod(name, "g")
    assert set(await gangs.bound()) == {"a", "b"}
    assert await gangs.why("c") == NO_CPU + FOR_GROUPS
    assert await gangs.told("g") == SCHEDULED
    await gangs.delete("a")
    await gangs.cluster.advance(15)
    assert set(await gangs.bound()) == {"b", "c"}


class Refuses:
    """Permit: refuses pods of that name."""

    name = "Refuses"

    def __init__(self, args, handle):
        pass

    def permit(self, state, pod, node_name):
        refused = pod.pod["metadata"]["name"].startswith("refused")
        return (unschedulable("not this one"), 0.0) if refused else (None, 0.0)


async def test_a_permit_plugin_of_ones_own_counts_too():
    """Given a plugin that refuses a member / then that one is not counted for its gang, and says
    why.
    """
    async with cluster("1.36", "GangScheduling", scheduler_plugins=lambda _: [Refuses]) as made:
        gangs = OlderGangs(made)
        await gangs.node()
        await gangs.group("g", 2)
        await gangs.pod("refused", "g")
        await gangs.pod("a", "g")
        assert await gangs.why("refused") == "0/1 nodes are available: 1 not this one."
        assert await gangs.why("a") == WAITS
        await gangs.pod("b", "g")
        assert set(await gangs.bound()) == {"a", "b"}


class Waits:
    """PostFilter: waits for something."""

    name = "Waits"

    def __init__(self, args, handle):
        self._handle = handle

    async def post_filter(self, state, pod, snapshot, statuses):
        await self._handle.wait_for(lambda: None, 10)


async def test_a_post_filter_plugin_that_waits_is_waited_for():
    """Given a PostFilter plugin that waits while a group is tried, and gives up / then that is an
    error of the whole group, and the scheduler goes on with others.
    """
    async with cluster("1.36", "GangScheduling", scheduler_plugins=lambda _: [Waits]) as made:
        gangs = OlderGangs(made)
        await gangs.node(cpu="1")
        await gangs.group("g", 1)
        await gangs.pod("a", "g", cpu="2")
        await made.advance("10s")
        assert await gangs.reason("a") == "SchedulerError"
        assert "TimeoutError" in await gangs.why("a")
        await gangs.pod("single")
        assert set(await gangs.bound()) == {"single"}


async def test_without_the_gang_plugin_a_group_is_what_fits():
    """Given GenericWorkload alone / then pods of a gang are bound as they come, group or not."""
    async with cluster("1.36") as made:
        gangs = OlderGangs(made)
        await gangs.node()
        await gangs.pod("a", "missing")
        await gangs.group("g", 3)
        await gangs.pod("b", "g")
        assert set(await gangs.bound()) == {"a", "b"}
        assert await gangs.told("g") == SCHEDULED


async def test_why_tells_of_each_member(gangs):
    """Given a gang of which one pod fits / then ``why`` says of each pod what it waits for, and of
    the group that they wait.
    """
    await gangs.node(cpu="1")
    await gangs.group("g", 2)
    await gangs.pod("a", "g")
    await gangs.pod("b", "g")
    group = await gangs.cluster.why("podgroup/g")
    assert "has 0 pods on nodes, and 2 that wait" in str(group)
    assert WAITS in str(await gangs.cluster.why("pod/a"))
    assert NO_CPU + FOR_GROUPS in str(await gangs.cluster.why("pod/b"))

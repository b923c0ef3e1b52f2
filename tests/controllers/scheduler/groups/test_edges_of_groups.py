"""Groups whose placers fail, that change while they wait, or whose pods are not to be tried: each
step alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.cycle import SchedulingError
from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo, QueuedPodGroupInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, FitError, Status, unschedulable
from fakekube_controllers.scheduler.groups.cycle import GroupCycles
from fakekube_controllers.scheduler.groups.permit import PermitPlacer, PermitResult
from fakekube_controllers.scheduler.groups.placer import attempt_all
from fakekube_controllers.scheduler.groups.release_1_36 import GroupCycles136
from fakekube_controllers.scheduler.groups.results import GroupResult, PodResult
from fakekube_controllers.scheduler.groups.states import GroupStates
from tests.controllers.scheduler.groups.test_algorithm import Slots, leaf, nodes_of, run
from tests.controllers.scheduler.groups.trees import composite, pod, pod_group, queued

RACK: Any = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}
RACKS = {"rack": {"a1": "a", "b1": "b"}}


class Says(Slots):
    """Says of a group's feasibility, or of assuming a pod, what it is told."""

    feasibility: Any = None
    assuming: Any = ()

    def feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status | None:
        """What it is told, else as usual."""
        said = self.feasibility and self.feasibility(info, scheduled, remaining)
        return said or super().feasible(info, scheduled, remaining)

    def assume(self, result: PodResult) -> Status | None:
        """What it is told, else as usual."""
        said = self.assuming.pop(0) if self.assuming else None
        return said or super().assume(result)


def test_a_nominated_placement_that_will_not_do_is_left() -> None:
    """Given a gang that is nominated for a rack / when that has room for it, then it goes there;
    else to another one, and nothing is left behind.
    """
    for room, expected in ((2, "a1"), (1, "b1")):
        root = leaf(pod_group("g", 2, **RACK), 2)
        for each in root.unscheduled_pods:
            each.info.pod["status"]["nominatedNodeName"] = "a1"
        placer = Slots({"a1": room, "b1": 2}, RACKS)
        assert nodes_of(run(placer, root, uses_placements=True), root.key) == [expected] * 2


def test_a_placement_that_cannot_be_taken_again_is_an_error() -> None:
    """Given a gang that fits two racks / when the better one cannot be assumed after all / then
    that is an error, and nothing stays assumed.
    """
    root, placer = leaf(pod_group("g", 2, **RACK), 2), Says({"a1": 2, "b1": 2}, RACKS)
    placer.assuming = [None, Status(Code.ERROR, ("taken",))]
    found = run(placer, root, uses_placements=True)[root.key]
    assert found.status == Status(Code.ERROR, ("failed to assume the subtree: taken",))


@pytest.mark.parametrize("when", [2, 1, 0])
def test_a_feasibility_that_cannot_be_told_is_an_error(when: int) -> None:
    """Given a gang / when a plugin fails to say whether it may still be whole, before the first pod
    or after any / then that is the error of the group.
    """
    root, placer = leaf(pod_group("g", 2), 2), Says({"n": 2})
    placer.feasibility = lambda _, __, remaining: Status(Code.ERROR, ("bad",)) if remaining == when else None
    found = run(placer, root)[root.key]
    assert (found.status, len(placer.tried)) == (
        Status(Code.ERROR, ("failed to evaluate placement feasibility: bad",)), 2 - when)


def test_an_error_of_a_child_is_one_of_its_parent() -> None:
    """Given two groups below another / when one of the first's pods fails / then both groups above
    have failed for it, and the second child is not tried.
    """
    first, second = leaf(pod_group("one", 1, "root"), 1), leaf(pod_group("two", 1, "root"), 1)
    root = PodGroupInfo(*composite("root", 1), children=[first, second])
    placer = Slots({"n": 9})
    placer.broken = "one-0"
    found = run(placer, root)
    error = "failed to schedule other pod from a pod group: it broke"
    assert found[first.key].status == Status(Code.ERROR, (error,))
    assert found[root.key].status == Status(
        Code.ERROR, (f"composite pod group evaluation failed due to child error: {error}",))
    assert placer.tried == ["one-0"]


def test_a_parent_that_waits_to_the_end_does_not_fit() -> None:
    """Given a group of groups / when plugins still wait after the last child / then it does not
    fit, for what they wait for.
    """
    child = leaf(pod_group("one", 1, "root"), 1)
    root, placer = PodGroupInfo(*composite("root", 1), children=[child]), Says({"n": 1})
    placer.feasibility = lambda info, *_: Status(Code.WAIT, ("more",)) if info is root else None
    found = run(placer, root)[root.key]
    assert (found.status and found.status.code, found.status and found.status.message) == (
        Code.UNSCHEDULABLE, "pod group is unschedulable, more")


class World:
    """What cycles of groups work with."""

    def __init__(self, *groups: Any, kind: Any = GroupCycles, skipped: Any = (), profiles: Any = ("default-scheduler",)) -> None:
        self.states = GroupStates()
        for key, group in groups:
            group["metadata"]["resourceVersion"] = "1"
            self.states.set_group(key, group)
        self.done: list[str] = []
        self.told: list[Any] = []
        self.written: list[str] = []
        framework = SimpleNamespace(recorder="recorder")
        self.scheduler = SimpleNamespace(
            profiles=dict.fromkeys(profiles, framework), failures=SimpleNamespace(handle=self._handle),
            queue=SimpleNamespace(done=self.done.append), is_skipped=lambda _, each: each.info.uid in skipped)
        self.cycles: Any = object.__new__(kind)
        self.cycles._ctx, self.cycles._scheduler, self.cycles._states = SimpleNamespace(name="s"), self.scheduler, self.states
        self.cycles._conditions = SimpleNamespace(write=self._write)
        self.cycles._uses_placements = self.cycles._has_policy = True

    async def _handle(self, *what: Any, **named: Any) -> None:
        self.told.append((what[1].info.uid, *what[2:], *named.values()))

    async def _write(self, info: PodGroupInfo, status: Status) -> None:
        self.written.append(info.key.name)

    async def attempt(self, root: PodGroupInfo) -> Any:
        """What becomes of it as a whole."""
        return await self.cycles.attempt(QueuedPodGroupInfo(root, timestamp=0.0, sequence=0))


def tree(*children: str) -> tuple[PodGroupInfo, list[Any]]:
    """A root with children of one pod each, and their objects."""
    made = [pod_group(name, 1, "root") for name in children]
    root = composite("root", 1)
    infos = [leaf(each, 1) for each in made]
    for _, group in (root, *made):
        group["metadata"]["resourceVersion"] = "1"
    return PodGroupInfo(*root, children=infos), [root, *made]


@pytest.mark.parametrize(("known", "text"), [
    (lambda found: found[1:], "compositepodgroup default/root not found"),
    (lambda found: [found[0], found[1]], (
        "different number of children in composite pod group between snapshot (1) and queued entity (2)")),
    (lambda found: [*found, pod_group("three", 1, "root")], (
        "different number of children in composite pod group between snapshot (3) and queued entity (2)")),
])
async def test_a_tree_that_has_changed_is_not_tried(known: Any, text: str) -> None:
    """Given a tree that waits / when groups of it have come or gone meanwhile / then each pod is
    told so as an error, and no group is.
    """
    root, objects = tree("one", "two")
    world = World(*known(objects))
    assert await world.attempt(root) == Status(Code.ERROR, (text,))
    assert world.told == [(f"{name}-0", "SchedulerError", text, NominatingInfo()) for name in ("one", "two")]
    assert (world.written, world.done) == ([], [])


async def test_pods_that_are_not_to_be_tried_are_left_out() -> None:
    """Given a group whose pods are being deleted or have nodes / then none is tried, and nothing is
    told.
    """
    root, objects = tree("one", "two")
    world = World(*objects, skipped=("one-0", "two-0"))
    assert await world.attempt(root) is None
    assert (world.done, world.told, [each.unscheduled_pods for each in root.children]) == (["one-0", "two-0"], [], [[], []])


async def test_pods_of_a_scheduler_that_is_not_here_are_let_go() -> None:
    """Given a group that failed, with pods of another scheduler / then these are let go, and only
    the others and the groups are told; in 1.36 only the pods.
    """
    for kind, written in ((GroupCycles, ["one", "two"]), (GroupCycles136, [])):
        root, objects = tree("one", "two")
        root.children[1].unscheduled_pods[0].info.pod["spec"]["schedulerName"] = "other"
        world = World(*objects, kind=kind)
        assert await world.cycles._fail(root, "text") == Status(Code.ERROR, ("text",))
        assert (world.done, [each[:3] for each in world.told]) == (["two-0"], [("one-0", "SchedulerError", "text")])
        assert world.written == written


@pytest.mark.parametrize(("known", "uses_placements", "text"), [
    (True, True, ""), (False, False, ""), (False, True, 'podgroup.scheduling.k8s.io "g" not found')])
def test_a_group_of_1_36_is_needed_for_its_placements(known: bool, uses_placements: bool, text: str) -> None:
    """Given a group of 1.36 that is gone / then its pods are tried all the same, unless it says
    where.
    """
    made = pod_group("g", 1)
    world = World(*([made] if known else []), kind=GroupCycles136)
    world.cycles._uses_placements = uses_placements
    info = leaf(pod_group("g", 1), 1)
    assert world.cycles._changed(info) == text
    assert (info.group is made[1]) is known


@pytest.mark.parametrize(("said", "expected", "waits"), [
    (Status(Code.SUCCESS), unschedulable("no"), True),
    (unschedulable("nobody"), Status(Code.UNSCHEDULABLE, ("no", "nobody")), False),
    (Status(Code.ERROR, ("broken",)), Status(Code.ERROR, ("broken",)), False)])
async def test_what_a_preemption_of_1_36_makes_of_a_group(said: Status, expected: Status, waits: bool) -> None:
    """Given a group of 1.36 that does not fit / when others are evicted for it, or not, or that
    fails / then it waits for that, says so too, or has failed.
    """
    world, root = World(kind=GroupCycles136), leaf(pod_group("g", 1), 1)
    world.cycles._preempts = True

    async def preempt(*_: Any) -> Status:
        return said

    world.cycles._preempt = preempt
    results = {root.key: GroupResult(root, unschedulable("no"))}
    await world.cycles._conclude(SimpleNamespace(root=root), results)
    assert (results[root.key].status, results[root.key].waits_for_preemption) == (expected, waits)


async def test_without_the_plugin_nobody_is_evicted_for_groups() -> None:
    """Given a profile without DefaultPreemption / then a group of 1.36 evicts nobody."""
    world, root = World(kind=GroupCycles136), leaf(pod_group("g", 1), 1)
    framework = SimpleNamespace(pod_group_post_filter_plugins=[SimpleNamespace(name="Other")])
    found = await world.cycles._preempt(SimpleNamespace(algorithm=SimpleNamespace(framework=framework), root=root))
    assert found == unschedulable("default preemption plugin is not registered, workload aware preemption is disabled")


@pytest.mark.parametrize(("waits", "node_name", "message", "nominated"), [
    (True, "n1", "no", NominatingInfo("n1")), (False, "n1", "pod group is unschedulable, ", NominatingInfo())])
async def test_a_pod_of_1_36_that_waits_for_evictions_keeps_its_node(
    waits: bool, node_name: str, message: str, nominated: NominatingInfo,
) -> None:
    """Given a pod of 1.36 that fits while its group waits for evictions / then it is nominated for
    its node; where the group just does not fit, it is told that, and is not.
    """
    world, root = World(kind=GroupCycles136), leaf(pod_group("g", 1), 1)
    result = GroupResult(root, unschedulable("no"))
    result.waits_for_preemption = waits
    tried = PermitResult(root.unscheduled_pods[0], None, node_name)
    await world.cycles._reject(SimpleNamespace(framework=SimpleNamespace(recorder="r")), result, tried, None)
    [(uid, reason, text, error, info)] = world.told
    assert (uid, reason, text, error.plugins, info) == ("g-0", "Unschedulable", message, ("GangScheduling",), nominated)


@pytest.mark.parametrize(("raised", "message"), [
    (SchedulingError("broken"), "broken"), (ValueError("oops"), "ValueError('oops')")])
async def test_a_pod_of_1_36_whose_search_fails_has_failed(raised: Exception, message: str) -> None:
    """Given a pod of 1.36 / when the search for a node fails / then that is its error."""
    def schedule(*_: Any) -> str:
        raise raised

    algorithm: Any = SimpleNamespace(schedule=schedule, framework=None)
    snapshot: Any = SimpleNamespace(placement=None)
    placer = PermitPlacer(algorithm, snapshot, CycleState(), [], asks_post_filter=True)
    found = await placer.try_pod(queued(pod("a", "g")), SimpleNamespace(node_names=None))  # type: ignore[arg-type]
    assert (found.status, found.node_name) == (Status(Code.ERROR, (message,)), "")


async def test_post_filter_of_1_36_hears_what_pre_filter_said_of_every_node() -> None:
    """Given a pod that PreFilter rejected / when PostFilter is asked / then every node has that
    status.
    """
    heard: list[Any] = []

    async def post_filter(_: Any, __: Any, ___: Any, statuses: Any) -> Any:
        heard.append(statuses)
        return None, unschedulable("nobody")

    rejected = unschedulable("nowhere")
    algorithm: Any = SimpleNamespace(framework=SimpleNamespace(post_filter_plugins=[1], run_post_filter_plugins=post_filter))
    snapshot: Any = SimpleNamespace(nodes={"a": 1, "b": 2})
    placer = PermitPlacer(algorithm, snapshot, CycleState(), [], asks_post_filter=True)
    result = PermitResult(queued(pod("a", "g")))
    await placer._make_room(result, FitError({}, 2, pre_filter_status=rejected))
    assert heard == [{"a": rejected, "b": rejected}]
    assert result.status == unschedulable("0/2 nodes are available: nowhere. nobody")


async def test_a_connection_that_breaks_is_an_answer_too() -> None:
    """Given a function / when it answers, raises, or its connection breaks / then that is told."""
    async def call(what: Any) -> Any:
        if isinstance(what, Exception):
            raise what
        return what

    broken, wrong = ConnectionError("gone"), ValueError("no")
    assert [await attempt_all(call, each) for each in (1, broken, wrong)] == [(1, None), (None, broken), (None, wrong)]

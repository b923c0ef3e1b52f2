"""Parts of the scheduler about pods that go, move or come twice, and plugins that say what they
should not: each alone.
"""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.client.resources import PODS
from fakekube.util.clock import ManualClock
from fakekube_controllers.scheduler import diagnoses
from fakekube_controllers.scheduler.binding import BindingCycles, PodInPreBind
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.cycle import SchedulingError
from fakekube_controllers.scheduler.diagnoses import Diagnoses, Diagnosis
from fakekube_controllers.scheduler.event_handlers import EventHandlers
from fakekube_controllers.scheduler.failure import FailureHandler
from fakekube_controllers.scheduler.framework.extender import ExtenderError
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Code, FitError, error, unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.scheduler import Scheduler
from fakekube_controllers.scheduler.waiting import Signal
from tests.controllers.scheduler import test_configuration
from tests.controllers.scheduler.contexts import algorithm, framework
from tests.controllers.scheduler.groups.trees import queued
from tests.controllers.scheduler.plugins.cases import node, pod, said, snapshot

made: Any = test_configuration.made


async def test_a_binding_is_cancelled_once() -> None:
    """Given a pod whose PreBind plugins run / when its binding is cancelled twice / then the second
    comes too late, and the first one's words count; there is nothing to cancel without a task.
    """
    async def waits() -> None:
        found.append(PodInPreBind())
        await asyncio.Event().wait()

    found: list[PodInPreBind] = []
    task = asyncio.ensure_future(waits())
    await asyncio.wait([task], timeout=0)
    [under_way] = found
    assert [under_way.cancel("first"), under_way.cancel("second"), under_way.message] == [True, False, "first"]
    with pytest.raises(asyncio.CancelledError):
        await task
    under_way = PodInPreBind()
    under_way.task = None
    assert (under_way.cancel("late"), under_way.message) == (False, "")


class Binder:
    """An extender that binds, or fails to."""

    def __init__(self, failure: str = "", ignorable: bool = False, *, interested: bool = True, binder: bool = True) -> None:
        self.failure, self.is_ignorable, self.is_binder, self.interested = failure, ignorable, binder, interested
        self.bound: list[Any] = []

    def is_interested(self, _: Any) -> bool:
        """Whether it wants the pod."""
        return self.interested

    async def bind(self, info: Any, node_name: str) -> None:
        """Bind it."""
        self.bound.append((info.uid, node_name))
        if self.failure:
            raise ExtenderError(self.failure)


@pytest.mark.parametrize(("extenders", "expected", "asked"), [
    ([Binder()], (Code.SUCCESS, ""), [1]), ([Binder("no")], (Code.ERROR, "no"), [1]), ([Binder("no", True)], None, [1]),
    ([Binder("no", True), Binder()], (Code.SUCCESS, ""), [1, 1]), ([Binder(interested=False)], None, [0]),
    ([Binder(binder=False)], None, [0]), ([Binder(), Binder()], (Code.SUCCESS, ""), [1, 0]), ([], None, []),
])
async def test_the_first_extender_that_can_binds(extenders: list[Binder], expected: Any, asked: list[int]) -> None:
    """Given extenders that bind / then the first that is interested does; where it fails, that is
    an error, unless it may be ignored: then the next one does, or the plugins.
    """
    cycles: Any = object.__new__(BindingCycles)
    cycles._shared = SimpleNamespace(extenders=extenders)
    binding = SimpleNamespace(queued=queued(pod_info(pod())), node_name="n1")
    assert said(await cycles._extenders_bind(binding)) == expected
    assert [len(each.bound) for each in extenders] == asked


def test_a_pod_that_went_elsewhere_is_on_one_node() -> None:
    """Given a pod that was assumed on a node / when it is seen on another one / then it is there
    alone.
    """
    cache = Cache()
    for name in ("n1", "n2"):
        made_node: Any = node(name).node
        cache.set_node(made_node)
    placed = pod()
    cache.assume_pod(pod_info(placed), "n1")
    cache.add_pod({**placed, "spec": {**placed["spec"], "nodeName": "n2"}}, "n2")
    assert {each.name: list(each.pods) for each in cache.snapshot().all_nodes.infos()} == {"n1": [], "n2": ["n/p"]}
    assert not cache.is_assumed_pod("n/p")


class Says:
    """PreFilter: says what it is told."""

    name = "Says"
    answer: Any = None

    def __init__(self, *_: Any) -> None:
        return

    def pre_filter(self, *_: Any) -> Any:
        """What it says."""
        return self.answer

    def filter(self, *_: Any) -> Any:
        """Nothing."""
        return

    def events_to_register(self) -> Any:
        """None."""
        return []


def says(answer: Any) -> Any:
    return type("Says", (Says,), {"answer": answer})


@pytest.mark.parametrize(("answer", "raised"), [
    (error("broken"), SchedulingError('running PreFilter plugin "Says": broken')),
    (unschedulable("nowhere"), FitError({}, 1, unschedulable("nowhere"))), (SKIP, None), (None, None), (["n1"], None)])
@pytest.mark.parametrize("groups", [True, False])
def test_what_pre_filter_says_ends_the_search_or_not(answer: Any, raised: Any, groups: bool) -> None:
    """Given a plugin that fails, rejects, skips, or names nodes / then the search ends with that,
    or goes on, whether nodes are grouped or not.
    """
    made_algorithm = algorithm(says(answer), groups_nodes=groups)
    nodes = snapshot(node("n1"))
    if raised is None:
        assert made_algorithm.schedule(CycleState(), pod_info(pod()), nodes) == "n1"
        return
    with pytest.raises(type(raised)) as refused:
        made_algorithm.schedule(CycleState(), pod_info(pod()), nodes)
    assert str(refused.value) == str(raised)


class Generator:
    """PlacementGenerate, and a way to sort the queue."""

    def __init__(self, *_: Any) -> None:
        return

    def generate_placements(self, *_: Any) -> Any:
        """None."""
        return []

    def sort_key(self, entity: Any) -> Any:
        """By age."""
        return entity.timestamp


def test_configurations_of_several_profiles_or_placements() -> None:
    """Given two plugins that generate placements, or profiles that sort the queue each in their own
    way / then that is refused.
    """
    one, two = (type(name, (Generator,), {"name": name}) for name in ("One", "Two"))
    points = {"placementGenerate": {"enabled": [{"name": "One"}, {"name": "Two"}]}, "queueSort": {
        "disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}]}}
    with pytest.raises(ValueError, match=r"scheduler name a: at most one placement generate plugin is allowed for profile with "
                                         r'scheduler name "a"$'):
        made(one, two, profiles=[{"schedulerName": "a", "plugins": points}])
    own = {"multiPoint": {"enabled": [{"name": "One"}], "disabled": [{"name": "PrioritySort"}]}, "placementGenerate": {
        "disabled": [{"name": "*"}]}}
    with pytest.raises(ValueError, match=r"^creating profile for scheduler name b: different queue sort plugins for profile "
                                         r'"b": "PrioritySort", first: "One"$'):
        made(one, profiles=[{"schedulerName": "a", "plugins": own}, {"schedulerName": "b", "plugins": {
            "multiPoint": {"disabled": [{"name": "One"}]}}}])


def test_only_so_much_is_kept_of_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given diagnoses of more pods, or with more statuses, than are kept / then those of the pods
    that failed longest ago are forgotten; those of the last one stay, however many they are.
    """
    monkeypatch.setattr(diagnoses, "MAX_ENTITIES", 2)
    monkeypatch.setattr(diagnoses, "MAX_STATUSES", 4)
    kept = Diagnoses()

    def failed(uid: str, statuses: int) -> list[str]:
        kept.record(uid, Diagnosis(1, 0.0, "R", uid, [(unschedulable("x"), 1)] * statuses))
        return [each for each in "abcd" if kept.of(each)]

    assert [failed("a", 1), failed("b", 1), failed("a", 1), failed("c", 2)] == [["a"], ["a", "b"], ["a", "b"], ["a", "c"]]
    assert [failed("c", 1), failed("d", 5), failed("a", 0)] == [["c"], ["d"], ["a"]]
    assert (kept._statuses, len(kept.of("a"))) == (0, 1)


class Seen:
    """A queue that remembers what it is told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, *(each["metadata"]["name"] if isinstance(each, dict) else each
                                                             for each in arguments)))


def finished(of: Any, phase: str = "Succeeded") -> Any:
    return {**of, "status": {"phase": phase}}


OURS, THEIRS = pod("p", schedulerName="ours"), pod("p", schedulerName="theirs")


@pytest.mark.parametrize(("verb", "objects", "expected"), [
    ("add", [OURS], ["add"]), ("add", [finished(OURS)], []), ("add", [finished(OURS, "Failed")], []), ("add", [THEIRS], []),
    ("update", [finished(OURS), OURS], ["add"]), ("update", [OURS, finished(OURS)], ["remove"]),
    ("update", [finished(OURS), finished(OURS)], []), ("update", [OURS, OURS], ["update"]), ("update", [THEIRS, THEIRS], []),
    ("delete", [OURS], ["remove"]), ("delete", [THEIRS], []),
])
def test_what_the_queue_is_told_of_pods(verb: str, objects: Any, expected: list[str]) -> None:
    """Given pods without a node, ours and those of another scheduler / when they come, change, end
    or go / then the queue has ours while they have not finished.
    """
    queue: Any = Seen()
    changes: Any = SimpleNamespace(record=lambda *_: None)
    handlers = EventHandlers(
        Cache(), queue, changes, None, is_responsible_for="ours".__eq__, release=lambda _: None)  # type: ignore[arg-type]
    getattr(handlers, f"{verb}_pod")(*objects)
    assert [call[0] for call in queue.calls if call[0] != "move_all_to_active_or_backoff"] == expected


@pytest.mark.parametrize(("cached", "calls", "reported"), [
    (OURS, ["add_unschedulable_if_not_present"], 1), ({**OURS, "metadata": {**OURS["metadata"], "uid": "x"}}, ["done"], 0),
    (None, ["done"], 1), ({**OURS, "spec": {**OURS["spec"], "nodeName": "n1"}}, ["done"], 1)])
async def test_who_comes_back_after_a_failure(cached: Any, calls: Any, reported: int) -> None:
    """Given a pod that plugins rejected or let wait / when it is given back / then it waits for
    what helps the one or the other, unless it is gone, has a node, or is another one: of that
    nothing is told.
    """
    queue, told = Seen(), list[Any]()
    patched: list[Any] = []

    async def patch(*what: Any, **_: Any) -> None:
        patched.append(what)

    ctx: Any = SimpleNamespace(
        client=SimpleNamespace(patch=patch), clock=ManualClock(), lister=lambda resource: {PODS: SimpleNamespace(
            get=lambda *_: cached)}[resource], enabled=lambda _: False, version="1.37")
    made_queue: Any = queue
    handler = FailureHandler(ctx, made_queue, Nominator())
    of = queued(pod_info(OURS))
    recorder: Any = SimpleNamespace(report=lambda *words: told.append(words[1:]))
    failure = FitError({}, 1, plugins=("One", "Two"), pending_plugins=("One",))
    await handler.handle(recorder, of, "Unschedulable", "text", failure)
    assert (list(of.unschedulable_plugins), list(of.pending_plugins)) == (["Two"], ["One"])
    assert [call[0] for call in queue.calls] == calls
    assert told == [("Warning", "FailedScheduling", "Scheduling", "text")] * reported
    assert len(patched) == reported


async def test_a_signal_is_given_once() -> None:
    """Given a signal / when it is given twice / then whoever waits goes on once, and nobody waits
    for one that was given.
    """
    held: list[str] = []
    activity: Any = SimpleNamespace(
        hold=lambda: held.append("hold"), suspend=lambda: None, release=lambda: held.append("release"))
    signal = Signal(activity)
    task = asyncio.ensure_future(signal.wait())
    await asyncio.wait([task], timeout=0)
    signal.give()
    signal.give()
    await task
    assert held == ["hold", "release"]
    await signal.wait()
    assert held == ["hold", "release"]


def test_a_waiting_pod_is_rejected_by_name() -> None:
    """Given a pod that waits for a Permit plugin / when it is rejected / then it was waiting;
    another one was not.
    """
    rejected: list[Any] = []
    profile = framework()
    profile._shared.waiting_pods = {"u": SimpleNamespace(reject=lambda *words: rejected.append(words))}
    assert [profile.reject_waiting_pod("u"), profile.reject_waiting_pod("v"), rejected] == [True, False, [("", "removed")]]


def test_a_plugin_that_fails_about_a_nominated_pod_fails_the_node() -> None:
    """Given a pod that is nominated for a node / when a plugin cannot count it / then the node is
    refused with that.
    """
    class Counts(Says):
        """Fails to count."""

        name = "Counts"

        def add_pod(self, *_: Any) -> Any:
            """Fail."""
            return error("cannot")

        remove_pod = add_pod

    profile = framework(Counts)
    other = pod_info({**pod("o", priority=1), "status": {"nominatedNodeName": "n1"}})
    profile.nominator.add_nominated_pod(other)
    found = profile.run_filter_plugins_with_nominated_pods(CycleState(), pod_info(pod()), node("n1"))
    assert said(found) == (Code.ERROR, 'running AddPod on PreFilter plugin "Counts": cannot')


async def test_a_pod_that_is_being_deleted_is_not_tried() -> None:
    """Given a pod that is being deleted, or is on its way to a node / when its turn comes / then it
    is in flight no more, and only of the first something is told.
    """
    told: list[Any] = []
    profile = SimpleNamespace(recorder=SimpleNamespace(report=lambda *words: told.append(words[1:])))
    scheduler: Any = object.__new__(Scheduler)
    scheduler.ctx, scheduler.profiles = SimpleNamespace(name="s"), {"": profile}
    for assumed, more in ((False, {"deletionTimestamp": "x"}), (True, {})):
        of = pod()
        of["metadata"] |= {"resourceVersion": "1", **more}
        scheduler.queue, scheduler.cache = Seen(), SimpleNamespace(is_assumed_pod=lambda _, found=assumed: found)
        await scheduler._schedule_pod(queued(pod_info(of)))
        assert scheduler.queue.calls == [("done", "n/p")]
    assert told == [("Warning", "FailedScheduling", "Scheduling", "skip schedule deleting pod: n/p")]

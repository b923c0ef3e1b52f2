"""What each extension point makes of the answers of its plugins."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.handle import CLEAR_NOMINATED_NODE, NominatingInfo, NominatingMode
from fakekube_controllers.scheduler.framework.interface import PostFilterResult
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, WAIT, Code, Status, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import pod_info
from tests.controllers.scheduler.contexts import framework
from tests.controllers.scheduler.plugins.cases import node, pod, said, snapshot

POD, NODE = pod_info(pod()), node("a")
OUR = ("One", "Two")
DEFAULT = [
    "SchedulingGates", "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
    "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
    "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality"]


def profile(method: str, *answers: Any, calls: list[str] | None = None, **more: Any) -> Any:
    """A profile with a plugin for each answer that a method gives, and no other at that point."""
    def made(name: str, answer: Any) -> type:
        def answered(self: Any, *_: Any) -> Any:
            if calls is not None:
                calls.append(name)
            return answer

        async def later(self: Any, *_: Any) -> Any:
            return answered(self)

        is_async = method in ("post_filter", "pod_group_post_filter", "pre_bind", "bind")
        return type(name, (), {
            "name": name, "__init__": lambda *_: None, method: later if is_async else answered, **more})

    without = [*DEFAULT, "DefaultBinder"] if method == "bind" else DEFAULT
    return framework(*(made(name, answer) for name, answer in zip(("One", "Two", "Three"), answers, strict=False)),
    without=without)


BAD = error("bad")


@pytest.mark.parametrize(("answers", "nodes", "status", "named_by", "skipped"), [
    ((None, None), None, None, (), []), ((SKIP, None), None, None, (), ["One"]), ((["a", "b"], ["b", "c"]), ["b"], None, OUR, []),
    ((["a"], ["b"]), [], (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't satisfy plugin(s) [One Two] simultaneously"), OUR,
     None),
    (([], None), [], (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't satisfy plugin One"), ("One",), None),
    ((unschedulable("no"), SKIP), None, (Code.UNSCHEDULABLE, "no"), (), ["Two"]),
    ((unresolvable("never"), SKIP), None, (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "never"), (), None),
    ((None, BAD), None, (Code.ERROR, 'running PreFilter plugin "Two": bad'), (), None),
])
def test_pre_filter(answers: Any, nodes: Any, status: Any, named_by: Any, skipped: Any) -> None:
    """Given PreFilter plugins / then nodes are what all name, a rejection lets the others be asked,
    a final one and an error end it, and those that skip are not asked about nodes.
    """
    state = CycleState()
    found, why, by = profile("pre_filter", *answers).run_pre_filter_plugins(state, POD, snapshot(NODE))
    assert (found if found is None else list(found), said(why), by) == (nodes, status, named_by)
    if skipped is not None:
        assert sorted(state.skip_filter_plugins) == skipped


@pytest.mark.parametrize(("method", "run", "answers", "expected", "calls"), [
    ("filter", "run_filter_plugins", (None, None), None, ["One", "Two"]),
    ("filter", "run_filter_plugins", (unschedulable("no"), None), (
        Code.UNSCHEDULABLE, "no"), ["One"]),
    ("filter", "run_filter_plugins", (None, BAD), (Code.ERROR, 'running "Two" filter plugin: bad'), ["One", "Two"]),
    ("pre_score", "run_pre_score_plugins", (SKIP, None), None, ["One", "Two"]),
    ("pre_score", "run_pre_score_plugins", (BAD, None), (Code.ERROR, 'running PreScore plugin "One": bad'), ["One"]),
    ("reserve", "run_reserve_plugins", (unschedulable("no"), None), (Code.UNSCHEDULABLE, "no"), ["One"]),
    ("reserve", "run_reserve_plugins", (BAD, None), (Code.ERROR, 'running Reserve plugin "One": bad'), ["One"]),
    ("reserve", "run_reserve_plugins", (None, None), None, ["One", "Two"]),
    ("pre_bind_pre_flight", "run_pre_bind_pre_flights", (None, SKIP), None, ["One", "Two"]),
    ("pre_bind_pre_flight", "run_pre_bind_pre_flights", (SKIP, SKIP), (Code.SKIP, ""), ["One", "Two"]),
    ("pre_bind_pre_flight", "run_pre_bind_pre_flights", (BAD, None), (Code.ERROR, 'running PreBindPreFlight "One": bad'),
     ["One"]),
    ("pre_bind_pre_flight", "run_pre_bind_pre_flights", (unresolvable("x"), None), (
        Code.ERROR, ('PreBindPreFlight One returned "UnschedulableAndUnresolvable", which is unsupported. '
                     "It is supposed to return Success, Skip, or Error status")), ["One"]),
    ("pre_bind", "run_pre_bind_plugins", (None, unschedulable("no")), (Code.UNSCHEDULABLE, "no"), ["One", "Two"]),
    ("pre_bind", "run_pre_bind_plugins", (BAD, None), (Code.ERROR, 'running PreBind plugin "One": bad'), ["One"]),
    ("bind", "run_bind_plugins", (SKIP, None), None, ["One", "Two"]), ("bind", "run_bind_plugins", (None, BAD), None, ["One"]),
    ("bind", "run_bind_plugins", (SKIP, SKIP), (Code.SKIP, ""), ["One", "Two"]),
    ("bind", "run_bind_plugins", (unschedulable("no"), None), (Code.UNSCHEDULABLE, "no"), ["One"]),
    ("bind", "run_bind_plugins", (BAD, None), (Code.ERROR, 'running Bind plugin "One": bad'), ["One"]),
    ("post_bind", "run_post_bind_plugins", (None, None), None, ["One", "Two"]),
])
async def test_the_first_that_objects_ends_it(method: str, run: str, answers: Any, expected: Any, calls: list[str]) -> None:
    """Given plugins of an extension point / then they are asked in order until one objects, whose
    words are told as upstream tells them.
    """
    asked: list[str] = []
    more: Any = {"pre_bind_pre_flight": {"pre_bind": None}, "pre_bind": {"pre_bind_pre_flight": lambda *_: None}}.get(method, {})
    state = CycleState()
    made = profile(method, *answers, calls=asked, **more)
    third = [NODE] if method == "pre_score" else NODE if method == "filter" else "a"
    status = getattr(made, run)(state, POD, third)
    if hasattr(status, "__await__"):
        status = await status
    assert (said(status), asked) == (expected, calls)
    if status is not None and status.is_rejection:
        assert status.plugin == calls[-1]
    if method == "pre_score" and expected is None:
        assert state.skip_score_plugins == {"One"}
    if method == "pre_bind_pre_flight" and (expected is None or expected[0] is Code.SKIP):
        assert sorted(state.skip_pre_bind_plugins) == (["Two"] if expected is None else ["One", "Two"])


def test_permit() -> None:
    """Given Permit plugins / then the longest waits are fifteen minutes, a rejection or an error
    ends it, and who waits says so.
    """
    def run(*answers: Any) -> Any:
        seconds, status = profile("permit", *answers).run_permit_plugins(CycleState(), POD, "a")
        return seconds, said(status)

    waits = "one or more plugins asked to wait and no plugin rejected pod"
    assert run((None, 0.0), (None, 0.0)) == ({}, None)
    assert run((WAIT, 5.0), (Status(Code.WAIT, ("why",)), 9000.0)) == ({"One": 5.0, "Two": 900.0}, (Code.WAIT, f"why, {waits}"))
    assert run((WAIT, 5.0), (unschedulable("no"), 0.0)) == ({}, (Code.UNSCHEDULABLE, "no"))
    assert run((BAD, 5.0), (None, 0.0)) == ({}, (Code.ERROR, 'running Permit plugin "One": bad'))


KEPT = PostFilterResult(NominatingInfo("n"))
NOOP = PostFilterResult(NominatingInfo("", NominatingMode.NOOP))


@pytest.mark.parametrize(("answers", "result", "status", "plugin"), [
    (((KEPT, None), (None, BAD)), KEPT, None, ""),
    (((None, unschedulable("a")), (KEPT, Status(Code.SUCCESS))), KEPT, (Code.SUCCESS, ""), ""),
    (((KEPT, unresolvable("a")), (None, None)), KEPT, (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "a"), "One"),
    (((KEPT, BAD), (None, None)), None, (Code.ERROR, "bad"), "One"),
    (((KEPT, unschedulable("a")), (NOOP, unschedulable("b"))), KEPT, (Code.UNSCHEDULABLE, "a, b"), "One"),
    (((None, unschedulable("a")), (KEPT, unschedulable("b"))), KEPT, (Code.UNSCHEDULABLE, "a, b"), "One"),
    ((), None, (Code.UNSCHEDULABLE, ""), ""),
])
async def test_post_filter(answers: Any, result: Any, status: Any, plugin: str) -> None:
    """Given PostFilter plugins / then the first that makes room ends it, else the reasons of all
    are told, with the last nomination that says something.
    """
    found, why = await profile("post_filter", *answers).run_post_filter_plugins(CycleState(), POD, snapshot(NODE), {})
    assert (found, said(why), why.plugin if why is not None else "") == (result, status, plugin)


@pytest.mark.parametrize(("answers", "nominations", "status", "plugin"), [
    ((({"u": CLEAR_NOMINATED_NODE}, Status(Code.SUCCESS, ("ok",))), ({}, BAD)), {"u": CLEAR_NOMINATED_NODE}, (Code.SUCCESS, "ok"),
     ""),
    ((({}, unschedulable("a")), ({}, unschedulable("b"))), {}, (Code.UNSCHEDULABLE, "a, b"), "One"),
    ((({"u": CLEAR_NOMINATED_NODE}, unresolvable("a")), ({}, BAD)), {"u": CLEAR_NOMINATED_NODE},
     (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "a"), "One"),
    ((({"u": CLEAR_NOMINATED_NODE}, BAD), ({}, BAD)), {}, (Code.ERROR, 'error in "One" PodGroupPostFilter plugins: bad'), ""),
])
async def test_pod_group_post_filter(answers: Any, nominations: Any, status: Any, plugin: str) -> None:
    """Given PodGroupPostFilter plugins / then the first that makes room ends it, else the reasons
    of all are told.
    """
    group: Any = SimpleNamespace()
    made = profile("pod_group_post_filter", *answers)
    found, why = await made.run_pod_group_post_filter_plugins(CycleState(), group, snapshot(NODE), None)
    assert (found, said(why), why.plugin) == (nominations, status, plugin)


def test_extensions_are_told_of_pods_unless_their_plugin_skips() -> None:
    """Given PreFilter plugins that keep count of pods / then they are told who comes and goes, not
    if they skip; what one says is an error.
    """
    told: list[str] = []

    def counting(name: str, answer: Any = None) -> Any:
        def tell(self: Any, state: Any, pod: Any, other: Any, node: Any) -> Any:
            told.append(f"{name} {other.uid} {node.name}")
            return answer

        return profile("pre_filter", None, add_pod=tell, remove_pod=tell)

    made, state = counting("x"), CycleState()
    state.skip_filter_plugins = frozenset()
    assert made.run_pre_filter_extension_add_pod(state, POD, POD, NODE) is None
    assert made.run_pre_filter_extension_remove_pod(state, POD, POD, NODE) is None
    state.skip_filter_plugins = frozenset(["One"])
    assert made.run_pre_filter_extension_add_pod(state, POD, POD, NODE) is None
    assert made.run_pre_filter_extension_remove_pod(state, POD, POD, NODE) is None
    assert told == ["x n/p a"] * 2
    state.skip_filter_plugins = frozenset()
    broken = counting("y", BAD)
    assert said(broken.run_pre_filter_extension_add_pod(state, POD, POD, NODE)) == (
        Code.ERROR, 'running AddPod on PreFilter plugin "One": bad')
    assert said(broken.run_pre_filter_extension_remove_pod(state, POD, POD, NODE)) == (
        Code.ERROR, 'running RemovePod on PreFilter plugin "One": bad')


def test_unreserve_goes_backwards_and_nobody_is_in_its_way(caplog: pytest.LogCaptureFixture) -> None:
    """Given plugins that reserve / when that is undone / then the last comes first, and one that
    raises is logged and hinders no other.
    """
    undone: list[str] = []

    def unreserve(self: Any, *_: Any) -> None:
        undone.append(self.name)
        if self.name == "Two":
            raise KeyError("oops")

    profile("reserve", None, None, None, unreserve=unreserve).run_unreserve_plugins(CycleState(), POD, "a")
    assert undone == ["Three", "Two", "One"]
    assert [record.getMessage() for record in caplog.records] == ["Two unreserving for n/p"]

"""Which of the matching requests meet a fault, what is noted of them, and what is said in the end.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.causes import ACTING, CAUSE, Acting, Cause
from fakekube.apimachinery.http import MetFault, Request, UserInfo
from fakekube.endpoints.requestinfo import parse
from fakekube.faults.plan import FaultNeverMet, Faults
from fakekube.faults.rules import FaultError, rule_of
from fakekube.util.rng import Rng

PODS = "/api/v1/namespaces/default/pods"


class Server:
    """A server of which faults ask little."""

    name, revision, oldest_revision = "", 50, 10

    def __init__(self) -> None:
        self.checked: list[str] = []

    def labels_of(self, *_: object) -> None:
        return None

    def is_elsewhere(self, info: Any) -> bool:
        return bool(info.group == "x.dev")

    def check_component(self, name: str) -> None:
        self.checked.append(name)


class Clock:
    """A clock that is set."""

    now = 100.0

    def time(self) -> float:
        return self.now


def made() -> tuple[Faults, Clock, Server]:
    clock, server = Clock(), Server()
    return Faults(cast("Any", clock), Rng(1), cast("Any", server)), clock, server


def asked(faults: Faults, path: str = PODS, method: str = "GET", user: str = "u", agent: str = "g") -> list[str]:
    request = Request(method, path, {}, {"user-agent": agent}, b"", UserInfo(user, ()))
    return [fault.name for fault in faults.met_by(parse(method, path, {}), request)]


@pytest.mark.parametrize(("rule", "met"), [
    ({}, [1, 2, 3, 4, 5, 6]), ({"nth": 2}, [2]), ({"nth": [1, 4]}, [1, 4]), ({"every": 3}, [3, 6]), ({"times": 2}, [1, 2]),
    ({"every": 2, "times": 1}, [2]), ({"probability": 0}, []), ({"probability": 1}, [1, 2, 3, 4, 5, 6]),
])
def test_which_of_the_matching(rule: dict[str, Any], met: list[int]) -> None:
    """Given a rule / when six requests match it / then these meet it, and both are counted."""
    faults, _, _ = made()
    fault = faults.add(cut="before", **rule)
    assert [number for number in range(1, 7) if asked(faults)] == met
    assert fault.met == len(met)
    assert fault.seen == (rule["times"] * rule.get("every", 1) if "times" in rule else 6)


@pytest.mark.parametrize(("now", "is_open"), [(104.9, False), (105.0, True), (109.9, True), (110.0, False)])
def test_the_time_in_which_it_holds(now: float, is_open: bool) -> None:
    """Given a rule with a beginning and an end / when a request comes / then it meets the fault in
    that time alone.
    """
    faults, clock, _ = made()
    fault = faults.add(cut="before", after=5, until=10)
    clock.now = now
    assert (bool(asked(faults)), fault.seen) == (is_open, int(is_open))


def test_names_and_changes() -> None:
    """Given faults with names and without / when they are added and removed / then free names are
    given, who listens is told of each change once, and what is removed is met no more.
    """
    faults, _, server = made()
    told: list[str] = []
    faults.on_change.append(lambda fault: told.append(fault.name))
    faults.add_all([rule_of({"cut": "before"}), rule_of({"name": "fault-2", "cut": "before"}), rule_of({"crash": "job"})])
    assert [fault.name for fault in faults] == ["fault-2", "fault-3", "fault-4"]
    assert server.checked == ["job"]
    with pytest.raises(FaultError) as refused:
        faults.add(name="fault-2", stale=True)
    assert str(refused.value) == "a fault is called 'fault-2' already"
    with pytest.raises(FaultError):
        faults.add_all([rule_of({"name": "new", "stale": True}), rule_of({"name": "fault-2", "stale": True})])
    assert (len(faults), faults.named("new"), faults.named("fault-2") is not None) == (3, None, True)
    first = faults.named("fault-2")
    assert first is not None
    first.remove()
    first.remove()
    assert asked(faults) == ["fault-3"]
    faults.begin([rule_of({"name": "last", "cut": "after"})])
    assert told == ["fault-2", "fault-3", "fault-4", "fault-2", "fault-3", "fault-4", "last"]
    assert (asked(faults), len(faults)) == (["last"], 1)
    copied = faults.add(rule_of({"name": "a", "cut": "after", "times": 7}), name="b")
    assert (copied.name, copied.rule.times, copied.rule.cut) == ("b", 7, "after")


def test_who_meets_what() -> None:
    """Given several faults / when a request comes / then it meets each in their order, until one
    ends it; our own paths meet none, and many faults are told apart by who asks.
    """
    faults, _, _ = made()
    faults.add(name="slow", latency=1)
    faults.add(name="late", error="Timeout", moment="after")
    faults.add(name="first", error="Timeout", users="u")
    faults.add(name="second", cut="before")
    assert asked(faults) == ["slow", "late", "first"]
    assert asked(faults, user="v") == ["slow", "late", "second"]
    assert asked(faults, "/fakekube/v1/clock") == []
    assert asked(faults, "/healthz") == []
    faults, _, _ = made()
    for number in range(30):
        faults.add(name=f"n{number}", latency=1, names=f"n{number}")
    assert [name for name in asked(faults, f"{PODS}/n7") if name[1:].isdigit()] == ["n7"]
    assert [name for name in asked(faults, f"{PODS}/n8") if name[1:].isdigit()] == ["n8"]
    faults.add(name="lag", stale=True)
    assert "lag" not in asked(faults, "/apis/x.dev/v1/ws", user="v", method="GET")


def test_what_is_noted() -> None:
    """Given faults that are met / when they are noted / then the request tells of all, whether it
    was done and answered, and each meeting says who met what.
    """
    faults, _, _ = made()
    info, request = parse("GET", PODS, {}), Request("GET", PODS, {}, {"user-agent": "g"}, b"", UserInfo("u", ()))
    faults.note(faults.add(name="a", watch="end"), info, request)
    assert (info.fault, request.fault) == ("a", MetFault("a", served=True, told=False))
    faults.note(faults.add(name="b", lose_lease=True), info, request, "job")
    assert request.fault == MetFault("a, b", served=False, told=False)
    faults.note(faults.add(name="c", cut="before"), info, request)
    assert request.fault == MetFault("a, b, c", served=False, told=False)
    other = Request("GET", PODS, {}, {}, b"", None)
    faults.note(faults.add(name="d", latency=2), parse("GET", PODS, {}), other)
    assert other.fault == MetFault("d", served=True, told=True)
    assert [tuple(meeting) for meeting in faults.meetings] == [
        (100.0, "a", "watch end", "list", PODS, "g", ""), (100.0, "b", "lose lease", "list", PODS, "g", "job"),
        (100.0, "c", "cut before", "list", PODS, "g", ""), (100.0, "d", "latency 2 s", "list", PODS, "", "")]


def test_calls_of_webhooks() -> None:
    """Given a fault of calls / when webhooks are called / then those of its names meet it, as often
    as it says, and requests never do.
    """
    faults, clock, _ = made()
    fault = faults.add(webhook="timeout", names="shop.*", times=2, after=1)
    assert faults.of_calls("shop.a") is None
    clock.now = 101.0
    cause, acting = CAUSE.set(Cause(1.0, "PUT", "/p", "u", "agent", None, "")), ACTING.set(Acting("job", None, ""))
    try:
        assert [faults.of_calls(name) is fault for name in ("shop.a", "x", "shop.b", "shop.c")] == [True, False, True, False]
    finally:
        CAUSE.reset(cause)
        ACTING.reset(acting)
    assert [tuple(meeting) for meeting in faults.meetings] == [
        (101.0, "fault-1", "webhook timeout", "call", name, "agent", "job") for name in ("shop.a", "shop.b")]
    assert asked(faults) == []
    assert list(faults.explain()) == ["fault fault-1 (webhook timeout): 2 of 2 matching requests met it"]


@pytest.mark.parametrize(("rule", "why"), [
    ({"cut": "before", "names": "other"}, "none matched"),
    ({"error": "Conflict"},
        ("none matched: a conflict meets writes that name the version of the object, as others are tried again "
     "by the server")),
    ({"cut": "before", "nth": 9}, "1 matched, and none was one to take"),
])
def test_a_fault_that_nobody_met(rule: dict[str, Any], why: str) -> None:
    """Given a fault that no request met / when it is looked at in the end / then it is said why,
    unless that is fine.
    """
    faults, _, _ = made()
    fault = faults.add(name="f", **rule)
    faults.add(name="g", **rule, optional=True)
    asked(faults, f"{PODS}/p")
    for check in (fault.check, faults.check):
        with pytest.raises(FaultNeverMet) as refused:
            check()
        assert str(refused.value) == f"the fault f ({fault.rule.what}) met no request: {why}"
    fault.met += 1
    faults.check()


def test_a_watch_that_came_to_nothing() -> None:
    """Given a fault of watches / when what was taken for a watch became none / then it has not met
    it, and that is said.
    """
    faults, _, _ = made()
    fault = faults.add(name="f", cut="before")
    with fault:
        fault.met += 1
    assert (len(faults), fault.removed) == (0, True)
    fault = faults.add(name="f", cut="before")
    asked(faults)
    fault.is_missed()
    with pytest.raises(FaultNeverMet, match=r"1 matched, and no watch came of those$"):
        fault.__exit__(None, None, None)
    assert (len(faults), fault.removed, fault.met, fault.missed) == (0, True, 0, 1)


@pytest.mark.parametrize(("rule", "revision", "times"), [
    ({}, 50, ()), ({"behind": 3}, 47, ()), ({"behind": 45}, 10, ()), ({"behind": 3, "lasting": 5}, 47, (104.9, 105.0)),
])
def test_where_a_replica_stands(rule: dict[str, Any], revision: int, times: tuple[float, ...]) -> None:
    """Given a replica that lags / when it is read / then it stands where it was when the rule
    began, or so many versions before the first read, as far as can be read, for so long.
    """
    faults, clock, server = made()
    fault = faults.add(stale=True, **rule)
    assert fault.replica() == revision
    server.revision = 60
    assert fault.replica() == revision
    for time in times:
        clock.now = time
        assert fault.replica() == (revision if time < 105 else 60)
    faults.begin_again()
    clock.now = 100.0
    assert fault.replica() == (60 if not rule else max(10, 60 - rule["behind"]))
    fault.remove()
    assert (fault.replica(), faults.states) == (60, 1)


def test_components_are_known_by_what_they_act_on() -> None:
    """Given a rule about components / when a component asks / then it meets it, and nobody else."""
    faults, _, _ = made()
    faults.add(name="f", cut="before", components="jo*")
    assert asked(faults) == []
    for component, met in (("job", ["f"]), ("node", [])):
        acting = ACTING.set(Acting(component, None, ""))
        try:
            assert asked(faults) == met
        finally:
            ACTING.reset(acting)


def test_a_fault_has_words() -> None:
    """Given a fault / when it is told / then it is its name and what it does."""
    faults, _, _ = made()
    fault: Any = SimpleNamespace(text=str(faults.add(name="f", latency="90s", moment="after")))
    assert fault.text == "f (latency 90 s after the commit)"

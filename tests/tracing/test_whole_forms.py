"""All that is said of a trace, in each of its forms, for every kind of step."""

from typing import Any

import pytest

from fakekube.tracing import chrome, otlp, text
from fakekube.tracing.otlp import OTLPError
from fakekube.tracing.steps import Causes, Request, Step, moments
from fakekube.util.treediff import MISSING, Difference

BY_A = Request("update", "status", "PUT", "/p", "u", "a")
BY_B = Request("create", "", "POST", "/q", "v", "b")


def step(revision: int, time: float, **more: Any) -> Step:
    values: dict[str, Any] = {
        "type": "MODIFIED", "object": "pods default/p", "is_own": True, "request": BY_A, "component": "", "key": "",
            "acted_on": "",
        "led_by": 0, "left_out": 0, "fields": (), "fault": ""}
    return Step(revision, time, **{**values, **more})


STEPS = (
    step(1, 10.0, type="ADDED", request=None),
    step(2, 10.0, type="ADDED", object="jobs.batch default/j", is_own=False, request=BY_B),
    step(3, 10.0, type="ADDED", component="job", key="default/j", acted_on="2", led_by=2, fault="slow"),
    step(4, 75.25, component="job", key="default/j", acted_on="2", led_by=2, left_out=1234, fields=(
        *(Difference(f"status.f{number}", MISSING, number) for number in range(5)), Difference("status.lastProbeTime", 1, 2))),
    step(5, 3725.5, component="kubelet", request=BY_B, fields=(Difference("status.a", "x" * 80, MISSING),)),
    step(6, 3726.0, type="DELETED", component="kubelet", key="p", acted_on="9", request=BY_B._replace(user="w")),
)


def causes(**more: Any) -> Causes:
    values: dict[str, Any] = {
        "object": "pods default/p", "started": 10.0, "seed": 7, "begins": 1, "changes": 5, "predecessors": 0, "is_cut": False,
        "last": 20, "field": "", "value": None, "steps": STEPS}
    return Causes(**{**values, **more})


def test_a_trace_for_people() -> None:
    """Given steps of every kind, when they are told to people, then each line says who did what to
    which object, why as far as that is known, and what changed, four fields at most.
    """
    assert list(text.lines(causes())) == [
        "pods default/p: 5 changes, and what led to them", "",
        "+0s #1          ● ADDED pods default/p; the server itself", "",
        "+0s #2          ○ b as v: create jobs.batch default/j; only the request is known",
        "+0s #3          ├─● job at default/j: update pods/status default/p, which made it",
        "                │       it met the fault slow",
        "                … 1,234 changes, each of which led to the next, are left out here",
        "+1m5.25s #4     ● job at default/j: update pods/status default/p",
        *(f"                      status.f{number}: (none) -> {number}" for number in range(4)),
        "                      and 1 fields more", "",
        "+1h01m55.5s #5  ● kubelet: create pods default/p; it acted on no change that is known",
        f'                      status.a: "{"x" * 59}... -> (none)', "",
        ("+1h01m56s #6    ● kubelet at p (b as w): create pods default/p, with which it was gone; it acted on #9, which is not "
        "retained here"), "",
        "● is a change of the object, ○ one of another. What stands below in the same column came of it.",
        "Times are since the cluster began.",
        "Where only the request is known, nobody said what led to it: a test, a person or a client over a network sent it.",
        "job: a as u", "kubelet: b as v"]


@pytest.mark.parametrize(("more", "head"), [
    ({"changes": 1}, ["pods default/p: 1 change, and what led to it"]),
    ({"changes": 1234, "last": 0}, ["pods default/p: 1,234 changes, and what led to them"]),
    ({"changes": 20, "last": 20}, ["pods default/p: 20 changes, and what led to them"]),
    ({"changes": 21, "last": 20}, [
        "pods default/p: 21 changes, and what led to them", "Told are the last 20 of them (--last), with what led there."]),
    ({"changes": 21, "last": 1}, [
        "pods default/p: 21 changes, and what led to them", "Told is the last one of them (--last), with what led there."]),
    ({"is_cut": True, "begins": 8, "predecessors": 1}, [
        "pods default/p: 5 changes, and what led to them",
        "It had more, which are not retained any more: what is retained begins after #8.",
        "Before it another object had its name, whose changes are left out."]),
    ({"predecessors": 2}, [
        "pods default/p: 5 changes, and what led to them", "Before it 2 others had its name, whose changes are left out."]),
    ({"field": "status.a", "value": "x", "changes": 99}, ['pods default/p: status.a is "x" since +1h01m56s, because:']),
    ({"field": "status.a", "value": MISSING}, ["pods default/p: status.a is gone since +1h01m56s, because:"]),
])
def test_what_stands_above_a_trace(more: dict[str, Any], head: list[str]) -> None:
    """Given traces of a part of the changes, when they are told, then what is left out is said."""
    lines = list(text.lines(causes(**more)))
    assert lines[:lines.index("")] == head


def test_nothing_is_said_of_clients_where_there_are_none() -> None:
    """Given a trace without a request of a client, when it is told, then that has no line."""
    assert list(text.lines(causes(steps=STEPS[:1])))[-1] == "Times are since the cluster began."


def named(what: str, track: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": track, "args": {"name": name}}


def drawn(name: str, category: str, track: int, begin: int, length: int, **args: Any) -> dict[str, Any]:
    return {"name": name, "cat": category, "ph": "X", "pid": 1, "tid": track, "ts": begin, "dur": length, "args": args}


def arrow(number: int, kind: str, track: int, time: int) -> dict[str, Any]:
    return {"name": "led to", "cat": "cause", "id": number, "pid": 1, "ph": kind, "tid": track, "ts": time} | (
        {"bp": "e"} if kind == "f" else {})


def test_a_trace_for_chrome() -> None:
    """Given the same, when it is drawn, then each component and client has a track, with slices for
    what it did, and arrows lead from causes to effects.
    """
    a, b = ({"method": one.method, "path": one.path, "user": one.user, "user agent": one.user_agent} for one in (BY_A, BY_B))
    pod = {"object": "pods default/p"}
    fields = {**{f"status.f{number}": f"(none) -> {number}" for number in range(5)}, "status.lastProbeTime": "1 -> 2"}
    found = chrome.of(causes())
    assert {name: value for name, value in found.items() if name != "traceEvents"} == {
        "displayTimeUnit": "ms", "otherData": {"object": "pods default/p", "seed": 7, "started": 10.0}}
    sorts = [{"name": "thread_sort_index", "ph": "M", "pid": 1, "tid": track,
        "args": {"sort_index": track}} for track in range(5)]
    assert found["traceEvents"] == [
        named("process_name", 0, "fakekube: pods default/p"),
        named("thread_name", 1, "the server itself"), sorts[1],
        drawn("ADDED pods default/p", "request", 1, 0, 1, version=1, **pod, change="ADDED", cause="the server itself"),
        named("thread_name", 2, "b as v"), sorts[2],
        drawn("create jobs.batch default/j", "request", 2, 1, 1, version=2, object="jobs.batch default/j", change="ADDED", **b,
              cause="only the request is known"),
        named("thread_name", 3, "job"), sorts[3],
        drawn("job default/j", "reconcile", 3, 2, 65_249_999, component="job", key="default/j", **{"acted on": "2"}),
        drawn("update pods/status default/p", "request", 3, 2, 1, version=3, **pod, change="ADDED", **a, fault="slow"),
        drawn("update pods/status default/p", "request", 3, 65_250_000, 1, version=4, **pod, change="MODIFIED", **a,
              **{"changes left out before it": 1234}, fields=fields),
        named("thread_name", 4, "kubelet"), sorts[4],
        drawn("kubelet", "reconcile", 4, 3_715_500_000, 1, component="kubelet"),
        drawn("create pods default/p", "request", 4, 3_715_500_000, 1, version=5, **pod, change="MODIFIED", **b,
              cause="a component that acted on no change that is known",
              fields={"status.a": f'"{"x" * 80}" -> (none)'}),
        drawn("kubelet p", "reconcile", 4, 3_716_000_000, 1, component="kubelet", key="p", **{"acted on": "9"}),
        drawn("create pods default/p", "request", 4, 3_716_000_000, 1, version=6, **pod, change="DELETED", **{**b, "user": "w"},
              cause="version 9, which is not retained"),
        arrow(3, "s", 2, 1), arrow(3, "f", 3, 2), arrow(4, "s", 2, 1), arrow(4, "f", 3, 65_250_000)]


def test_steps_as_json() -> None:
    """Given the same, when a step is a tree, then what is empty is left out, and it comes back."""
    assert [Step.of(one.tree()) for one in STEPS] == list(STEPS)
    assert STEPS[0].tree() == {
        "revision": 1, "time": 10.0, "type": "ADDED", "object": "pods default/p", "own": True, "origin": "Server"}
    assert STEPS[3]._replace(time=0, fault="f", fields=(Difference("a", 1, MISSING), Difference("b", MISSING, None))).tree() == {
        "revision": 4, "time": 0, "type": "MODIFIED", "object": "pods default/p", "own": True, "component": "job",
        "key": "default/j", "actedOn": "2", "ledBy": 2, "leftOut": 1234, "fault": "f",
        "fields": [{"path": "a", "old": 1}, {"path": "b", "new": None}],
        "request": {"verb": "update", "subresource": "status", "method": "PUT", "path": "/p", "user": "u", "userAgent": "a"}}
    assert [one.origin for one in STEPS] == ["Server", "Request", "", "", "Component", "Forgotten"]
    assert moments(causes()) == [0, 1, 2, 65_250_000, 3_715_500_000, 3_716_000_000]


def test_attributes_of_spans() -> None:
    """Given the same, when a span is made of a step, then its attributes are all that is known, 50
    fields at most.
    """
    assert otlp._attributes(STEPS[0]) == {
        "fakekube.object": "pods default/p", "fakekube.own": True, "fakekube.version": 1, "fakekube.change": "ADDED",
        "fakekube.origin": "Server"}
    many = STEPS[3]._replace(is_own=False, fault="f", fields=tuple(Difference(f"a{number}", 1, 2) for number in range(51)))
    assert otlp._attributes(many) == {
        "fakekube.object": "pods default/p", "fakekube.version": 4, "fakekube.change": "MODIFIED", "fakekube.component": "job",
        "fakekube.key": "default/j", "fakekube.acted_on": "2", "fakekube.left_out": 1234, "fakekube.fault": "f",
        "fakekube.fields": [f"a{number}: 1 -> 2" for number in range(50)], "http.request.method": "PUT", "url.path": "/p",
        "user.name": "u", "user_agent.original": "a"}


@pytest.mark.parametrize(("given", "sent"), [
    ("http://h:1", "http://h:1/v1/traces"), ("https://h/", "https://h/v1/traces"), ("http://h/x", "http://h/x"),
])
def test_where_collectors_take_traces(given: str, sent: str) -> None:
    """Given an address, when it has no path, then it gets the one of traces."""
    assert otlp._path_of_traces(given) == sent


@pytest.mark.parametrize("given", ["h:1", "ftp://h", "http://", "http://[", ""])
def test_addresses_that_are_none(given: str) -> None:
    """Given what is no address, when a trace is to go there, then that is said."""
    with pytest.raises(OTLPError) as refused:
        otlp._path_of_traces(given)
    assert str(refused.value) == f"{given!r} is no address of a collector: say http://127.0.0.1:4318"

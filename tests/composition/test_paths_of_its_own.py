"""What a cluster answers below ``/fakekube/v1``: each path's whole answers and refusals, and what
is asked of the parts behind them.
"""

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.composition import fakekube_api
from fakekube.composition.fakekube_api import FakekubeAPI, encoded_trace
from fakekube.composition.options import OptionError
from fakekube.faults.rules import FaultError
from fakekube.util.clusterclock import ClockError

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


class Parts:
    """All that is behind the paths; ``calls`` is what was asked of it."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.mode, self.factor, self.paused = "auto", 0.0, True
        self.states = {"job": True, "scheduler": False}
        self.api = FakekubeAPI(
            cast("Any", self), cast("Any", SimpleNamespace(suspend=self.suspend)),
            lambda: cast("Any", SimpleNamespace(encode=lambda: b"file")), cast("Any", self), self.why, self.trace,
            lambda: cast("Any", None))

    def time(self) -> float:
        return 1.5

    async def advance(self, by: Any) -> None:
        self.calls.append(("advance", by))
        if by == "x":
            raise ClockError("no duration")

    async def set(self, when: Any) -> None:
        self.calls.append(("set", when))

    def pause(self) -> None:
        self.calls.append("pause")

    def resume(self) -> None:
        self.calls.append("resume")

    def suspend(self) -> Any:
        self.calls.append("held no more")
        return lambda: self.calls.append("held")

    async def stop_controller(self, name: str) -> None:
        self.calls.append(("stop", name))
        if name == "x":
            raise OptionError("there is no x")

    async def start_controller(self, name: str) -> None:
        self.calls.append(("start", name))

    async def why(self, what: str, *, namespace: str) -> Any:
        self.calls.append((what, namespace))
        return Told("why")

    async def trace(self, what: str, **given: Any) -> Any:
        self.calls.append((what, given))
        return Told("trace")


class Told:
    """An answer in all its forms."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"{self.name} in words"

    def tree(self) -> dict[str, Any]:
        return {"is": self.name}

    def chrome(self) -> Any:
        return [self.name]


def request(method: str = "POST", body: Any = None, content_type: str | None = None, **query: str) -> Request:
    data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    headers = {} if content_type is None else {"content-type": content_type}
    return Request(method, "/", {name: [value, "not this"] for name, value in query.items()}, headers, data)


async def refused(path: Any, asked: Request) -> tuple[int, str]:
    with pytest.raises(APIError) as error:
        await path(asked)
    return error.value.code, error.value.message


CLOCK = (
    b'{"kind":"Clock","apiVersion":"fakekube.dev/v1","now":"1970-01-01T00:00:01.500000Z","unixSeconds":1.5,"mode":"auto",'
    b'"factor":0.0,"paused":true}\n')


@pytest.mark.parametrize(("asked", "calls"), [
    (request("GET"), []), (request(body={"advance": 5}), [("advance", 5)]), (request(advance="1h"), [("advance", "1h")]),
    (request(body={"advance": 1.5}, advance="1h"), [("advance", 1.5)]),
    (request(body={"set": "2026", "kind": "Clock", "apiVersion": "x"}), [("set", "2026")]),
    (request(body={"paused": True}, content_type="Application/JSON ; charset=utf-8"), ["pause"]),
    (request(body={"paused": False}), ["resume"]), (request(paused="true"), ["pause"]), (request(paused="false"), ["resume"]),
    (request(body={"advance": 5, "paused": None}), [("advance", 5)]),
    (request(body={"advance": 5, "paused": True}), [("advance", 5), "pause"]),
])
async def test_the_clock(asked: Request, calls: list[Any]) -> None:
    """Given a clock, when it is asked about or moved, then time may pass while it is moved, and its
    state is the answer.
    """
    parts = Parts()
    answer = await parts.api.clock(asked)
    assert (answer.status, answer.body, answer.content_type) == (200, CLOCK, JSON)
    assert parts.calls == (["held no more", *calls, "held"] if asked.method == "POST" else [])


CLOCK_HAS = "known are advance, set, paused"
NO_DURATIONS: list[Any] = [[], None, True, False, {}]
NO_DURATION = "advance is no duration: say 1h30m, 90s or a number of seconds"


@pytest.mark.parametrize(("asked", "code", "told"), [
    (request("PUT"), 405, "the server does not allow this method on the requested resource"),
    (request(body={"x": 1}), 400, f"unknown field 'x': {CLOCK_HAS}"), (request(x="1"), 400, f"unknown field 'x': {CLOCK_HAS}"),
    (request(), 400, "nothing to do: give one of advance, set, paused"),
    (request(body={"kind": "Clock"}), 400, "nothing to do: give one of advance, set, paused"),
    (request(body={"advance": 1, "set": "x"}), 400, "give either advance or set"),
    *((request(body={"advance": value}), 400, NO_DURATION) for value in NO_DURATIONS),
    (request(body={"paused": 1}), 400, "paused is neither true nor false"), (request(body=[]), 400, "the body is no JSON object"),
    (request(paused="True"), 400, "paused is neither true nor false"),
    (request(body={"advance": 1}, content_type="text/plain"), 415,
     'the body is to be application/json, and its Content-Type is "text/plain"'),
    (request(body=b"{", content_type=JSON), 400,
     "the body is no JSON: EOF while parsing an object at line 1 column 1: line 1 column 2 (char 1)"),
])
async def test_what_the_clock_refuses(asked: Request, code: int, told: str) -> None:
    """Given a request that cannot be meant, when the clock gets it, then that is told, and nothing
    was done.
    """
    parts = Parts()
    answer = await refused(parts.api.clock, asked)
    if asked.body == b"{":
        assert (answer[0], answer[1].partition(": ")[0]) == (code, "the body is no JSON")
    else:
        assert answer == (code, told)
    assert parts.calls == []


async def test_a_clock_that_cannot_be_moved() -> None:
    """Given a move that the clock refuses, when it is asked for, then its words are the answer, it
    is not paused, and the request holds time again.
    """
    parts = Parts()
    assert await refused(parts.api.clock, request(body={"advance": "x", "paused": True})) == (400, "no duration")
    assert parts.calls == ["held no more", ("advance", "x"), "held"]


@pytest.mark.parametrize(("asked", "calls"), [
    (request("GET"), []), (request(body={"stop": "job"}), [("stop", "job")]), (request(start="job"), [("start", "job")]),
    (request(body={"restart": "job"}), [("stop", "job"), ("start", "job")]),
])
async def test_the_controllers(asked: Request, calls: list[Any]) -> None:
    """Given controllers, when they are asked about, stopped or started, then their states are the
    answer.
    """
    parts = Parts()
    answer = await parts.api.controllers(asked)
    assert (answer.status, answer.content_type, parts.calls) == (200, JSON, calls)
    assert answer.body == (
        b'{"kind":"ControllerList","apiVersion":"fakekube.dev/v1","items":[{"name":"job","running":true},'
        b'{"name":"scheduler","running":false}]}\n')


@pytest.mark.parametrize(("asked", "code", "told", "calls"), [
    (request("DELETE"), 405, "the server does not allow this method on the requested resource", []),
    (request(body={"start": "a", "stop": "b"}), 400, "give either stop or start", []),
    (request(body={"restart": 1}), 400, "restart is no name of a controller", []),
    (request(), 400, "nothing to do: give one of stop, start, restart", []),
    (request(body={"restart": "x"}), 400, "there is no x", [("stop", "x")]),
    (request(advance="1"), 400, "unknown field 'advance': known are stop, start, restart", []),
])
async def test_what_controllers_refuse(asked: Request, code: int, told: str, calls: list[Any]) -> None:
    """Given a request that cannot be meant, when controllers are to be changed, then that is told.
    """
    parts = Parts()
    assert await refused(parts.api.controllers, asked) == (code, told)
    assert parts.calls == calls


async def test_a_snapshot() -> None:
    """Given a cluster, when its snapshot is asked for, then it is a file, and only to be read."""
    parts = Parts()
    answer = await parts.api.snapshot(request("GET"))
    assert (answer.status, answer.body, answer.content_type) == (200, b"file", "application/gzip")
    assert (await refused(parts.api.snapshot, request()))[0] == 405


def seen(answer: Response) -> tuple[int, bytes | str, str]:
    return answer.status, answer.body, answer.content_type


async def test_why_and_what_led_there() -> None:
    """Given an object, when it is asked why it waits and what led to its state, then the answer is
    in the form that is asked for, about the namespace, field and number that are.
    """
    parts = Parts()
    named = {"object": "pod/p"}
    assert seen(await parts.api.why(request("GET", **named))) == (
        200, b'{"kind":"Why","apiVersion":"fakekube.dev/v1","is":"why"}\n', JSON)
    assert seen(await parts.api.why(request("GET", **named, namespace="a", output="text"))) == (200, b"why in words\n", TEXT)
    assert seen(await parts.api.trace(request("GET", **named))) == (
        200, b'{"kind":"Trace","apiVersion":"fakekube.dev/v1","is":"trace"}\n', JSON)
    more = {"namespace": "a", "field": "spec", "last": "1000"}
    assert seen(await parts.api.trace(request("GET", **named, **more, output="text"))) == (200, b"trace in words\n", TEXT)
    assert seen(await parts.api.trace(request("GET", **named, last="1", output="chrome"))) == (200, b'["trace"]\n', JSON)
    assert parts.calls == [
        ("pod/p", "default"), ("pod/p", "a"), ("pod/p", {"namespace": "default", "field": "", "last": 20}),
        ("pod/p", {"namespace": "a", "field": "spec", "last": 1000}), ("pod/p", {"namespace": "default", "field": "", "last": 1})]
    assert encoded_trace(cast("Any", Told("t")), "json") == b'{"kind":"Trace","apiVersion":"fakekube.dev/v1","is":"t"}\n'


TOO_MANY = "last is more than 1,000, or all: so many are told of a snapshot, by trace --from"


@pytest.mark.parametrize(("path", "asked", "code", "told"), [
    ("why", request(object="pod/p"), 405, None), ("trace", request(object="pod/p"), 405, None),
    ("why", request("GET", namespace="a"), 400, "name an object: object=pod/NAME"),
    ("why", request("GET", object="p", output="chrome"), 400, "output is neither json nor text"),
    ("why", request("GET", object="p", last="1"), 400, "unknown field 'last': known are object, namespace, output"),
    ("why", request("GET"), 400, "nothing to do: give one of object, namespace, output"),
    ("trace", request("GET", object="p", output="x"), 400, "output is neither json nor text nor chrome"),
    ("trace", request("GET", object="p", x="1"), 400, "unknown field 'x': known are object, namespace, field, last, output"),
    *(("trace", request("GET", object="p", last=last), 400, "last is no number of changes")
      for last in ("-1", "x", "1" * 10, "")),
    *(("trace", request("GET", object="p", last=last), 400, TOO_MANY) for last in ("0", "1001", "9" * 9)),
])
async def test_what_is_not_told_of_objects(path: str, asked: Request, code: int, told: str | None) -> None:
    """Given a request that names no object, form or number, when it is asked, then that is told."""
    parts = Parts()
    answer = await refused(getattr(parts.api, path), asked)
    assert answer == (code, told or answer[1])
    assert parts.calls == []


class Faults:
    """A plan of faults."""

    def __init__(self) -> None:
        self.here = [self.fault(name) for name in ("a", "b")]
        self.meetings = [Meeting(number) for number in range(101)]
        self.added: list[Any] = []

    def fault(self, name: str) -> Any:
        def dump(**given: Any) -> Any:
            assert given == {"mode": "json", "by_alias": True, "exclude_defaults": True}
            return {"n": name}

        rule = SimpleNamespace(what="w", model_dump=dump)
        fault = SimpleNamespace(name=name, seen=2, met=1, rule=rule)
        fault.remove = lambda: self.here.remove(fault)
        return fault

    def named(self, name: str) -> Any:
        return next((fault for fault in self.here if fault.name == name), None)

    def __iter__(self) -> Any:
        return iter(list(self.here))

    async def add_in_turns(self, rules: Any) -> None:
        self.added.append([rule.name for rule in rules])
        if self.added[-1] == ["bad"]:
            raise FaultError("bad rule")


class Meeting:
    """What one request met."""

    def __init__(self, number: int) -> None:
        self.time, self.number = float(number), number

    def _asdict(self) -> dict[str, Any]:
        return {"time": self.time, "number": self.number}


async def test_the_faults() -> None:
    """Given faults, when they are asked about, added and removed, then those that are left are the
    answer with the latest hundred meetings; what is no plan and no name of a fault is refused.
    """
    parts, faults = Parts(), Faults()
    parts.api._faults = lambda: cast("Any", faults)
    listed = orjson.loads((await parts.api.faults(request("GET"))).body)
    meetings = listed.pop("meetings")
    assert listed == {"kind": "FaultList", "apiVersion": "fakekube.dev/v1", "items": [
        {"name": name, "what": "w", "seen": 2, "met": 1, "rule": {"n": name}} for name in ("a", "b")]}
    assert (len(meetings), meetings[0]) == (100, {"time": "1970-01-01T00:00:01.000000Z", "number": 1})
    await parts.api.faults(request(body={"faults": [{"name": name, "error": "Timeout"} for name in "cd"]}))
    await parts.api.faults(request(body={"name": "e", "error": "Timeout"}))
    assert faults.added == [["c", "d"], ["e"]]
    assert await refused(parts.api.faults, request(body={"name": "bad", "error": "Timeout"})) == (400, "bad rule")
    assert await refused(parts.api.faults, request("DELETE", name="x")) == (404, "there is no fault 'x'")
    assert (await refused(parts.api.faults, request("PUT")))[0] == 405
    assert [fault.name for fault in faults.here] == ["a", "b"]
    for asked, left in ((request("DELETE", name="a"), ["b"]), (request("DELETE"), [])):
        answer = orjson.loads((await parts.api.faults(asked)).body)
        assert [item["name"] for item in answer["items"]] == left


def test_which_paths_there_are() -> None:
    """Given a server, when the paths are installed, then each leads to its answer."""
    server = SimpleNamespace(extra_paths={"/other": 1})
    none: Any = None
    fakekube_api.install(
        cast("Any", server), clock=none, activity=none, take_snapshot=none, controllers=none, why=none, trace=none, faults=none)
    assert {path: getattr(function, "__name__", function) for path, function in server.extra_paths.items()} == {
        "/other": 1, "/fakekube/v1/clock": "clock", "/fakekube/v1/controllers": "controllers",
        "/fakekube/v1/snapshot": "snapshot",
        "/fakekube/v1/why": "why", "/fakekube/v1/trace": "trace", "/fakekube/v1/faults": "faults"}

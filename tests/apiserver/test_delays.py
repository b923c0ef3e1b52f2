"""Requests, answers and events that come late, by what a transit says."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.causes import CAUSE
from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.apiserver.delays import Delays, LateStream
from fakekube.apiserver.paces import Paces
from fakekube.endpoints.requestinfo import RequestInfo, parse
from fakekube.util.clock import ManualClock


class Transit:
    """Says how late things are, and writes down what it was asked."""

    def __init__(self, **delays: float) -> None:
        self.delays, self.log = delays, list[str]()
        self.clock, self.calm, self.late, self.deviates = ManualClock(), False, True, True
        self.choices = self
        self.under_way = 0

    def may_be_late(self, *, in_process: bool) -> bool:
        self.log.append("in process" if in_process else "by socket")
        return self.late

    def may_deviate(self, group: str) -> bool:
        self.log.append(f"? {group}")
        return self.deviates

    def delay(self, label: str, group: str) -> float:
        self.log.append(f"{label} [{group}]")
        return next((seconds for word, seconds in self.delays.items() if word in label), 0.0)

    async def sleep(self, seconds: float) -> None:
        self.log.append(f"sleep {seconds}")

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> Any:
        self.under_way += 1
        return self.clock.call_later(seconds, callback, *args)

    def arrived(self) -> None:
        self.under_way -= 1


class Events:
    """A stream that sends what it is told, and the sink at its end."""

    def __init__(self) -> None:
        self.sink: Sink | None = None
        self.got: list[Any] = []
        self.stopped = False

    def start(self, sink: Sink) -> None:
        self.sink = sink

    def stop(self) -> None:
        self.stopped = True

    def send(self, frame: Frame) -> None:
        self.got.append(frame.tree["object"]["metadata"].get("name", ""))  # type: ignore[index]

    def end(self) -> None:
        self.got.append("end")


def frame(name: str, namespace: str = "", **meta: Any) -> Frame:
    metadata = {**({"name": name} if name else {}), **({"namespace": namespace} if namespace else {}), **meta}
    return Frame(make_tree=lambda: {"type": "ADDED", "object": {"metadata": metadata}})


def begun(transit: Transit, *, in_process: bool = True) -> tuple[Events, LateStream]:
    events = Events()
    stream = LateStream(events, transit, "the watch of pods by kubelet", in_process=in_process)  # type: ignore[arg-type]
    stream.start(events)
    return events, stream


def asked(path: str, method: str = "GET", peer: str = "", agent: str = "kubelet/v1", **query: str) -> tuple[RequestInfo, Request]:
    values = {name: [value] for name, value in query.items()}
    return parse(method, path, values), Request(method, path, query=values, headers={"user-agent": agent}, peer=peer)


async def served(transit: Transit, info: RequestInfo, request: Request, pace: float = 0.0,
    response: Response | None = None) -> Response:
    async def serve(info: RequestInfo, request: Request) -> Response:
        transit.log.append("served")
        return response or Response(200)

    return await Delays(transit, Paces(lambda: lambda _: pace))(info, request, serve)  # type: ignore[arg-type]


@pytest.mark.parametrize(("path", "method", "words"), [
    ("/api/v1/namespaces/default/pods/web-0/status", "PUT", "update of pods/status default/web-0 by kubelet"),
    ("/api/v1/nodes/n", "GET", "get of nodes n by kubelet"), ("/api/v1/pods", "GET", "list of pods by kubelet"),
    ("/api/v1/namespaces/default/pods", "GET", "list of pods default by kubelet"),
])
async def test_how_requests_are_told(path: str, method: str, words: str) -> None:
    """Given requests of all forms / then both ways of each are asked about under their words."""
    transit = Transit(gets=1.0, comes=2.0)
    assert (await served(transit, *asked(path, method, peer="1.1.1.1"))).status == 200
    assert transit.log == [
        "by socket", "? requests of kubelet", f"the server gets {words} [requests of kubelet]", "sleep 1.0", "served",
        "by socket",
        "? answers to kubelet", f"the answer to {words} comes [answers to kubelet]", "sleep 2.0"]


async def test_what_is_not_late() -> None:
    """Given a path that is no resource, a transit that is calm, and one that does not deviate /
    then nothing waits.
    """
    transit = Transit(gets=1.0)
    await served(transit, *asked("/version"))
    assert transit.log == ["served"]
    transit.log.clear()
    transit.late = False
    await served(transit, *asked("/api/v1/pods"))
    assert transit.log == ["in process", "served"]
    transit.log.clear()
    transit.late, transit.deviates = True, False
    await served(transit, *asked("/api/v1/pods"))
    assert transit.log == ["in process", "? requests of kubelet", "served", "in process", "? answers to kubelet"]


async def test_who_writes_too_fast_waits() -> None:
    """Given a pace that makes writes wait / when something is written and read / then the write
    waits, and its cause is that of later, and of nobody meanwhile.
    """
    transit = Transit()
    await served(transit, *asked("/api/v1/namespaces/default/pods", "POST"), pace=3.0)
    await served(transit, *asked("/api/v1/namespaces/default/pods"), pace=3.0)
    assert [line for line in transit.log if "sleep" in line] == ["sleep 3.0"]
    cause = SimpleNamespace(_replace=lambda time: ("again", time))
    token = CAUSE.set(cause)  # type: ignore[arg-type]
    try:
        await served(transit, *asked("/api/v1/namespaces/default/pods", "POST"), pace=3.0)
        found: Any = CAUSE.get()
        assert found == ("again", transit.clock.time())
    finally:
        CAUSE.reset(token)


async def test_watches_are_late_by_themselves() -> None:
    """Given a watch / when it is answered / then its stream is late where that may be, and other
    answers are as they were.
    """
    transit, stream = Transit(), Events()
    info, request = asked("/api/v1/pods", watch="true")
    answer = await served(transit, info, request, response=Response(200, stream=stream, is_watch=True))
    assert isinstance(answer.stream, LateStream)
    assert transit.log == ["served", "? the watch of pods by kubelet"]
    for other in (Response(200), Response(200, stream=stream)):
        assert (await served(transit, info, request, response=other)).stream is other.stream
    transit.deviates = False
    plain = await served(transit, info, request, response=Response(200, stream=stream, is_watch=True))
    assert plain.stream is stream


def test_events_come_late_in_their_order() -> None:
    """Given events that are late, and others behind them / then all come in order, each when it is
    due and not before what is ahead of it.
    """
    transit = Transit(slow=2.0, slower=5.0)
    events, stream = begun(transit)
    stream.send(frame("at-once"))
    stream.send(frame("slow", "default"))
    stream.send(frame("behind"))
    stream.send(frame("lower"))
    stream.end()
    assert (events.got, transit.under_way) == (["at-once"], 1)
    assert transit.log == [
        "the watch of pods by kubelet hears of at-once [the watch of pods by kubelet]",
        "the watch of pods by kubelet hears of default/slow [the watch of pods by kubelet]",
        "the watch of pods by kubelet hears of behind [the watch of pods by kubelet]",
        "the watch of pods by kubelet hears of lower [the watch of pods by kubelet]"]
    begin = transit.clock.time()
    assert transit.clock.fire_next()
    assert (transit.clock.time() - begin, events.got) == (2.0, ["at-once", "slow", "behind", "lower", "end"])
    assert (transit.under_way, transit.clock.fire_next()) == (0, False)
    stream.send(frame("after"))
    assert events.got[-1] == "after"


def test_an_event_that_is_later_than_others() -> None:
    """Given events of which a later one is later still / then the first does not wait for it; when
    time jumps, all that was on its way comes before what is new.
    """
    transit = Transit(first=2.0, second=5.0)
    events, stream = begun(transit)
    for name in ("first", "second", "third"):
        stream.send(frame(name))
    begin = transit.clock.time()
    transit.clock.fire_next()
    assert (transit.clock.time() - begin, events.got, transit.under_way) == (2.0, ["first"], 1)
    transit.clock.jump_to(begin)
    stream.send(frame("new"))
    assert events.got == ["first", "second", "third"]
    assert transit.under_way == 1
    transit.clock.fire_next()
    assert (events.got[-1], transit.under_way) == ("new", 0)


def test_what_has_no_name_is_not_late() -> None:
    """Given a bookmark, a calm transit and a socket where nothing may be late / then events come at
    once; an end with nothing waiting too.
    """
    transit = Transit(x=2.0)
    events, stream = begun(transit)
    stream.send(frame(""))
    transit.calm = True
    stream.send(frame("x"))
    transit.calm, transit.late = False, False
    by_socket, other = begun(transit, in_process=False)
    other.send(frame("x"))
    stream.end()
    assert (events.got, by_socket.got) == (["", "x", "end"], ["x"])
    assert transit.under_way == 0


def test_a_receiver_that_goes() -> None:
    """Given events on their way / when the receiver goes / then none comes, and no timer stays."""
    transit = Transit(x=2.0)
    events, stream = begun(transit)
    stream.send(frame("x"))
    stream.stop()
    assert (events.stopped, transit.under_way) == (True, 0)
    assert not transit.clock.fire_next()
    stream.send(frame("y"))
    stream.end()
    assert events.got == []

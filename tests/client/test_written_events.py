"""Events that are refused, whose name is taken, or that a server which is away never gets."""

import logging
from itertools import pairwise
from typing import Any

import orjson
import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.client.transport import TransportError
from tests.runtime import harness as harnesses

HARNESS: Any = harnesses.harness


def events_of(world: Any) -> list[Any]:
    return [obj for (plural, _, _), obj in world.server.objects.items() if plural == "events"]


async def test_annotations() -> None:
    """Given an event with annotations, and one without / when they are written / then the first has
    them, and the other has no such field.
    """
    async with HARNESS() as world:
        web, recorder = await world.web("a"), world.manager.events.recorder("web-controller")
        recorder.event(web, "Normal", "One", "x", annotations={"k": "v"})
        recorder.event(web, "Normal", "Two", "x", annotations={})
        await world.driver.settle()
        assert [each["metadata"].get("annotations") for each in events_of(world)] == [{"k": "v"}, None]


async def test_a_server_that_is_away_for_long(caplog: pytest.LogCaptureFixture) -> None:
    """Given a server that is away / when an event is recorded / then it is tried twelve times, the
    second time within ten seconds, then each ten seconds, and then given up at once.
    """
    async with HARNESS() as world:
        web, recorder = await world.web("a"), world.manager.events.recorder("web-controller")
        began, times, given_up = world.clock.time(), list[float](), list[float]()

        def away(request: Request) -> None:
            if request.path.endswith("/events"):
                times.append(world.clock.time() - began)
                raise TransportError("away")

        class Seen(logging.Handler):
            def emit(self, _: logging.LogRecord) -> None:
                given_up.append(world.clock.time() - began)

        world.server.fault = away
        seen = Seen(logging.WARNING)
        logging.getLogger("fakekube.client.recorder").addHandler(seen)
        recorder.event(web, "Normal", "Lost", "x")
        name = f"a.{int(began * 1e9):x}"
        await world.driver.advance(300)
        logging.getLogger("fakekube.client.recorder").removeHandler(seen)
        assert times[0] == 0
        assert 0 < times[1] < 10
        assert [round(later - earlier, 6) for earlier, later in pairwise(times[1:])] == [10.0] * 10
        assert given_up == times[-1:]
        assert caplog.messages == [f"event {name} was not written, retry limit exceeded"]


@pytest.mark.parametrize("how", ["event", "report"])
async def test_a_name_that_is_taken(how: str) -> None:
    """Given an Event of another writer, of the same object at the same time / when one is recorded
    / then it gets the next name, and both are there.
    """
    async with HARNESS() as world:
        web = await world.web("a")
        nanos = int(world.clock.time() * 1e9)
        await world.client.request("POST", "/api/v1/namespaces/default/events", body=orjson.dumps(
            {"kind": "Event", "metadata": {"name": f"a.{nanos:x}"}, "reason": "Theirs"}))
        recorder = world.manager.events.recorder("web-controller")
        if how == "event":
            recorder.event(web, "Normal", "Ours", "x")
        else:
            recorder.report(web, "Normal", "Ours", "Acting", "x")
        await world.driver.settle()
        assert [(meta.name_of(each), each["reason"]) for each in events_of(world)] == [
            (f"a.{nanos:x}", "Theirs"), (f"a.{nanos + 1:x}", "Ours")]


@pytest.mark.parametrize(("refused", "left"), [
    (APIError(404, "NotFound", "gone"), ["Failed", "Failed"]), (APIError(403, "Forbidden", "no"), ["Failed"])])
async def test_a_count_that_is_refused(refused: APIError, left: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """Given an event that repeats / when the server does not know the first any more, or refuses to
    count it / then it is written anew, or it is only told that it was refused.
    """
    async with HARNESS() as world:
        web, recorder = await world.web("a"), world.manager.events.recorder("web-controller")
        recorder.event(web, "Warning", "Failed", "x")
        await world.driver.settle()
        (first,) = events_of(world)

        def fault(request: Request) -> None:
            if request.method == "PATCH":
                world.server.objects["events", "default", "renamed"] = world.server.objects.pop(
                    ("events", "default", meta.name_of(first)))
                raise refused

        world.server.fault = fault
        with caplog.at_level(logging.INFO, "fakekube.client.recorder"):
            recorder.event(web, "Warning", "Failed", "x")
            await world.driver.settle()
        assert [each["reason"] for each in events_of(world)] == left
        assert [each["count"] for each in events_of(world)] == [1, 2][:len(left)]
        said = [f"event {meta.name_of(first)} was rejected: no"] if refused.code == 403 else []
        assert caplog.messages == said

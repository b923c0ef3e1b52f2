"""Events are written in the background, counted when they repeat, combined when they are many."""

import re

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.transport import TransportError
from tests.runtime.harness import harness


@pytest.fixture
async def world():
    async with harness() as world:
        yield world


@pytest.fixture
async def web(world):
    return await world.web("a")


@pytest.fixture
def recorder(world):
    return world.manager.events.recorder("web-controller")


def events_of(world):
    return [obj for (plural, _, _), obj in world.server.objects.items() if plural == "events"]


async def test_an_event_refers_to_its_object(world, web, recorder):
    """Given an object, when an event is recorded, then it is written with reference, source, times
    and a hex name.
    """
    recorder.event(web, "Normal", "Started", "Web has started", field_path="spec.x")
    assert not world.activity.idle
    await world.driver.settle()
    (event,) = events_of(world)
    assert re.fullmatch(r"a\.[0-9a-f]{16}", event["metadata"]["name"])
    assert event["involvedObject"] == {
        "kind": "Web", "namespace": "default", "name": "a", "uid": web["metadata"]["uid"],
        "apiVersion": "example.com/v1", "resourceVersion": web["metadata"]["resourceVersion"], "fieldPath": "spec.x",
    }
    assert event["source"] == {"component": "web-controller"}
    assert event["reportingComponent"] == "web-controller"
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-01-01T00:00:00Z"
    assert (event["type"], event["reason"], event["count"]) == ("Normal", "Started", 1)


async def test_the_same_event_again_is_counted(world, web, recorder):
    """Given an event, when the same is recorded twice more, then one event says so, first and last
    time included.
    """
    for _ in range(3):
        recorder.event(web, "Warning", "Failed", "no luck")
        await world.driver.advance(60)
    (event,) = events_of(world)
    assert event["count"] == 3
    assert (event["firstTimestamp"], event["lastTimestamp"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z")
    assert world.server.requests[-1].headers["content-type"] == "application/strategic-merge-patch+json"


async def test_different_events_at_one_instant_have_different_names(world, web, recorder):
    """Given time that stands still, when several events are recorded, then none gets another's
    name.
    """
    for reason in ("One", "Two", "Three"):
        recorder.event(web, "Normal", reason, "x")
    await world.driver.settle()
    assert [event["reason"] for event in events_of(world)] == ["One", "Two", "Three"]


async def test_many_similar_events_are_combined(world, web, recorder):
    """Given events that differ by message only, when there are ten, then from there they are
    combined and counted.
    """
    for number in range(12):
        recorder.event(web, "Normal", "Created", f"Created pod {number}")
    await world.driver.settle()
    events = events_of(world)
    assert len(events) == 10
    assert events[-1]["message"] == "(combined from similar events): Created pod 11"
    assert events[-1]["count"] == 3


async def test_a_flood_is_dropped_and_tokens_come_back(world, web, recorder):
    """Given 40 events about one object, when recorded at once, then 25 are written, and one more
    after five minutes.
    """
    for number in range(40):
        recorder.event(web, "Normal", f"Reason{number}", "x")
    await world.driver.settle()
    assert len(events_of(world)) == 25
    await world.driver.advance(300)
    recorder.event(web, "Normal", "Later", "x")
    recorder.event(web, "Normal", "Later still", "x")
    await world.driver.settle()
    assert len(events_of(world)) == 26


async def test_a_flood_is_counted_whatever_its_type(world, web, recorder):
    """Given an object about which a component has told all that it may, in warnings, when it tells
    something normal too, then that is dropped as well: there is one bucket for a source and an
    object.
    """
    for number in range(30):
        recorder.event(web, "Warning", f"Reason{number}", "no luck")
    await world.driver.settle()
    assert len(events_of(world)) == 25
    recorder.event(web, "Normal", "Started", "Web has started")
    await world.driver.settle()
    assert len(events_of(world)) == 25


async def test_an_event_that_was_deleted_is_made_again(world, web, recorder):
    """Given an event that has expired, when it repeats, then it is created with its count."""
    recorder.event(web, "Normal", "Started", "x")
    await world.driver.settle()
    (event,) = events_of(world)
    del world.server.objects["events", "default", event["metadata"]["name"]]
    recorder.event(web, "Normal", "Started", "x")
    await world.driver.settle()
    (event,) = events_of(world)
    assert event["count"] == 2


async def test_a_rejected_event_is_dropped_and_a_lost_one_retried(world, web, recorder):
    """Given a server that rejects, then one that is away, when events are recorded, then only the
    second comes.
    """
    def reject(request):
        if request.path.endswith("/events"):
            raise APIError(403, "Forbidden", "namespace is being terminated")

    world.server.fault = reject
    recorder.event(web, "Normal", "Rejected", "x")
    await world.driver.advance(60)

    def away(request):
        raise TransportError("away")

    world.server.fault = away
    recorder.event(web, "Normal", "Lost", "x")
    await world.driver.advance(30)
    world.server.fault = None
    await world.driver.advance(30)
    assert [event["reason"] for event in events_of(world)] == ["Lost"]


async def test_the_events_of_what_has_no_namespace_are_in_default(world, recorder):
    """Given a node, when an event is recorded, then it is in the namespace default."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}}
    recorder.event(node, "Normal", "NodeReady", "x")
    await world.driver.settle()
    (event,) = events_of(world)
    assert event["metadata"]["namespace"] == "default"
    assert "namespace" not in event["involvedObject"]


async def test_reports_become_a_series(world, web, recorder):
    """Given the same report four times, when the series ends, then one event of events.k8s.io
    counts them.
    """
    for _ in range(4):
        recorder.report(web, "Warning", "FailedScheduling", "Scheduling", "no node fits", related=web)
        await world.driver.advance(10)
    (event,) = events_of(world)
    assert event["apiVersion"] == "events.k8s.io/v1"
    assert (event["action"], event["note"], event["regarding"]["name"]) == ("Scheduling", "no node fits", "a")
    assert (event["reportingController"], event["eventTime"]) == ("web-controller", "2026-01-01T00:00:00.000000Z")
    assert event["series"] == {"count": 2, "lastObservedTime": "2026-01-01T00:00:10.000000Z"}
    await world.driver.advance(800)
    (event,) = events_of(world)
    assert event["series"] == {"count": 4, "lastObservedTime": "2026-01-01T00:00:30.000000Z"}
    assert world.clock.timers() == []
    recorder.report(web, "Warning", "FailedScheduling", "Scheduling", "no node fits", related=web)
    await world.driver.settle()
    assert len(events_of(world)) == 2


async def test_one_recorder_for_many_hosts(world, web, recorder):
    """Given a recorder that speaks for several hosts, when told which, then source and reporter say
    so.
    """
    recorder.event(web, "Normal", "Pulled", "x", host="node-1")
    await world.driver.settle()
    (event,) = events_of(world)
    assert event["source"] == {"component": "web-controller", "host": "node-1"}
    assert event["reportingInstance"] == "node-1"


async def test_stopping_leaves_nothing_in_flight(world, web, recorder):
    """Given an event that is not written yet, when everything stops, then no unit of activity is
    left behind.
    """
    recorder.event(web, "Normal", "Late", "x")
    await world.manager.stop()
    assert world.activity.idle

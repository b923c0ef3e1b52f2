"""Reads and watches of a replica that lags: what it has, and no newer."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.endpoints import replica
from fakekube.endpoints.listoptions import parse_list_options
from fakekube.endpoints.read import ListResult
from fakekube.endpoints.watch import WatchStream
from fakekube.storage.memory import Record
from tests.endpoints.reads import POD, Sink, World, told


class Lagging(World):
    """A bucket and a replica that has the version ``has``: 1 is nothing, 2 to 4 are a, b and a
    changed, at 5 b is gone.
    """

    def __init__(self, has: int) -> None:
        super().__init__()
        self.has = has
        self.make("a", "one", x="1")
        self.make("b", "two", x="1")
        self.change("a", "one", x="2")
        self.remove("b", "two")

    def get(self, namespace: str, name: str, version: str) -> Awaitable[Record]:
        return replica.get_object(POD, self.bucket, namespace, name, version, self.clock, lambda: self.has)

    def list(self, namespace: str = "", **query: str) -> Awaitable[ListResult | None]:
        options = parse_list_options({name: [value] for name, value in query.items()}, POD, watch=False)
        return replica.list_objects(POD, self.bucket, namespace, options, self.clock, lambda: self.has)

    def watch_it(self, namespace: str = "", *, watch_list: bool = True, **query: str) -> Sink:
        options = parse_list_options({name: [value] for name, value in query.items()}, POD, watch=True, watch_list=watch_list)
        sink = Sink()
        sink.stream = WatchStream(POD, self.bucket, namespace, options, self.clock, timeout_seconds=3600)
        sink.stream.lag(lambda: self.has)
        sink.stream.start(sink)
        return sink


def story(result: ListResult | None) -> tuple[list[tuple[str, int]], int] | None:
    if result is None:
        return None
    return [(record.name, record.revision) for record in result.records], result.revision


async def test_a_read_sees_what_the_replica_has() -> None:
    """Given replicas that have less and all, when an object is read at any version, then it is as
    the replica has it, or is not there yet, or no more.
    """
    assert [(await Lagging(has).get("one", "a", "0")).revision for has in (2, 3, 4, 5)] == [2, 2, 4, 4]
    assert [(await Lagging(has).get("two", "b", "0")).revision for has in (3, 4)] == [3, 3]
    for has in (2, 5):
        with pytest.raises(APIError) as missing:
            await Lagging(has).get("two", "b", "0")
        assert told(missing.value) == (404, "NotFound", 'pods "b" not found')


async def test_a_list_sees_what_the_replica_has() -> None:
    """Given a replica that lags, when it is listed at any version, in all namespaces and one, with
    selectors, then objects are as it has them, and the list is of its version.
    """
    behind, current = Lagging(3), Lagging(5)
    assert story(await behind.list(resourceVersion="0")) == ([("a", 2), ("b", 3)], 3)
    assert story(await behind.list(resourceVersion="2")) == ([("a", 2), ("b", 3)], 3)
    assert story(await behind.list("two", resourceVersion="0")) == ([("b", 3)], 3)
    assert story(await behind.list(resourceVersion="0", fieldSelector="metadata.namespace=two")) == ([("b", 3)], 3)
    assert story(await behind.list(resourceVersion="0", labelSelector="x=2")) == ([], 3)
    assert story(await current.list(resourceVersion="0")) == ([("a", 4)], 5)
    assert story(await behind.list(resourceVersion="0", limit="1")) == ([("a", 2), ("b", 3)], 3)
    assert story(await behind.list(resourceVersion="2", limit="1", resourceVersionMatch="NotOlderThan")) == (
        [("a", 2), ("b", 3)],
        3,
    )


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"resourceVersion": ""},
        {"continue": "x", "resourceVersion": "0"},
        {"resourceVersion": "2", "limit": "1"},
        {"resourceVersion": "2", "resourceVersionMatch": "Exact"},
    ],
)
async def test_what_is_not_the_replicas_to_answer(query: dict[str, str]) -> None:
    """Given a list of what is current, of one version exactly, or a page, then it is not the
    replica's.
    """
    assert await Lagging(3).list(**query) is None


async def test_a_version_that_the_replica_has_not_is_waited_for() -> None:
    """Given a version ahead of the replica, when it is read, then the read waits until the replica
    has it, for three seconds at most, then 504 names both versions.
    """
    world = Lagging(3)

    async def outcome(asked: Awaitable[Any], after: float) -> Any:
        task = asyncio.ensure_future(asked)
        began = world.clock.time()
        while not task.done():
            await asyncio.sleep(0)
            if world.clock.time() - began >= after:
                world.has = 4
            if not task.done():
                world.clock.fire_next()
        return await task, round(world.clock.time() - began, 2)

    record, seconds = await outcome(world.get("one", "a", "4"), 0.98)
    assert (record.revision, seconds) == (4, 1.05)
    with pytest.raises(APIError) as late:
        await outcome(world.list(resourceVersion="9"), 99.0)
    assert told(late.value) == (504, "Timeout", "Timeout: Too large resource version: 9, current: 4")
    with pytest.raises(APIError) as wrong:
        await world.get("one", "a", "x")
    assert wrong.value.code == 500


@pytest.mark.parametrize(
    ("has", "query", "expected"),
    [
        (5, {"resourceVersion": "0"}, ["ADDED a 4"]),
        (3, {"resourceVersion": "0"}, ["ADDED a 2", "ADDED b 3", "MODIFIED a 4", "DELETED b 5"]),
        (3, {"resourceVersion": "2"}, ["ADDED b 3", "MODIFIED a 4", "DELETED b 5"]),
        (3, {"resourceVersion": "0", "labelSelector": "x=2"}, ["ADDED a 4"]),
        (
            3,
            {"resourceVersion": "0", "allowWatchBookmarks": "1"},
            ["ADDED a 2", "ADDED b 3", "BOOKMARK 3", "MODIFIED a 4", "DELETED b 5"],
        ),
        (3, {"allowWatchBookmarks": "1"}, ["ADDED a 2", "ADDED b 3", "MODIFIED a 4", "DELETED b 5", "BOOKMARK 5"]),
        (
            3,
            {
                "resourceVersion": "4",
                "allowWatchBookmarks": "1",
                "sendInitialEvents": "1",
                "resourceVersionMatch": "NotOlderThan",
            },
            ["ADDED a 2", "ADDED b 3", "MODIFIED a 4", "DELETED b 5", "BOOKMARK 5"],
        ),
        (
            3,
            {
                "resourceVersion": "3",
                "allowWatchBookmarks": "1",
                "sendInitialEvents": "1",
                "resourceVersionMatch": "NotOlderThan",
            },
            ["ADDED a 2", "ADDED b 3", "BOOKMARK 3", "MODIFIED a 4", "DELETED b 5"],
        ),
        (
            3,
            {"resourceVersion": "0", "sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"},
            ["MODIFIED a 4", "DELETED b 5"],
        ),
        (
            3,
            {
                "resourceVersion": "0",
                "sendInitialEvents": "false",
                "resourceVersionMatch": "NotOlderThan",
                "allowWatchBookmarks": "1",
            },
            ["MODIFIED a 4", "DELETED b 5"],
        ),
    ],
)
def test_a_watch_of_a_replica_begins_with_what_it_has(has: int, query: dict[str, str], expected: list[str]) -> None:
    """Given a replica that lags or not, when a watch begins there, then it tells what the replica
    has, the mark where its list is as new as was asked for, and then all that came since.
    """
    assert Lagging(has).watch_it("", watch_list=True, **query).story == expected


def test_a_plain_watch_of_a_replica() -> None:
    """Given a server that streams no lists, when a watch from nothing begins at one that lags,
    then it tells what that has, and all that came since.
    """
    assert Lagging(3).watch_it(watch_list=False).story == ["ADDED a 2", "ADDED b 3", "MODIFIED a 4", "DELETED b 5"]
    assert Lagging(5).watch_it(watch_list=False).story == ["ADDED a 4"]
    assert Lagging(3).watch_it("two", watch_list=False).story == ["ADDED b 3", "DELETED b 5"]


def test_a_replica_behind_what_is_compacted_has_expired() -> None:
    """Given a replica whose state is compacted, when a watch begins there, then one ERROR says so,
    and it ends.
    """
    world = Lagging(3)
    world.storage.compact(4)
    sink = world.watch_it(resourceVersion="0")
    assert [(event["type"], event["object"]["message"], event["object"]["code"]) for event in sink.events] == [
        ("ERROR", "too old resource version: 3 (4)", 410)
    ]
    assert sink.ended == 1

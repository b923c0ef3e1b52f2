"""How long a watch lasts, what it leaves behind, and when a list is read by an index."""

from typing import Any

import pytest

from fakekube.endpoints.listoptions import ListOptions
from fakekube.endpoints.watch import watch_timeout_seconds
from fakekube.util.rng import Rng
from tests.apiserver.conftest import Api
from tests.endpoints.reads import World


class Between(Rng):
    """Draws the lower bound, and keeps both."""

    def __init__(self) -> None:
        super().__init__(0)
        self.bounds: list[tuple[float, float]] = []

    def uniform(self, low: float, high: float) -> float:
        self.bounds.append((low, high))
        return low


def test_how_long_a_watch_lasts_that_does_not_say() -> None:
    """Given no timeout, or none to speak of, then it is drawn from half an hour to an hour; one
    that is given is drawn by nobody.
    """
    rng = Between()
    assert [watch_timeout_seconds(ListOptions(timeout_seconds=seconds), rng) for seconds in (None, 0, 7)] == [1800.0, 1800.0, 7.0]
    assert rng.bounds == [(1800.0, 3600.0)] * 2


def test_a_watch_that_ended_hears_nothing_and_leaves_no_timer() -> None:
    """Given watches that were stopped, ran out of time, or lost their state, when things happen,
    then their selectors are not asked, and no timer is left, lazy ones included.
    """
    world = World()
    sinks = [world.watch(resourceVersion="1", allowWatchBookmarks="1", timeout_seconds=seconds) for seconds in (10, 700, 900)]
    stopped: list[int] = []
    sinks[1].stream.on_stop = lambda: stopped.append(1)
    assert len(world.clock.timers()) == 9
    for sink in sinks:
        sink.stream._match = lambda _: pytest.fail("nobody is asked")
    sinks[1].stream.stop()
    sinks[1].stream.stop()
    assert (stopped, len(world.clock.timers())) == ([1], 6)
    world.pass_time(10)
    assert ([sink.ended for sink in sinks], len(world.clock.timers())) == ([1, 0, 0], 3)
    world.storage.retire()
    [error] = sinks[2].events[-1:]
    assert (error["type"], error["object"]["code"], error["object"]["reason"], error["object"]["message"]) == (
        "ERROR",
        410,
        "Expired",
        "the cluster was restored to another state",
    )
    assert ([sink.ended for sink in sinks], world.clock.timers()) == ([1, 0, 1], [])
    world.make("a")


def test_bookmarks_hurry_nobody() -> None:
    """Given a long watch with bookmarks, when minutes pass, then virtual time has nothing to hurry
    to; of a short one it hurries to the last bookmark and the end.
    """
    world = World()
    world.watch(resourceVersion="1", allowWatchBookmarks="1", timeout_seconds=300)
    assert (world.clock.next_due(), world.clock.pending) == (None, 0)
    world.pass_time(60)
    assert (world.clock.next_due(), world.clock.pending) == (None, 0)
    began = world.clock.time()
    world.watch(resourceVersion="1", allowWatchBookmarks="1", timeout_seconds=299)
    assert (world.clock.next_due(), world.clock.pending) == (began + 297, 2)
    short = World()
    short.watch(resourceVersion="1", allowWatchBookmarks="1", timeout_seconds=2)
    assert len(short.clock.timers()) == 2, "there is no time for a last bookmark"
    short.watch(resourceVersion="1", allowWatchBookmarks="1", timeout_seconds=-5)
    assert short.clock.next_due() == short.clock.time()


@pytest.mark.parametrize(("count", "asked"), [(255, []), (256, [("n", "7")])])
async def test_few_objects_are_looked_at_one_by_one(count: int, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given as many objects as an index is worth, or one fewer, when one label is asked for, then
    an index answers, or each is looked at.
    """
    world, seen = World(), []
    for number in range(count):
        world.make(f"p{number:03}", n=str(number))
    index = type(world.bucket).by_label

    def by_label(self: Any, key: str, value: str) -> Any:
        seen.append((key, value))
        return index(self, key, value)

    monkeypatch.setattr(type(world.bucket), "by_label", by_label)
    assert await world.names("", labelSelector="n=7") == ["p007"]
    assert seen == asked


async def test_a_token_that_is_known_names_its_user(api: Api) -> None:
    """Given a token that the server knows, when it is reviewed, then its user is told, and for
    which audiences it is; one that is not known is told as such.
    """
    reviews = "/apis/authentication.k8s.io/v1/tokenreviews"
    answer = await api("POST", reviews, {"spec": {"token": "secret"}})
    assert (answer.status, answer.tree["status"]) == (
        201,
        {
            "authenticated": True,
            "user": {"username": "robin", "groups": ["system:masters", "system:authenticated"]},
            "audiences": ["https://kubernetes.default.svc"],
        },
    )
    unknown = await api("POST", reviews, {"spec": {"token": "other"}})
    assert unknown.tree["status"] == {"user": {}, "error": "invalid bearer token"}

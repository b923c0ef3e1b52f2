"""Watches: where they begin, what they tell, how they end."""

import orjson
import pytest

from fakekube.apimachinery.errors import APIError, not_acceptable
from fakekube.endpoints.listoptions import ListOptions
from fakekube.endpoints.watch import watch_timeout_seconds
from fakekube.util.rng import Rng
from tests.endpoints.reads import OTHER, World


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.spec("API-076")
def test_a_watch_tells_what_follows_its_version(world: World) -> None:
    """Given events before and after a version / when a watch begins there / then it tells those
    after it, once each.
    """
    world.make("a")
    world.make("b")
    sink = world.watch(resourceVersion="2")
    world.change("a", x="y")
    world.remove("b")
    assert sink.story == ["ADDED b 3", "MODIFIED a 4", "DELETED b 5"]
    assert not sink.ended


@pytest.mark.spec("API-077")
@pytest.mark.parametrize("query", [{}, {"resourceVersion": ""}, {"resourceVersion": "0"}])
def test_a_watch_from_nothing_tells_what_is_there(world: World, query: dict[str, str]) -> None:
    """Given objects / when a watch begins without a version / then they are added, in key order,
    and changes follow.
    """
    world.make("b")
    world.make("a")
    sink = world.watch(**query)
    assert sink.story == ["ADDED a 3", "ADDED b 2"]
    world.remove("a")
    assert sink.story[2:] == ["DELETED a 4"]


@pytest.mark.spec("API-081")
def test_a_streamed_list_ends_in_a_mark(world: World) -> None:
    """Given objects / when their list is streamed / then a bookmark says where it ends, also when
    there is nothing.
    """
    empty = world.watch(sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true")
    assert empty.events == [{"type": "BOOKMARK", "object": {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}]
    world.make("a")
    some = world.watch(allowWatchBookmarks="true")
    assert some.story == ["ADDED a 2", "BOOKMARK 2"]
    world.make("b")
    assert some.story[2:] == ["ADDED b 3"]


def test_initial_events_may_be_declined(world: World) -> None:
    """Given objects / when a watch from any version declines them / then it begins now, without a
    mark.
    """
    world.make("a")
    query = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    for version in ({}, {"resourceVersion": "0"}):
        sink = world.watch(**query, **version)
        assert sink.story == []
    world.make("b")
    assert sink.story == ["ADDED b 3"]


@pytest.mark.spec("API-079")
def test_an_object_comes_and_goes_with_its_labels(world: World) -> None:
    """Given a label selector / when an object enters, changes, leaves and is deleted
    / then added, modified, deleted.
    """
    sink = world.watch(labelSelector="t=1", resourceVersion="1")
    world.make("a")
    world.change("a", t="1")
    world.change("a", t="1", n="2")
    world.change("a", t="2")
    world.change("a", t="2", n="3")
    world.change("a", t="1")
    world.remove("a")
    assert sink.story == ["ADDED a 3", "MODIFIED a 4", "DELETED a 5", "ADDED a 7", "DELETED a 8"]
    assert sink.events[2]["object"]["metadata"]["labels"] == {"t": "1", "n": "2"}
    assert [orjson.loads(frame.data) for frame in sink.frames] == sink.events


def test_history_is_told_with_the_same_transitions(world: World) -> None:
    """Given a past with labels that came and went / when a watch begins in it
    / then it tells the same as a live one.
    """
    live = world.watch(labelSelector="t=1", resourceVersion="1")
    world.make("a", t="1")
    world.change("a", t="2")
    world.make("b", t="1")
    late = world.watch(labelSelector="t=1", resourceVersion="1")
    assert late.story == live.story == ["ADDED a 2", "DELETED a 3", "ADDED b 4"]


@pytest.mark.spec("API-090")
def test_one_object_by_name(world: World) -> None:
    """Given a watch of one name / when others change too / then it hears of that object alone."""
    world.make("a")
    sink = world.watch(fieldSelector="metadata.name=b")
    world.make("b")
    world.change("a", x="y")
    world.remove("b")
    assert sink.story == ["ADDED b 3", "DELETED b 5"]


def test_a_node_hears_of_its_pods(world: World) -> None:
    """Given a watch of a node's pods / when a pod is bound, changed and moved / then added,
    modified and deleted.
    """
    sink = world.watch("", fieldSelector="spec.nodeName=n1")
    world.make("a")
    world.change("a", node="n1")
    world.change("a", node="n1", x="y")
    world.change("a", node="n2")
    assert sink.story == ["ADDED a 3", "MODIFIED a 4", "DELETED a 5"]


@pytest.mark.spec("API-085")
def test_watchers_of_one_event_share_its_frame(world: World) -> None:
    """Given many watchers / when something happens / then its frame was made once, and decoded
    without decoding.
    """
    sinks = [world.watch(resourceVersion="1") for _ in range(3)]
    record = world.make("a")
    assert sinks[0].frames[0] is sinks[1].frames[0] is sinks[2].frames[0]
    assert sinks[0].frames[0].data == b'{"type":"ADDED","object":' + record.data + b"}\n"
    assert sinks[0].events[0]["object"]["spec"] is record.tree()["spec"]


@pytest.mark.spec("API-078")
def test_a_version_that_is_compacted_is_an_error_event(world: World) -> None:
    """Given a compacted history / when a watch begins in it / then one ERROR event with 410, and
    the end.
    """
    for name in "abc":
        world.make(name)
    world.storage.compact(3)
    sink = world.watch(resourceVersion="1")
    assert sink.events == [{"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 1 (3)", "reason": "Expired", "code": 410}}]
    assert sink.ended == 1
    assert world.watch(resourceVersion="3").story == ["ADDED c 4"]


def test_a_version_to_come_is_waited_for_in_silence(world: World) -> None:
    """Given a version ahead / when a plain watch begins there / then events up to it are not told.
    """
    sink = world.watch(resourceVersion="3", allowWatchBookmarks="true")
    world.make("a")
    world.pass_time(61)
    world.make("b")
    world.make("c")
    assert sink.story == ["ADDED c 4"]


def test_a_streamed_list_waits_three_seconds_for_its_version(world: World) -> None:
    """Given a version ahead / when a list of it is streamed / then it waits; too long, and one
    ERROR event with 504.
    """
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    soon, never = world.watch(resourceVersion="2", **query), world.watch(resourceVersion="900", **query)
    world.pass_time(1)
    assert soon.story == []
    world.make("a")
    world.pass_time(1)
    assert soon.story == ["ADDED a 2", "BOOKMARK 2"]
    world.pass_time(1.2)
    assert [event["object"]["message"] for event in never.events] == [
        "Timeout: Too large resource version: 900, current: 2"]
    assert never.ended == 1


@pytest.mark.spec("API-062")
def test_a_version_that_is_no_number_is_refused_before_the_stream(world: World) -> None:
    """Given a version of letters / when a watch is asked for / then 500 without a reason."""
    with pytest.raises(APIError) as error:
        world.watch(resourceVersion="abc")
    assert (error.value.code, error.value.reason) == (500, "")


@pytest.mark.spec("API-080")
def test_bookmarks_come_every_minute_and_before_the_end(world: World) -> None:
    """Given a watch of 150 seconds with bookmarks / when time passes / then at 60, 120 and 148,
    then the end.
    """
    empty = {"kind": "Pod", "apiVersion": "v1", "metadata": {}, "spec": {"containers": None}, "status": {}}
    sink = world.watch(resourceVersion="1", allowWatchBookmarks="true", timeout_seconds=150, empty=lambda: empty)
    world.make("a")
    world.pass_time(59)
    assert sink.story == ["ADDED a 2"]
    world.pass_time(1)
    assert sink.events[1] == {"type": "BOOKMARK", "object": {
        "kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "2"}, "spec": {"containers": None},
        "status": {}}}
    world.pass_time(60)
    world.pass_time(28)
    assert len(sink.events) == 4
    world.pass_time(2)
    assert sink.ended == 1
    assert world.clock.next_due() is None


def test_who_asks_for_no_bookmarks_gets_none(world: World) -> None:
    """Given a watch without bookmarks / when minutes pass / then nothing comes."""
    sink = world.watch(resourceVersion="1")
    world.pass_time(300)
    assert sink.events == []


@pytest.mark.spec("API-083")
def test_time_is_over_without_a_word(world: World) -> None:
    """Given a watch of five seconds / when they are over / then it ends, and later events are not
    sent.
    """
    sink = world.watch(resourceVersion="1", timeout_seconds=5)
    world.pass_time(5)
    assert sink.ended == 1
    world.make("a")
    assert sink.events == []


def test_only_a_short_watch_pulls_time_forward(world: World) -> None:
    """Given a short and a long watch / when virtual time looks for what to wait for / then the
    short one counts.
    """
    world.watch(resourceVersion="1", timeout_seconds=400)
    assert world.clock.pending == 0
    world.watch(resourceVersion="1", timeout_seconds=5)
    assert world.clock.pending == 1


def test_a_watch_that_does_not_say_lasts_half_an_hour_or_more() -> None:
    """Given no timeoutSeconds / when a watch begins
    / then it lasts 30 to 60 minutes; 5 is 5, and -1 is over at once.
    """
    assert 1800 <= watch_timeout_seconds(ListOptions(), Rng(0)) <= 3600
    assert watch_timeout_seconds(ListOptions(timeout_seconds=5), Rng(0)) == 5
    assert watch_timeout_seconds(ListOptions(timeout_seconds=-1), Rng(0)) == -1


def test_a_receiver_that_left_costs_nothing(world: World) -> None:
    """Given a stream that was stopped, twice / when things happen / then nothing is sent and no
    timer is left.
    """
    sink = world.watch(resourceVersion="1", allowWatchBookmarks="true")
    sink.stream.stop()
    sink.stream.stop()
    world.make("a")
    assert sink.events == []
    assert sink.ended == 0
    assert world.clock.next_due() is None


def test_a_receiver_may_leave_while_the_past_is_told(world: World) -> None:
    """Given history and a receiver that leaves after one event / when the watch begins / then it
    gets no more, ever.
    """
    for name in "abc":
        world.make(name)
    from_history, from_list = world.watch(resourceVersion="1", leave_after=2), world.watch(leave_after=1)
    world.make("d")
    assert from_history.story == ["ADDED a 2", "ADDED b 3"]
    assert from_list.story == ["ADDED a 2"]
    assert world.clock.next_due() is None


@pytest.mark.spec("API-084")
def test_a_rendered_stream_shows_its_own_form_of_everything(world: World) -> None:
    """Given a stream that renders / when objects and bookmarks come / then each went through it,
    errors did not.
    """
    world.make("a")
    sink = world.watch(
        allowWatchBookmarks="true", labelSelector="!gone", render=lambda tree: {
            "kind": "Partial", "metadata": tree["metadata"]})
    world.change("a", gone="yes")
    assert [event["object"]["kind"] for event in sink.events] == ["Partial"] * 3
    assert sink.story == ["ADDED a 2", "BOOKMARK 2", "DELETED a 3"]
    assert [orjson.loads(frame.data) for frame in sink.frames] == sink.events


def test_a_form_that_does_not_exist_ends_the_stream(world: World) -> None:
    """Given a stream that cannot show an object / when one comes / then the stream ends without a
    word.
    """
    def refuse(_):
        raise not_acceptable("no such form")

    world.make("a")
    sink = world.watch(render=refuse)
    assert sink.events == []
    assert sink.ended == 1


@pytest.mark.spec("API-170")
def test_another_version_sees_the_same_events_in_its_words(world: World) -> None:
    """Given pods in two versions / when one changes / then each watcher sees it in its version,
    also as it leaves.
    """
    world.make("a", node="n1")
    world.kind = OTHER
    sink = world.watch(resourceVersion="1", fieldSelector="spec.host=n1")
    world.change("a", node="n1", x="y")
    world.change("a", node="n2")
    assert [(event["type"], event["object"]["apiVersion"], event["object"]["spec"]) for event in sink.events] == [
        ("ADDED", "other/v2", {"host": "n1"}), ("MODIFIED", "other/v2", {"host": "n1"}),
        ("DELETED", "other/v2", {"host": "n1"})]
    assert sink.events[2]["object"]["metadata"]["resourceVersion"] == "4"


@pytest.mark.spec("API-097")
def test_a_resource_that_goes_away_ends_its_watches(world: World) -> None:
    """Given a watch / when its resource is no longer served / then it ends."""
    sink = world.watch(resourceVersion="1")
    world.storage.drop_bucket(world.bucket.resource)
    assert sink.ended == 1


def test_all_namespaces_or_one(world: World) -> None:
    """Given pods in two namespaces / when one, all, or one by field are watched / then each tells
    its own.
    """
    one, everywhere = world.watch("one"), world.watch("")
    chosen = world.watch("", fieldSelector="metadata.namespace=two")
    world.make("a", "one")
    world.make("b", "two")
    assert one.story == ["ADDED a 2"]
    assert everywhere.story == ["ADDED a 2", "ADDED b 3"]
    assert chosen.story == ["ADDED b 3"]


def test_bookmarks_come_every_minute_and_two_seconds_before_the_end(world: World) -> None:
    """Given a watch of 150 s that allows bookmarks / when time passes / then one comes after a
    minute, after another, and two seconds before the end; none to a watch that was stopped.
    """
    stopped = world.watch(allowWatchBookmarks="true", resourceVersion="1", timeout_seconds=150)
    sink = world.watch(allowWatchBookmarks="true", resourceVersion="1", timeout_seconds=150)
    stopped.stream.stop()
    seen = []
    for seconds in (59, 1, 59, 1, 27, 1):
        world.pass_time(seconds)
        seen.append(len(sink.story))
    assert seen == [0, 1, 1, 2, 2, 3]
    assert not sink.ended
    world.pass_time(2)
    assert (len(sink.story), sink.ended, stopped.story, stopped.ended) == (3, 1, [], 0)


def test_no_bookmark_tells_of_a_version_that_lies_ahead(world: World) -> None:
    """Given a watch from a version to come / when a minute passes / then it has no bookmark; once
    the version is there, the next one tells of it.
    """
    sink = world.watch(allowWatchBookmarks="true", resourceVersion="2", timeout_seconds=500)
    world.pass_time(60)
    assert sink.story == []
    world.make("a")
    world.pass_time(60)
    assert sink.story == ["BOOKMARK 2"]

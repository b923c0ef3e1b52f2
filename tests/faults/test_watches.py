"""Watches that end, break, expire, stand still, come late, or have no bookmarks; and replicas that
lag.
"""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, JOBS, PODS
from tests.faults.asking import MAPS, Receiver, ask, create, status, watching

JOB = {"metadata": {"name": "a"}, "spec": {"template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}

DEFINITION = {"metadata": {"name": "webs.example.com"}, "spec": {
    "group": "example.com", "scope": "Namespaced", "names": {"plural": "webs", "kind": "Web"}, "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}


def quiet() -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual")


async def test_a_watch_ends_after_so_many_events() -> None:
    """Given a watch that ends after two events / when three objects are made / then two are told,
    the watch is over, and the next watch is whole.
    """
    async with quiet() as cluster:
        cluster.faults.add(watch="end", events=2, times=1)
        first = await watching(cluster)
        for name in "abc":
            await create(cluster, name)
        second = await watching(cluster)
        assert (first.names, first.ended) == (["a", "b"], True)
        assert (second.names, second.ended) == (["a", "b", "c"], False)


async def test_watches_that_are_open_meet_a_fault_that_comes_later() -> None:
    """Given two watches of different clients / when a fault of one of them is added / then its
    watch ends at once, and the other goes on.
    """
    async with quiet() as cluster:
        mine, other = await watching(cluster, "mine"), await watching(cluster, "other")
        cluster.faults.add(watch="end", user_agents="mine")
        await create(cluster, "a")
        assert (mine.names, mine.ended) == ([], True)
        assert (other.names, other.ended) == (["a"], False)


async def test_a_watch_expires() -> None:
    """Given a watch / when it expires / then its last event is a Status with 410."""
    async with quiet() as cluster:
        receiver = await watching(cluster)
        cluster.faults.add(watch="expire")
        assert [(event["type"], event["object"]["code"], event["object"]["reason"]) for event in receiver.events] == [
            ("ERROR", 410, "Expired")]
        assert receiver.ended


async def test_a_watch_stands_still_and_loses_nothing() -> None:
    """Given a watch that stands still for ten seconds / when objects are made meanwhile / then they
    are told in order once the time is over, and later ones at once.
    """
    async with quiet() as cluster:
        receiver = await watching(cluster)
        cluster.faults.add(watch="stall", lasting="10s")
        await create(cluster, "a")
        await cluster.advance("9s")
        await create(cluster, "b")
        assert receiver.names == []
        await cluster.advance("1s")
        assert receiver.names == ["a", "b"]
        await create(cluster, "c")
        assert receiver.names == ["a", "b", "c"]


async def test_a_watch_that_stood_still_goes_on_when_the_fault_is_removed() -> None:
    """Given a watch that stands still for ever / when the fault is removed / then all is told."""
    async with quiet() as cluster:
        receiver = await watching(cluster)
        with cluster.faults.add(watch="stall"):
            await create(cluster, "a")
            assert receiver.names == []
        assert receiver.names == ["a"]


async def test_events_come_late_and_in_order() -> None:
    """Given a watch whose events come two seconds late / when objects are made one second apart /
    then each is told two seconds after it was made.
    """
    async with quiet() as cluster:
        receiver = await watching(cluster)
        cluster.faults.add(watch="late", lasting="2s")
        await create(cluster, "a")
        await cluster.advance("1s")
        await create(cluster, "b")
        assert receiver.names == []
        await cluster.advance("1s")
        assert receiver.names == ["a"]
        await cluster.advance("1s")
        assert receiver.names == ["a", "b"]


async def test_who_leaves_is_told_nothing() -> None:
    """Given a watch that stands still / when its client leaves before it goes on / then nothing is
    told, and nothing of it is left.
    """
    async with quiet() as cluster:
        response = await ask(cluster, "GET", MAPS, watch="true")
        receiver = Receiver()
        assert response.stream is not None
        response.stream.start(receiver)
        fault = cluster.faults.add(watch="stall", lasting="10s")
        await create(cluster, "a")
        response.stream.stop()
        await cluster.advance("10s")
        fault.remove()
        assert receiver.events == []
        assert list(cluster.apiserver.services.watches) == []


async def test_a_watch_without_bookmarks() -> None:
    """Given watches that want bookmarks / when one is to have none / then it has none in three
    minutes, but for the one that ends its list, and the other has some.
    """
    async with quiet() as cluster:
        cluster.faults.add(watch="no-bookmarks", user_agents="mine")
        wanted = {"allowWatchBookmarks": "true", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        mine, other = await watching(cluster, "mine", **wanted), await watching(cluster, "other", **wanted)
        await cluster.advance("3m")
        assert [event["type"] for event in mine.events].count("BOOKMARK") == 1
        assert [event["type"] for event in other.events].count("BOOKMARK") > 1


async def test_a_replica_that_lags() -> None:
    """Given a replica that stands where it was / when a client reads what a cache has, watches, and
    reads what is current / then it sees the past, nothing, and the present; afterwards all.
    """
    async with quiet() as cluster:
        await create(cluster, "a")
        fault = cluster.faults.add(stale=True, user_agents="mine")
        await create(cluster, "b")

        async def names(**query: str) -> list[str]:
            answer = await ask(cluster, "GET", MAPS, agent="mine", **query)
            return [item["metadata"]["name"] for item in status(answer)["items"]]

        past = status(await ask(cluster, "GET", MAPS, agent="mine", resourceVersion="0"))["metadata"]["resourceVersion"]
        receiver = await watching(cluster, "mine", resourceVersion=past)
        assert (await names(resourceVersion="0"), await names()) == (["a"], ["a", "b"])
        assert receiver.names == []
        fault.remove()
        assert receiver.names == ["b"]
        assert await names(resourceVersion="0") == ["a", "b"]


async def test_a_replica_lags_from_a_moment_on() -> None:
    """Given a replica that stops in ten seconds and goes on ten seconds later / when objects are
    made before and while / then a client sees what was there when it stopped, and then all.
    """
    async with quiet() as cluster:
        receiver = await watching(cluster, "mine")
        cluster.faults.add(stale=True, user_agents="mine", after="10s", until="20s")
        await create(cluster, "a")
        await cluster.advance("10s")
        await create(cluster, "b")
        answer = await ask(cluster, "GET", MAPS, agent="mine", resourceVersion="0")
        assert [item["metadata"]["name"] for item in status(answer)["items"]] == ["a"]
        assert receiver.names == ["a"]
        await cluster.advance("10s")
        assert receiver.names == ["a", "b"]


@pytest.mark.parametrize("ends", ["end", "cut", "expire"])
async def test_controllers_live_through_it(ends: str) -> None:
    """Given a cluster with a Job / when watches of pods and Jobs go wrong now and then / then the
    Job completes with one pod.
    """
    async with Cluster() as cluster:
        cluster.faults.add(watch=ends, resources="pods, jobs", events=2, probability=0.5, optional=True)
        await cluster.client.create(JOBS, JOB, "default")

        async def done() -> bool:
            found = await cluster.client.get(JOBS, "a", "default")
            return any(one["type"] == "Complete" for one in found["status"].get("conditions", ()))

        await cluster.run_until(done)
        assert len((await cluster.client.list(PODS, "default")).items) == 1


async def test_a_replica_that_lags_behind_what_was_seen() -> None:
    """Given a client with an open watch / when a replica that is a version behind answers what is
    asked next / then the open watch goes on, the list is the past, and a new watch waits for it.
    """
    async with quiet() as cluster:
        before = await watching(cluster, "mine")
        await create(cluster, "a")
        cluster.faults.add(stale=True, behind=1, lasting="5s", user_agents="mine")
        await create(cluster, "b")
        answer = status(await ask(cluster, "GET", MAPS, agent="mine", resourceVersion="0"))
        after = await watching(cluster, "mine", resourceVersion=answer["metadata"]["resourceVersion"])
        assert ([item["metadata"]["name"] for item in answer["items"]], after.names) == (["a"], [])
        assert before.names == ["a", "b"]
        await cluster.advance("5s")
        assert after.names == ["b"]
        now = status(await ask(cluster, "GET", MAPS, agent="mine", resourceVersion="0"))
        assert [item["metadata"]["name"] for item in now["items"]] == ["a", "b"]


@pytest.mark.parametrize(("ends", "last"), [("end", []), ("cut", []), ("expire", ["ERROR"])])
async def test_a_watch_stands_still_before_it_ends(ends: str, last: list[str]) -> None:
    """Given a watch that is to end after it has stood still / when that time has passed / then what
    happened meanwhile was not told.
    """
    async with quiet() as cluster:
        cluster.faults.add(watch=ends, events=1, lasting="5s", times=1)
        receiver = await watching(cluster)
        await create(cluster, "a")
        await create(cluster, "b")
        await cluster.advance("4s")
        assert (receiver.names, receiver.ended) == (["a"], False)
        await cluster.advance("1s")
        assert [event["type"] for event in receiver.events] == ["ADDED", *last]
        assert receiver.ended


async def test_each_fault_of_a_watch_ends_with_its_own() -> None:
    """Given a watch without bookmarks, another fault that is removed, and one that made events late
    for ten seconds / when those are over / then there are no bookmarks still but the one that ends
    its list, and events come at once.
    """
    async with quiet() as cluster:
        cluster.faults.add(watch="no-bookmarks")
        late = cluster.faults.add(watch="late", lasting="2s", until="10s")
        receiver = await watching(cluster, allowWatchBookmarks="true")
        with cluster.faults.add(watch="stall"):
            pass
        await cluster.advance("3m")
        assert [event["type"] for event in receiver.events] == ["BOOKMARK"]
        await create(cluster, "a")
        assert (receiver.names, late.met) == (["a"], 1)


async def test_two_faults_of_a_watch_that_wait_for_events() -> None:
    """Given a watch that stands still after one event and ends after three / when it goes on / then
    it ends after three.
    """
    async with quiet() as cluster:
        stall = cluster.faults.add(watch="stall", events=1)
        cluster.faults.add(watch="end", events=3, times=1)
        receiver = await watching(cluster)
        for name in "abcd":
            await create(cluster, name)
        assert (receiver.names, receiver.ended) == (["a"], False)
        stall.remove()
        assert (receiver.names, receiver.ended) == (["a", "b", "c"], True)


async def test_a_watch_that_stands_still_for_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a watch that stands still while more happens than a server keeps for a slow watcher /
    when it goes on / then it is told what was kept, and ends.
    """
    monkeypatch.setattr("fakekube.faults.streams.MOST_HELD", 3)
    async with quiet() as cluster:
        receiver = await watching(cluster)
        with cluster.faults.add(watch="stall"):
            for name in "abcde":
                await create(cluster, name)
        assert (receiver.names, receiver.ended) == (["a", "b", "c"], True)
        assert list(cluster.apiserver.services.watches) == []


@pytest.mark.parametrize("fault", [{"watch": "stall"}, {"stale": True}, {"watch": "late", "lasting": "1h"}])
async def test_another_state_ends_a_watch_that_stands_still(fault: dict[str, Any]) -> None:
    """Given a watch that holds events / when the cluster goes to another state / then it is told
    nothing but the 410 that lets its client begin anew, and nothing is left of it.
    """
    async with quiet() as cluster:
        snapshot = cluster.snapshot()
        cluster.faults.add(**fault)
        receiver = await watching(cluster)
        await create(cluster, "a")
        await cluster.restore(snapshot)
        assert [event["object"].get("code") for event in receiver.events] == [410]
        assert (receiver.ended, len(cluster.faults), list(cluster.apiserver.services.watches)) == (True, 1, [])


async def test_a_definition_goes_while_its_watch_stands_still() -> None:
    """Given a watch of custom resources that stands still / when their definition is deleted / then
    it ends.
    """
    async with quiet() as cluster:
        await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
        receiver = await watching(cluster, path="/apis/example.com/v1/webs")
        fault = cluster.faults.add(watch="stall", resources="webs")
        await cluster.client.delete(CUSTOM_RESOURCE_DEFINITIONS, "webs.example.com")
        await cluster.settle()
        assert (receiver.events, receiver.ended, fault.met) == ([], True, 1)

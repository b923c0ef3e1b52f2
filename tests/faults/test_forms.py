"""Watches in every form in which they are answered, and those of other servers, meet the same."""

import asyncio
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.faults.plan import FaultNeverMet
from tests.aggregator.servers import API_SERVICES, FISCHER, LIST, NAME, PATH, Fish, FishServer
from tests.faults.asking import ADMIN, MAPS, ask, create, status

FORMS = {
    "json": "application/json",
    "table": "application/json;as=Table;g=meta.k8s.io;v=v1",
    "metadata": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "protobuf": "application/vnd.kubernetes.protobuf",
    "metadata-protobuf": "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
}


def quiet() -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual")


class Bytes:
    """What comes of a watch, as it is."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.over = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether nothing follows."""
        return self.over.is_set()

    def send(self, frame: Frame) -> None:
        """Take one frame."""
        self.pieces.append(frame.data)

    def end(self) -> None:
        """Nothing follows."""
        self.over.set()

    def tells(self, text: str) -> list[bool]:
        """Which frames have a text in them."""
        return [text.encode() in piece for piece in self.pieces]


async def opened(cluster: Cluster, accept: str, path: str = MAPS, **query: str) -> tuple[Response, Bytes]:
    """A watch that has begun."""
    wanted = {name: [value] for name, value in {"watch": "true", **query}.items()}
    response = await cluster.apiserver.handle(Request("GET", path, wanted, {"user-agent": "test", "accept": accept}, b"", ADMIN))
    receiver = Bytes()
    assert response.stream is not None
    response.stream.start(receiver)
    return response, receiver


@pytest.mark.parametrize("accept", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("ends", ["end", "cut", "expire"])
async def test_it_ends_after_an_event(accept: str, ends: str) -> None:
    """Given a watch in a form, which ends after one event / when two are made / then one is told in
    that form, then it is over: broken where it is to be cut, with 410 where it expires.
    """
    async with quiet() as cluster:
        cluster.faults.add(watch=ends, events=1, times=1)
        response, receiver = await opened(cluster, accept)
        await create(cluster, "first")
        await create(cluster, "second")
        assert receiver.ended
        assert receiver.tells("first") == [True, *[False] * (ends == "expire")]
        assert (response.cut is not None) == (ends == "cut")
        if ends == "expire":
            assert receiver.tells("too old resource version")[-1]
            assert (b"k8s\0" in receiver.pieces[-1]) == (b"k8s\0" in receiver.pieces[0])


@pytest.mark.parametrize("accept", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("rule", [{"watch": "stall", "lasting": "5s"}, {"watch": "late", "lasting": "5s"}])
async def test_it_tells_later(accept: str, rule: dict[str, Any]) -> None:
    """Given a watch in a form that stands still or comes late / when objects are made / then they
    are told five seconds later, or a little more, in order.
    """
    async with quiet() as cluster:
        cluster.faults.add(**rule)
        _, receiver = await opened(cluster, accept)
        await create(cluster, "first")
        await create(cluster, "second")
        await cluster.advance("4s")
        assert receiver.pieces == []
        await cluster.advance("2s")
        assert (receiver.tells("first"), receiver.tells("second")) == ([True, False], [False, True])


@pytest.mark.parametrize("accept", FORMS.values(), ids=FORMS)
async def test_it_has_no_bookmarks(accept: str) -> None:
    """Given a watch in a form that wants bookmarks / when a rule keeps them back for two minutes /
    then none comes, and later they do.
    """
    async with quiet() as cluster:
        cluster.faults.add(watch="no-bookmarks", until="2m")
        latest = str(cluster.apiserver.storage.revision)
        _, receiver = await opened(cluster, accept, allowWatchBookmarks="true", resourceVersion=latest)
        await cluster.advance("119s")
        assert not any(receiver.tells("BOOKMARK"))
        await cluster.advance("2m")
        assert any(receiver.tells("BOOKMARK"))


# servers of other people


@pytest.mark.parametrize("ends", ["end", "cut", "expire"])
async def test_a_watch_of_an_aggregated_api_ends(ends: str) -> None:
    """Given a watch that another server answers, which ends after one event / when that server
    tells two / then one comes, the watch is over as the rule says, and the server knows.
    """
    async with quiet() as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        with cluster.faults.add(watch=ends, events=1, resources="fischers.wardle.dev"):
            response, receiver = await opened(cluster, "application/json", f"{PATH}/fischers")
            fish.stream.tell("ADDED")
            fish.stream.tell("MODIFIED")
        assert (receiver.ended, fish.stream.is_stopped) == (True, True)
        assert receiver.tells("anna") == [True, *[False] * (ends == "expire")]
        assert (response.cut is not None) == (ends == "cut")
        assert list(cluster.apiserver.services.watches) == []


async def test_a_watch_of_an_aggregated_api_stands_still() -> None:
    """Given a watch that another server answers / when a rule lets it stand still later / then what
    that server tells comes once the rule is gone; and its end is told when that server ends it.
    """
    async with quiet() as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        _, receiver = await opened(cluster, "application/json", f"{PATH}/fischers")
        with cluster.faults.add(watch="stall"):
            fish.stream.tell("ADDED")
            fish.stream.tell("MODIFIED")
            assert receiver.pieces == []
        assert (receiver.tells("ADDED"), receiver.tells("MODIFIED")) == ([True, False], [False, True])
        await ask(cluster, "DELETE", f"{API_SERVICES}/{NAME}")
        assert receiver.ended


async def test_a_watch_of_a_server_elsewhere_is_cut() -> None:
    """Given a watch that a server answers over HTTPS / when it is cut after one event / then one
    comes and the connection to the client breaks.
    """
    async with FishServer() as server, Cluster(nodes=0, controllers="") as cluster:
        cluster.aggregate(NAME, server.url, ca_bundle=server.ca_bundle)
        await cluster.settle()
        cluster.faults.add(watch="cut", events=1, resources="fischers")
        response, receiver = await opened(cluster, "application/json", f"{PATH}/fischers")
        async with asyncio.timeout(10):
            await receiver.over.wait()
        assert (receiver.tells("anna"), response.cut) == ([True], 1)


@pytest.mark.parametrize("rule", [{"stale": True}, {"compact": True}])
async def test_our_versions_are_none_of_another_server(rule: dict[str, Any]) -> None:
    """Given an API that another server answers / when a replica of ours lags, or our past is
    forgotten / then requests to that server meet nothing of it.
    """
    async with quiet() as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        fault = cluster.faults.add(**rule, optional=True)
        answer = await ask(cluster, "GET", f"{PATH}/fischers", resourceVersion="0")
        _, receiver = await opened(cluster, "application/json", f"{PATH}/fischers")
        fish.stream.tell("ADDED")
        assert (status(answer), receiver.tells("anna"), fault.met) == (LIST, [True], 0)


async def test_requests_to_another_server_fail_on_the_way() -> None:
    """Given an API that another server answers / when requests for it are refused or answered
    nothing / then that server hears of those alone that went on.
    """
    async with quiet() as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        path, before = f"{PATH}/namespaces/default/fischers/anna", len(fish.asked)
        with cluster.faults.add(error="ServiceUnavailable", resources="fischers"):
            assert (await ask(cluster, "GET", path)).status == 503
        assert len(fish.asked) == before
        with cluster.faults.add(cut="after", resources="fischers"):
            assert (await ask(cluster, "GET", path)).cut == 0
        assert len(fish.asked) == before + 1
        assert status(await ask(cluster, "GET", path)) == FISCHER


# a watch that became none


@pytest.mark.parametrize(("query", "code"), [
    ({"fieldSelector": "spec.none=1"}, 400), ({"resourceVersion": "1", "resourceVersionMatch": "Exact"}, 422)])
async def test_a_watch_that_is_refused_has_not_met_its_fault(query: dict[str, str], code: int) -> None:
    """Given a watch that the server refuses / when a rule was to end it / then nobody has met it.
    """
    async with quiet() as cluster:
        with pytest.raises(FaultNeverMet, match="1 matched, and no watch came of those"), cluster.faults.add(watch="end"):
            assert (await ask(cluster, "GET", MAPS, watch="true", **query)).status == code


async def test_a_watch_that_fails_otherwise_has_not_met_its_fault() -> None:
    """Given two rules for a watch, one of which refuses it / when it is asked for / then the other
    was not met.
    """
    async with quiet() as cluster:
        ends = cluster.faults.add(watch="end", events=1, optional=True)
        refuses = cluster.faults.add(error="ServiceUnavailable", verbs="watch")
        assert (await ask(cluster, "GET", MAPS, watch="true")).status == 503
        assert (ends.met, refuses.met) == (0, 1)

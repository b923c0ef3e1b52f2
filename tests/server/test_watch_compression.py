"""Lists that are streamed by a watch come compressed to who asks, as since 1.37."""

import gzip
import json
import zlib

import aiohttp
import pytest
from pytest_aiohttp.plugin import AiohttpClient

from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.cluster import Cluster
from tests.aiohttp_servers import Serving

LIST = {"watch": "true", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


async def lines(answer: aiohttp.ClientResponse, count: int) -> list[str]:
    """The types of the first so many events."""
    body, found = b"", list[str]()
    while len(found) < count:
        body += await answer.content.readany()
        try:
            text = gzip.decompress(body) if "Content-Encoding" in answer.headers else body
        except EOFError:  # the last piece has not come as a whole
            continue
        found = [json.loads(line)["type"] for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
    return found


async def asked(
    aiohttp_client: AiohttpClient, encoding: str, *,
    query: dict[str, str] | None = None, gates: dict[str, bool] | None = None, release: str = "1.37",
) -> tuple[str, list[str]]:
    """The Content-Encoding of a watch of two ConfigMaps, one of which comes later, and the types of
    its events.
    """
    async with Cluster(
            nodes=0, controllers="", clock="real", kubernetes_version=release, feature_gates=gates or {}) as cluster:
        http = await aiohttp_client(Serving(await cluster.serve()), auto_decompress=False)
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "first"}}, "default")
        headers = {"Accept-Encoding": encoding}
        async with http.get("/api/v1/namespaces/default/configmaps", params=query or LIST, headers=headers) as answer:
            assert ("Vary" in answer.headers) == ("Content-Encoding" in answer.headers)
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "second"}}, "default")
            return answer.headers.get("Content-Encoding", ""), await lines(answer, 2 if query else 3)


@pytest.mark.parametrize("encoding", ["gzip", "deflate, gzip"])
async def test_a_streamed_list_is_compressed_and_so_is_what_follows(aiohttp_client: AiohttpClient, encoding: str) -> None:
    """Given a client that takes gzip / when it lists by a watch and an object comes later / then it
    can read all of it.
    """
    assert await asked(aiohttp_client, encoding) == ("gzip", ["ADDED", "BOOKMARK", "ADDED"])


async def test_who_does_not_ask_gets_it_plain(aiohttp_client: AiohttpClient) -> None:
    """Given a client that takes no gzip / when it lists by a watch / then it comes as it is."""
    assert await asked(aiohttp_client, "identity") == ("", ["ADDED", "BOOKMARK", "ADDED"])


async def test_a_plain_watch_is_never_compressed(aiohttp_client: AiohttpClient) -> None:
    """Given a client that takes gzip / when it watches without a list / then the events come as
    they are.
    """
    assert await asked(aiohttp_client, "gzip", query={"watch": "true"}) == ("", ["ADDED", "ADDED"])


@pytest.mark.parametrize(("release", "gates"), [("1.37", {"WatchListCompression": False}), ("1.36", {})])
async def test_without_its_gate_nothing_is_compressed(
        aiohttp_client: AiohttpClient, release: str, gates: dict[str, bool]) -> None:
    """Given the gate off, or a release without it / when a client that takes gzip lists by a watch
    / then it comes plain.
    """
    assert await asked(aiohttp_client, "gzip", release=release, gates=gates) == ("", ["ADDED", "BOOKMARK", "ADDED"])


async def test_a_client_that_unpacks_by_itself_reads_every_piece(aiohttp_client: AiohttpClient) -> None:
    """Given a client library that unpacks what it gets / when pieces come one after the other /
    then it gets each in time.
    """
    async with Cluster(nodes=0, controllers="", clock="real") as cluster:
        http = await aiohttp_client(Serving(await cluster.serve()))
        async with http.get("/api/v1/namespaces/default/configmaps", params=LIST) as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            for name in ("one", "two", "three"):
                line = await answer.content.readline()
                assert json.loads(line)["type"] == ("BOOKMARK" if name == "one" else "ADDED")
                await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default")


async def test_what_is_written_can_be_read_before_its_end_is_known(aiohttp_client: AiohttpClient) -> None:
    """Given a reader that gives out a last block only when it knows what follows, as Go's does
    When a piece of a streamed list is there but for the end of its file
    Then all of its content is."""
    async with Cluster(nodes=0, controllers="", clock="real") as cluster:
        http = await aiohttp_client(Serving(await cluster.serve()), auto_decompress=False)
        async with http.get("/api/v1/namespaces/default/configmaps", params=LIST, headers={"Accept-Encoding": "gzip"}) as answer:
            piece = await answer.content.readany()
            end = len(b"\x03\x00") + 8  # an empty last block, a checksum and a length
            assert zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(piece[:-end]).endswith(b"}\n")

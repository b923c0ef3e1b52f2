"""Who reaches a served cluster, and what they may send to its own paths."""

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fakekube.composition.cluster import Cluster
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.composition.snapshot import read

CLOCK = "/fakekube/v1/clock"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.0.10", "box.example"])
async def test_other_machines_need_a_word(host: str) -> None:
    """Given an address that other machines reach / when a cluster is to listen there / then one
    sentence says that it will not, and what to do.
    """
    cluster = Cluster(nodes=0, controllers="", clock="manual")
    with pytest.raises(OptionError, match=r"^bind_address: other machines could reach .* or --insecure if that is meant$"):
        await cluster.serve(host=host)
    await cluster.stop()


async def test_other_machines_with_a_word() -> None:
    """Given the word / when a cluster listens on all addresses / then it does, and its page is not
    any page's.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        server = await cluster.serve(host="0.0.0.0", insecure=True)
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        async with aiohttp.ClientSession() as http:
            for headers, status in (({}, 200), ({"Host": "10.0.0.1"}, 200), ({"Host": "evil.example"}, 403)):
                async with http.get(f"{url}/api", headers=headers) as answer:
                    assert answer.status == status


async def test_options_reach_the_server() -> None:
    """Given a host and an origin that are allowed / when a cluster is served / then it answers to
    them, and lets read.
    """
    options = {"allow_host": "fake.example", "allow_origin": ["https://board.example", "null"]}
    async with Cluster(nodes=0, controllers="", clock="manual", **options) as cluster:
        server = await cluster.serve()
        headers = {"Host": "fake.example:80", "Origin": "https://board.example"}
        async with aiohttp.ClientSession() as http, http.get(f"{server.url}/api/v1/secrets", headers=headers) as answer:
            assert answer.status == 200
            assert answer.headers["Access-Control-Allow-Origin"] == "https://board.example"


async def test_the_advertised_address_is_a_name_of_the_server() -> None:
    """Given an address that is advertised to the cluster's members / when a client asks by it /
    then it is answered; by another one it is not.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", advertise_address="192.0.2.7") as cluster:
        server = await cluster.serve()
        async with aiohttp.ClientSession() as http:
            for host, status in (("192.0.2.7:6443", 200), ("192.0.2.8:6443", 403)):
                async with http.get(f"{server.url}/api", headers={"Host": host}) as answer:
                    assert answer.status == status


@pytest.mark.parametrize(("values", "text"), [
    ({"allow_host": "http://box"}, "allow_host: 'http://box' is no host"),
    ({"allow_origin": "board.example"}, "allow_origin: 'board.example' is no origin"),
    ({"allow_origin": "http://board.example/page"}, "allow_origin: 'http://board.example/page' is no origin"),
])
def test_what_cannot_be_allowed(values: dict[str, Any], text: str) -> None:
    """Given a host or an origin that is none / when options are made / then a sentence says which.
    """
    with pytest.raises(OptionError, match=text):
        ClusterOptions.of(**values)


def test_options_as_people_write_them() -> None:
    """Given one text or several / when options are made / then each is there in its one spelling.
    """
    options = ClusterOptions.of(allow_host="A.example, *", allow_origin=["HTTP://A.example:80", "*"])
    assert (options.allow_host, options.allow_origin) == (("a.example", "*"), ("http://a.example", "*"))


async def test_snapshots_let_nobody_in(tmp_path: Path) -> None:
    """Given a cluster that lets an origin in / when its snapshot is read again / then that says
    nothing of it, and whoever reads it decides.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", allow_origin="*", allow_host="*") as cluster:
        cluster.snapshot().write(tmp_path / "file")
    found = read(tmp_path / "file")
    assert (found.options.allow_host, found.options.allow_origin) == ((), ())
    assert found.options_with({"allow_origin": "null"}).allow_origin == ("null",)
    async with Cluster(nodes=0, controllers="", clock="manual", allow_host="a.example") as cluster:
        await cluster.restore(found)
        assert cluster.options.allow_host == ("a.example",)


@pytest.mark.parametrize(("kind", "status"), [
    ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=x", 415), ("application/jsonx", 415),
    ("application/yaml", 415), ("text/plain, application/json", 415),
])
async def test_own_paths_take_json_only(kind: str, status: int) -> None:
    """Given the clock of a served cluster / when a body or a query says that it is something else
    than JSON, as a form's does / then 415, and the clock stays where it was.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        server = await cluster.serve()
        async with aiohttp.ClientSession(headers={"Content-Type": kind}) as http:
            for target, body in ((CLOCK, b'{"advance": "1h"}'), (f"{CLOCK}?advance=1h", b"")):
                before = cluster.clock.time()
                async with http.post(f"{server.url}{target}", data=body) as answer:
                    assert answer.status == status
                    if status == 415:
                        message = (await answer.json())["message"]
                        assert message.startswith("the body is to be application/json, and its Content-Type is")
                assert cluster.clock.time() - before == (3600 if status == 200 else 0)

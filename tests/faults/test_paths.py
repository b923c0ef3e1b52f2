"""Requests that name no object, discovery, OpenAPI and health, and rules that name paths."""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.faults.rules import ERRORS_OF_ANY_PATH, ErrorName
from tests.faults.asking import MAPS, ask, create

ABOUT = ("/version", "/api", "/apis", "/apis/batch", "/apis/batch/v1", "/openapi/v2", "/openapi/v3",
         "/openapi/v3/apis/batch/v1", "/")
HEALTH = ("/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/", "/readyz/ping")


def quiet() -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual")


async def codes(cluster: Cluster, *paths: str) -> list[int]:
    """What is answered to reads, one after the other."""
    return [(await ask(cluster, "GET", path)).status for path in paths]


@pytest.mark.parametrize("error", ["ServiceUnavailable", "TooManyRequests", "Timeout", "InternalError"])
async def test_a_server_in_trouble_still_says_that_it_lives(error: str) -> None:
    """Given a rule for everything / when documents, objects and health are asked for / then the
    documents and objects are refused, and health is not: overload lets it through.
    """
    async with quiet() as cluster:
        assert set(await codes(cluster, *ABOUT, *HEALTH, MAPS)) == {200}
        cluster.faults.add(error=error)
        assert {code >= 400 for code in await codes(cluster, *ABOUT, MAPS)} == {True}
        assert set(await codes(cluster, *HEALTH, "/fakekube/v1/faults")) == {200}


@pytest.mark.parametrize(("paths", "met"), [
    ("/healthz", ["/healthz"]),
    ("/readyz*", ["/readyz", "/readyz/ping"]),
    ("/livez/, /version", ["/version", "/livez/"]),
    ("/openapi/*", ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/batch/v1"]),
    ("/apis/batch*", ["/apis/batch", "/apis/batch/v1"]),
    ("/api/v1/*", [MAPS]),
    ("/api/?1/namespaces/*/configmaps", [MAPS]),
    ("*", [*ABOUT, *HEALTH, MAPS]),
])
@pytest.mark.parametrize("others", [0, 8])
async def test_a_rule_names_paths(paths: str, met: list[str], others: int) -> None:
    """Given a rule that names paths, alone or beside others / when each path is asked for, twice /
    then those that it names meet it, health too.
    """
    async with quiet() as cluster:
        for number in range(others):
            cluster.faults.add(error="ServiceUnavailable", paths=f"/none/{number}", optional=True)
        cluster.faults.add(error="ServiceUnavailable", paths=paths)
        for _ in range(2):
            asked = [*ABOUT, *HEALTH, MAPS]
            assert [path for path, code in zip(asked, await codes(cluster, *asked), strict=True) if code == 503] == met


async def test_paths_and_verbs_both_fit() -> None:
    """Given a rule of a path and of a verb / when the path is read and written / then the write
    meets it; and a rule that names verbs alone is about objects.
    """
    async with quiet() as cluster:
        with cluster.faults.add(error="ServiceUnavailable", paths=f"{MAPS}*", verbs="create"):
            assert (await create(cluster, "a")).status == 503
            assert await codes(cluster, MAPS, "/version") == [200, 200]
        with cluster.faults.add(error="ServiceUnavailable", paths="/version", verbs="read"):
            assert await codes(cluster, MAPS, "/version") == [200, 503]
        with cluster.faults.add(error="ServiceUnavailable", verbs="get", optional=True) as fault:
            assert await codes(cluster, "/version") == [200]
        assert fault.met == 0


@pytest.mark.parametrize("error", sorted(set(ErrorName.__args__) - set(ERRORS_OF_ANY_PATH)))
async def test_what_needs_objects_does_not_happen_to_documents(error: str) -> None:
    """Given an error of the storage, or one that names a resource / when documents are asked for /
    then they are answered: they come from the server's memory.
    """
    async with quiet() as cluster:
        cluster.faults.add(error=error, paths="*", optional=True)
        assert set(await codes(cluster, *ABOUT, *HEALTH)) == {200}


@pytest.mark.parametrize("rule", [{"cut": "before"}, {"cut": "after"}, {"cut": "body"}])
async def test_documents_are_cut(rule: dict[str, Any]) -> None:
    """Given a cut / when a document is asked for / then its connection breaks, in the middle of it
    where the rule says so.
    """
    async with quiet() as cluster:
        cluster.faults.add(paths="/openapi/v2", **rule)
        answer = await ask(cluster, "GET", "/openapi/v2")
        assert answer.cut is not None
        assert (answer.cut > 0) == (rule["cut"] == "body")


async def test_discovery_takes_its_time() -> None:
    """Given latency of discovery / when a client that knows nothing asks for a kind by its name /
    then it waits, and has it.
    """
    async with Cluster(nodes=0, controllers="") as cluster:
        began = cluster.clock.time()
        cluster.faults.add(latency="3s", paths="/apis", times=1)
        assert (await cluster.client.resource("jobs")).kind == "Job"
        assert cluster.clock.time() >= began + 3

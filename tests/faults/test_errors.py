"""Requests that fail, in the words of a control plane, and are cut."""

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS
from tests.faults.asking import MAPS, Receiver, ask, create, is_there, outcome, status

TIMEOUT = "Timeout: request did not complete within requested timeout - context deadline exceeded"
STATUSES = {
    "InternalError": (500, "InternalError", "Internal error occurred: context deadline exceeded"),
    "Timeout": (504, "Timeout", TIMEOUT),
    "ServerTimeout": (
        500, "ServerTimeout", "The update operation against configmaps could not be completed at this time, please try again."),
    "Conflict": (
        409, "Conflict", (
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the '
            "latest version and try again")),
    "Unauthorized": (401, "Unauthorized", "Unauthorized"),
    "EtcdTimeout": (500, None, "etcdserver: request timed out"),
    "EtcdLeaderChanged": (500, None, "etcdserver: leader changed"),
    "EtcdNoLeader": (500, None, "etcdserver: no leader"),
    "EtcdNoSpace": (500, None, "etcdserver: mvcc: database space exceeded"),
}
TEXTS = {
    "TooManyRequests": (429, "1", "Too many requests, please try again later.\n"),
    "ShuttingDown": (429, "5", "The apiserver is shutting down, please try again later.\n"),
    "ServiceUnavailable": (503, None, "service unavailable\n"),
}


def quiet(**options: object) -> Cluster:
    """A cluster in which nothing happens by itself."""
    return Cluster(nodes=0, controllers="", clock="manual", **options)


@pytest.mark.parametrize("error", STATUSES)
async def test_an_error_is_a_status_in_upstreams_words(error: str) -> None:
    """Given a fault before the commit / when an object is updated / then upstream's Status answers,
    and nothing was written.
    """
    async with quiet() as cluster:
        made = status(await create(cluster, "a"))
        cluster.faults.add(verbs="update", error=error)
        answer = await ask(cluster, "PUT", f"{MAPS}/a", {**made, "data": {"x": "1"}})
        found = status(answer)
        assert (answer.status, found.get("reason"), found["message"]) == STATUSES[error]
        assert found["code"] == answer.status
        assert "data" not in status(await ask(cluster, "GET", f"{MAPS}/a"))


async def test_a_cache_that_fills() -> None:
    """Given a watch cache that is not ready / when a client writes, and reads / then the write is
    made, and the read is to come again in a second, as a Status says.
    """
    async with quiet() as cluster:
        cluster.faults.add(error="StorageInitializing")
        assert (await create(cluster, "a")).status == 201
        answer = await ask(cluster, "GET", MAPS)
        found = status(answer)
        assert (answer.status, found["reason"], found["message"], found["details"]["retryAfterSeconds"]) == (
            429, "TooManyRequests", "storage is (re)initializing", 1)
        assert dict(answer.headers)["Retry-After"] == "1"


@pytest.mark.parametrize("error", TEXTS)
async def test_an_overloaded_server_answers_plain_text(error: str) -> None:
    """Given a server that takes no request / when one comes / then plain text and Retry-After say
    so, as filters in front of the API do.
    """
    async with quiet() as cluster:
        cluster.faults.add(error=error, resources="configmaps")
        answer = await create(cluster, "a")
        headers = dict(answer.headers)
        assert (answer.status, headers.get("Retry-After"), answer.body.decode()) == TEXTS[error]
        assert answer.content_type.startswith("text/plain")
        assert not await is_there(cluster, "a")


async def test_a_client_is_told_when_to_come_back() -> None:
    """Given an error that says when to come back / when a request meets it / then the header and
    the Status say so.
    """
    async with quiet() as cluster:
        cluster.faults.add(error="StorageInitializing", retry_after_seconds=7)
        answer = await ask(cluster, "GET", MAPS)
        assert dict(answer.headers)["Retry-After"] == "7"
        assert status(answer)["details"]["retryAfterSeconds"] == 7


@pytest.mark.parametrize("error", ["EtcdTimeout", "Timeout", "ServiceUnavailable"])
async def test_an_ambiguous_error_hides_a_write(error: str) -> None:
    """Given an error after the commit / when an object is created / then the sender sees the error,
    the object is there, and its history names the fault.
    """
    async with quiet() as cluster:
        cluster.faults.add(name="unsure", verbs="create", error=error, moment="after")
        assert (await create(cluster, "a")).status >= 500
        assert await is_there(cluster, "a")
        [event] = [one for one in cluster.apiserver.storage.bucket(CONFIG_MAPS.group_resource).history()
                   if one.record.name == "a"]
        assert event.cause is not None
        assert event.cause.fault == "unsure"
        assert [entry.fault for entry in cluster.apiserver.log][-1] == "unsure"


async def test_what_failed_by_itself_stays_what_it_is() -> None:
    """Given an error after the commit / when a request fails without it / then its own answer
    comes.
    """
    async with quiet() as cluster:
        await create(cluster, "a")
        cluster.faults.add(verbs="create", error="EtcdTimeout", moment="after")
        assert (await create(cluster, "a")).status == 409


@pytest.mark.parametrize(("cut", "words", "there"), [
    ("before", "EOF", False), ("after", "EOF", True), ("body", "unexpected EOF", True)])
async def test_a_cut_connection(cut: str, words: str, there: bool) -> None:
    """Given a connection that breaks / when a client creates an object / then it has no answer, and
    the object is there if the commit came first.
    """
    async with quiet() as cluster:
        cluster.faults.add(verbs="create", resources="configmaps", cut=cut)
        assert await outcome(cluster, "a") == words
        assert await is_there(cluster, "a") is there


async def test_a_cut_after_a_refusal_hides_the_refusal() -> None:
    """Given a connection that breaks before the answer / when a request would be refused / then its
    sender does not learn of it.
    """
    async with quiet() as cluster:
        await create(cluster, "a")
        cluster.faults.add(verbs="create", resources="configmaps", cut="after")
        assert await outcome(cluster, "a") == "EOF"


async def test_latency_takes_virtual_time() -> None:
    """Given latency before the commit / when an object is created / then it is there once that time
    has passed, and the answer comes then.
    """
    async with Cluster(nodes=0, controllers="", clock="auto") as cluster:
        began = cluster.clock.time()
        cluster.faults.add(verbs="create", latency="1500ms", times=1)
        assert await outcome(cluster, "a") == "created"
        assert cluster.clock.time() - began == 1.5
        assert await outcome(cluster, "b") == "created"
        assert cluster.clock.time() - began == 1.5


async def test_past_states_are_forgotten() -> None:
    """Given a list that is read in pages / when all history is compacted between two of them / then
    the second gets 410, and so does a watch from before.
    """
    async with quiet() as cluster:
        for name in "abc":
            await create(cluster, name)
        page = status(await ask(cluster, "GET", MAPS, limit="1"))["metadata"]
        await create(cluster, "d")
        with cluster.faults.add(verbs="list", compact=True):
            answer = await ask(cluster, "GET", MAPS, **{"limit": "1", "continue": page["continue"]})
        assert (answer.status, status(answer)["reason"]) == (410, "Expired")
        answer = await ask(cluster, "GET", MAPS, watch="true", resourceVersion=page["resourceVersion"])
        assert answer.stream is not None
        receiver = Receiver()
        answer.stream.start(receiver)
        assert [event["object"]["code"] for event in receiver.events] == [410]
        assert len(cluster.apiserver.storage.bucket(CONFIG_MAPS.group_resource).history()) >= 4

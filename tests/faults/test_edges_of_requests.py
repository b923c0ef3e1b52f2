"""Faults and requests that are out of the ordinary: deletions that come too late again and again,
bodies that are no objects, clients that ask in many ways, and predicates.
"""

from typing import Any

import orjson
import pytest
import yaml

from fakekube import Cluster
from fakekube.apimachinery.http import Request
from fakekube.client.kubeconfig import client_of
from fakekube.client.resources import CONFIG_MAPS
from fakekube.faults import plan, point
from tests.faults.asking import ADMIN, MAPS, ask, create, is_there


@pytest.fixture
async def cluster() -> Any:
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        yield cluster


async def test_deletions_that_are_always_too_late(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given deletions that somebody is always faster than / when one is tried again and again at a
    moment / then somebody writes the object as often as that may be, and afterwards the deletion is
    told so without a write; a deletion of what is not there, too.
    """
    monkeypatch.setattr(point, "MOST_AT_ONCE", 2)
    await create(cluster, "m")
    cluster.faults.add(error="Conflict", verbs="delete", resources="configmaps")
    first = cluster.apiserver.storage.revision
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"resourceVersion": str(first)}}
    told = []
    for name in ("m", "m", "m", "none"):
        answer = await ask(cluster, "DELETE", f"{MAPS}/{name}", options)
        tree = orjson.loads(answer.body)
        told.append((answer.status, tree["reason"], tree["details"], tree["message"], cluster.apiserver.storage.revision - first))

    def conflict(name: str, revision: int) -> tuple[Any, ...]:
        return 409, "Conflict", {"name": name, "kind": "ConfigMap"}, (
            f'Operation cannot be fulfilled on ConfigMap "{name}": the ResourceVersion in the precondition ({first}) does not '
            f"match the ResourceVersion in record ({revision}). The object might have been modified"), revision - first

    assert told == [conflict("m", first + 1), conflict("m", first + 2), conflict("m", first + 2), conflict("none", first + 2)]
    assert await is_there(cluster, "m")


@pytest.mark.parametrize(("body", "meets"), [
    (b'{"metadata": {"labels": {"a": "1"}}}', True), (b'{"metadata": {"labels": {"a": "2"}}}', False),
    (b"{", False), (b"", False),
    (b"[]", False), (b'{"metadata": 3}', False), (b'{"metadata": {"labels": 3}}', False),
    (b'{"metadata": {"labels": null}}', False)])
async def test_labels_of_what_is_sent(cluster: Cluster, body: bytes, meets: bool) -> None:
    """Given a fault of objects with a label / when something is sent / then it meets the fault if
    it has the label, whatever else it is.
    """
    fault = cluster.faults.add(error="EtcdNoSpace", verbs="create", labels="a=1", optional=True)
    headers = {"user-agent": "test", "accept": "application/json", "content-type": "application/json"}
    answer = await cluster.apiserver.handle(Request("POST", MAPS, {}, headers, body, ADMIN))
    assert (fault.met, answer.status) == ((1, 500) if meets else (0, answer.status))
    assert (b"etcdserver" in answer.body) is meets


async def test_clients_that_ask_in_many_ways(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given many faults, and a memory of few forms of requests / when clients ask in more ways /
    then the memory stays as small, and each request meets what it did.
    """
    monkeypatch.setattr(plan, "KEPT_FORMS", 3)
    monkeypatch.setattr(plan, "FEW", 1)
    for number in range(4):
        cluster.faults.add(name=f"f{number}", compact=True, verbs="get", names=f"m{number}", optional=True)
    for _ in range(2):
        for number in range(8):
            await ask(cluster, "GET", f"{MAPS}/m{number}")
            await ask(cluster, "GET", f"/api/v1/namespaces/default/things{number}/m1")
            assert len(cluster.faults._by_form) <= 3
            assert len(cluster.faults._by_asked) <= 3
    assert [fault.met for fault in cluster.faults] == [2, 18, 2, 2]


async def test_what_predicates_ask_is_not_late(cluster: Cluster) -> None:
    """Given requests that take five seconds / when a predicate asks over HTTP / then no time passes
    for it, since time stands until it has answered.
    """
    await create(cluster, "m")
    fault = cluster.faults.add(latency="5s", verbs="get", resources="configmaps")
    began = cluster.clock.time()
    times: list[float] = []
    client = client_of(yaml.safe_load((await cluster.serve()).kubeconfig), "here")

    async def asks() -> bool:
        await client.get(CONFIG_MAPS, "m", "default")
        times.append(cluster.clock.time() - began)
        return True

    await cluster.run_until(asks, within="1m")
    await client.close()
    assert (times, fault.met) == ([0.0], 1)

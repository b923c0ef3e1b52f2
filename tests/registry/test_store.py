"""The order of steps of a write, seen through what it leaves."""

import re
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, JOBS, LEASES, PODS, SERVICES
from fakekube.composition.cluster import Cluster


def config_map(name: str = "", **metadata: Any) -> Tree:
    return {"metadata": ({"name": name} if name else {}) | metadata, "data": {"a": "1"}}


async def refusal(awaitable: Any) -> APIError:
    with pytest.raises(APIError) as caught:
        await awaitable
    return caught.value


@pytest.mark.spec("API-015", "API-020")
async def test_the_server_sets_what_only_it_knows(client: Client) -> None:
    """Given a body that names uid, time and selfLink, when it is created, then the server's values
    stand.
    """
    made = await client.create(CONFIG_MAPS, config_map(
        "a", uid="mine", creationTimestamp="2000-01-01T00:00:00Z", selfLink="/x", generation=7), "default")
    meta = made["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", meta["uid"])
    assert meta["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert "selfLink" not in meta
    assert meta["generation"] == 7, "a kind that tracks none keeps what it is given"


@pytest.mark.spec("API-017")
async def test_generated_names(client: Client) -> None:
    """Given a generateName, when objects are created, then names have upstream's alphabet and
    length, all different.
    """
    names = [(await client.create(CONFIG_MAPS, config_map(generateName="x-"), "default"))["metadata"]["name"] for _ in range(20)]
    assert all(re.fullmatch(r"x-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in names)
    assert len(dict.fromkeys(names)) == 20
    long = await client.create(CONFIG_MAPS, config_map(generateName="y" * 63), "default")
    assert len(long["metadata"]["name"]) == 63


@pytest.mark.spec("API-018", "API-021", "API-022")
async def test_what_a_create_must_not_say(client: Client) -> None:
    """Given bodies without a name, with a version or another namespace, when created, then each
    gets upstream's error.
    """
    error = await refusal(client.create(CONFIG_MAPS, config_map(), "default"))
    assert (error.code, error.causes[0]["message"]) == (422, "Required value: name or generateName is required")
    error = await refusal(client.create(CONFIG_MAPS, config_map("a", resourceVersion="5"), "default"))
    assert (error.code, error.reason, error.message) == (500, "", "resourceVersion should not be set on objects to be created")
    error = await refusal(client.create(CONFIG_MAPS, config_map("a", namespace="other"), "default"))
    assert (error.code, error.message) == (
        400, "the namespace of the provided object does not match the namespace sent on the request")
    assert (await client.create(CONFIG_MAPS, config_map("a", resourceVersion="0"), "default"))["metadata"]["name"] == "a"


@pytest.mark.spec("API-035")
async def test_a_dry_run_leaves_no_trace(client: Client, cluster: Cluster) -> None:
    """Given a dry run of a create and of an update, when done, then answers look real and nothing
    is stored.
    """
    made = await client.create(CONFIG_MAPS, config_map("a"), "default", dry_run=True)
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert await client.get(CONFIG_MAPS, "a", "default", missing_ok=True) is None
    real = await client.create(CONFIG_MAPS, config_map("a"), "default")
    revision = cluster.apiserver.storage.revision
    changed = await client.update(CONFIG_MAPS, {**real, "data": {"a": "2"}}, dry_run=True)
    assert changed["data"] == {"a": "2"}
    assert changed["metadata"]["resourceVersion"] == real["metadata"]["resourceVersion"]
    assert cluster.apiserver.storage.revision == revision


@pytest.mark.spec("API-093", "API-094", "API-096")
async def test_which_updates_need_what(client: Client) -> None:
    """Given updates without version, of nothing, or of another uid, then kinds differ as they do
    upstream.
    """
    made = await client.create(CONFIG_MAPS, config_map("a"), "default")
    unversioned = {**made, "metadata": {"name": "a", "namespace": "default"}, "data": {"a": "2"}}
    assert (await client.update(CONFIG_MAPS, unversioned))["data"] == {"a": "2"}
    error = await refusal(client.update(CONFIG_MAPS, config_map("b", namespace="default")))
    assert error.code == 404
    lease = {"metadata": {"name": "l", "namespace": "default"}, "spec": {"holderIdentity": "me"}}
    assert (await client.update(LEASES, lease))["metadata"]["uid"], "a Lease is created by PUT"
    owner = {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "u"}
    twice = {"metadata": {"name": "m", "namespace": "default", "ownerReferences": [owner, dict(owner)]}, "spec": {}}
    assert (await client.update(LEASES, twice))["metadata"]["ownerReferences"] == [owner], "its steps are those of a POST"
    error = await refusal(client.update(LEASES, lease))
    assert error.code == 422
    assert error.causes[0] == {
        "reason": "FieldValueInvalid", "message": "Invalid value: 0: must be specified for an update",
        "field": "metadata.resourceVersion"}
    other = {**made, "metadata": {**made["metadata"], "uid": "11111111-1111-4111-8111-111111111111"}}
    error = await refusal(client.update(CONFIG_MAPS, other))
    assert error.code == 409
    assert "Precondition failed: UID in precondition: 11111111" in error.message


@pytest.mark.spec("API-087", "API-097")
async def test_a_write_that_changes_nothing_is_none(client: Client, cluster: Cluster) -> None:
    """Given an object, when its own content is written again, then no version is spent."""
    made = await client.create(CONFIG_MAPS, config_map("a"), "default")
    before = cluster.apiserver.storage.revision
    await cluster.advance(5)
    again = await client.update(CONFIG_MAPS, made)
    patched = await client.patch(CONFIG_MAPS, "a", "default", {"data": {"a": "1"}})
    assert again == patched == made
    assert cluster.apiserver.storage.revision == before


@pytest.mark.spec("API-098")
async def test_generation_follows_the_spec(client: Client) -> None:
    """Given a Job, when labels or status change, then its generation stays; when the spec changes,
    it rises.
    """
    made = await client.create(JOBS, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}, "default")
    assert made["metadata"]["generation"] == 1
    labelled = await client.patch(JOBS, "j", "default", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 1
    told = await client.patch(JOBS, "j", "default", {"status": {"ready": 0, "terminating": 0}}, subresource="status")
    assert told["metadata"]["generation"] == 1
    changed = await client.patch(JOBS, "j", "default", {"spec": {"parallelism": 2}})
    assert changed["metadata"]["generation"] == 2
    assert changed["status"] == {"ready": 0, "terminating": 0}


@pytest.mark.spec("API-133")
async def test_binding(client: Client) -> None:
    """Given a pod, when it is bound twice, then the first sets node and condition and the second is
    a Conflict.
    """
    await client.create(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, "default")
    await client.bind("p", "default", "n")
    pod = await client.get(PODS, "p", "default")
    assert pod["spec"]["nodeName"] == "n"
    assert [(c["type"], c["status"]) for c in pod["status"]["conditions"]] == [("PodScheduled", "True")]
    assert pod["metadata"]["generation"] == 1
    error = await refusal(client.bind("p", "default", "m"))
    assert (error.code, error.message) == (
        409, 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"')


async def test_addresses_are_given_back(client: Client) -> None:
    """Given a Service that was deleted, when another is made with its address, then it gets it."""
    first = await client.create(SERVICES, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}, "default")
    address = first["spec"]["clusterIP"]
    taken = {"metadata": {"name": "b"}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}}
    assert (await refusal(client.create(SERVICES, taken, "default"))).code == 422
    await client.delete(SERVICES, "a", "default")
    assert (await client.create(SERVICES, taken, "default"))["spec"]["clusterIP"] == address

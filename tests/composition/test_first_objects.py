"""What a cluster holds when it is first seen: there from the beginning, whenever somebody asks for
it.
"""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.namespace_defaults import CERTIFICATE
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import (
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Resource,
)
from fakekube.composition.options import OptionError
from fakekube.composition.snapshot import decode

TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
NAMESPACE_DEFAULTS = (SERVICE_ACCOUNTS, CONFIG_MAPS)


def cluster_of(**options: Any) -> Cluster:
    return Cluster(**{"nodes": 0, "clock": "manual", "controllers": "namespace,serviceaccount", **options})


async def namespace_defaults(client: Client) -> list[Tree]:
    return [obj for resource in NAMESPACE_DEFAULTS for obj in (await client.list(resource)).items]


def without_identity(obj: Tree) -> Tree:
    meta = {key: value for key, value in obj["metadata"].items() if key not in ("uid", "resourceVersion")}
    return {**obj, "metadata": meta}


async def test_the_first_namespaces_hold_what_their_controller_would_have_made() -> None:
    """Given a new cluster with the service account controller
    When all accounts and certificates are deleted, and come back
    Then the new ones are like those that the cluster was found with, in all but uid and version."""
    async with cluster_of() as cluster:
        found = await namespace_defaults(cluster.client)
        assert len(found) == 9
        for resource, name in zip(NAMESPACE_DEFAULTS, ("default", "kube-root-ca.crt"), strict=True):
            for namespace in (await cluster.client.list(NAMESPACES)).items:
                await cluster.client.delete(resource, name, namespace["metadata"]["name"])
        await cluster.settle()
        made = await namespace_defaults(cluster.client)
        made, found = ([obj for obj in objects if obj["metadata"]["name"] != TRACKING] for objects in (made, found))
        assert [without_identity(obj) for obj in made] == [without_identity(obj) for obj in found]
        assert not {obj["metadata"]["uid"] for obj in found} & {obj["metadata"]["uid"] for obj in made}


@pytest.mark.parametrize("resource", [*NAMESPACE_DEFAULTS, SERVICES, NAMESPACES])
async def test_who_asks_late_finds_what_was_there_all_along(resource: Resource) -> None:
    """Given a cluster in which something was written
    When a watch goes on from the version before, and then its first objects are asked for
    Then the watch hears nothing of them, and each has a version of its own that lies before."""
    async with cluster_of(controllers="serviceaccount") as cluster:
        before = int((await cluster.client.list(SECRETS, "default")).resource_version)
        await cluster.client.create(SECRETS, {"metadata": {"name": "x"}}, "default")
        async with await cluster.client.watch(resource, resource_version=str(before)) as events:
            versions = [int(obj["metadata"]["resourceVersion"]) for obj in (await cluster.client.list(resource)).items]
            assert len(set(versions)) == len(versions) > 0
            assert max(versions) <= before
            mine = {"metadata": {"name": "mine"}, **({"spec": {"ports": [{"port": 80}]}} if resource == SERVICES else {})}
            await cluster.client.create(resource, mine, "default" if resource.namespaced else "")
            async for event in events:
                assert event.object["metadata"]["name"] == "mine"
                break


@pytest.mark.parametrize("way", ["fork", "snapshot", "file"])
@pytest.mark.parametrize("controllers", ["*", ""])
async def test_a_cluster_that_goes_on_has_the_same_ones(way: str, controllers: str) -> None:
    """Given a cluster whose first objects nobody has asked for
    When another goes on from it, with or without the controller
    Then both hold the same objects, byte for byte."""
    async with cluster_of() as cluster:
        if way == "fork":
            other = cluster.fork(controllers=controllers)
        else:
            taken = cluster.snapshot()
            other = Cluster(state=decode(taken.encode()) if way == "file" else taken, controllers=controllers)
        async with other:
            assert await namespace_defaults(other.client) == await namespace_defaults(cluster.client)
            assert (await other.client.list(SERVICES)).items == (await cluster.client.list(SERVICES)).items


async def test_where_no_controller_ran_nothing_is_found_until_one_does() -> None:
    """Given a cluster without the service account controller
    When another goes on from its state with that controller
    Then the first has no accounts, and the other makes them now."""
    async with cluster_of(controllers="") as cluster:
        taken = cluster.snapshot()
        [tracking] = await namespace_defaults(cluster.client)
        assert tracking["metadata"]["name"] == TRACKING
        await cluster.client.create(SECRETS, {"metadata": {"name": "x"}}, "default")
        async with Cluster(state=taken, controllers="serviceaccount") as other:
            made = await namespace_defaults(other.client)
            assert len(made) == 9
            made.remove(tracking)
            assert min(int(obj["metadata"]["resourceVersion"]) for obj in made) > taken.revision


async def test_asking_for_first_objects_disturbs_nobodys_history() -> None:
    """Given two clusters of one seed
    When somebody looks at what came with one of them
    Then what is made afterwards has the same uid in both."""
    uids = []
    for look in (False, True):
        async with cluster_of() as cluster:
            if look:
                await namespace_defaults(cluster.client)
                await cluster.client.list(SERVICES)
            made = await cluster.client.create(SECRETS, {"metadata": {"name": "x"}}, "default")
            uids.append((made["metadata"]["uid"], made["metadata"]["resourceVersion"]))
    assert uids[0] == uids[1]


def test_a_snapshot_wakes_nobody() -> None:
    """Given a cluster whose caches sleep over what nobody has asked for
    When a snapshot of it is taken, outside its event loop too
    Then it holds the first objects, and the cluster goes on as it was."""
    async def life(cluster: Cluster) -> None:
        await cluster.start()
        tied = {"name": "tied", "finalizers": ["orphan"]}
        await cluster.client.create(SECRETS, {"metadata": tied}, "default")
        await cluster.settle()

    with asyncio.Runner() as runner:
        cluster = Cluster(nodes=0, clock="manual")
        runner.run(life(cluster))
        asked = [(entry.verb, entry.resource) for entry in cluster.apiserver.log]
        taken = cluster.snapshot()
        assert [len(bucket) for bucket in taken.storage.buckets if bucket.resource.resource == "serviceaccounts"] == [4]
        runner.run(cluster.settle())
        assert [(entry.verb, entry.resource) for entry in cluster.apiserver.log] == asked
        runner.run(cluster.stop())


async def in_kube_system(**options: Any) -> dict[str, Tree]:
    """The ConfigMaps of kube-system in a new cluster, by name."""
    async with cluster_of(**options) as cluster:
        return {obj["metadata"]["name"]: obj for obj in (await cluster.client.list(CONFIG_MAPS, "kube-system")).items}


@pytest.mark.parametrize("controllers", ["*", ""])
async def test_the_server_notes_since_when_it_watches_old_tokens(controllers: str) -> None:
    """Given a new cluster, when its own ConfigMaps are read, then one says the day of its start, as
    the server's.
    """
    found = await in_kube_system(start="2026-03-04T05:06:07Z", controllers=controllers)
    assert found[TRACKING]["data"] == {"since": "2026-03-04"}
    [entry] = found[TRACKING]["metadata"]["managedFields"]
    assert (entry["manager"], entry["fieldsV1"]) == ("kube-apiserver", {"f:data": {".": {}, "f:since": {}}})
    assert TRACKING not in await in_kube_system(kubernetes_version="1.26")


def readable(certificate: str) -> int:
    """How many CAs a TLS library finds in a text."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=certificate)
    return context.cert_store_stats()["x509_ca"]


async def test_the_certificate_of_the_ca_is_one() -> None:
    """Given old and new namespaces, when their certificate is read with a TLS library, then it is a
    CA's, everywhere the same.
    """
    async with cluster_of() as cluster:
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.settle()
        found = [await cluster.client.get(CONFIG_MAPS, "kube-root-ca.crt", name) for name in ("default", "kube-system", "team")]
        [certificate] = {obj["data"]["ca.crt"] for obj in found}
        assert readable(certificate) == 1


async def test_whose_certificates_are_believed_is_published_where_it_is_said(tmp_path: Path) -> None:
    """Given a CA's file, when a cluster is made with it, then the ConfigMap for extensions has it;
    without it there is none.
    """
    name = "extension-apiserver-authentication"
    assert name not in await in_kube_system()
    file = tmp_path / "ca.pem"
    file.write_text(CERTIFICATE)
    found = await in_kube_system(client_ca_file=file)
    assert found[name]["data"]["client-ca-file"] == found[name]["data"]["requestheader-client-ca-file"] == file.read_text()
    assert found[name]["data"]["requestheader-username-headers"] == '["X-Remote-User"]'


@pytest.mark.parametrize(("content", "text"), [(None, "No such file"), ("nothing", "holds no certificate in PEM")])
def test_a_file_without_a_certificate_is_refused(tmp_path: Path, content: str | None, text: str) -> None:
    """Given a file that is not there, or holds something else, when a cluster is to publish it,
    then it is refused.
    """
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(OptionError, match=text):
        cluster_of(client_ca_file=file)


@pytest.mark.parametrize(("address", "family"), [("10.1.2.3", "IPv4"), ("fd00::7", "IPv6")])
async def test_the_server_is_an_endpoint_of_its_service_where_it_is_said(address: str, family: str) -> None:
    """Given an address to advertise, when the service kubernetes is looked at, then it has both
    kinds of endpoints, else none.
    """
    async with cluster_of(controllers="*", advertise_address=address) as cluster:
        await cluster.advance("1m")
        [endpoints] = (await cluster.client.list(ENDPOINTS)).items
        assert endpoints["subsets"] == [
            {"addresses": [{"ip": address}], "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}]}]
        [found] = (await cluster.client.list(ENDPOINT_SLICES)).items
        assert (found["metadata"]["name"], found["addressType"]) == ("kubernetes", family)
        assert found["endpoints"] == [{"addresses": [address], "conditions": {"ready": True}}]
    async with cluster_of(controllers="*") as cluster:
        assert [*(await cluster.client.list(ENDPOINTS)).items, *(await cluster.client.list(ENDPOINT_SLICES)).items] == []


def test_an_address_that_is_none_is_refused() -> None:
    """Given a host's name, when it is to be advertised, then it is refused."""
    with pytest.raises(OptionError, match="advertise_address: 'somewhere' is no IP address"):
        cluster_of(advertise_address="somewhere")


@pytest.mark.parametrize("controllers", ["*", ""])
async def test_what_the_server_says_of_itself_is_put_right(tmp_path: Path, controllers: str) -> None:
    """Given the ConfigMap for extensions and the endpoints of the service kubernetes / when they
    are changed, and when they are deleted / then they are as they were again; what others added to
    the ConfigMap stays, and nothing is written while all is right.
    """
    file = tmp_path / "ca.pem"
    file.write_text(CERTIFICATE)
    name = "extension-apiserver-authentication"
    async with cluster_of(controllers=controllers, advertise_address="10.1.2.3", client_ca_file=file) as cluster:
        service = ("kubernetes", "default")
        places = ((CONFIG_MAPS, name, "kube-system"), (ENDPOINTS, *service), (ENDPOINT_SLICES, *service))

        async def contents() -> list[dict[str, object]]:
            found = [await cluster.client.get(*place) for place in places]
            return [
                {**{key: value for key, value in each.items() if key != "metadata"}, "labels": each["metadata"].get("labels")}
                for each in found]

        before = await contents()
        versions = [(await cluster.client.get(*place))["metadata"]["resourceVersion"] for place in places]
        await cluster.advance("1m")
        assert [(await cluster.client.get(*place))["metadata"]["resourceVersion"] for place in places] == versions
        await cluster.client.patch(CONFIG_MAPS, name, "kube-system", {"data": {"client-ca-file": "x", "mine": "y"}})
        await cluster.client.patch(ENDPOINTS, "kubernetes", "default", {"subsets": None})
        labels = {"kubernetes.io/service-name": "z"}
        await cluster.client.patch(ENDPOINT_SLICES, *service, {"endpoints": None, "metadata": {"labels": labels}})
        await cluster.settle()
        after = await contents()
        assert after[0]["data"] == {**before[0]["data"], "mine": "y"}  # type: ignore[dict-item]
        assert after[1:] == before[1:]
        for place in places:
            await cluster.client.delete(*place)
        await cluster.settle()
        assert await contents() == before

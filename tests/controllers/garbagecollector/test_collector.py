"""What is owned by nothing that exists goes; what is orphaned stays; foreground deletion waits for
what blocks it.
"""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, EVENTS, JOBS, LEASES, NAMESPACES, NODES, PODS, SECRETS
from tests.controllers.world import NAMESPACE, World, job_manifest, manual_cluster, pod_template


@pytest.fixture
async def world():
    """A cluster with the garbage collector, and with what gives namespaces their service accounts.
    """
    async with manual_cluster("garbagecollector,namespace,serviceaccount") as cluster:
        yield World(cluster)


def reference(owner, **more):
    return {
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], **more}


async def config_map(world, name, *owners, namespace=NAMESPACE, **metadata):
    owned = {"ownerReferences": [o if "uid" in o else reference(o) for o in owners]} if owners else {}
    return await world.client.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": namespace, **owned, **metadata}})


async def there(world, *names):
    """Which of these ConfigMaps are there."""
    listed = (await world.client.list(CONFIG_MAPS, NAMESPACE)).items
    present = [each["metadata"]["name"] for each in listed]
    return [name for name in names if name in present]


async def test_dependents_follow_their_owner(world):
    """Given an owner with a dependent that has one too / when the owner is deleted / then all three
    go.
    """
    owner = await config_map(world, "owner")
    child = await config_map(world, "child", owner)
    await config_map(world, "grandchild", child)
    await world.settle()
    await world.client.delete(CONFIG_MAPS, "owner", NAMESPACE)
    await world.settle()
    assert await there(world, "owner", "child", "grandchild") == []


@pytest.mark.spec("API-145")
async def test_orphans_lose_their_reference_and_stay(world):
    """Given an owner with two dependents / when it is deleted and they are to stay / then they do,
    without the reference.
    """
    owner = await config_map(world, "owner")
    for name in ("a", "b"):
        await config_map(world, name, owner)
    await world.settle()
    await world.client.delete(CONFIG_MAPS, "owner", NAMESPACE, propagation_policy="Orphan")
    await world.settle()
    assert await there(world, "owner", "a", "b") == ["a", "b"]
    kept = await world.client.get(CONFIG_MAPS, "a", NAMESPACE)
    assert "ownerReferences" not in kept["metadata"]


@pytest.mark.spec("API-145")
async def test_foreground_deletion_waits_for_what_blocks_it(world):
    """Given a dependent that blocks and is held, and one that does not block / when the owner is
    deleted in the foreground / then it waits with its finalizer / when the blocking one is let go /
    then the owner goes too.
    """
    owner = await config_map(world, "owner")
    await config_map(world, "blocks", reference(owner, blockOwnerDeletion=True), finalizers=["example.com/hold"])
    await config_map(world, "loose", reference(owner), finalizers=["example.com/hold"])
    await world.settle()
    await world.client.delete(CONFIG_MAPS, "owner", NAMESPACE, propagation_policy="Foreground")
    await world.settle()
    held = await world.client.get(CONFIG_MAPS, "owner", NAMESPACE)
    assert held["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in (await world.client.get(CONFIG_MAPS, "blocks", NAMESPACE))["metadata"]
    await world.client.patch(CONFIG_MAPS, "blocks", NAMESPACE, {"metadata": {"finalizers": None}})
    await world.settle()
    assert await there(world, "owner", "blocks", "loose") == ["loose"]
    assert "deletionTimestamp" in (await world.client.get(CONFIG_MAPS, "loose", NAMESPACE))["metadata"]


@pytest.mark.spec("API-150")
async def test_a_dependent_lives_as_long_as_one_owner_does(world):
    """Given two owners / when one goes / then the dependent stays and names only the other / when
    that goes / then it goes.
    """
    first, second = await config_map(world, "first"), await config_map(world, "second")
    await config_map(world, "child", first, second)
    await world.settle()
    await world.client.delete(CONFIG_MAPS, "first", NAMESPACE)
    await world.settle()
    child = await world.client.get(CONFIG_MAPS, "child", NAMESPACE)
    assert [ref["name"] for ref in child["metadata"]["ownerReferences"]] == ["second"]
    await world.client.delete(CONFIG_MAPS, "second", NAMESPACE)
    await world.settle()
    assert await there(world, "child") == []


@pytest.mark.spec("API-149")
@pytest.mark.parametrize("name", ["nobody", "owner"])
async def test_an_owner_that_is_not_there_or_is_another_one_does_not_count(world, name):
    """Given a reference to nobody, or with a uid of another time / then the dependent is collected.
    """
    owner = await config_map(world, "owner")
    stale = reference(owner, uid="00000000-0000-4000-8000-000000000000") | {"name": name}
    await config_map(world, "child", stale)
    await world.settle()
    assert await there(world, "owner", "child") == ["owner"]


@pytest.mark.spec("API-149")
async def test_an_owner_in_another_namespace_does_not_count_and_that_is_told(world):
    """Given an owner in another namespace / then the dependent is collected, and an event says why.
    """
    await world.client.create(NAMESPACES, {"metadata": {"name": "other"}})
    await world.settle()
    owner = await config_map(world, "owner", namespace="other")
    await config_map(world, "child", owner)
    await world.settle()
    assert await there(world, "child") == []
    events = (await world.client.list(EVENTS, NAMESPACE)).items
    assert [(e["type"], e["reason"]) for e in events] == [("Warning", "OwnerRefInvalidNamespace")]
    uid = owner["metadata"]["uid"]
    assert events[0]["message"] == (
        f'ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {uid}] does not exist in namespace "default"')


async def test_what_is_in_no_namespace_may_own_what_is_in_one(world):
    """Given a node that owns a ConfigMap / when the node goes / then the ConfigMap goes."""
    node = await world.client.create(NODES, {"metadata": {"name": "n"}})
    await config_map(world, "child", node)
    await world.settle()
    assert await there(world, "child") == ["child"]
    await world.client.delete(NODES, "n")
    await world.settle()
    assert await there(world, "child") == []


@pytest.mark.spec("API-151")
@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_a_ring_of_owners_goes_as_a_whole(world, policy):
    """Given three that own each other in a ring / when one is deleted / then all go."""
    a = await config_map(world, "a")
    b = await config_map(world, "b", reference(a, blockOwnerDeletion=True))
    c = await config_map(world, "c", reference(b, blockOwnerDeletion=True))
    body = {"metadata": {"ownerReferences": [reference(c, blockOwnerDeletion=True)]}}
    await world.client.patch(CONFIG_MAPS, "a", NAMESPACE, body)
    await world.settle()
    assert await there(world, "a", "b", "c") == ["a", "b", "c"]
    await world.client.delete(CONFIG_MAPS, "a", NAMESPACE, propagation_policy=policy)
    await world.settle()
    assert await there(world, "a", "b", "c") == []


async def test_a_kind_that_nobody_serves_keeps_its_dependents(world):
    """Given an owner of an unknown kind / then the dependent stays: nothing can be said about the
    owner.
    """
    await config_map(world, "child", {"apiVersion": "example.com/v1", "kind": "Web", "name": "w", "uid": "1-2-3"})
    await world.advance(120)
    assert await there(world, "child") == ["child"]


@pytest.mark.spec("API-148")
async def test_a_collection_is_deleted_by_label_and_the_removed_are_answered(world):
    """Given labelled and other objects / when the labelled are deleted / then the answer lists
    them, and the others stay.
    """
    for name in ("a", "b"):
        await config_map(world, name, labels={"app": "x"})
    await config_map(world, "c")
    removed = await world.client.delete_collection(CONFIG_MAPS, NAMESPACE, label_selector="app=x")
    assert removed["kind"] == "ConfigMapList"
    assert [each["metadata"]["name"] for each in removed["items"]] == ["a", "b"]
    assert await there(world, "a", "b", "c") == ["c"]


@pytest.mark.spec("API-146")
async def test_jobs_deleted_in_the_background_take_their_pods_along(world):
    """Given a Job that owns a pod / when it is deleted as kubectl does / then the pod goes."""
    job = await world.client.create(JOBS, job_manifest())
    pod = {"metadata": {"name": "p", "namespace": NAMESPACE, "ownerReferences": [reference(job, controller=True)]}}
    await world.client.create(PODS, pod | pod_template())
    await world.settle()
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
    await world.settle()
    assert await world.pods() == []


@pytest.mark.spec("API-147")
async def test_the_body_of_a_deletion_counts_more_than_its_query(world):
    """Given an owner with a dependent / when the query says Background and the body Orphan / then
    the dependent stays.
    """
    owner = await config_map(world, "owner")
    await config_map(world, "child", owner)
    await world.settle()
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/owner"
    await world.client.request(
        "DELETE", path, query={"propagationPolicy": ["Background"]},
        body=b'{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan"}')
    await world.settle()
    assert await there(world, "owner", "child") == ["child"]


async def test_collection_goes_on_where_it_was_when_the_collector_starts_late(world):
    """Given no collector while an owner goes / when it starts / then the dependent goes."""
    owner = await world.client.create(SECRETS, {"metadata": {"name": "owner", "namespace": NAMESPACE}})
    await config_map(world, "child", owner)
    await world.settle()
    await world.cluster.manager.stop_component("garbagecollector")
    await world.client.delete(SECRETS, "owner", NAMESPACE)
    await world.settle()
    assert await there(world, "child") == ["child"]
    await world.cluster.manager.start_component("garbagecollector")
    await world.settle()
    assert await there(world, "child") == []


async def test_types_that_come_later_are_collected_too(world):
    """Given a collector that runs, and a type that is not served
    When the type comes back, with an object whose owner is gone
    Then it is collected within half a minute, and not before somebody looked."""
    cluster = world.cluster
    await config_map(world, "owner")
    [kind] = [each for each in cluster.apiserver.resources.kinds if each.plural == "leases" and each.version == "v1"]
    cluster.apiserver.resources.remove(kind)
    await config_map(world, "child", {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "1"})
    await world.settle()
    assert await there(world, "owner", "child") == ["owner"]
    cluster.apiserver.resources.install(kind)
    stale = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "1"}
    await world.client.create(LEASES, {
        "metadata": {"name": "late", "namespace": NAMESPACE, "ownerReferences": [stale]}, "spec": {}})
    await cluster.advance(29)
    assert await world.client.get(LEASES, "late", NAMESPACE, missing_ok=True) is not None
    await cluster.advance(2)
    assert await world.client.get(LEASES, "late", NAMESPACE, missing_ok=True) is None


@pytest.mark.parametrize(("code", "tried"), [(404, 1), (409, 3)])
async def test_an_object_that_goes_while_it_is_changed_is_done_with(world, code, tried):
    """Given an orphaned dependent that is gone when its owner is dropped from it / then that is no
    failure, and the owner goes; a conflict is tried again.
    """
    owner = await config_map(world, "owner")
    await config_map(world, "child", owner)
    await world.settle()
    asked = []
    collector = world.cluster.manager.component("garbagecollector")
    patch = collector.client.patch

    async def failing(resource, name, *more, **options):
        if name == "child":
            asked.append(name)
            if len(asked) < 3:
                raise APIError(code, "NotFound" if code == 404 else "Conflict", "no")
        return await patch(resource, name, *more, **options)

    collector.client.patch = failing
    await world.client.delete(CONFIG_MAPS, "owner", NAMESPACE, propagation_policy="Orphan")
    await world.advance(60)
    assert await there(world, "owner") == []
    assert len(asked) == tried

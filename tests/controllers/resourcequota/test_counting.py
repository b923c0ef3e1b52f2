"""Quotas bind, are charged and are given back, in a whole cluster."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, EVENTS, JOBS, LEASES, PODS, RESOURCE_QUOTAS, SERVICES
from tests.controllers.world import NAMESPACE, World, job_manifest, manual_cluster


@pytest.fixture
async def world():
    """A cluster whose quotas are counted, on manual time."""
    async with manual_cluster("namespace,serviceaccount,job,resourcequota") as cluster:
        world = World(cluster)
        await world.advance(1)
        yield world


async def with_quota(world, hard):
    quota = {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"hard": hard}}
    await world.client.create(RESOURCE_QUOTAS, quota)
    await world.advance(1)


async def used(world):
    quota = await world.client.get(RESOURCE_QUOTAS, "q", NAMESPACE)
    return quota["status"].get("used", {})


async def make(world, resource, name, **fields):
    return await world.client.create(resource, {"metadata": {"name": name, "namespace": NAMESPACE}, **fields})


def pod_spec(**requests):
    return {"containers": [{"name": "a", "image": "a:1", "resources": {"requests": requests}}]}


@pytest.mark.spec("API-166")
async def test_a_quota_binds_once_it_was_counted(world):
    """Given a pod / when a quota of one comes / then the pod is counted and the next one refused.
    """
    await make(world, PODS, "first", spec=pod_spec())
    await with_quota(world, {"pods": "1"})
    assert await used(world) == {"pods": "1"}
    with pytest.raises(APIError) as caught:
        await make(world, PODS, "second", spec=pod_spec())
    assert caught.value.message == (
        'pods "second" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
    )


@pytest.mark.spec("API-166")
async def test_what_is_deleted_or_finished_is_given_back(world):
    """Given two pods that use a quota / when one is deleted and one succeeds / then nothing is
    used.
    """
    await with_quota(world, {"pods": "2", "requests.cpu": "1"})
    await make(world, PODS, "a", spec=pod_spec(cpu="300m"))
    await make(world, PODS, "b", spec=pod_spec(cpu="200m"))
    assert await used(world) == {"pods": "2", "requests.cpu": "500m"}
    await world.client.delete(PODS, "a", NAMESPACE, grace_period_seconds=0)
    await world.advance(1)
    assert await used(world) == {"pods": "1", "requests.cpu": "200m"}
    await world.client.patch(PODS, "b", NAMESPACE, {"status": {"phase": "Succeeded"}}, subresource="status")
    await world.advance(1)
    assert await used(world) == {"pods": "0", "requests.cpu": "0"}


async def test_anything_can_be_counted_by_its_name(world):
    """Given counts of Leases, of Events and of something unknown / when a Lease comes and goes /
    then only what exists is counted, and Events never.
    """
    await with_quota(world, {"count/leases.coordination.k8s.io": "1", "count/dreams.example.com": "1", "count/events": "0"})
    await make(world, LEASES, "l")
    assert await used(world) == {"count/leases.coordination.k8s.io": "1"}
    await world.client.delete(LEASES, "l", NAMESPACE)
    await world.advance(1)
    assert await used(world) == {"count/leases.coordination.k8s.io": "0"}


async def test_a_service_that_changes_its_type_costs_less(world):
    """Given a node port service / when it becomes a cluster service / then its node port is given
    back.
    """
    await with_quota(world, {"services.nodeports": "1"})
    await make(world, SERVICES, "s", spec={"type": "NodePort", "ports": [{"port": 80}]})
    assert await used(world) == {"services.nodeports": "1"}
    await world.client.patch(SERVICES, "s", NAMESPACE, {"spec": {"type": "ClusterIP"}})
    await world.advance(1)
    assert await used(world) == {"services.nodeports": "0"}


async def test_a_pod_that_leaves_a_scope_is_given_back(world):
    """Given a pod in the scope NotTerminating / when it gets a deadline / then the quota of that
    scope has it no more.
    """
    quota = {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"hard": {"pods": "1"}, "scopes": ["NotTerminating"]}}
    await world.client.create(RESOURCE_QUOTAS, quota)
    await world.advance(1)
    await make(world, PODS, "p", spec=pod_spec())
    assert await used(world) == {"pods": "1"}
    await world.client.patch(PODS, "p", NAMESPACE, {"spec": {"activeDeadlineSeconds": 5}})
    await world.advance(1)
    assert await used(world) == {"pods": "0"}


async def test_a_quota_that_changes_is_counted_anew(world):
    """Given a quota / when it limits other things / then its status follows."""
    await with_quota(world, {"pods": "1"})
    await world.client.patch(RESOURCE_QUOTAS, "q", NAMESPACE, {"spec": {"hard": {"pods": None, "configmaps": "5"}}})
    await world.advance(1)
    quota = await world.client.get(RESOURCE_QUOTAS, "q", NAMESPACE)
    assert quota["status"] == {"hard": {"configmaps": "5"}, "used": {"configmaps": "1"}}


async def test_usage_is_put_right_now_and_then(world):
    """Given a usage that somebody wrote / when five minutes have passed / then it is what is there.
    """
    await with_quota(world, {"configmaps": "9"})
    await make(world, CONFIG_MAPS, "c")
    wrong = {"status": {"used": {"configmaps": "7"}}}
    await world.client.patch(RESOURCE_QUOTAS, "q", NAMESPACE, wrong, subresource="status")
    await world.advance(1)
    assert await used(world) == {"configmaps": "7"}
    await world.advance(300)
    assert await used(world) == {"configmaps": "2"}


@pytest.mark.spec("JOB-089")
async def test_a_job_makes_as_many_pods_as_the_quota_lets_it(world):
    """Given room for three pods / when a Job wants five / then three exist and an event tells why.
    """
    await with_quota(world, {"pods": "3"})
    await world.client.create(JOBS, job_manifest(parallelism=5, completions=5))
    await world.advance(2)
    assert len((await world.client.list(PODS, NAMESPACE)).items) == 3
    events = (await world.client.list(EVENTS, NAMESPACE)).items
    messages = [event["message"] for event in events if event["reason"] == "FailedCreate"]
    assert any("exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3" in text for text in messages)


async def test_a_refused_object_is_named_as_far_as_admission_knows_its_name(world):
    """Given a full quota / when a pod with a generated name comes / then the quota knows its name,
    what came before did not.
    """
    await with_quota(world, {"pods": "0"})
    nameless = {"metadata": {"generateName": "g-", "namespace": NAMESPACE}}
    with pytest.raises(APIError, match=r'pods "g-[^"]{5}" is forbidden: exceeded quota'):
        await world.client.create(PODS, {**nameless, "spec": pod_spec()})
    with pytest.raises(APIError, match='pods "g-" is forbidden: no PriorityClass with name none was found'):
        await world.client.create(PODS, {**nameless, "spec": {**pod_spec(), "priorityClassName": "none"}})


async def test_what_is_charged_is_written_as_it_was_asked_for_and_by_the_server(world):
    """Given a quota with nothing used / when two pods are made, one in binary units / then the sum
    stands in the units of the first that was more than nothing, and the server says so.
    """
    await with_quota(world, {"requests.memory": "1Gi", "pods": "3"})
    await make(world, PODS, "a", spec=pod_spec(memory="10Mi"))
    await make(world, PODS, "b", spec=pod_spec(memory="1024k"))
    assert await used(world) == {"pods": "2", "requests.memory": "11240Ki"}
    quota = await world.client.get(RESOURCE_QUOTAS, "q", NAMESPACE)
    owned = {entry["manager"]: entry["fieldsV1"] for entry in quota["metadata"]["managedFields"] if "subresource" in entry}
    assert owned["kube-apiserver"] == {"f:status": {"f:used": {"f:pods": {}, "f:requests.memory": {}}}}
    assert owned["kube-controller-manager"]["f:status"]["f:used"] == {}


async def test_how_often_everything_is_counted_can_be_said():
    """Given a sync period of 20 s, and a usage that somebody wrote / when it has passed, and not
    before / then it is right.
    """
    async with manual_cluster("namespace,serviceaccount,resourcequota", resource_quota_sync_period="20s") as cluster:
        world = World(cluster)
        await with_quota(world, {"configmaps": "9"})
        wrong = {"status": {"used": {"configmaps": "7"}}}
        await world.client.patch(RESOURCE_QUOTAS, "q", NAMESPACE, wrong, subresource="status")
        await world.advance(10)
        assert await used(world) == {"configmaps": "7"}
        await world.advance(10)
        assert await used(world) == {"configmaps": "1"}

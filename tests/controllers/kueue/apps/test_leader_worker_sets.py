"""LeaderWorkerSets on their way through Kueue."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS
from tests.controllers.kueue.jobs.conftest import QUEUE
from tests.controllers.world import NAMESPACE

CONTAINER = {"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "100m"}}}
OFFSET = names.POD_INDEX_OFFSET_ANNOTATION


def template(**metadata):
    return {"metadata": metadata, "spec": {"containers": [CONTAINER]}}


def lws(replicas=2, size=3, *, leader=True, worker=None, **labels):
    made = {"size": size, "workerTemplate": worker or template()}
    if leader:
        made["leaderTemplate"] = template()
    return {
        "metadata": {"name": "l", "namespace": NAMESPACE, "labels": {**QUEUE, **labels}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": made}}


async def create(apps, *args, **fields):
    """Create a LeaderWorkerSet and let the controllers do what they do."""
    created = await apps.client.create(LEADER_WORKER_SETS, lws(*args, **fields))
    await apps.advance(5)
    return created


async def change(apps, **body):
    changed = await apps.client.patch(LEADER_WORKER_SETS, "l", NAMESPACE, body)
    await apps.advance(5)
    return changed


async def refused(apps, **body):
    with pytest.raises(APIError) as caught:
        await change(apps, **body)
    return caught.value.message.partition("denied the request: ")[2]


@pytest.mark.spec("KUEUE-177")
async def test_each_group_has_a_workload(apps):
    """Given a LeaderWorkerSet with a leader template, when it is created, then each of its groups
    has a Workload with the leader and the workers, and their pods wait as a group of it."""
    created = await create(apps)
    leader, worker = (
        created["spec"]["leaderWorkerTemplate"][each]["metadata"] for each in ("leaderTemplate", "workerTemplate"))
    said = {
        names.SUSPENDED_BY_PARENT_ANNOTATION: "leaderworkerset.x-k8s.io/leaderworkerset",
        names.POD_GROUP_SERVING_ANNOTATION: "true"}
    assert (leader["labels"], leader["annotations"]) == (QUEUE, said)
    assert (worker["labels"], worker["annotations"]) == (QUEUE, {**said, OFFSET: "1"})
    workloads = await apps.workloads()
    assert [each["metadata"]["annotations"][names.COMPONENT_WORKLOAD_INDEX_ANNOTATION] for each in workloads] == ["0", "1"]
    assert [[(each["name"], each["count"]) for each in found["spec"]["podSets"]] for found in workloads] == [
        [("leader", 1), ("worker", 2)]] * 2
    assert workloads[0]["metadata"]["name"].startswith("leaderworkerset-l-0-")
    assert "l-0" in await apps.gated()
    pod = (await apps.pod("l-0"))["metadata"]
    assert pod["annotations"][names.POD_GROUP_NAME_ANNOTATION] == workloads[0]["metadata"]["name"]
    assert pod["annotations"][names.POD_GROUP_TOTAL_COUNT_ANNOTATION] == "3"
    assert pod["annotations"][names.ROLE_HASH_ANNOTATION] == "leader"
    await apps.admit(workloads[0])
    await apps.advance(5)
    waiting = await apps.gated()
    assert "l-1" in waiting
    assert "l-0" not in waiting
    assert (await apps.pod("l-0-1"))["metadata"]["annotations"][names.ROLE_HASH_ANNOTATION] == "worker"
    assert not [name for name in waiting if name.startswith("l-0")]


@pytest.mark.spec("KUEUE-177")
async def test_without_a_leader_template(apps):
    """Given a LeaderWorkerSet without a leader template, when it is created, then a group is one
    pod set, and there is no offset."""
    created = await create(apps, 1, leader=False)
    workload = await apps.workload()
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("main", 3)]
    assert OFFSET not in created["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"]


@pytest.mark.spec("KUEUE-177")
async def test_groups_come_and_go(apps):
    """Given a LeaderWorkerSet, when it is scaled up and down, then Workloads come and go with its
    groups."""
    await create(apps, 1)
    await change(apps, spec={"replicas": 3})
    assert len(await apps.workloads()) == 3
    await change(apps, spec={"replicas": 1})
    await apps.advance(60)
    left = await apps.workloads()
    assert [each["metadata"]["annotations"][names.COMPONENT_WORKLOAD_INDEX_ANNOTATION] for each in left] == ["0"]


@pytest.mark.spec("KUEUE-177")
async def test_what_may_change(apps):
    """Given a LeaderWorkerSet with a queue, when its size, its pods' shape or the lack of a queue
    is asked for, then it is refused; another queue is not while nothing is ready."""
    await create(apps)
    size = {"leaderWorkerTemplate": {"size": 4}}
    assert await refused(apps, spec=size) == "spec.leaderWorkerTemplate.size: Invalid value: 4: field is immutable"
    text = f'metadata.labels[{names.QUEUE_LABEL}]: Invalid value: "": field is immutable'
    assert await refused(apps, metadata={"labels": {names.QUEUE_LABEL: None}}) == text
    shape = {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]}
    text = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.requests: "
    told = await refused(apps, spec={"leaderWorkerTemplate": {"workerTemplate": {"spec": shape}}})
    assert told == text + 'Invalid value: {"cpu":"1"}: field is immutable'
    await change(apps, metadata={"labels": {names.QUEUE_LABEL: "other"}})
    assert {each["spec"]["queueName"] for each in await apps.workloads()} == {"other"}


@pytest.mark.spec("KUEUE-177")
async def test_topologies(apps):
    """Given a LeaderWorkerSet, when annotations of its workers do not go together, then it is
    refused at their place."""
    both = {names.PODSET_REQUIRED_TOPOLOGY_ANNOTATION: "a", names.PODSET_PREFERRED_TOPOLOGY_ANNOTATION: "b"}
    with pytest.raises(APIError) as caught:
        await create(apps, worker=template(annotations=both))
    path = "spec.leaderWorkerTemplate.workerTemplate.metadata.annotations"
    assert f"{path}: Invalid value: must not contain more than one topology annotation" in caught.value.message


@pytest.mark.spec("KUEUE-177")
async def test_a_leader_worker_set_goes(apps):
    """Given a LeaderWorkerSet that waits, when it is deleted, then its pods and Workloads go."""
    await create(apps)
    await apps.client.delete(LEADER_WORKER_SETS, "l", NAMESPACE, propagation_policy="Foreground")
    await apps.advance(60)
    assert (await apps.all_names(), await apps.workloads()) == ([], [])

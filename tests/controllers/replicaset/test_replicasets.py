"""ReplicaSets and ReplicationControllers: so many pods, neither more nor fewer, and the right ones
go first.
"""

import pytest

from fakekube.client.resources import DEPLOYMENTS, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS
from tests.controllers.workloads import NAMESPACE, Workloads, labels_of, manifest, name_of, names, template
from tests.controllers.world import condition, manual_cluster

COST = "controller.kubernetes.io/pod-deletion-cost"
CONTROLLERS = "replicaset,replicationcontroller,garbagecollector,namespace,serviceaccount,resourcequota"


@pytest.fixture
async def world():
    """A cluster with the controllers of both kinds and what belongs to them, no nodes, on manual
    time.
    """
    async with manual_cluster(CONTROLLERS) as cluster:
        yield Workloads(cluster)


def reported(obj):
    status = obj["status"]
    return tuple(status.get(key, 0) for key in ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"))


@pytest.mark.spec("JOB-173")
async def test_a_deleted_pod_is_replaced_and_cheap_pods_go_first(world):
    """Given three pods / when one is deleted / then another comes
    / when one pod is dear to delete and the set shrinks to one / then that pod stays.
    """
    await world.create(REPLICA_SETS, replicas=3)
    first = await world.pods()
    await world.drop(first[0])
    assert len(await world.active()) == 3
    assert name_of(first[0]) not in names(await world.active())
    await world.ready_all()
    dear = first[1]
    await world.client.patch(PODS, name_of(dear), NAMESPACE, {"metadata": {"annotations": {COST: "100"}}})
    found = await world.patch(REPLICA_SETS, replicas=1)
    assert names(await world.active()) == [name_of(dear)]
    assert reported(found) == (1, 1, 1, 1)


async def test_every_step_is_told_in_events_and_status(world):
    """Given a new set of two / when its pods become ready and it shrinks / then status, generation
    and Events follow.
    """
    found = await world.create(REPLICA_SETS, replicas=2)
    assert reported(found) == (2, 2, 0, 0)
    assert found["status"]["observedGeneration"] == 1
    assert found["status"]["terminatingReplicas"] == 0
    one, other = await world.pods()
    await world.ready(one)
    assert reported(await world.get(REPLICA_SETS)) == (2, 2, 1, 1)
    found = await world.patch(REPLICA_SETS, replicas=1)
    assert reported(found) == (1, 1, 1, 1)
    assert await world.events() == [
        ("Normal", "SuccessfulCreate", f"Created pod: {name_of(one)}"),
        ("Normal", "SuccessfulCreate", f"Created pod: {name_of(other)}"),
        ("Normal", "SuccessfulDelete", f"Deleted pod: {name_of(other)}"),
    ]


async def test_pods_that_end_are_replaced_and_left_alone(world):
    """Given two pods / when one fails / then another comes at once, and the failed one stays as it
    is.
    """
    await world.create(REPLICA_SETS, replicas=2)
    ended, _ = await world.pods()
    await world.fail(ended)
    await world.settle()
    assert len(await world.active()) == 2
    assert len(await world.pods()) == 3


async def test_terminating_pods_do_not_count_and_are_told(world):
    """Given pods on a node without a kubelet / when one is deleted
    / then it is replaced while it terminates, and counted as terminating.
    """
    await world.create(REPLICA_SETS, replicas=2)
    pods = await world.pods()
    await world.bind(*pods)
    await world.drop(pods[0])
    found = await world.get(REPLICA_SETS)
    assert (len(await world.pods()), len(await world.active())) == (3, 2)
    assert (found["status"]["replicas"], found["status"]["terminatingReplicas"]) == (2, 1)


async def test_pods_are_available_once_they_were_ready_for_long_enough(world):
    """Given minReadySeconds 30 / when pods become ready ten seconds apart / then each is available
    30 s after its own.
    """
    await world.create(REPLICA_SETS, replicas=2, minReadySeconds=30)
    one, other = await world.pods()
    await world.ready(one)
    await world.advance(10)
    await world.ready(other)
    await world.advance(19)
    assert reported(await world.get(REPLICA_SETS)) == (2, 2, 2, 0)
    await world.advance(1)
    assert reported(await world.get(REPLICA_SETS)) == (2, 2, 2, 1)
    await world.advance(10)
    assert reported(await world.get(REPLICA_SETS)) == (2, 2, 2, 2)


async def test_a_quota_stops_creation_and_the_condition_says_so(world):
    """Given a quota of two pods / when a set wants five / then it tries one beyond the quota, says
    why in Event and condition, and makes the rest once there is room.
    """
    quota = {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"hard": {"pods": "2"}}}
    await world.client.create(RESOURCE_QUOTAS, quota)
    await world.settle()
    found = await world.create(REPLICA_SETS, replicas=5)
    failure = condition(found, "ReplicaFailure")
    assert (failure["status"], failure["reason"]) == ("True", "FailedCreate")
    assert "exceeded quota: q" in failure["message"]
    assert reported(found)[0] == 2
    warnings = [message for kind, reason, message in await world.events() if (kind, reason) == ("Warning", "FailedCreate")]
    assert warnings[0].startswith('Error creating: pods "a-')
    await world.client.patch(RESOURCE_QUOTAS, "q", NAMESPACE, {"spec": {"hard": {"pods": "5"}}})
    await world.advance(2)
    found = await world.get(REPLICA_SETS)
    assert reported(found)[0] == 5
    assert condition(found, "ReplicaFailure") is None


async def test_orphans_that_match_are_adopted_and_others_released(world):
    """Given a pod that nobody owns / when a set of two selects it / then it is adopted and one more
    made / when it loses its label / then it is released, and replaced.
    """
    await world.client.create(PODS, {"metadata": {"name": "orphan", "namespace": NAMESPACE, "labels": {"app": "a"}},
                                     "spec": template()["spec"]})
    await world.create(REPLICA_SETS, replicas=2)
    orphan = await world.named("orphan")
    assert [owner["name"] for owner in orphan["metadata"]["ownerReferences"]] == ["a"]
    assert len(await world.pods()) == 2
    await world.client.patch(PODS, "orphan", NAMESPACE, {"metadata": {"labels": {"app": None}}})
    await world.settle()
    assert "ownerReferences" not in (await world.named("orphan"))["metadata"]
    assert len(await world.pods()) == 3


async def test_which_pods_go_first(world):
    """Given pods at every stage / when the set shrinks step by step / then unassigned go before
    pending ones, these before running ones, and these before ready ones.
    """
    await world.create(REPLICA_SETS, replicas=4)
    loose, pending, running, ready = await world.pods()
    await world.bind(pending, running, ready)
    await world.run(running, ready=False)
    await world.ready(ready)
    gone = []
    for left in (3, 2, 1):
        before = names(await world.active())
        await world.patch(REPLICA_SETS, replicas=left)
        gone += [name for name in before if name not in names(await world.active())]
    assert gone == names([loose, pending, running])


@pytest.mark.parametrize("crowded", ["n1", "n2"])
async def test_a_crowded_node_loses_pods_first(world, crowded):
    """Given a Deployment's set whose pods crowd one node / when it shrinks / then each node keeps
    one.
    """
    deployment = await world.client.create(DEPLOYMENTS, manifest("d", replicas=0))
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": deployment["metadata"]["uid"], "controller": True}
    own = manifest(replicas=4)
    own["metadata"]["ownerReferences"] = [owner]
    await world.client.create(REPLICA_SETS, own)
    await world.settle()
    pods = await world.pods()
    for number, pod in enumerate(pods):
        await world.bind(pod, node=crowded if number else "n0")
    await world.ready(*pods)
    await world.patch(REPLICA_SETS, replicas=2)
    assert sorted(pod["spec"]["nodeName"] for pod in await world.active()) == ["n0", crowded]


async def test_a_set_that_is_deleted_with_orphans_leaves_pods_to_the_next(world):
    """Given a set with pods / when it is deleted and its pods left, and another of the same kind
    comes / then it has them.
    """
    await world.create(REPLICA_SETS, replicas=2)
    await world.client.delete(REPLICA_SETS, "a", NAMESPACE, propagation_policy="Orphan")
    await world.advance(2)
    before = names(await world.pods())
    await world.create(REPLICA_SETS, "b", replicas=2)
    pods = await world.pods()
    assert names(pods) == before
    assert {pod["metadata"]["ownerReferences"][0]["name"] for pod in pods} == {"b"}


async def test_many_pods_come_in_bursts(world):
    """Given a set that wants 600 pods / when all is still / then it has them, and none too many."""
    found = await world.create(REPLICA_SETS, replicas=600)
    assert reported(found)[0] == len(await world.pods()) == 600


async def test_a_restarted_controller_goes_on(world):
    """Given a controller that was stopped / when pods vanish and it starts again / then they are
    replaced.
    """
    await world.create(REPLICA_SETS, replicas=3)
    await world.cluster.manager.stop_component("replicaset")
    await world.drop(*(await world.pods())[:2])
    assert len(await world.pods()) == 1
    await world.cluster.manager.start_component("replicaset")
    await world.settle()
    assert len(await world.pods()) == 3


async def test_a_replication_controller_works_likewise(world):
    """Given a ReplicationController / when it is made, shrinks and is asked / then pods, status and
    Events are its own.
    """
    controller = manifest(replicas=2) | {}
    controller["spec"]["selector"] = {"app": "a"}
    await world.client.create(REPLICATION_CONTROLLERS, controller)
    await world.settle()
    pods = await world.pods()
    assert [pod["metadata"]["ownerReferences"][0]["kind"] for pod in pods] == ["ReplicationController"] * 2
    assert labels_of(pods[0]) == {"app": "a"}
    await world.ready_all()
    found = await world.patch(REPLICATION_CONTROLLERS, replicas=1)
    assert reported(found) == (1, 1, 1, 1)
    assert "terminatingReplicas" not in found["status"]
    assert await world.reasons() == ["SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete"]

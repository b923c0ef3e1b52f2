"""StatefulSets: one pod after the other, each with its name, labels and claims."""

import pytest

from fakekube.client.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from fakekube_controllers.statefulset import identity
from tests.controllers.workloads import NAMESPACE, image_of, labels_of, name_of, names

CLAIM = {"metadata": {"name": "data"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}


def reported(obj):
    keys = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas")
    return tuple(obj["status"].get(key, 0) for key in keys)


def owners_of(obj):
    return [owner["kind"] for owner in obj["metadata"].get("ownerReferences") or ()]


async def alive(world):
    return sorted(names(await world.active()))


async def claims(world):
    return {name_of(claim): claim for claim in (await world.client.list(PERSISTENT_VOLUME_CLAIMS, NAMESPACE)).items}


async def test_pods_come_one_after_the_other(world):
    """Given a set of three / when each pod becomes ready / then the next one comes, and status and
    Events tell of it.
    """
    found = await world.create(STATEFUL_SETS, replicas=3, serviceName="svc")
    assert await alive(world) == ["a-0"]
    assert reported(found) == (1, 0, 0, 1, 1)
    pod = await world.named("a-0")
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("a-0", "svc")
    assert labels_of(pod) == {
        "app": "a", "statefulset.kubernetes.io/pod-name": "a-0", "apps.kubernetes.io/pod-index": "0",
        "controller-revision-hash": found["status"]["updateRevision"]}
    await world.ready(pod)
    assert await alive(world) == ["a-0", "a-1"]
    await world.ready_all()
    found = await world.stateful_set()
    assert await alive(world) == ["a-0", "a-1", "a-2"]
    assert reported(found) == (3, 3, 3, 3, 3)
    assert found["status"]["collisionCount"] == 0
    assert await world.events() == [
        ("Normal", "SuccessfulCreate", f"Create Pod a-{number} in StatefulSet a successful") for number in range(3)]


async def test_the_last_pods_go_first_and_one_at_a_time(world):
    """Given three pods on a node without a kubelet / when the set shrinks to one / then a-1 stays
    until a-2 is gone.
    """
    await world.create(STATEFUL_SETS, replicas=3)
    await world.ready_all()
    await world.bind(*await world.pods())
    await world.patch(STATEFUL_SETS, replicas=1)
    assert await alive(world) == ["a-0", "a-1"]
    await world.drop(await world.named("a-2"), grace_period_seconds=0)
    assert await alive(world) == ["a-0"]


async def test_a_lost_pod_comes_back_under_its_name_before_anything_else(world):
    """Given three ready pods / when a-1 vanishes while the set grows / then a-1 comes first, a-3
    after it is ready.
    """
    await world.create(STATEFUL_SETS, replicas=3)
    await world.ready_all()
    await world.cluster.manager.stop_component("statefulset")
    await world.drop(await world.named("a-1"))
    await world.client.patch(STATEFUL_SETS, "a", NAMESPACE, {"spec": {"replicas": 4}})
    await world.cluster.manager.start_component("statefulset")
    await world.settle()
    assert await alive(world) == ["a-0", "a-1", "a-2"]
    await world.ready_all()
    assert await alive(world) == ["a-0", "a-1", "a-2", "a-3"]


async def test_pods_that_end_are_made_anew(world):
    """Given a ready pod / when it fails / then it is deleted and comes back under its name."""
    await world.create(STATEFUL_SETS, replicas=1)
    pod = await world.named("a-0")
    await world.fail(pod)
    await world.settle()
    again = await world.named("a-0")
    assert again["metadata"]["uid"] != pod["metadata"]["uid"]
    assert again["status"]["phase"] == "Pending"


async def test_a_parallel_set_waits_for_nobody(world):
    """Given a parallel set of three / when it is made and shrinks / then all come at once, and all
    go at once.
    """
    await world.create(STATEFUL_SETS, replicas=3, podManagementPolicy="Parallel")
    assert await alive(world) == ["a-0", "a-1", "a-2"]
    await world.patch(STATEFUL_SETS, replicas=0)
    assert await alive(world) == []


async def test_ordinals_begin_where_they_are_told(world):
    """Given ordinals from 5 / when the set of two is ready, and then begins at 6 / then a-5 gives
    way to a-7.
    """
    await world.create(STATEFUL_SETS, replicas=2, ordinals={"start": 5})
    await world.ready_all()
    assert await alive(world) == ["a-5", "a-6"]
    await world.patch(STATEFUL_SETS, ordinals={"start": 6})
    await world.ready_all()
    assert await alive(world) == ["a-6", "a-7"]


async def test_the_next_pod_waits_until_its_predecessor_is_available(world):
    """Given minReadySeconds 30 / when a-0 becomes ready / then a-1 comes 30 s later."""
    await world.create(STATEFUL_SETS, replicas=2, minReadySeconds=30)
    await world.ready(await world.named("a-0"))
    await world.advance(29)
    assert await alive(world) == ["a-0"]
    assert reported(await world.stateful_set()) == (1, 1, 0, 1, 1)
    await world.advance(1)
    assert await alive(world) == ["a-0", "a-1"]


async def test_each_pod_has_claims_that_outlive_it(world):
    """Given a template for claims / when the set grows, shrinks and is deleted / then claims stay,
    and are taken up again.
    """
    await world.create(STATEFUL_SETS, replicas=2, volumeClaimTemplates=[CLAIM])
    await world.ready_all()
    found = await claims(world)
    assert sorted(found) == ["data-a-0", "data-a-1"]
    assert labels_of(found["data-a-0"]) == {"app": "a"}
    [volume] = [one for one in (await world.named("a-0"))["spec"]["volumes"] if one["name"] == "data"]
    assert volume["persistentVolumeClaim"] == {"claimName": "data-a-0"}
    assert ("Normal", "SuccessfulCreate", "Create Claim data-a-0 Pod a-0 in StatefulSet a success") in await world.events()
    await world.patch(STATEFUL_SETS, replicas=1)
    assert sorted(await claims(world)) == ["data-a-0", "data-a-1"]
    await world.client.delete(STATEFUL_SETS, "a", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    left = await claims(world)
    assert {name: claim["metadata"]["uid"] for name, claim in left.items()} == {
        name: claim["metadata"]["uid"] for name, claim in found.items()}


@pytest.mark.parametrize(("when_scaled", "when_deleted", "after_scaling", "after_deletion"), [
    ("Retain", "Delete", ["data-a-0", "data-a-1"], []),
    ("Delete", "Retain", ["data-a-0"], ["data-a-0"]),
    ("Delete", "Delete", ["data-a-0"], []),
])
async def test_claims_go_as_the_policy_says(world, when_scaled, when_deleted, after_scaling, after_deletion):
    """Given a retention policy / when the set shrinks and is then deleted / then claims go with the
    pod, the set, or not.
    """
    policy = {"whenScaled": when_scaled, "whenDeleted": when_deleted}
    await world.create(
        STATEFUL_SETS, replicas=2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    await world.ready_all()
    owners = {name: owners_of(claim) for name, claim in (await claims(world)).items()}
    assert owners == dict.fromkeys(("data-a-0", "data-a-1"), ["StatefulSet"] if when_deleted == "Delete" else [])
    await world.patch(STATEFUL_SETS, replicas=1)
    await world.advance(5)
    assert sorted(await claims(world)) == after_scaling
    await world.client.delete(STATEFUL_SETS, "a", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    assert sorted(await claims(world)) == after_deletion


async def test_what_keeps_a_pod_from_coming_is_told(world):
    """Given a template that admission refuses / when the set is made / then a FailedCreate says
    why.
    """
    privileged = {"automountServiceAccountToken": False, "serviceAccountName": "nobody"}
    await world.create(STATEFUL_SETS, replicas=1, pod=privileged)
    kind, reason, message = (await world.events())[0]
    assert (kind, reason) == ("Warning", "FailedCreate")
    assert message.startswith('Create Pod a-0 in StatefulSet a failed error: pods "a-0" is forbidden')


async def test_orphans_of_the_right_name_are_adopted(world):
    """Given a set deleted without its pods and revisions / when one like it is made / then both are
    its own again.
    """
    await world.create(STATEFUL_SETS, replicas=2)
    await world.ready_all()
    uids = [pod["metadata"]["uid"] for pod in await world.pods()]
    await world.client.delete(STATEFUL_SETS, "a", NAMESPACE, propagation_policy="Orphan")
    await world.advance(2)
    found = await world.create(STATEFUL_SETS, replicas=2)
    assert [pod["metadata"]["uid"] for pod in await world.pods()] == uids
    [revision] = (await world.client.list(CONTROLLER_REVISIONS, NAMESPACE)).items
    assert revision["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]


async def test_labels_that_were_taken_off_come_back(world):
    """Given a ready pod / when somebody takes its name's label off / then it gets it back, with an
    Event.
    """
    await world.create(STATEFUL_SETS, replicas=1)
    await world.ready_all()
    await world.client.patch(PODS, "a-0", NAMESPACE, {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}})
    await world.settle()
    assert labels_of(await world.named("a-0"))["statefulset.kubernetes.io/pod-name"] == "a-0"
    assert "SuccessfulUpdate" in await world.reasons()
    assert image_of(await world.named("a-0")) == "nginx:1"


OWNER = {
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}, {"metadata": {"name": "log"}}]}}


def pod_with(*claims, name="web-1"):
    volumes = [{"name": volume, "persistentVolumeClaim": {"claimName": claim}} for volume, claim in claims]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"volumes": volumes}}


@pytest.mark.parametrize(("pod", "right"), [
    (pod_with(("data", "data-web-1"), ("log", "log-web-1")), True),
    (pod_with(("data", "data-web-1"), ("log", "log-web-2")), False),
    (pod_with(("data", "data-web-2"), ("log", "log-web-1")), False),
    (pod_with(("log", "log-web-1")), False),
    ({"metadata": {"name": "web-1"}, "spec": {"volumes": [{"name": "data", "emptyDir": {}}]}}, False),
    ({"metadata": {"name": "web-1"}, "spec": {}}, False),
])
def test_a_pod_has_its_claims_only_if_it_has_all_of_them(pod, right):
    """Given two claim templates and pods whose volumes name some claims / then all of them must be
    the pod's own.
    """
    assert identity.storage_matches(OWNER, pod) is right


@pytest.mark.parametrize(("name", "expected"), [
    ("web-1", ("web", 1)), ("web-2147483647", ("web", 2147483647)), ("web-2147483648", ("web", -1)), ("web", ("", -1)),
    ("a-b-0", ("a-b", 0)), ("web-", ("", -1)), ("web-\u0661", ("", -1)), ("-1", ("", 1))])
def test_what_a_pods_name_says(name, expected):
    """Given names / then they consist of a set's name and an ordinal that int32 holds, or not."""
    assert identity.parent_and_ordinal({"metadata": {"name": name}}) == expected

"""What the KEPs say in other words than upstream, and the limits that they have: KEPTexts."""

import pytest

from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube.composition.fleet import Fleet
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.pod.members import single_workload_name
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.kueue.jobs.queues import queues
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, check_of
from tests.controllers.kueue.pods.conftest import Pods, manifest, member
from tests.controllers.kueue.pods.test_any_group import queue
from tests.controllers.world import CONTROLLERS, NAMESPACE

KEP = Configuration(features=Features(KEPTexts=True))
DECIDES_BY_QUOTA = {"featureGates": {"KEPTexts": True}}


@pytest.fixture
async def plain():
    """Whole Kueue, with a queue for two CPUs."""
    async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon(KEP)]) as cluster:
        await queue(cluster.client)
        world = Pods(cluster, KEP)
        await world.advance(2)
        yield world


@pytest.mark.parametrize(("features", "verb"), [(Features(KEPTexts=True), "Removed"), (Features(), "Replaced")])
async def test_a_slice_was_removed_to_accommodate_another(features, verb):
    """Given an elastic Job, when it grows, then the slice of before says in the words of the KEP,
    or without the gate in upstream's, what took its place.
    """
    async with queues(Configuration(features=features)) as world:
        await world.queue(5)
        await world.submit("j", 2)
        await world.scale(3)
        old, new = await world.workloads()
        uids = f"UID: {new['metadata']['uid']}, JobUID: {new['metadata']['labels'][names.JOB_UID_LABEL]}"
        assert condition_of(old, "Finished") == (
            "True", "WorkloadSliceReplaced", f"{verb} to accommodate a workload ({uids}) due to workload slice aggregation")


async def test_a_slice_cannot_change_its_flavor():
    """Given a small flavor and a larger one, and an elastic Job in the small one, when it grows
    beyond that, then its Workload waits, and says what KEP-77 has for it.
    """
    async with queues(KEP) as world:
        await world.queue(1, 5)
        await world.submit("j", 1)
        await world.scale(2)
        assert await world.slices() == [(1, "admitted"), (2, "pending")]
        told = await world.message()
        assert told.startswith("couldn't assign flavors to pod set main: couldn't change flavor from: q1 to: q2, ")
        assert "original workload" not in told
        [_, waiting] = await world.workloads()
        assert condition_of(waiting, "QuotaReserved")[:2] == ("False", "Pending")


async def test_the_workload_of_a_pod_is_named_after_it(plain):
    """Given a single pod ``foo``, then its Workload is ``pod-foo``; a pod whose name leaves no room
    for that has one with a hash.
    """
    await plain.add(manifest("foo"))
    assert [each["metadata"]["name"] for each in await plain.workloads()] == ["pod-foo"]
    assert await plain.gated() == []
    assert single_workload_name({"metadata": {"name": "n" * 249}}) == "pod-" + "n" * 249
    assert single_workload_name({"metadata": {"name": "n" * 250}}) == ""


@pytest.mark.parametrize("roles", [8, 9])
async def test_a_group_has_eight_roles_at_most(plain, roles):
    """Given a group of as many pods as roles, then there is a Workload of eight, and none of nine.
    """
    for number in range(roles):
        await plain.add(member(f"p{number}", count=roles, cpu=f"{number + 1}m"))
    assert [len(each["spec"]["podSets"]) for each in await plain.workloads()] == ([8] if roles == 8 else [])
    assert len(await plain.gated()) == (0 if roles == 8 else 9)


@pytest.mark.parametrize(("features", "roles"), [(Features(KEPTexts=True), 3), (Features(), 1)])
async def test_images_and_labels_make_roles(features, roles):
    """Given three pods of a group, of which one has another image and one a label, then there are
    three roles by the KEP, and one by upstream; labels of Kueue's own make none.
    """
    async with Cluster(
        nodes=0, clock="manual", controllers=CONTROLLERS, extra=[kueue.addon(Configuration(features=features))],
    ) as cluster:
        await queue(cluster.client)
        world = Pods(cluster, KEP)
        image = {"name": "c", "image": "b:2", "resources": {"requests": {"cpu": "100m"}}}
        own = {f"{names.GROUP}/pod-group-pod-index": "1"}
        await world.add(
            member("a", count=4), member("b", count=4, containers=[image]), member("c", count=4, labels={"app": "x"}),
            member("d", count=4, labels=own))
        assert sorted(each["count"] for each in (await world.workload())["spec"]["podSets"]) == ([1, 1, 2] if roles == 3 else [4])


def test_a_role_hash_is_a_function_of_what_the_kep_lists():
    """Given a pod, when its image, its preemption policy or a label of its own changes, then so
    does its hash; its environment and Kueue's labels do not matter.
    """
    def hash_of(image="a", labels=(), env=(), **spec):
        container = {"name": "c", "image": image, "env": list(env)}
        return pods.role_hash_of_kep({"metadata": {"labels": dict(labels)}, "spec": {"containers": [container], **spec}})

    plain = hash_of()
    assert plain == hash_of(env=[{"name": "A"}]) == hash_of(labels={f"{names.GROUP}/managed": "true"})
    others = [hash_of("b"), hash_of(labels={"app": "x"}), hash_of(preemptionPolicy="Never")]
    assert len({plain, *others}) == 4
    assert len(plain) == 8


@pytest.mark.fakekube(controllers="*,kueue", nodes=2, fleet="manager,worker1,worker2", kueue=DECIDES_BY_QUOTA)
async def test_the_worker_that_has_quota_first_is_the_one(fake_fleet: Fleet) -> None:
    """Given a worker whose queue has quota and a check that never answers, when a Job is queued on
    the manager, then it goes there, before it is admitted.
    """
    await workers.set_up(fake_fleet, ("2", "0"))
    client = fake_fleet["worker1"].client
    await client.create(names.ADMISSION_CHECKS, {"metadata": {"name": "slow"}, "spec": {"controllerName": "example.com/slow"}})
    active = {"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await client.patch(names.ADMISSION_CHECKS, "slow", "", {"status": {"conditions": [active]}}, subresource="status")
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": "slow"}]}}
    await client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": checks})
    await fake_fleet.advance("5s")
    await fake_fleet[MANAGER].client.create(workers.JOBS, workers.job())
    await fake_fleet.advance("30s")
    [local] = await workers.workloads(fake_fleet, MANAGER)
    [remote] = await workers.workloads(fake_fleet, "worker1")
    assert condition_of(remote, "QuotaReserved")[0] == "True"
    assert condition_of(remote, "Admitted") is None
    assert check_of(local) == ("Ready", 'The workload got reservation on "worker1"')
    assert await workers.workloads(fake_fleet, "worker2") == []


async def test_pods_of_a_stateful_set_stay_one_role(plain):
    """Given a StatefulSet, whose pods differ in their labels, then its pods run as before: the
    hashes of the KEP are for groups that users make.
    """
    template = {"metadata": {"labels": {"app": "s"}}, "spec": {"containers": [
        {"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "100m"}}}]}}
    held = {"metadata": {"name": "p", "namespace": NAMESPACE, "labels": {names.QUEUE_LABEL: "q"}, "annotations": {
        names.SUSPENDED_BY_PARENT_ANNOTATION: "statefulset"}}, "spec": template["spec"]}
    made = await plain.client.create(PODS, held)
    assert made["metadata"]["annotations"][names.ROLE_HASH_ANNOTATION] == pods.generate_role_hash(made["spec"])

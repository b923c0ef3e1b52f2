"""Which pods are a Job's: adoption, release, doubles, and Jobs that somebody else manages."""

import pytest

from fakekube.client.resources import JOBS, PODS
from tests.controllers.world import NAMESPACE, TRACKING, counts, is_tracked, job_manifest


def bare_pod(labels, name="stray", **metadata):
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels, **metadata},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]},
    }


@pytest.mark.spec("JOB-109")
async def test_a_pod_that_no_longer_matches_is_released(world):
    """Given a Job's pod / when its labels are taken off / then it has no owner and is not tracked,
    and another comes.
    """
    await world.create_job()
    [pod] = await world.pods()
    labels = dict.fromkeys(pod["metadata"]["labels"])
    await world.client.patch(PODS, pod["metadata"]["name"], NAMESPACE, {"metadata": {"labels": labels}})
    await world.advance(3)
    released = await world.client.get(PODS, pod["metadata"]["name"], NAMESPACE)
    assert "ownerReferences" not in released["metadata"]
    assert not is_tracked(released)
    assert counts(await world.job()) == (1, 0, 0, 0)
    assert len(await world.pods()) == 2


@pytest.mark.spec("JOB-110")
async def test_a_stray_pod_that_matches_is_adopted(world):
    """Given a Job of two / when a pod without an owner has its labels / then it is adopted and
    tracked, and one too many goes.
    """
    job = await world.create_job(parallelism=2, completions=2)
    await world.client.create(PODS, bare_pod(job["spec"]["template"]["metadata"]["labels"]))
    await world.advance(3)
    pods = await world.active()
    assert len(pods) == 2
    assert counts(await world.job()) == (2, 0, 0, 0)
    assert all(is_tracked(pod) and pod["metadata"]["ownerReferences"][0]["name"] == "j" for pod in pods)


@pytest.mark.spec("JOB-110")
async def test_an_orphan_of_a_parallel_job_is_adopted_again(world):
    """Given a Job's pod / when its owner is taken off / then the Job adopts it again, tracking
    included.
    """
    await world.create_job()
    [pod] = await world.pods()
    body = {"metadata": {"ownerReferences": None, "finalizers": None}}
    await world.client.patch(PODS, pod["metadata"]["name"], NAMESPACE, body)
    await world.advance(3)
    adopted = await world.client.get(PODS, pod["metadata"]["name"], NAMESPACE)
    assert adopted["metadata"]["ownerReferences"][0]["name"] == "j"
    assert is_tracked(adopted)


@pytest.mark.spec("JOB-111")
async def test_a_job_on_its_way_out_adopts_nothing(world):
    """Given a Job that is deleted and held by a finalizer / when a matching pod appears / then it
    stays without an owner.
    """
    manifest = job_manifest()
    manifest["metadata"]["finalizers"] = ["example.com/hold"]
    await world.client.create(JOBS, manifest)
    await world.settle()
    job = await world.job()
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
    await world.client.create(PODS, bare_pod(job["spec"]["template"]["metadata"]["labels"]))
    await world.advance(5)
    assert "ownerReferences" not in (await world.client.get(PODS, "stray", NAMESPACE))["metadata"]


@pytest.mark.spec("JOB-107", "JOB-108")
@pytest.mark.parametrize("index", ["0", None])
async def test_a_second_pod_of_an_index_and_one_of_none_go(world, index):
    """Given an indexed Job / when it adopts a pod of an index that runs, or of none / then one
    goes, and is not counted.
    """
    job = await world.create_job(completionMode="Indexed", completions=2, parallelism=2)
    labels = job["spec"]["template"]["metadata"]["labels"]
    annotations = {} if index is None else {"annotations": {"batch.kubernetes.io/job-completion-index": index}}
    await world.client.create(PODS, bare_pod(labels, **annotations))
    await world.advance(3)
    assert sorted(await world.by_index()) == [0, 1]
    assert len(await world.pods()) == 2
    assert counts(await world.job()) == (2, 0, 0, 0)


@pytest.mark.spec("JOB-025", "JOB-026")
@pytest.mark.parametrize("manager", [None, "kubernetes.io/job-controller"])
async def test_the_built_in_controller_manages_what_is_its_own(world, manager):
    """Given no managedBy, or the built-in value / then pods are made."""
    job = await world.create_job(**({"managedBy": manager} if manager else {}))
    assert counts(job) == (1, 0, 0, 0)


@pytest.mark.spec("JOB-027", "JOB-028")
@pytest.mark.parametrize("suspend", [False, True])
async def test_what_others_manage_is_left_alone(world, suspend):
    """Given another managedBy, suspended or not / then there are no pods and no status."""
    job = await world.create_job(managedBy="example.com/mine", suspend=suspend)
    assert await world.pods() == []
    assert job["status"] == {}
    assert await world.reasons() == []


@pytest.mark.spec("JOB-031")
async def test_a_job_made_anew_may_have_another_manager(world):
    """Given a Job with a pod / when it is deleted and made anew with another managedBy / then the
    new one gets no pods.
    """
    await world.create_job()
    await world.client.delete(JOBS, "j", NAMESPACE, propagation_policy="Background")
    await world.advance(3)
    job = await world.create_job(managedBy="example.com/mine")
    assert (await world.pods(), job["status"]) == ([], {})


@pytest.mark.spec("JOB-032")
async def test_the_tracking_of_others_is_respected(world):
    """Given a Job that others manage, with a tracked pod / when the pod ends and is deleted / then
    it stays tracked.
    """
    job = await world.create_job(managedBy="example.com/mine")
    owner = {
        "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": job["metadata"]["uid"], "controller": True,
        "blockOwnerDeletion": True}
    labels = job["spec"]["template"]["metadata"]["labels"]
    pod = await world.client.create(PODS, bare_pod(labels, finalizers=[TRACKING], ownerReferences=[owner]))
    await world.succeed(pod)
    await world.delete_pods(pod)
    await world.restart()
    await world.advance(5)
    assert [is_tracked(pod) for pod in await world.pods()] == [True]

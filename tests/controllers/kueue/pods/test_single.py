"""A single pod's way through Kueue."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, PODS
from fakekube_controllers.kueue import names
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.kueue.jobs.conftest import manifest as job_manifest
from tests.controllers.kueue.pods.conftest import manifest
from tests.controllers.world import NAMESPACE


def gates_of(pod):
    return [each["name"] for each in pod["spec"].get("schedulingGates", ())]


@pytest.mark.spec("KUEUE-128")
async def test_a_pod_with_a_queue_waits(pods):
    """Given a pod with a queue, when it is created, then it has gates, finalizer, label and role
    hash, and a Workload that it controls."""
    pod = await pods.add(manifest("p"))
    metadata, workload = pod["metadata"], await pods.workload()
    assert [each["name"] for each in pod["spec"]["schedulingGates"]] == [names.ADMISSION_GATE, names.TOPOLOGY_GATE]
    assert metadata["finalizers"] == [names.POD_FINALIZER]
    assert metadata["labels"] == {names.QUEUE_LABEL: "q", names.MANAGED_LABEL: "true"}
    assert len(metadata["annotations"][names.ROLE_HASH_ANNOTATION]) == 8
    assert workload["metadata"]["name"].startswith("pod-p-")
    assert [(each["kind"], each["name"], each["controller"]) for each in workload["metadata"]["ownerReferences"]] == [
        ("Pod", "p", True)]
    assert workload["metadata"]["labels"] == {names.JOB_UID_LABEL: metadata["uid"]}
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("main", 1)]
    assert workload["spec"]["podSets"][0]["topologyRequest"] == {"podIndexLabel": names.POD_GROUP_POD_INDEX_LABEL}
    assert await pods.told("p", "CreatedWorkload") == [f"Created Workload: default/{workload['metadata']['name']}"]


@pytest.mark.spec("KUEUE-128")
async def test_an_admitted_pod_runs(pods):
    """Given a pod that waits, when its Workload is admitted, then its gates are gone, it has what
    its flavor asks for, and an Event tells so."""
    await pods.add(manifest("p", nodeSelector={"disk": "ssd"}))
    await pods.admit(await pods.workload())
    pod, workload = await pods.pod(), await pods.workload()
    assert "schedulingGates" not in pod["spec"]
    assert pod["spec"]["nodeSelector"] == {"disk": "ssd", "zone": "a"}
    assert {"key": "k", "operator": "Exists", "effect": "NoSchedule"} in pod["spec"]["tolerations"]
    assert pod["metadata"]["labels"].items() >= {
        names.PODSET_LABEL: "main", names.LOCAL_QUEUE_LABEL: "q", names.CLUSTER_QUEUE_LABEL: "cq"}.items()
    assert pod["metadata"]["annotations"][names.WORKLOAD_ANNOTATION] == workload["metadata"]["name"]
    assert await pods.told("p", "Started") == ["Admitted by clusterQueue cq"]
    assert condition_of(workload, "PodsReady")[0] == "False"
    await pods.says("p", "Running", ready=True)
    assert condition_of(await pods.workload(), "PodsReady") == (
        "True", "Started", "All pods reached readiness and the workload is running")


@pytest.mark.spec("KUEUE-130")
@pytest.mark.parametrize(("phase", "reason"), [("Succeeded", "Succeeded"), ("Failed", "Failed")])
async def test_a_pod_ends(pods, phase, reason):
    """Given a pod that runs, and somebody else's finalizer, when it ends, then its Workload is
    finished, and Kueue's finalizer is gone alone."""
    made = manifest("p")
    made["metadata"]["finalizers"] = ["example.com/mine"]
    await pods.add(made)
    await pods.admit(await pods.workload())
    await pods.says("p", phase)
    workload = await pods.workload()
    assert condition_of(workload, "Finished") == ("True", reason, "")
    assert "finalizers" not in workload["metadata"]
    assert (await pods.pod())["metadata"]["finalizers"] == ["example.com/mine"]


@pytest.mark.spec("KUEUE-131")
async def test_an_evicted_pod_is_deleted(pods):
    """Given a pod that runs, when its Workload is evicted, then it says why it ends, is deleted,
    and its Workload, which is gone with it, is not queued again."""
    made = manifest("p")
    made["metadata"]["finalizers"] = ["example.com/mine"]
    await pods.add(made)
    await pods.admit(await pods.workload())
    await pods.evict(await pods.workload())
    pod, workload = await pods.pod(), await pods.workload()
    target = next(each for each in pod["status"]["conditions"] if each["type"] == "TerminationTarget")
    assert (target["status"], target["reason"], target["message"]) == (
        "True", "WorkloadEvictedDueToPreempted", "for somebody else")
    assert "deletionTimestamp" in pod["metadata"]
    assert pod["metadata"]["finalizers"] == ["example.com/mine"]
    assert condition_of(workload, "Requeued") == ("False", "Preempted", "for somebody else")
    assert await pods.told("p", "Stopped") == ["for somebody else"]


@pytest.mark.spec("KUEUE-128")
async def test_a_deleted_pod_takes_its_workload_along(pods):
    """Given a pod that waits, when it is deleted, then it and its Workload are gone."""
    await pods.add(manifest("p"))
    await pods.remove("p")
    assert await pods.pod() is None
    assert await pods.workloads() == []


@pytest.mark.spec("KUEUE-129")
async def test_pods_that_are_left_alone(pods):
    """Given pods without a queue, in the system's namespace, and of a managed Job, when they are
    created, then they are what they were."""
    plain = await pods.add(manifest("p", labels={}))
    assert "schedulingGates" not in plain["spec"]
    assert "finalizers" not in plain["metadata"]
    system = await pods.client.create(PODS, manifest("s", namespace="kube-system"))
    assert "schedulingGates" not in system["spec"]
    await pods.client.create(JOBS, job_manifest("j"))
    await pods.advance(1)
    await pods.admit(await pods.workload())
    created = [each for each in (await pods.client.list(PODS, NAMESPACE)).items if each["metadata"]["name"] != "p"]
    assert [("schedulingGates" in each["spec"], names.MANAGED_LABEL in each["metadata"]["labels"]) for each in created] == [
        (False, False)]


@pytest.mark.spec("KUEUE-129")
async def test_a_pod_of_a_job_without_a_queue(pods):
    """Given a Job without a queue, when a pod of it names one, then the pod waits for itself."""
    job = await pods.client.create(JOBS, job_manifest("j", labels={}, suspend=True))
    owner = {
        "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": job["metadata"]["uid"], "controller": True}
    made = manifest("p")
    made["metadata"]["ownerReferences"] = [owner]
    pod = await pods.add(made)
    assert gates_of(pod) == [names.ADMISSION_GATE, names.TOPOLOGY_GATE]


@pytest.mark.spec("KUEUE-128")
async def test_the_default_queue(pods):
    """Given a namespace with a LocalQueue ``default``, when a pod names none, then it waits in
    that."""
    await pods.client.create(names.LOCAL_QUEUES, {
        "metadata": {"name": "default", "namespace": NAMESPACE}, "spec": {"clusterQueue": "cq"}})
    pod = await pods.add(manifest("p", labels={}))
    assert pod["metadata"]["labels"] == {names.QUEUE_LABEL: "default", names.MANAGED_LABEL: "true"}
    assert (await pods.workload())["spec"]["queueName"] == "default"


@pytest.mark.spec("KUEUE-129")
async def test_a_pod_whose_job_is_gone(pods):
    """Given a pod of a Job that is not there, when it is created, then it is refused with the
    Status of what was looked for."""
    made = manifest("p", labels={})
    made["metadata"]["ownerReferences"] = [{
        "apiVersion": "batch/v1", "kind": "Job", "name": "gone", "uid": "u", "controller": True}]
    with pytest.raises(APIError) as caught:
        await pods.add(made)
    text = 'admission webhook "mpod.kb.io" denied the request: Job.batch "gone" not found'
    assert (caught.value.code, caught.value.message) == (404, text)


OF_A_STARTED_JOB = {names.PODSET_LABEL: "main", names.LOCAL_QUEUE_LABEL: "q", names.CLUSTER_QUEUE_LABEL: "cq"}


async def test_a_pod_of_a_started_job_is_looked_at_for_what_it_says_besides(pods):
    """Given pods with the labels that Kueue gives to started jobs, when one says besides that it is
    not managed, or comes to say so, then it is refused; when it says nothing else, it is not."""
    told = {names.WORKLOAD_ANNOTATION: "w"}
    await pods.client.create(PODS, manifest("good", labels=OF_A_STARTED_JOB, annotations=told))
    wrong = {names.MANAGED_LABEL: "false"}
    for attempt in (
        pods.client.create(PODS, manifest("bad", labels={**OF_A_STARTED_JOB, **wrong}, annotations=told)),
        pods.client.patch(PODS, "good", NAMESPACE, {"metadata": {"labels": wrong}}),
        pods.client.patch(PODS, "good", NAMESPACE, {"metadata": {"annotations": {names.PODSET_GROUP_NAME_ANNOTATION: "-"}}}),
    ):
        with pytest.raises(APIError) as caught:
            await attempt
        assert "admission webhook" in caught.value.message

"""Deployments and StatefulSets on their way through Kueue."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import DEPLOYMENTS, PODS, STATEFUL_SETS
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.workload import states
from tests.controllers.kueue.jobs.conftest import QUEUE, condition_of
from tests.controllers.world import NAMESPACE


def app(name="d", replicas=2, *, labels=None, annotations=None, cpu="100m", **spec):
    """A Deployment or a StatefulSet in the queue ``q``."""
    container = {"name": "c", "image": "a:1", "resources": {"requests": {"cpu": cpu}}}
    metadata = {
        "name": name, "namespace": NAMESPACE, "labels": QUEUE if labels is None else labels, "annotations": annotations or {}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    return {"metadata": metadata, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template, **spec}}


def stateful(replicas=2, **fields):
    return app("s", replicas, serviceName="s", podManagementPolicy="Parallel", **fields)


async def change(apps, resource, name, seconds=3, **body):
    """Patch an object and let the controllers do what they do."""
    changed = await apps.client.patch(resource, name, NAMESPACE, body)
    await apps.advance(seconds)
    return changed


async def refused(apps, resource, name, **body):
    with pytest.raises(APIError) as caught:
        await change(apps, resource, name, **body)
    return caught.value.message.partition("denied the request: ")[2]


async def ready(apps, resource, name, replicas):
    """Let an object say that so many of its pods are ready."""
    status = {"replicas": replicas, "readyReplicas": replicas}
    await apps.client.patch(resource, name, NAMESPACE, {"status": status}, subresource="status")


@pytest.mark.spec("KUEUE-149")
async def test_pods_of_a_deployment_wait_each_for_itself(apps):
    """Given a Deployment with a queue, when it has two pods and then four, then each has a Workload
    of its own, waits for itself, and is not held when it goes."""
    created = await apps.client.create(DEPLOYMENTS, app())
    template = created["spec"]["template"]["metadata"]
    assert template["labels"] == {"app": "d", names.QUEUE_LABEL: "q", names.MANAGED_LABEL: "true"}
    assert template["annotations"] == {names.SUSPENDED_BY_PARENT_ANNOTATION: "deployment"}
    await apps.advance(2)
    workloads = await apps.workloads()
    assert [[each["count"] for each in found["spec"]["podSets"]] for found in workloads] == [[1], [1]]
    assert len(await apps.gated()) == 2
    assert await apps.held() == []
    await apps.admit(workloads[0])
    assert len(await apps.gated()) == 1
    await change(apps, DEPLOYMENTS, "d", spec={"replicas": 4})
    assert len(await apps.workloads()) == 4
    assert len(await apps.gated()) == 3
    await change(apps, DEPLOYMENTS, "d", spec={"replicas": 0})
    assert (await apps.all_names(), await apps.workloads()) == ([], [])


@pytest.mark.spec("KUEUE-149")
async def test_what_may_change_of_a_deployment(apps):
    """Given a Deployment with a queue, when it gets another one before any pod is ready, then its
    pods do too; it never loses it, and keeps it once a pod is ready; and it is not elastic."""
    await apps.client.create(DEPLOYMENTS, app())
    immutable = f'metadata.labels[{names.QUEUE_LABEL}]: Invalid value: "{{}}": field is immutable'
    changed = await change(apps, DEPLOYMENTS, "d", metadata={"labels": {names.QUEUE_LABEL: "other"}})
    assert changed["spec"]["template"]["metadata"]["labels"][names.QUEUE_LABEL] == "other"
    removed = {"labels": {names.QUEUE_LABEL: None}}
    assert await refused(apps, DEPLOYMENTS, "d", metadata=removed) == immutable.format("")
    await ready(apps, DEPLOYMENTS, "d", 2)
    assert await refused(apps, DEPLOYMENTS, "d", metadata={"labels": {names.QUEUE_LABEL: "q"}}) == immutable.format("q")
    text = f'metadata.labels[{names.WORKLOAD_PRIORITY_CLASS_LABEL}]: Invalid value: "high": '
    text += "WorkloadPriorityClass cannot be added to a non-suspended workload"
    added = {"labels": {names.WORKLOAD_PRIORITY_CLASS_LABEL: "high"}}
    assert await refused(apps, DEPLOYMENTS, "d", metadata=added) == text
    with pytest.raises(APIError, match='elastic job is not supported for "apps/v1, Kind=Deployment"'):
        await apps.client.create(DEPLOYMENTS, app("e", annotations={names.ELASTIC_JOB_ANNOTATION: "true"}))


@pytest.mark.spec("KUEUE-176")
async def test_a_stateful_set_has_one_workload(apps):
    """Given a StatefulSet with a queue, when it is created, then it has one Workload, which it and
    its pods own, and its pods are a group of it that serves and that nothing holds."""
    created = await apps.client.create(STATEFUL_SETS, stateful())
    assert created["spec"]["template"]["metadata"]["annotations"] == {names.SUSPENDED_BY_PARENT_ANNOTATION: "statefulset"}
    await apps.advance(3)
    workload = await apps.workload()
    metadata = workload["metadata"]
    assert metadata["name"].startswith("statefulset-s-")
    assert metadata["annotations"] == {
        names.IS_GROUP_WORKLOAD_ANNOTATION: "true", names.JOB_OWNER_GVK_ANNOTATION: "apps/v1, Kind=StatefulSet",
        names.JOB_OWNER_NAME_ANNOTATION: "s"}
    assert [(each["kind"], each["name"], each.get("controller")) for each in metadata["ownerReferences"]] == [
        ("StatefulSet", "s", None), ("Pod", "s-0", None), ("Pod", "s-1", None)]
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("main", 2)]
    assert "finalizers" not in metadata
    assert await apps.gated() == ["s-0", "s-1"]
    assert await apps.held() == []
    pod = (await apps.pod("s-0"))["metadata"]
    assert pod["labels"].items() >= {names.MANAGED_LABEL: "true", names.QUEUE_LABEL: "q"}.items()
    assert pod["annotations"] == {
        names.SUSPENDED_BY_PARENT_ANNOTATION: "statefulset", names.POD_GROUP_NAME_ANNOTATION: metadata["name"],
        names.PREBUILT_WORKLOAD_ANNOTATION: metadata["name"], names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "2",
        names.POD_GROUP_FAST_ADMISSION_ANNOTATION: "true", names.POD_GROUP_SERVING_ANNOTATION: "true",
        names.POD_GROUP_POD_INDEX_LABEL_ANNOTATION: "apps.kubernetes.io/pod-index", names.ROLE_HASH_ANNOTATION: "main"}
    await apps.admit(workload)
    await apps.advance(2)
    assert await apps.gated() == []
    assert (await apps.pod("s-1"))["spec"]["nodeSelector"] == {"zone": "a"}


@pytest.mark.spec("KUEUE-176")
async def test_a_stateful_set_goes_to_none_and_back(apps):
    """Given a running StatefulSet, when it is scaled, then only to none: its Workload is on hold
    then, and waits again when the pods come back."""
    await apps.client.create(STATEFUL_SETS, stateful())
    await apps.advance(3)
    await apps.admit(await apps.workload())
    assert await refused(apps, STATEFUL_SETS, "s", spec={"replicas": 3}) == "spec.replicas: Invalid value: 3: field is immutable"
    await change(apps, STATEFUL_SETS, "s", spec={"replicas": 0})
    assert condition_of(await apps.workload(), "QuotaReserved") == (
        "False", "OnHold", "StatefulSet scaled to zero; workload on hold")
    for name in await apps.all_names():
        await apps.remove(name)
    await apps.advance(2)
    await change(apps, STATEFUL_SETS, "s", spec={"replicas": 2})
    workload = await apps.workload()
    assert condition_of(workload, "QuotaReserved") == (
        "False", "Pending", "Workload no longer on hold; waiting for quota reservation")
    assert await apps.gated() == ["s-0", "s-1"]
    await apps.admit(workload)
    assert await apps.gated() == []


async def scaled_by_way_of_none(apps, replicas):
    """An admitted StatefulSet of two pods that went to none and comes back with so many; its
    Workload, not admitted again by then.
    """
    await apps.client.create(STATEFUL_SETS, stateful())
    await apps.advance(3)
    await apps.admit(await apps.workload())
    await change(apps, STATEFUL_SETS, "s", spec={"replicas": 0})
    for name in await apps.all_names():
        await apps.remove(name)
    await apps.advance(2)
    await change(apps, STATEFUL_SETS, "s", spec={"replicas": replicas})
    return await apps.workload()


@pytest.mark.spec("KUEUE-176")
async def test_a_stateful_set_that_comes_back_larger_is_out_of_sync(apps, caplog):
    """Given a StatefulSet of two pods at none, when it comes back with three, then its Workload,
    which is for two, ends as out of sync, its pods stay gated, and it may go to none once more; no
    traceback tells of any of this.
    """
    workload = await scaled_by_way_of_none(apps, 3)
    assert [each["count"] for each in workload["spec"]["podSets"]] == [2]
    assert condition_of(workload, "Finished") == (
        "True", "OutOfSync", "The prebuilt workload is out of sync with its user job")
    assert await apps.gated() == ["s-0", "s-1", "s-2"]
    await change(apps, STATEFUL_SETS, "s", spec={"replicas": 0})
    for name in await apps.all_names():
        await apps.remove(name)
    assert not states.has_active_quota_reservation(await apps.workload())
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


@pytest.mark.spec("KUEUE-176")
async def test_a_stateful_set_that_comes_back_smaller_keeps_its_workload(apps):
    """Given a StatefulSet of two pods at none, when it comes back with one, then its Workload is
    still for two, and lets that one go once it is admitted.
    """
    workload = await scaled_by_way_of_none(apps, 1)
    assert [each["count"] for each in workload["spec"]["podSets"]] == [2]
    assert await apps.gated() == ["s-0"]
    await apps.admit(workload)
    assert await apps.gated() == []


@pytest.mark.spec("KUEUE-176")
async def test_what_may_change_of_a_stateful_set(apps):
    """Given a StatefulSet with a queue, when its pods' shape changes, then it is refused; their
    image may change; and it comes back from none only once all of it has gone."""
    await apps.client.create(STATEFUL_SETS, stateful())
    await apps.advance(3)
    container = {"name": "c", "image": "a:2", "resources": {"requests": {"cpu": "200m"}}}
    template = {"spec": {"template": {"spec": {"containers": [container]}}}}
    text = 'spec.template.spec.containers[0].resources.requests: Invalid value: {"cpu":"200m"}: field is immutable'
    assert await refused(apps, STATEFUL_SETS, "s", **template) == text
    container["resources"]["requests"]["cpu"] = "100m"
    assert (await change(apps, STATEFUL_SETS, "s", **template))["spec"]["template"]["spec"]["containers"][0]["image"] == "a:2"
    two = {"spec": {"template": {"spec": {"containers": [container, {**container, "name": "d"}]}}}}
    assert (await refused(apps, STATEFUL_SETS, "s", **two)).startswith("spec.template.spec.containers: Invalid value: [{")
    await change(apps, STATEFUL_SETS, "s", spec={"replicas": 0})
    await ready(apps, STATEFUL_SETS, "s", 1)
    text = "spec.replicas: Forbidden: scaling down is still in progress"
    assert await refused(apps, STATEFUL_SETS, "s", spec={"replicas": 2}) == text


async def test_a_stateful_set_follows_its_queue(apps):
    """Given a StatefulSet that waits, when it names another queue, then its Workload and its pods
    do."""
    await apps.client.create(STATEFUL_SETS, stateful())
    await apps.advance(3)
    await change(apps, STATEFUL_SETS, "s", metadata={"labels": {names.QUEUE_LABEL: "other"}})
    assert (await apps.workload())["spec"]["queueName"] == "other"
    queues = {each["metadata"]["labels"][names.QUEUE_LABEL] for each in (await apps.client.list(PODS, NAMESPACE)).items}
    assert queues == {"other"}


async def test_a_stateful_set_goes(apps):
    """Given a StatefulSet that waits, when it is deleted with its pods, then nothing is left."""
    await apps.client.create(STATEFUL_SETS, stateful())
    await apps.advance(3)
    await apps.client.delete(STATEFUL_SETS, "s", NAMESPACE, propagation_policy="Foreground")
    await apps.advance(40)
    assert (await apps.all_names(), await apps.workloads()) == ([], [])

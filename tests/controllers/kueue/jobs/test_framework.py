"""What every kind of job has in common: owners above it, priorities, starts that cannot be."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.client.resources import JOBS, NAMESPACES, PRIORITY_CLASSES
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration, WorkloadRetentionPolicy
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.workload_names import workload_name_for_owner
from tests.controllers.kueue.jobs.conftest import QUEUE, condition_of, manifest
from tests.controllers.world import NAMESPACE

CLASS = names.WORKLOAD_PRIORITY_CLASS_LABEL
JOB = GroupVersionKind("batch", "v1", "Job")


@pytest.mark.parametrize(("name", "extra", "expected"), [
    ("name", "", "job-name-ef3a1"), ("name", "1", "job-name-2514c"), ("x" * 300, "", f"job-{'x' * 243}-")])
def test_names_are_upstreams(name, extra, expected):
    """Given an owner When its Workload is named Then the name has upstream's hash, and is never too
    long."""
    found = workload_name_for_owner(name, "uid", JOB, Features(), extra)
    assert found.startswith(expected)
    assert len(found) <= 253


def test_names_may_be_short_enough_for_labels():
    """Given the gate ShortWorkloadNames When a Workload is named Then it fits into a label."""
    assert len(workload_name_for_owner("x" * 300, "uid", JOB, Features(ShortWorkloadNames=True))) == 63


async def child(jobs, parent, name="child", **fields):
    """A Job that another one controls."""
    job = manifest(name, **fields)
    job["metadata"]["ownerReferences"] = [{
        "apiVersion": "batch/v1", "kind": "Job", "name": parent["metadata"]["name"], "uid": parent["metadata"]["uid"],
        "controller": True}]
    created = await jobs.client.create(JOBS, job)
    await jobs.advance(1)
    return created


@pytest.mark.spec("KUEUE-095")
async def test_a_job_below_one_that_is_managed_waits_for_that(jobs):
    """Given a Job that waits When a Job that it controls is created Then that has no Workload, is
    suspended until the first one's is admitted, and then left to whoever made it."""
    parent = await jobs.create("parent")
    created = await child(jobs, parent, labels={})
    assert not created["spec"]["suspend"]
    assert (await jobs.job("child"))["spec"]["suspend"] is True
    assert await jobs.events("Suspended") == ["Kueue managed child job suspended"]
    await jobs.admit(await jobs.workload())
    await jobs.change_job("child", suspend=False)
    assert (await jobs.job("child"))["spec"]["suspend"] is False
    await jobs.evict(await jobs.workload())
    assert (await jobs.job("child"))["spec"]["suspend"] is True


async def test_owners_are_not_followed_for_ever(jobs):
    """Given a Job below twelve others When it is created Then it is refused."""
    above = await jobs.create("j0", labels={})
    for number in range(1, 11):
        above = await child(jobs, above, f"j{number}", labels={})
    with pytest.raises(Exception, match="managed owner chain limit reached"):
        await child(jobs, above, "last")


async def test_an_owner_that_is_gone_is_told(jobs):
    """Given a Job whose owner is not there When it is created Then it is refused."""
    ghost = {"metadata": {"name": "ghost", "uid": "u"}}
    with pytest.raises(APIError, match=r"denied the request: \S+ \"ghost\" not found"):
        await child(jobs, ghost)


async def test_annotations_of_a_topology_that_cannot_be_read_are_told(jobs):
    """Given a Job whose template says of a topology what is no boolean When it is created Then that
    is refused."""
    job = manifest("j")
    job["spec"]["template"]["metadata"] = {"annotations": {names.PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION: "maybe"}}
    with pytest.raises(APIError, match="must be a boolean value") as caught:
        await jobs.client.create(JOBS, job)
    assert caught.value.code == 403


async def test_a_flavor_that_is_not_there_keeps_the_job_waiting(jobs):
    """Given an admission that names a flavor which is not there When the Job is to start Then it
    waits until there is one."""
    await jobs.create()
    await jobs.admit(await jobs.workload(), flavor="gone")
    assert (await jobs.job())["spec"]["suspend"] is True
    await jobs.flavor("gone", nodeLabels={"zone": "g"})
    await jobs.advance(30)
    assert (await jobs.job())["spec"]["template"]["spec"]["nodeSelector"] == {"zone": "g"}


@pytest.mark.spec("KUEUE-097")
async def test_a_priority_class_that_is_not_there_makes_no_workload(jobs):
    """Given a Job that names a class which is not there When it is created Then it has no Workload
    until the class is there, of which no Event tells."""
    await jobs.create(labels=QUEUE | {CLASS: "c"})
    assert await jobs.workloads() == []
    assert await jobs.events() == []
    assert not jobs.cluster.component("batch/job").worker.failures
    await jobs.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "c"}, "value": 7})
    await jobs.advance(1)
    spec = (await jobs.workload())["spec"]
    assert (spec["priority"], spec["priorityClassRef"]) == (
        7, {"group": names.GROUP, "kind": "WorkloadPriorityClass", "name": "c"})


@pytest.mark.spec("KUEUE-097")
async def test_a_workload_follows_the_class_of_its_job(jobs):
    """Given a Job with a class When it names another one, and then one that is not there Then its
    Workload has the priority of the first of these."""
    for name, value in (("low", 1), ("high", 9)):
        await jobs.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
    await jobs.create(labels=QUEUE | {CLASS: "low"})
    await jobs.admit(await jobs.workload())
    await jobs.label_job(labels={CLASS: "high"})
    workload = await jobs.workload()
    assert (workload["spec"]["priority"], workload["spec"]["priorityClassRef"]["name"]) == (9, "high")
    assert await jobs.events("UpdatedWorkload") == [
        f"Updated workload priority class: default/{workload['metadata']['name']}"]
    await jobs.label_job(labels={CLASS: "none"})
    assert (await jobs.workload())["spec"]["priority"] == 9
    assert (await jobs.job())["spec"]["suspend"] is False


@pytest.mark.parametrize(("template", "expected"), [({"priorityClassName": "of-pods"}, ("of-pods", 3)), ({}, ("default", 2))])
async def test_pods_say_the_priority_where_the_job_does_not(jobs, template, expected):
    """Given PriorityClasses, one of them the default When a Job names no class of Kueue's Then its
    template's class counts, else the default one."""
    await jobs.client.create(PRIORITY_CLASSES, {"metadata": {"name": "default"}, "value": 2, "globalDefault": True})
    await jobs.client.create(PRIORITY_CLASSES, {"metadata": {"name": "of-pods"}, "value": 3})
    await jobs.create(template=template)
    spec = (await jobs.workload())["spec"]
    assert (spec["priorityClassRef"]["name"], spec["priority"]) == expected
    assert spec["priorityClassRef"]["kind"] == "PriorityClass"


async def test_a_job_that_cannot_get_what_it_should_fails_to_start(jobs):
    """Given a Job whose template has a node selector that contradicts its flavor When it is
    admitted Then its Workload is finished, and says why."""
    await jobs.create(template={"nodeSelector": {"zone": "b"}})
    await jobs.admit(await jobs.workload())
    assert condition_of(await jobs.workload(), "Finished") == (
        "True", "FailedToStart",
        "invalid admission check PodSetUpdate: conflict for nodeSelector: conflict for key=zone, value1=b, value2=a")
    assert (await jobs.job())["spec"]["suspend"] is True


async def test_a_check_that_waits_is_told(jobs):
    """Given a Workload with quota When a check of it says what it waits for Then an Event of the
    Job says so, too."""
    await jobs.create()

    def reserve(changed):
        changed.setdefault("status", {})["admissionChecks"] = [{
            "name": "c", "state": "Pending", "message": "nodes are bought", "lastTransitionTime": "2026-01-01T00:00:00Z"}]

    await jobs.write_status(await jobs.workload(), reserve)
    await jobs.admit(await jobs.workload())
    assert (await jobs.job())["spec"]["suspend"] is True
    assert await jobs.events("UpdatedAdmissionCheck") == ["c: nodes are bought"]


async def test_what_checks_ask_for_is_put_into_the_template(jobs):
    """Given an admission check that asks for labels, a node selector and tolerations When the
    Workload is admitted Then the Job's template has them."""
    await jobs.create()
    update = {
        "name": "main", "labels": {"l": "1"}, "annotations": {"a": "2"}, "nodeSelector": {"n": "3"},
        "tolerations": [{"key": "t", "operator": "Exists"}]}

    def reserve(changed):
        changed.setdefault("status", {})["admissionChecks"] = [{
            "name": "c", "state": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
            "podSetUpdates": [update]}]

    await jobs.write_status(await jobs.workload(), reserve)
    await jobs.admit(await jobs.workload())
    template = (await jobs.job())["spec"]["template"]
    assert template["metadata"]["labels"]["l"] == "1"
    assert template["metadata"]["annotations"]["a"] == "2"
    assert template["spec"]["nodeSelector"] == {"zone": "a", "n": "3"}
    assert [each["key"] for each in template["spec"]["tolerations"]] == ["k", "t"]


class TestRetention:
    """Jobs that Kueue deactivated are not kept."""

    @pytest.fixture
    def configuration(self):
        return Configuration(workload_retention=WorkloadRetentionPolicy(after_deactivated_by_kueue_seconds=60.0))

    async def test_a_job_is_deleted_some_time_after_it_was_deactivated(self, jobs):
        """Given a retention of a minute When Kueue has deactivated a Job for so long Then it is
        deleted, and not before."""
        await jobs.create()
        await jobs.admit(await jobs.workload())
        await jobs.change_workload(await jobs.workload(), lambda changed: changed["spec"].update(active=False))
        await jobs.evict(await jobs.workload(), "DeactivatedDueToRequeuingLimitExceeded", "too often")
        await jobs.advance(30)
        assert await jobs.client.get(JOBS, "j", NAMESPACE, missing_ok=True) is not None
        await jobs.advance(40)
        assert await jobs.client.get(JOBS, "j", NAMESPACE, missing_ok=True) is None


async def test_namespaces_are_looked_at_when_a_job_is(jobs):
    """Given a namespace that is not managed When a Job with a queue is created there Then it has no
    Workload."""
    await jobs.client.create(NAMESPACES, {"metadata": {"name": "kueue-system"}})
    await jobs.client.create(JOBS, manifest("j", namespace="kueue-system"))
    await jobs.advance(1)
    assert (await jobs.client.list(names.WORKLOADS, "kueue-system")).items == []

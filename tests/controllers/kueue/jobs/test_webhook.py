"""What a new Job gets, and what a Job may not be."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, NAMESPACES
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.configuration import Configuration
from tests.controllers.kueue.jobs.conftest import QUEUE, manifest
from tests.controllers.world import NAMESPACE

MIN, EQUAL = names.JOB_MIN_PARALLELISM_ANNOTATION, names.JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION
ELASTIC = {names.ELASTIC_JOB_ANNOTATION: "true"}
DENIED = 'admission webhook "vjob.kb.io" denied the request: '


async def refusal(jobs, name="j", **fields):
    """What the server says to a Job."""
    with pytest.raises(APIError) as caught:
        await jobs.client.create(JOBS, manifest(name, **fields))
    return _complaint(caught.value)


async def change_refusal(jobs, body, name="j"):
    """The same of a change."""
    with pytest.raises(APIError) as caught:
        await jobs.client.patch(JOBS, name, NAMESPACE, body)
    return _complaint(caught.value)


def _complaint(error):
    assert error.code == 403
    return error.message.removeprefix(DENIED)


@pytest.mark.spec("KUEUE-086")
async def test_a_job_gets_the_default_queue(jobs):
    """Given a LocalQueue named default When a Job without a queue is created Then it waits there,
    and the queue cannot be taken away."""
    await jobs.client.create(
        names.LOCAL_QUEUES, {"metadata": {"name": "default", "namespace": NAMESPACE}, "spec": {"clusterQueue": "cq"}})
    job = await jobs.create(labels={})
    assert job["metadata"]["labels"] == {names.QUEUE_LABEL: "default"}
    assert job["spec"]["suspend"] is True
    assert (await jobs.workload())["spec"]["queueName"] == "default"
    assert await change_refusal(jobs, {"metadata": {"labels": {names.QUEUE_LABEL: None}}}) == (
        'metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "": queue-name must not be empty in namespace with '
        'default queue')


class TestWithoutQueueName:
    """Jobs that name no queue are managed, too."""

    @pytest.fixture
    def configuration(self):
        return Configuration(manage_jobs_without_queue_name=True)

    @pytest.mark.spec("KUEUE-086")
    async def test_a_job_without_a_queue_waits(self, jobs):
        """Given such a configuration When a Job names no queue Then it waits with a Workload of
        none, but for namespaces that are left out."""
        job = await jobs.create(labels={})
        assert job["spec"]["suspend"] is True
        assert (await jobs.workload())["spec"].get("queueName", "") == ""
        system = await jobs.client.create(JOBS, manifest("s", labels={}, namespace="kube-system"))
        await jobs.advance(1)
        assert not system["spec"]["suspend"]
        assert (await jobs.client.list(names.WORKLOADS, "kube-system")).items == []


@pytest.mark.spec("KUEUE-086")
async def test_a_namespace_that_is_left_out_has_no_managed_jobs(jobs):
    """Given a Job with a queue in kube-system When it is created Then nobody suspends it."""
    job = await jobs.client.create(JOBS, manifest("s", namespace="kube-system"))
    await jobs.advance(1)
    assert not job["spec"]["suspend"]
    assert (await jobs.client.list(names.WORKLOADS, "kube-system")).items == []


@pytest.mark.spec("KUEUE-089")
async def test_a_job_that_runs_keeps_its_queue(jobs):
    """Given a Job that runs When its queue is to change Then that is refused."""
    await jobs.create()
    await jobs.admit(await jobs.workload())
    assert await change_refusal(jobs, {"metadata": {"labels": {names.QUEUE_LABEL: "other"}}}) == (
        'metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "other": field is immutable')


@pytest.mark.parametrize(("labels", "complaint"), [
    ({names.QUEUE_LABEL: "Q"}, (
        'metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "Q": a lowercase RFC 1123 subdomain must consist of lower '
        "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")),
    ({names.MAX_EXEC_TIME_SECONDS_LABEL: "0"}, (
        "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: 0: should be greater than 0")),
    ({names.MAX_EXEC_TIME_SECONDS_LABEL: "x"}, (
        'metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax')),
])
async def test_labels_that_are_refused(jobs, labels, complaint):
    """Given a label that says nothing good When a Job has it Then it is refused in upstream's
    words."""
    assert await refusal(jobs, labels=QUEUE | labels) == complaint


@pytest.mark.spec("KUEUE-099")
@pytest.mark.parametrize(("annotations", "spec", "complaint"), [
    ({MIN: "4"}, {"parallelism": 4},
     "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: 4: should be between 0 and 3"),
    ({MIN: "0"}, {"parallelism": 4},
     "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: 0: should be between 0 and 3"),
    ({MIN: "x"}, {"parallelism": 4}, (
        'metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "x": strconv.Atoi: parsing "x": '
        'invalid syntax')),
    (ELASTIC | {MIN: "1"}, {"parallelism": 4}, (
        'metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "1": partial admission and elastic job '
        'cannot be used together')),
    ({EQUAL: "true"}, {"parallelism": 4, "completions": 4}, (
        'metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "true": should not be enabled '
        'for NonIndexed jobs')),
    ({EQUAL: "true"}, {"parallelism": 4, "completions": 5, "completionMode": "Indexed"}, (
        "spec.completions: Invalid value: 5: should be equal to parallelism when "
        "kueue.x-k8s.io/job-completions-equal-parallelism annotation is true")),
])
async def test_annotations_that_are_refused(jobs, annotations, spec, complaint):
    """Given an annotation that does not go with the Job When it is created Then it is refused."""
    assert await refusal(jobs, annotations=annotations, **spec) == complaint


@pytest.mark.spec("KUEUE-099")
@pytest.mark.parametrize(("before", "after", "value"), [({}, "true", "true"), (ELASTIC, None, "false")])
async def test_a_job_stays_elastic_or_not(jobs, before, after, value):
    """Given a Job When it is to become elastic, or not so any more Then that is refused."""
    await jobs.create(annotations=before)
    assert await change_refusal(jobs, {"metadata": {"annotations": {names.ELASTIC_JOB_ANNOTATION: after}}}) == (
        f"metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: {value}: field is immutable")


async def test_what_was_admitted_in_part_keeps_its_size(jobs):
    """Given a Job that takes fewer pods, and runs When its size changes Then that is refused."""
    await jobs.create(parallelism=4, completions=4, annotations={MIN: "1"})
    await jobs.admit(await jobs.workload())
    assert await change_refusal(jobs, {"spec": {"parallelism": 3}}) == (
        "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job is not suspended")


async def test_a_priority_class_comes_early_and_stays(jobs):
    """Given a Job without a class that runs, and one with a class When a class is added, and
    removed Then both are refused."""
    await jobs.client.create(names.WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "c"}, "value": 5})
    await jobs.create()
    await jobs.admit(await jobs.workload())
    label = names.WORKLOAD_PRIORITY_CLASS_LABEL
    assert await change_refusal(jobs, {"metadata": {"labels": {label: "c"}}}) == (
        'metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: "c": WorkloadPriorityClass cannot be added to a '
        'non-suspended workload')
    await jobs.create("k", labels=QUEUE | {label: "c"})
    assert await change_refusal(jobs, {"metadata": {"labels": {label: None}}}, "k") == (
        'metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: "": WorkloadPriorityClass cannot be removed from a '
        'workload')


@pytest.mark.parametrize(("before", "after", "complaint"), [
    ("", "example.com/a", "Forbidden: cannot add admission gate after creation"),
    ("example.com/a", "example.com/b", "Forbidden: can only remove gates, not add new ones"),
    ("example.com/a,example.com/b", "example.com/a,", "Forbidden: can only remove gates, not add new ones"),
])
async def test_gates_only_go(jobs, before, after, complaint):
    """Given a Job with admission gates, or none When one is to be added Then that is refused."""
    key = names.ADMISSION_GATED_BY_ANNOTATION
    await jobs.create(annotations={key: before} if before else {})
    text = await change_refusal(jobs, {"metadata": {"annotations": {key: after}}})
    assert f"metadata.annotations[kueue.x-k8s.io/admission-gated-by]: {complaint}" in text


async def test_multikueue_gets_the_jobs_of_its_queues(jobs):
    """Given a LocalQueue whose ClusterQueue has MultiKueue's check When a Job is created Then it is
    managed by MultiKueue."""
    await jobs.client.create(
        names.ADMISSION_CHECKS, {"metadata": {"name": "mk"}, "spec": {"controllerName": names.MULTIKUEUE_CONTROLLER_NAME}})
    await jobs.client.create(names.CLUSTER_QUEUES, {
        "metadata": {"name": "cq"}, "spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "mk"}]}}})
    await jobs.client.create(
        names.LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"clusterQueue": "cq"}})
    assert (await jobs.create())["spec"]["managedBy"] == names.MULTIKUEUE_CONTROLLER_NAME


async def test_a_namespace_goes_with_its_workloads(jobs):
    """Given a namespace that goes When it had a Job with a Workload Then nothing is left behind."""
    await jobs.client.create(NAMESPACES, {"metadata": {"name": "n"}})
    await jobs.client.create(JOBS, manifest("j", namespace="n"))
    await jobs.advance(1)
    await jobs.client.delete(NAMESPACES, "n")
    await jobs.advance(30)
    assert (await jobs.client.list(names.WORKLOADS, "n")).items == []
    assert await jobs.client.get(NAMESPACES, "n", missing_ok=True) is None

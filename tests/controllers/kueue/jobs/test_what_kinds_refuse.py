"""What the webhooks of single kinds refuse: shapes that change, sizes, gates that lack."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs import serving
from fakekube_controllers.kueue.jobs.job import webhook as job_webhook
from fakekube_controllers.kueue.jobs.job.controller import Job
from fakekube_controllers.kueue.jobs.jobset.job import JobSet
from fakekube_controllers.kueue.jobs.leaderworkerset import webhook as lws_webhook
from fakekube_controllers.kueue.jobs.ray import webhooks as ray_webhooks
from fakekube_controllers.kueue.jobs.ray.cluster import RayCluster
from fakekube_controllers.kueue.podset import InvalidPodSetInfo, PodSetInfo

K = "kueue.x-k8s.io/"
MINIMUM, SYNCED, ELASTIC = f"{K}job-min-parallelism", f"{K}job-completions-equal-parallelism", f"{K}elastic-job"
SIZE, SLICE = f"{K}podset-slice-size", f"{K}podset-slice-required-topology"
PLAIN, FEATURES = Features(TopologyAwareScheduling=False), Features()
LEADER = "spec.leaderWorkerTemplate.leaderTemplate"
WORKER = "spec.leaderWorkerTemplate.workerTemplate"
AUTOSCALING = (
    "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices "
    f'feature gate and set the "{ELASTIC}": "true" annotation')
GATED = [{"name": ELASTIC}]


def told(errors: Any) -> list[str]:
    """The errors as text."""
    return [*map(str, errors)]


def pod(cpu: str = "1", *, ports: Any = None, **spec: Any) -> Tree:
    """The spec of a pod of one container."""
    container: Tree = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"containers": [container if ports is None else {**container, "ports": ports}], **spec}


@pytest.mark.parametrize(("old", "new", "fields"), [
    (pod(), pod(), []),
    (pod("1"), pod("2"), ["s.containers[0].resources.requests"]),
    (pod(), pod(ports=[{"containerPort": 80}]), ["s.containers[0].ports"]),
    (pod(), pod("2", ports=[{"containerPort": 80}]), ["s.containers[0].ports", "s.containers[0].resources.requests"]),
    (pod(), {"containers": []}, ["s.containers"]),
    (pod(), pod(initContainers=[{"name": "x"}]), ["s.initContainers"]),
    (pod(nodeSelector={"a": "b"}), pod(nodeSelector={"a": "c"}, priority=1), ["s.nodeSelector", "s.priority"]),
    (pod(), pod(hostname="h"), []),
])
def test_the_shape_of_pods_that_serve_stays(old: Tree, new: Tree, fields: list[str]) -> None:
    """Given the template of pods that serve, when something changes that makes their role, then it
    is refused, field by field.
    """
    found = serving.shape_errors("s", old, new)
    assert [each.field for each in found] == fields
    assert {each.detail for each in found} <= {"field is immutable"}


def lws(*, leader: Tree | None = None, size: int = 2, annotations: Tree | None = None) -> Tree:
    """A LeaderWorkerSet."""
    template: Tree = {"size": size, "workerTemplate": {"metadata": {"annotations": annotations or {}}, "spec": pod()}}
    if leader is not None:
        template["leaderTemplate"] = {"spec": leader}
    return {"metadata": {"name": "l"}, "spec": {"leaderWorkerTemplate": template}}


@pytest.mark.parametrize(("old", "new", "gate", "fields"), [
    (lws(), lws(), True, []),
    (lws(), lws(leader=pod()), True, [LEADER]),
    (lws(leader=pod()), lws(), True, [LEADER]),
    (lws(leader=pod()), lws(leader=pod("2")), True, [f"{LEADER}.spec.containers[0].resources.requests"]),
    (lws(size=2), lws(size=3), True, ["spec.leaderWorkerTemplate.size"]),
    (lws(size=2), lws(size=3), False, []),
])
def test_a_leader_worker_set_keeps_its_leader(old: Tree, new: Tree, gate: bool, fields: list[str]) -> None:
    """Given a LeaderWorkerSet in a queue, when it gets or loses a leader, or another size, then
    that is refused.
    """
    found = lws_webhook._shape_errors(old, new, Features(LWSImmutableGroupSize=gate))
    assert [each.field for each in found] == fields
    assert {each.detail for each in found} <= {"field is immutable"}


def test_topologies_of_a_leader_worker_set() -> None:
    """Given a LeaderWorkerSet whose workers ask for slices, when they are more than the workers or
    no number, then that is told of their template.
    """
    good, big, none = ({SLICE: "rack", SIZE: size} for size in ("2", "3", "x"))
    assert told(lws_webhook._topology_errors(lws(annotations=good), FEATURES)) == []
    assert told(lws_webhook._topology_errors(lws(annotations=big), FEATURES)) == [
        f'{WORKER}.metadata.annotations[{SIZE}]: Invalid value: "3": must not be greater than pod set count 2']
    assert told(lws_webhook._topology_errors(lws(annotations=none), FEATURES)) == [
        f'{WORKER}.metadata.annotations[{SIZE}]: Invalid value: "x": must be a numeric value']


def test_pod_sets_that_cannot_be_made_are_told_by_their_template() -> None:
    """Given workers with an annotation that is no word for yes or no, when no pod set can be made
    of them, then their template is told of.
    """
    annotations = {f"{K}podset-unconstrained-topology": "maybe"}
    assert told(lws_webhook._topology_errors(lws(annotations=annotations), FEATURES)) == [
        f'{WORKER}.metadata.annotations[{K}podset-unconstrained-topology]: Invalid value: "maybe": must be a boolean value']


def cluster(*gates: Any, scales: bool = False, **spec: Any) -> RayCluster:
    """A RayCluster; the gates are those of its head and of each group."""
    templates: list[Tree] = [{"spec": {"containers": []} if each is None else {"schedulingGates": each}} for each in gates]
    head, *workers = templates
    groups = [{"groupName": f"g{place}", "template": each} for place, each in enumerate(workers)]
    body = {"headGroupSpec": {"template": head}, "workerGroupSpecs": groups, "enableInTreeAutoscaling": scales, **spec}
    return RayCluster(PLAIN, {"metadata": {"name": "c", "namespace": "n"}, "spec": body})


@pytest.mark.parametrize(("found", "wanted"), [
    (cluster(GATED, GATED), []),
    (cluster(GATED, GATED, scales=True), []),
    (cluster(GATED, GATED, managedBy="kueue.x-k8s.io/multikueue"), []),
    (cluster(None, GATED), [("spec.headGroupSpec.template.spec.schedulingGates", None)]),
    (cluster(GATED, GATED, [{"name": "x"}]), [
        ("spec.workerGroupSpecs[1].template.spec.schedulingGates", [{"name": "x"}])]),
    (cluster(None, None), [
        ("spec.workerGroupSpecs[0].template.spec.schedulingGates", None),
        ("spec.headGroupSpec.template.spec.schedulingGates", None)]),
])
def test_an_elastic_cluster_has_the_gate_everywhere(found: RayCluster, wanted: list[tuple[str, Any]]) -> None:
    """Given an elastic RayCluster, when one of its templates lacks the gate, then that is refused.
    """
    errors = ray_webhooks._elastic_errors(found)
    assert [(each.field, each.value) for each in errors] == wanted
    assert {each.detail for each in errors} <= {"an elastic job must have the ElasticJobSchedulingGate"}


def test_who_scales_a_cluster() -> None:
    """Given a RayCluster that scales itself, when it is no elastic job, or is given to MultiKueue,
    then that is refused.
    """
    away = cluster(GATED, scales=True, managedBy="kueue.x-k8s.io/multikueue")
    [error] = told(ray_webhooks._elastic_errors(away))
    assert error == (
        "spec.enableInTreeAutoscaling: Forbidden: in-tree autoscaling is not supported for a MultiKueue-managed elastic "
        "RayCluster")
    assert told(ray_webhooks._autoscaling_errors(cluster(None, scales=True))) == [
        f"spec.enableInTreeAutoscaling: Invalid value: true: {AUTOSCALING}"]
    assert ray_webhooks._autoscaling_errors(cluster(None)) == []


def job(annotations: Tree | None = None, **spec: Any) -> Job:
    """A Job."""
    return Job(PLAIN, {"metadata": {"name": "j", "namespace": "n", "annotations": annotations or {}}, "spec": spec})


@pytest.mark.parametrize(("text", "spec", "wanted"), [
    (None, {"parallelism": 3}, []),
    ("false", {"parallelism": 3}, []),
    ("true", {"parallelism": 3, "completions": 3, "completionMode": "Indexed"}, []),
    ("true", {"completionMode": "Indexed"}, []),
    ("maybe", {}, [f'[{SYNCED}]: Invalid value: "maybe": strconv.ParseBool: parsing "maybe": invalid syntax']),
    ("true", {"parallelism": 3, "completions": 2, "completionMode": "NonIndexed"}, [
        f'[{SYNCED}]: Invalid value: "true": should not be enabled for NonIndexed jobs',
        f"spec.completions: Invalid value: 2: should be equal to parallelism when {SYNCED} annotation is true"]),
])
def test_completions_as_many_as_run_at_once(text: str | None, spec: Tree, wanted: list[str]) -> None:
    """Given a Job whose completions are to follow its size, when it is not indexed, or has others,
    then that is refused.
    """
    found = told(job_webhook.sync_completion_errors(job({} if text is None else {SYNCED: text}, **spec)))
    assert found == [each if each.startswith("spec") else f"metadata.annotations{each}" for each in wanted]


@pytest.mark.parametrize(("before", "now", "wanted"), [
    (job({SYNCED: "true"}), job({SYNCED: "true"}), []),
    (job({SYNCED: "true"}), job(), [
        f"metadata.annotations[{SYNCED}]: Forbidden: field is immutable while the job is not suspended"]),
    (job({SYNCED: "true"}), job({SYNCED: "maybe"}), [
        f"metadata.annotations[{SYNCED}]: Forbidden: field is immutable while the job is not suspended"]),
    (job({SYNCED: "maybe"}), job(), []),
    (job({SYNCED: "true"}, suspend=True), job(), []),
    (job({SYNCED: "true"}), job(suspend=True), []),
    (job({MINIMUM: "1"}, parallelism=3), job({MINIMUM: "1"}, parallelism=2), [
        "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job is not suspended"]),
    (job({MINIMUM: "1"}, parallelism=3, suspend=True), job({MINIMUM: "1"}, parallelism=2), []),
])
def test_what_a_job_that_runs_may_not_change(before: Job, now: Job, wanted: list[str]) -> None:
    """Given a Job that runs, when its completions are to follow its size from now on or no more, or
    one that takes fewer pods has another size, then that is refused.
    """
    assert told(job_webhook.partial_admission_update_errors(before, now)) == wanted


def test_a_job_set_gives_back_as_much_as_it_has() -> None:
    """Given a JobSet of two jobs, when it runs and is stopped, then each has what it gets, and what
    it had; with another number of pod sets it does not run, and nothing is given back.
    """
    jobs = [{"name": name, "template": {"spec": {"template": {"spec": pod()}}}} for name in ("a", "b")]
    of = JobSet(PLAIN, {"metadata": {"name": "s"}, "spec": {"suspend": True, "replicatedJobs": jobs}})
    templates = [each["template"]["spec"]["template"] for each in of.obj["spec"]["replicatedJobs"]]
    with pytest.raises(InvalidPodSetInfo) as refused:
        of.run_with_podsets_info([PodSetInfo()])
    assert str(refused.value) == "invalid podset infos: expecting 2 podset, got 1"
    of.run_with_podsets_info([PodSetInfo(labels={"l": name}) for name in ("a", "b")])
    assert [each["metadata"] for each in templates] == [{"labels": {"l": "a"}}, {"labels": {"l": "b"}}]
    assert of.restore_podsets_info([PodSetInfo()]) is False
    assert of.restore_podsets_info([PodSetInfo(labels={"l": "a"}), PodSetInfo()]) is True
    assert [each["metadata"] for each in templates] == [{"labels": {"l": "a"}}, {}]
    assert of.validate_on_create() == []

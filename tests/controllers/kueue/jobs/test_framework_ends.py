"""Ends of what all kinds of jobs share: deep chains, classes that are gone, what is copied."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import labels
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.webhooks import Denied
from fakekube_controllers.kueue.configuration import Configuration, Integrations
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import ancestors, construction, integrations, priorities, stopping
from fakekube_controllers.kueue.jobframework.reconciler import JobReconciler
from fakekube_controllers.kueue.jobs.leaderworkerset import webhook as of_leader_worker_sets
from fakekube_controllers.kueue.jobs.pod import webhook as of_pods
from fakekube_controllers.kueue.jobs.ray import webhooks as of_ray
from fakekube_controllers.kueue.slices import replacement
from fakekube_controllers.kueue.webhooks import workload as of_workloads
from fakekube_controllers.kueue.workload import finish, patching
from tests.controllers.kueue.jobs.web import Web

K = "kueue.x-k8s.io/"
QUEUE, CLASS, GATED = f"{K}queue-name", f"{K}priority-class", f"{K}admission-gated-by"
NONE: Any = None
MOST = 1_000_000


def web(**spec: Any) -> Web:
    """A job."""
    return Web(Features(), {
        "apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "w", "namespace": "n", "uid": "u"}, "spec": spec})


async def test_a_job_below_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a job below more than ten others, when it is asked who is above it, then an Event says
    that this is too deep, and it is tried again.
    """
    async def find(*_: object, **__: object) -> None:
        raise ancestors.ChainLimitReached

    monkeypatch.setattr(ancestors, "find_ancestor_job_managed_by_kueue", find)
    reconciler: Any = JobReconciler.__new__(JobReconciler)
    told: list[tuple[object, ...]] = []
    reconciler.framework = SimpleNamespace(client=None, event=lambda *each: told.append(each))
    reconciler.options = SimpleNamespace(integrations=None)
    reconciler.configuration = Configuration(wait_for_pods_ready=None)
    job = web()
    with pytest.raises(ancestors.ChainLimitReached):
        await reconciler._ancestor(job)
    assert told == [(
        job.obj, "Warning", "JobNestingTooDeep",
        "Terminated search for Kueue-managed Job because ancestor depth exceeded limit of 10")]
    assert await reconciler._update_pods_ready(ObjectKey("n", "w"), job, {}) is False


@pytest.mark.parametrize(("conditions", "wanted"), [
    (None, True), ([], True), ([{"type": "Admitted", "status": "True"}], False),
    ([{"type": "Finished", "status": "True"}], True)])
def test_a_child_waits_for_who_is_above(conditions: list[Tree] | None, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a job that runs below another, when that has no Workload that is admitted, then it has
    to wait.
    """
    monkeypatch.setattr(Web, "is_suspended", lambda _: False)
    monkeypatch.setattr(Web, "finished", lambda _: None)
    metadata = {"name": "o", "uid": "o", "creationTimestamp": "2026-01-01T00:00:00Z"}
    owned = [] if conditions is None else [{"metadata": metadata, "spec": {}, "status": {"conditions": conditions}}]
    framework: Any = SimpleNamespace(workloads_of=lambda *_: owned, features=Features())
    assert stopping.should_suspend_child_job(framework, web(), web().obj) is wanted


@pytest.mark.parametrize(("gate", "wanted"), [
    (True, {"provreq.kueue.x-k8s.io/a": "1", "x": "2"}), (False, {"provreq.kueue.x-k8s.io/a": "1"})])
def test_annotations_that_workloads_take_over(gate: bool, wanted: Tree) -> None:
    """Given annotations of a job, when its Workload is made, then it has those for requests for
    nodes; those that are to be copied where metrics may have labels of their own.
    """
    configuration = Configuration(
        features=Features(CustomMetricLabels=gate), integrations=Integrations(annotation_keys_to_copy=("x", "absent")))
    found = {"provreq.kueue.x-k8s.io/a": "1", "x": "2", "y": "3"}
    assert construction.copied_annotations(found, configuration) == wanted


@pytest.mark.parametrize(("gates", "before", "wanted", "told"), [
    ("a.b/c", None, {GATED: "a.b/c"}, ['Updated workload AdmissionGatedBy to "a.b/c"']),
    (None, "a.b/c", {}, ['Updated workload AdmissionGatedBy to ""']), ("a.b/c", "a.b/c", {GATED: "a.b/c"}, [])])
async def test_gates_of_a_job_are_those_of_its_workload(
    gates: str | None, before: str | None, wanted: Tree, told: list[str],
) -> None:
    """Given a job that others gate, when its Workload is written, then that has the same gates, and
    an Event of the job says so if they are new.
    """
    events: list[str] = []

    async def update(_: object, workload: Tree) -> Tree:
        return workload

    def annotated(text: str | None) -> Tree:
        return {"metadata": {"name": "w", "annotations": {} if text is None else {GATED: text}}}

    framework: Any = SimpleNamespace(
        features=Features(AdmissionGatedBy=True), update_workload=update, event=lambda *each: events.append(each[-1]))
    written = await construction.update_workload(
        framework, ObjectKey("n", "w"), annotated(gates), annotated(before), annotated(before))
    assert written["metadata"]["annotations"] == wanted
    assert events == told


async def test_classes_of_priority() -> None:
    """Given Workloads of a job that names a class, when they are looked at, then those that have
    its name and value stay; a PriorityClass that is not there is an error.
    """
    lists: Any = SimpleNamespace(get=lambda *_: None, list=list)
    classes: Any = SimpleNamespace(get=lambda *_: {"metadata": {"name": "c"}, "value": 5})
    written: list[str] = []

    async def update(_: object, workload: Tree) -> None:
        written.append(workload["metadata"]["name"])
        assert (workload["spec"]["priority"], workload["spec"]["priorityClassRef"]["name"]) == (5, "c")

    framework: Any = SimpleNamespace(
        priority_classes=lists, workload_priority_classes=classes, update_workload=update, event=lambda *_: None)
    with pytest.raises(APIError) as absent:
        priorities.extract_priority(framework, web().obj, [], "p")
    assert (absent.value.code, absent.value.message) == (404, 'priorityclasses.scheduling.k8s.io "p" not found')

    def workload(name: str, of_class: str, priority: int) -> Tree:
        ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": of_class}
        spec = {"priority": priority, "priorityClassRef": ref}
        return {"metadata": {"name": name, "namespace": "n"}, "spec": spec, "status": {}}

    obj = {**web().obj, "metadata": {"name": "w", "labels": {CLASS: "c"}}}
    found = [workload("old", "b", 1), workload("same", "c", 5), workload("value", "c", 1)]
    await priorities.update_priorities(framework, ObjectKey("n", "w"), obj, found, None)
    assert written == ["value", "old"]


def test_what_packages_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an installed package, when it offers what is no Integration, then it is told what."""
    point = SimpleNamespace(load=lambda: "x")
    monkeypatch.setattr(integrations, "entry_points", lambda group: {group: [point]})
    with pytest.raises(TypeError) as refused:
        integrations.of_packages.__wrapped__()
    assert str(refused.value) == f"the entry points of {integrations.GROUP} are Integrations, not 'x'"


class Server:
    """A server with a namespace, and a class."""

    async def get(self, resource: Any, name: str, *_: object, **__: object) -> Tree | None:
        known: dict[str, Tree] = {
            "namespaces": {"metadata": {"name": "n", "labels": {"team": "a"}}}, "workloadpriorityclasses": {"value": 1}}
        return known.get(resource.plural)


@pytest.mark.parametrize(("selector", "gate", "queue", "managed", "wanted"), [
    ("team=b", True, "q", False, {QUEUE: "q"}), ("team=a", True, "q", True, {QUEUE: "q", CLASS: "default"}),
    ("team=a", False, "q", True, {QUEUE: "q"}), ("team=a", False, "", False, {})])
async def test_pods_of_a_namespace(selector: str, gate: bool, queue: str, managed: bool, wanted: Tree) -> None:
    """Given a pod with a queue, when its namespace is none of those that are managed, then it is
    left alone; else it gets the default class, if there is such a thing.
    """
    pod = {"metadata": {"name": "p", "namespace": "n", "labels": {QUEUE: queue} if queue else {}}, "spec": {}}
    configuration = Configuration(
        features=Features(WorkloadPriorityClassDefaulting=gate), managed_jobs_namespace_selector=labels.parse(selector))
    known: Any = SimpleNamespace(is_managed_owner=lambda _: False, is_known_owner=lambda _: False, for_owner=lambda _: None)
    options: Any = SimpleNamespace(configuration=configuration, integrations=known)
    request: Any = SimpleNamespace(object=pod, namespace="n")
    server: Any = Server()
    assert await of_pods._is_managed(pod, request, server, options) is managed
    assert pod["metadata"]["labels"] == wanted


@pytest.mark.parametrize(("replicas", "bound"), [
    (-1, "must be >= 0, got -1"), (0, None), (MOST, None), (MOST + 1, f"must be <= {MOST}, got {MOST + 1}")])
async def test_how_many_groups_there_may_be(replicas: int, bound: str | None) -> None:
    """Given a LeaderWorkerSet, when it has fewer than no groups, or more than a name has room for,
    then that is refused.
    """
    lws = {"metadata": {"name": "l", "labels": {}}, "spec": {"replicas": replicas}}
    request: Any = SimpleNamespace(object=lws, old_object=None)
    options: Any = SimpleNamespace(configuration=Configuration(features=Features(TopologyAwareScheduling=False)))
    if bound is None:
        await of_leader_worker_sets.validate(request, client=NONE, options=options)
        return
    with pytest.raises(Denied) as refused:
        await of_leader_worker_sets.validate(request, client=NONE, options=options)
    assert str(refused.value) == f"spec.replicas: Invalid value: {replicas}: invalid LeaderWorkerSet replicas: {bound}"


async def test_a_cluster_of_ray_that_is_nobodys() -> None:
    """Given a RayCluster without a queue, when it is changed, then nothing of it is looked at."""
    broken: Tree = {"metadata": {"name": "r"}, "spec": {"workerGroupSpecs": "x"}}
    request: Any = SimpleNamespace(object=broken, old_object=broken)
    options: Any = SimpleNamespace(configuration=Configuration())
    await of_ray.validate_cluster(request, client=NONE, options=options)


@pytest.mark.parametrize("gate", [True, False])
def test_how_few_pods_would_do(gate: bool) -> None:
    """Given a Workload of which fewer pods would do, when there is no such feature, then that is
    dropped.
    """
    def made(**more: Any) -> Tree:
        template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
        return {"apiVersion": f"{K}v1beta2", "kind": "Workload", "metadata": {"name": "w"}, "spec": {
            "podSets": [{"name": "main", "count": 3, "template": template, **more}]}}

    workload = made(minCount=1)
    request: Any = SimpleNamespace(object=workload, shown=workload)
    of_workloads.default(request, features=Features(PartialAdmission=gate))
    containers: list[Tree] = [{"name": "c", "image": "i"}]
    if gate:
        assert workload["spec"]["podSets"] == [
            {"name": "main", "count": 3, "minCount": 1, "template": {"spec": {"containers": containers}}}]
    else:  # as upstream writes it anew
        containers[0]["resources"] = {}
        assert workload["spec"]["podSets"] == [
            {"name": "main", "count": 3, "template": {"metadata": {}, "spec": {"containers": containers}}}]


async def test_what_is_over_is_not_ended_again() -> None:
    """Given Workloads that are being deleted, or have finished, when they are ended, then nothing
    is written; nor where an update has nothing to say.
    """
    going = {"metadata": {"name": "w", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert await finish.delete(NONE, going) is False
    over = {"metadata": {"name": "w"}, "status": {"conditions": [{"type": "Finished", "status": "True"}]}}
    await replacement.replace_workload_slice(NONE, NONE, NONE, "cq", over, over, now=0.0, features=Features())
    assert await finish.finish(NONE, over, "r", "m", now=0.0, features=Features()) is None
    for merges in (True, False):
        assert await patching.patch_status(
            NONE, {"metadata": {"name": "w", "resourceVersion": "1"}}, "m", lambda _: False,
            features=Features(WorkloadRequestUseMergePatch=merges)) is None

"""RayClusters and RayJobs with pods that are too many, chosen to go, or refused: the reconcilers
alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, PODS, SERVICES
from fakekube.runtime.reconcile import Request
from fakekube.util.clock import ManualClock
from fakekube_controllers.ray import submission, validation
from fakekube_controllers.ray.clusters import NotDone, RayClusterReconciler
from fakekube_controllers.ray.jobs import RayJobReconciler
from fakekube_controllers.ray.names import RAY_CLUSTERS, RAY_JOBS
from fakekube_controllers.ray.submission import Outcome
from fakekube_controllers.ray.validation import Invalid

CONTAINER = {"name": "ray", "image": "rayproject/ray:2.9.0"}
TEMPLATE = {"spec": {"containers": [CONTAINER]}}
GROUP = {"groupName": "small", "replicas": 2, "minReplicas": 1, "maxReplicas": 3, "template": TEMPLATE}
STARTED = "1970-01-01T00:00:00Z"


def cluster(**group: Any) -> Any:
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {
        "name": "c", "namespace": "n", "uid": "c", "generation": 1, "resourceVersion": "1"},
        "spec": {"headGroupSpec": {"template": TEMPLATE}, "workerGroupSpecs": [{**GROUP, **group}]}}


def pod(name: str, kind: str = "worker") -> Any:
    return {"metadata": {"name": name, "namespace": "n", "labels": {
        "ray.io/cluster": "c", "ray.io/node-type": kind, "ray.io/group": "small" if kind == "worker" else "headgroup"}},
        "spec": TEMPLATE["spec"], "status": {"phase": "Running"}}


class Parts:
    """What the reconcilers are given: objects by resource, and a client that remembers."""

    def __init__(self, objects: Any, refusal: APIError | None = None) -> None:
        self.objects, self.refusal, self.client, self.clock = objects, refusal, self, ManualClock()
        self.done: list[tuple[str, ...]] = []
        self.told: list[tuple[str, ...]] = []
        self.written: Any = None
        self.rng = SimpleNamespace(suffix=lambda length: "x" * length)

    def lister(self, resource: Any) -> Any:
        """That of a resource."""
        of = self.objects.get(resource, [])

        def get(_: str, name: str) -> Any:
            return next((each for each in of if each["metadata"]["name"] == name), None)

        return SimpleNamespace(get=get, labelled=lambda *_: of)

    def recorder(self, _: str) -> Any:
        """That of Events."""
        return self

    def event(self, _: Any, *words: str) -> None:
        """Keep an Event."""
        self.told.append(words)

    def informer(self, _: Any) -> Any:
        """One that shows all there is."""
        return self

    def has_reached(self, _: str) -> bool:
        """Always."""
        return True

    async def create(self, resource: Any, body: Any, _: str) -> Any:
        """Make it, or refuse to."""
        if self.refusal is not None:
            raise self.refusal
        self.done.append(("create", resource.kind))
        return {**body, "metadata": {**body["metadata"], "resourceVersion": "1"}}

    async def delete(self, resource: Any, name: str, _: str, **__: Any) -> Any:
        """Delete it."""
        self.done.append(("delete", resource.kind, name))
        return {}

    async def update(self, _: Any, body: Any, subresource: str = "") -> Any:
        """Write it."""
        self.written = body
        return body


SERVICE = {"metadata": {"name": "c-head-svc"}}


async def reconciled(of: Any, *pods: Any, services: Any = (SERVICE,), refusal: APIError | None = None) -> Any:
    """What was done and told, and how the status ends; what was raised."""
    parts: Any = Parts({RAY_CLUSTERS: [of], PODS: pods, SERVICES: services}, refusal)
    try:
        raised: Any = await RayClusterReconciler(parts).reconcile(Request("n", "c"))
    except (APIError, NotDone) as error:
        raised = str(error)
    return raised, parts


async def test_two_heads_are_one_too_many() -> None:
    """Given a cluster with two heads / when it is reconciled / then no pod is made or deleted, and
    the status says that somebody has to delete one.
    """
    raised, parts = await reconciled(cluster(), pod("h1", "head"), pod("h2", "head"))
    text = "2 head pods found [h1 h2]. Please delete extra head pods"
    assert (raised, parts.done) == (text, [])
    [failure] = [each for each in parts.written["status"]["conditions"] if each["type"] == "ReplicaFailure"]
    assert (failure["status"], failure["reason"], failure["message"]) == ("True", "FailedCreateHeadPod", text)


@pytest.mark.parametrize(("group", "workers", "done"), [
    ({}, ["a", "b"], []), ({}, ["a", "b", "d"], [("delete", "Pod", "a")]),
    ({"scaleStrategy": {"workersToDelete": ["b"]}}, ["a", "b", "d"], [("delete", "Pod", "b")]),
    ({"scaleStrategy": {"workersToDelete": ["b", "z"]}}, ["a", "b"], [("delete", "Pod", "b"), ("create", "Pod")]),
    ({"scaleStrategy": {"workersToDelete": ["a", "b"]}, "replicas": 1}, ["a", "b", "d"],
     [("delete", "Pod", "a"), ("delete", "Pod", "b")]),
])
async def test_workers_that_are_chosen_go_first(group: Any, workers: list[str], done: Any) -> None:
    """Given workers / when some are named to be deleted / then these go, and then others are made
    or go until there are as many as there are to be.
    """
    _, parts = await reconciled(cluster(**group), pod("h", "head"), *(pod(name) for name in workers))
    assert parts.done == done
    assert [words for words in parts.told if words[1].startswith("Deleted")] == [
        ("Normal", "DeletedWorkerPod", f"Deleted Pod n/{each[2]}") for each in done if each[0] == "delete"]


@pytest.mark.parametrize(("reason", "raised"), [("AlreadyExists", None), ("Forbidden", "not you")])
async def test_a_service_that_cannot_be_made(reason: str, raised: Any) -> None:
    """Given a cluster whose Service the cache does not show / when it is there already / then all
    is well; any other refusal ends the reconcile.
    """
    pods = [pod("h", "head"), pod("a"), pod("b")]
    found, parts = await reconciled(cluster(), *pods, services=(), refusal=APIError(409, reason, "not you"))
    assert (found, parts.done, parts.told) == (raised, [], [])
    assert (parts.written is None) is (raised is not None)


@pytest.mark.parametrize(("made", "resource", "of"), [
    (RayClusterReconciler, RAY_CLUSTERS, cluster()), (RayJobReconciler, RAY_JOBS, {"metadata": {"name": "c"}, "spec": {}})])
async def test_a_cache_that_is_behind_is_waited_for(made: Any, resource: Any, of: Any) -> None:
    """Given a cache that does not show what was written last / then nothing is done, and it is
    looked at again 5 ms later.
    """
    parts: Any = Parts({resource: [of]})
    reconciler = made(parts)
    reconciler._consistency = SimpleNamespace(satisfied=lambda _: False)
    again = await reconciler.reconcile(Request("n", "c"))
    assert (again.requeue_after.total_seconds(), parts.done, parts.written) == (0.005, [], None)


def job(state: str, **spec: Any) -> Any:
    return {"metadata": {"name": "j", "namespace": "n", "finalizers": ["ray.io/rayjob-finalizer"], "resourceVersion": "1"},
            "spec": {"rayClusterSpec": cluster()["spec"], "shutdownAfterJobFinishes": True, **spec},
            "status": {"jobDeploymentStatus": state, "rayClusterName": "c", "jobId": "j-1", "startTime": STARTED}}


@pytest.mark.parametrize(("state", "spec", "clusters", "then", "done"), [
    ("Suspending", {}, [cluster()], "Suspending", [("delete", "RayCluster", "c")]),
    ("Suspending", {}, [], "Suspended", []),
    ("Retrying", {"clusterSelector": {"ray.io/cluster": "c"}, "shutdownAfterJobFinishes": False}, [cluster()], "", []),
    ("Running", {"clusterSelector": {"ray.io/cluster": "c"}, "shutdownAfterJobFinishes": False}, [], "Running", []),
])
async def test_what_becomes_of_the_cluster_of_a_job(state: str, spec: Any, clusters: Any, then: str, done: Any) -> None:
    """Given a job that ends a try / then its cluster is deleted first, unless it was somebody
    else's; while it runs on one that is gone, nothing becomes of it, and a warning says so.
    """
    parts: Any = Parts({RAY_JOBS: [job(state, **spec)], RAY_CLUSTERS: clusters, JOBS: []})
    await RayJobReconciler(parts).reconcile(Request("n", "j"))
    written = parts.written or job(state)
    assert (written["status"].get("jobDeploymentStatus", ""), parts.done) == (then, done)
    warnings = [words for words in parts.told if words[0] == "Warning"]
    assert warnings == [("Warning", "RayClusterNotFound", (
        "RayCluster n/c set in the clusterSelector is not found. It must be created manually"))] * (state == "Running")


@pytest.mark.parametrize(("annotations", "info", "now", "expected"), [
    ({"run-duration": "forever"}, {"startTime": STARTED}, 1e9, Outcome("RUNNING")), ({}, None, 1e9, Outcome("RUNNING")),
    ({}, {}, 1e9, Outcome("RUNNING")),
    ({}, {"startTime": STARTED}, 0.5, Outcome("RUNNING", until=1.0)),
    ({}, {"startTime": STARTED}, 1.0, Outcome("SUCCEEDED", "Job finished successfully.")),
    ({"run-duration": "soon"}, {"startTime": STARTED}, 0, Outcome("FAILED", "fakekube.dev/run-duration: 'soon' is no duration")),
])
def test_how_a_job_without_a_submitter_is(annotations: Any, info: Any, now: float, expected: Outcome) -> None:
    """Given a job that was submitted over HTTP / then it runs for a second, or as long as its
    annotation says, or for ever; and before it has begun.
    """
    of = {"metadata": {"annotations": {f"fakekube.dev/{key}": value for key, value in annotations.items()}}, "spec": {},
          "status": {} if info is None else {"rayJobInfo": info}}
    assert submission.outcome_of_annotations(of, now) == expected


@pytest.mark.parametrize(("spec", "group", "text"), [
    ({}, {}, ""), ({}, {"minReplicas": None}, (
        "worker group small must set both minReplicas and maxReplicas when autoscaling is disabled")),
    ({}, {"maxReplicas": None}, "worker group small must set both minReplicas and maxReplicas when autoscaling is disabled"),
    ({"enableInTreeAutoscaling": True}, {"minReplicas": None, "maxReplicas": None}, ""),
    ({}, {"minReplicas": 0, "maxReplicas": 0}, ""), ({}, {"maxReplicas": -1}, "worker group small has negative maxReplicas -1"),
    ({}, {"minReplicas": 3}, ""), ({}, {"minReplicas": 4}, "worker group small has minReplicas 4 greater than maxReplicas 3"),
    ({"enableInTreeAutoscaling": True}, {"suspend": True}, "worker group small cannot be suspended with Autoscaler enabled"),
    ({}, {"suspend": True}, ""), ({}, {"template": {}}, "workerGroupSpec should have at least one container"),
    ({"headGroupSpec": {"template": {}}}, {}, "headGroupSpec should have at least one container"),
])
def test_groups_of_workers_that_are_refused(spec: Any, group: Any, text: str) -> None:
    """Given a cluster's spec / then it is refused where its groups make no sense."""
    made = {**cluster(**group)["spec"], **spec}
    if not text:
        validation.check_cluster_spec(made)
        return
    with pytest.raises(Invalid) as refused:
        validation.check_cluster_spec(made)
    assert str(refused.value) == text

"""What the Job controller does to the API, and what it then waits to see in its caches.

After asking for three pods the controller does nothing more to the Job until its cache has shown three new ones, and a
pod whose finalizer it has taken is never counted again even while the cache still shows the finalizer.
Upstream: pkg/controller/job/{job_controller.go,tracking_utils.go}, pkg/controller/controller_utils.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.client import PATCH_CONTENT_TYPES, Client
from fakekube.client.recorder import Recorder
from fakekube.client.resources import JOBS, PODS
from fakekube.runtime.podcontrol import PodControl
from fakekube_controllers.job import pods
from fakekube_controllers.job.backoff import Backoff  # noqa: TC001 - mypy wants it for the annotation of an attribute
from fakekube_controllers.job.metrics import JobMetrics
from fakekube_controllers.job.round import Round

PATCHED_TOO_LATE = (404, 409, 422)  # the pod is gone, or another one has its name
COUNTED = ("succeeded", "failed", "completedIndexes", "failedIndexes")


class Hands:
    """One controller's hold on its client, its expectations and its memory of failures."""

    def __init__(self, client: Client, recorder: Recorder, expectations: Expectations, metrics: JobMetrics) -> None:
        self.client, self.recorder, self.expectations, self.metrics = client, recorder, expectations, metrics
        self.control = PodControl(client, recorder)
        self.backoffs: dict[ObjectKey, Backoff] = {}
        self.removed: dict[ObjectKey, dict[str, None]] = {}  # pods by Job, whose finalizer was taken

    def event(self, job: Mapping[str, Any], type_: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Say something about the Job."""
        self.recorder.event(job, type_, reason, message)

    # pods

    def expect_creations(self, job: Mapping[str, Any], count: int) -> None:
        """So many pods are about to be asked for."""
        if count:
            self.expectations.expect_creations(meta.key_of(job), count)

    def creation_failed(self, job: Mapping[str, Any], count: int) -> None:
        """So many of them will not come."""
        for _ in range(count):
            self.expectations.creation_observed(meta.key_of(job))

    def expect_deletions(self, job: Mapping[str, Any], victims: Sequence[pods.Pod]) -> None:
        """These pods are about to be deleted."""
        if victims:
            self.expectations.expect_deletions_of(meta.key_of(job), [meta.uid_of(pod) for pod in victims])

    def deletion_failed(self, job: Mapping[str, Any], pod: pods.Pod) -> None:
        """One of them will not go."""
        self.expectations.deletion_observed(meta.key_of(job), meta.uid_of(pod))

    async def create(self, job: Mapping[str, Any], pod: Tree) -> None:
        """Create a pod and say so. Raises APIError, after a Warning, unless the namespace is on its way out."""
        await self.control.create(job, pod)

    async def delete(self, job: Mapping[str, Any], pod: pods.Pod) -> None:
        """Delete a pod and say so; one that is gone already is fine. Raises APIError after a Warning."""
        if not await self.control.delete(job, meta.name_of(pod), meta.namespace_of(pod)):
            self.deletion_failed(job, pod)

    async def remove_tracking(self, pod: pods.Pod) -> None:
        """Take the tracking finalizer off a pod of a Job; one that is gone already is fine. Raises APIError."""
        uid = meta.uid_of(pod)
        removed = self.removed.setdefault(_job_key(pod), {})
        removed[uid] = None
        try:
            await self._remove_finalizer(pod)
        except APIError as error:
            removed.pop(uid, None)
            if error.code not in PATCHED_TOO_LATE:
                raise

    async def release_orphan(self, pod: pods.Pod) -> None:
        """The same for a pod that no Job counts. Raises APIError."""
        try:
            await self._remove_finalizer(pod)
        except APIError as error:
            if error.code not in PATCHED_TOO_LATE:
                raise

    async def _remove_finalizer(self, pod: pods.Pod) -> None:
        body = {"metadata": {"uid": meta.uid_of(pod), "$deleteFromPrimitiveList/finalizers": [pods.TRACKING_FINALIZER]}}
        path = PODS.path(meta.namespace_of(pod), meta.name_of(pod))
        await self.client.send("PATCH", path, body, content_type=PATCH_CONTENT_TYPES["strategic"])

    def is_released(self, pod: pods.Pod) -> bool:
        """Whether the pod's tracking finalizer was taken, and the cache is yet to show that."""
        return meta.uid_of(pod) in self.removed.get(_job_key(pod), ())

    def tracking_removal_seen(self, pod: pods.Pod, job_name: str) -> None:
        """The cache shows a pod without its finalizer, or shows it no more."""
        removed = self.removed.get(ObjectKey(meta.namespace_of(pod), job_name))
        if removed is not None:
            removed.pop(meta.uid_of(pod), None)

    # the Job

    async def write_status(self, found: Round) -> None:
        """Write the status. Raises APIError, Conflict among them."""
        written = await self.client.update_status(JOBS, found.job)
        found.job["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"]
        self.remember(found)
        self.metrics.counted(found)
        found.written = {key: found.status.get(key) for key in COUNTED if key in found.status}

    def remember(self, found: Round) -> None:
        """Keep the back-off record for the next sync."""
        self.backoffs[meta.key_of(found.job)] = found.record

    def forget(self, key: ObjectKey) -> None:
        """The Job is gone."""
        self.expectations.forget(key)
        self.backoffs.pop(key, None)
        self.removed.pop(key, None)

    def announce_finish(self, found: Round) -> None:
        """The Events of a Job that has just got its terminal condition."""
        outcome = found.outcome
        assert outcome is not None, "a finished Job has an outcome"
        self.metrics.finished(found)
        if outcome.terminal == "Failed":
            self.event(found.job, "Warning", outcome.reason, outcome.message)
            return
        completions = found.completions
        if completions is not None and found.status.get("succeeded", 0) > completions:
            text = "Too many succeeded pods running after completion count reached"
            self.event(found.job, "Warning", "TooManySucceededPods", text)
        self.event(found.job, "Normal", "Completed", "Job completed")


def _job_key(pod: pods.Pod) -> ObjectKey:
    """The key of the Job that controls a pod; that of no Job when none does."""
    owner = meta.controller_of(pod)
    return ObjectKey(meta.namespace_of(pod), owner["name"] if owner is not None else "")

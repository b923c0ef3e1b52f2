"""The writes of the Job controller, and the expectations that they leave until its caches show them.

After the controller has created three pods it creates and deletes none for the Job until its cache has shown three new ones.
A pod whose tracking finalizer it has removed is not counted again, even while the cache still shows the finalizer.
Upstream: pkg/controller/job/{job_controller.go,tracking_utils.go}, pkg/controller/controller_utils.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube.client.resources import JOBS, PODS
from fakekube.runtime.podcontrol import PodControl
from fakekube_controllers.job import pods
from fakekube_controllers.job.backoff import Backoff  # noqa: TC001 - mypy wants it for the annotation of an attribute
from fakekube_controllers.job.metrics import JobMetrics
from fakekube_controllers.job.syncstate import SyncState

PATCHED_TOO_LATE = (404, 409, 422)  # the pod is gone, or another one has its name
COUNTED = ("succeeded", "failed", "completedIndexes", "failedIndexes")


class Writer:
    """Writes pods, Jobs and Events for one controller; keeps its expectations and its back-off of failed pods."""

    def __init__(self, client: Client, recorder: Recorder, expectations: Expectations, metrics: JobMetrics) -> None:
        self.client, self.recorder, self.expectations, self.metrics = client, recorder, expectations, metrics
        self.control = PodControl(client, recorder)
        self.backoffs: dict[ObjectKey, Backoff] = {}
        self.finalizer_expectations: dict[ObjectKey, dict[str, None]] = {}  # by Job: uids of pods whose finalizer was removed

    def event(self, job: Mapping[str, Any], type_: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an Event about the Job."""
        self.recorder.event(job, type_, reason, message)

    # pods

    def expect_creations(self, job: Mapping[str, Any], count: int) -> None:
        """Note that ``count`` pods are about to be created."""
        if count:
            self.expectations.expect_creations(meta.key_of(job), count)

    def creation_failed(self, job: Mapping[str, Any], count: int) -> None:
        """Note that ``count`` of them were not created."""
        for _ in range(count):
            self.expectations.creation_observed(meta.key_of(job))

    def expect_deletions(self, job: Mapping[str, Any], victims: Sequence[pods.Pod]) -> None:
        """Note that these pods are about to be deleted."""
        if victims:
            self.expectations.expect_deletions_of(meta.key_of(job), [meta.uid_of(pod) for pod in victims])

    def deletion_failed(self, job: Mapping[str, Any], pod: pods.Pod) -> None:
        """Note that one of them was not deleted."""
        self.expectations.deletion_observed(meta.key_of(job), meta.uid_of(pod))

    async def create(self, job: Mapping[str, Any], pod: Tree) -> None:
        """Create a pod and record an Event. Raises APIError, after a Warning unless the namespace is being deleted."""
        await self.control.create(job, pod)

    async def delete(self, job: Mapping[str, Any], pod: pods.Pod) -> None:
        """Delete a pod and record an Event; one that is gone already is no error. Raises APIError after a Warning."""
        if not await self.control.delete(job, meta.name_of(pod), meta.namespace_of(pod)):
            self.deletion_failed(job, pod)

    async def remove_tracking_finalizer(self, pod: pods.Pod) -> None:
        """Remove the tracking finalizer from a pod of a Job; a pod that is gone already is no error. Raises APIError."""
        uid = meta.uid_of(pod)
        removed = self.finalizer_expectations.setdefault(_job_key(pod), {})
        removed[uid] = None
        try:
            await self._remove_finalizer(pod)
        except APIError as error:
            removed.pop(uid, None)
            if error.code not in PATCHED_TOO_LATE:
                raise

    async def remove_orphan_finalizer(self, pod: pods.Pod) -> None:
        """Remove the tracking finalizer from a pod that no Job counts. Raises APIError."""
        try:
            await self._remove_finalizer(pod)
        except APIError as error:
            if error.code not in PATCHED_TOO_LATE:
                raise

    async def _remove_finalizer(self, pod: pods.Pod) -> None:
        body = {"metadata": {"uid": meta.uid_of(pod), "$deleteFromPrimitiveList/finalizers": [pods.TRACKING_FINALIZER]}}
        await self.client.patch(
            PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic", read_answer=False)

    def is_removal_expected(self, pod: pods.Pod) -> bool:
        """Whether the pod's tracking finalizer was removed and the cache does not show that yet."""
        return meta.uid_of(pod) in self.finalizer_expectations.get(_job_key(pod), ())

    def finalizer_removal_observed(self, pod: pods.Pod, job_name: str) -> None:
        """Note that the cache shows the pod without its finalizer, or no longer has the pod."""
        removed = self.finalizer_expectations.get(ObjectKey(meta.namespace_of(pod), job_name))
        if removed is not None:
            removed.pop(meta.uid_of(pod), None)

    # the Job

    async def update_status(self, state: SyncState) -> None:
        """Write the status. Raises APIError, on a conflict too."""
        written = await self.client.update_status(JOBS, state.job)
        state.job["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"]
        self.keep_backoff(state)
        self.metrics.counted(state)
        state.last_status = {key: state.status.get(key) for key in COUNTED if key in state.status}

    def keep_backoff(self, state: SyncState) -> None:
        """Keep the back-off for the next sync."""
        self.backoffs[meta.key_of(state.job)] = state.backoff

    def forget(self, key: ObjectKey) -> None:
        """Drop what is kept about a Job that is gone."""
        self.expectations.forget(key)
        self.backoffs.pop(key, None)
        self.finalizer_expectations.pop(key, None)

    def record_job_finished(self, state: SyncState) -> None:
        """Record the Events of a Job that has just got its terminal condition."""
        outcome = state.outcome
        assert outcome is not None, "a finished Job has an outcome"
        self.metrics.finished(state)
        if outcome.terminal == "Failed":
            self.event(state.job, "Warning", outcome.reason, outcome.message)
            return
        completions = state.completions
        if completions is not None and state.status.get("succeeded", 0) > completions:
            text = "Too many succeeded pods running after completion count reached"
            self.event(state.job, "Warning", "TooManySucceededPods", text)
        self.event(state.job, "Normal", "Completed", "Job completed")


def _job_key(pod: pods.Pod) -> ObjectKey:
    """The key of the Job that controls a pod; that of no Job when none does."""
    owner = meta.controller_of(pod)
    return ObjectKey(meta.namespace_of(pod), owner["name"] if owner is not None else "")

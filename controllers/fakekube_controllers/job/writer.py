"""The writes of the Job controller, and the expectations that they leave until its caches show
them.

After the controller has created three pods it creates and deletes none for the Job until its cache
has shown three new ones.
Upstream: pkg/controller/job/job_controller.go, pkg/controller/controller_utils.go.
"""

from collections.abc import Mapping
from typing import Any, Literal

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.cache.expectations import Expectations
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube.client.resources import JOBS
from fakekube.runtime.ownwrites import OwnWrites
from fakekube.runtime.podcontrol import PodControl
from fakekube_controllers.job.backoff import Backoff  # noqa: TC001 - an attribute's annotation
from fakekube_controllers.job.finalizers import TrackingFinalizers
from fakekube_controllers.job.metrics import JobMetrics
from fakekube_controllers.job.syncstate import SyncState

COUNTED = ("succeeded", "failed", "completedIndexes", "failedIndexes")


class Writer:
    """Writes pods, Jobs and Events for one controller; keeps its expectations and its back-off of
    failed pods; notes in ``own_writes`` the pods that it makes and the status that it writes.
    """

    def __init__(
        self, client: Client, recorder: Recorder, expectations: Expectations, finalizers: TrackingFinalizers,
        metrics: JobMetrics, own_writes: OwnWrites,
    ) -> None:
        self.own_writes = own_writes
        self.client, self.recorder, self.expectations = client, recorder, expectations
        self.finalizers, self.metrics = finalizers, metrics
        self.control = PodControl(client, recorder, own_writes)
        self.backoffs: dict[ObjectKey, Backoff] = {}

    def event(self, job: Mapping[str, Any], type_: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an Event about the Job."""
        self.recorder.event(job, type_, reason, message)

    async def update_status(self, state: SyncState) -> None:
        """Write the status. Raises APIError, on a conflict too."""
        written = await self.client.update_status(JOBS, state.job)
        state.job["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"]
        self.own_writes.note(meta.key_of(state.job), JOBS, written)
        self.keep_backoff(state)
        self.metrics.counted(state)
        state.last_status = {key: state.status.get(key) for key in COUNTED if key in state.status}

    def keep_backoff(self, state: SyncState) -> None:
        """Keep the back-off for the next sync."""
        self.backoffs[meta.key_of(state.job)] = state.backoff

    def forget(self, key: ObjectKey) -> None:
        """Drop what is kept about a Job that is gone."""
        self.expectations.forget(key)
        self.own_writes.forget(key)
        self.backoffs.pop(key, None)
        self.finalizers.forget(key)

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

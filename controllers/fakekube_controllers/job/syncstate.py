"""The state of one sync of a Job: which pods are active, which have finished since, and how the Job
ends.

Nothing here writes. Upstream: syncJobCtx and the first half of syncJob
(pkg/controller/job/job_controller.go).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube.util.durations import of_whole_seconds
from fakekube_controllers.job import backoff, indexes, pods, policies
from fakekube_controllers.job.backoff import Backoff
from fakekube_controllers.job.conditions import Outcome
from fakekube_controllers.job.features import ALL, Features
from fakekube_controllers.job.indexes import Indexes
from fakekube_controllers.job.pods import Pod
from fakekube_controllers.job.podsummaries import JobPods
from fakekube_controllers.job.policies import Verdict

BACKOFF_EXCEEDED = Outcome("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
DEADLINE_EXCEEDED = Outcome("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
FAILED_INDEXES = Outcome("FailureTarget", "FailedIndexes", "Job has failed indexes")
MAX_FAILED_INDEXES = Outcome(
    "FailureTarget", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
COMPLETIONS_REACHED = Outcome("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods")


@dataclass(slots=True)
class SyncState:
    """What one sync knows.

    The Job's status and metadata are the sync's own copies; its spec and the pods are read-only.
    """

    job: dict[str, Any]
    job_pods: JobPods
    now: float
    # uids of pods whose tracking finalizer an earlier sync removed
    expected_removals: Collection[str]
    backoff: Backoff
    features: Features = ALL
    # the status that was read or written last
    last_status: Mapping[str, Any] = field(default_factory=dict)
    pod_group: str = ""  # which new pods belong to
    # uids of pods with the tracking finalizer; None: not computed yet
    tracked: dict[str, None] | None = None
    active_count: int = 0
    ready: int = 0
    terminating: int = 0
    ended: list[Pod] = field(default_factory=list)  # tracked, and finished or being deleted
    # uids of pods whose tracking finalizer this sync removed
    released: dict[str, None] = field(default_factory=dict)
    new_succeeded: list[Pod] = field(default_factory=list)
    new_failed: list[Pod] = field(default_factory=list)
    succeeded: int = 0
    failed: int = 0
    prev_succeeded_indexes: Indexes = field(default_factory=Indexes)
    succeeded_indexes: Indexes = field(default_factory=Indexes)
    failed_indexes: Indexes | None = None
    # the failed pod of an index, until it is replaced
    delayed_by_index: dict[int, Pod] = field(default_factory=dict)
    outcome: Outcome | None = None

    @property
    def spec(self) -> Mapping[str, Any]:
        """The Job's spec."""
        spec: Mapping[str, Any] = self.job["spec"]
        return spec

    @property
    def status(self) -> dict[str, Any]:
        """The status that this sync will write."""
        status: dict[str, Any] = self.job["status"]
        return status

    @property
    def uncounted(self) -> dict[str, Any]:
        """status.uncountedTerminatedPods."""
        lists: dict[str, Any] = self.status["uncountedTerminatedPods"]
        return lists

    @property
    def pods(self) -> Sequence[Pod]:
        """All pods of the Job, in the order in which the cache has them."""
        return self.job_pods.pods

    @property
    def active(self) -> list[Pod]:
        """The pods that are neither finished nor being deleted."""
        return [*self.job_pods.select(summary.active for summary in self.job_pods.summaries)]

    def is_tracked(self, uid: str) -> bool:
        """Whether there is a pod of that uid that still has its tracking finalizer."""
        if uid in self.expected_removals or uid in self.released:
            return False
        if self.tracked is None:
            self.tracked = dict.fromkeys(
                pod["metadata"]["uid"] for pod in self.job_pods.select(summary.tracked for summary in self.job_pods.summaries))
        return uid in self.tracked

    @property
    def indexed(self) -> bool:
        """Whether every pod has a completion index."""
        return bool(self.spec.get("completionMode") == "Indexed")

    @property
    def per_index(self) -> bool:
        """Whether back-off is counted for each index."""
        return self.indexed and self.features.per_index and "backoffLimitPerIndex" in self.spec

    @property
    def completions(self) -> int | None:
        """spec.completions."""
        return self.spec.get("completions")

    @property
    def suspended(self) -> bool:
        """spec.suspend."""
        return bool(self.spec.get("suspend"))

    @property
    def only_replace_failed(self) -> bool:
        """Whether a pod is replaced only once it is in phase Failed."""
        if self.features.replacement_policy and self.spec.get("podReplacementPolicy") == "Failed":
            return True
        return self.failure_policy is not None

    @property
    def failure_policy(self) -> Mapping[str, Any] | None:
        """spec.podFailurePolicy."""
        return self.spec.get("podFailurePolicy") if self.features.failure_policy else None

    def verdict(self, pod: Pod) -> Verdict:
        """What the podFailurePolicy decides about a pod."""
        return policies.match_failure_policy(self.failure_policy, pod, per_index=self.features.per_index)

    def is_valid_index(self, pod: Pod) -> bool:
        """Whether the pod counts for an index that the Job still has; every pod of a plain Job
        does.
        """
        if not self.indexed:
            return True
        index = indexes.index_of(pod)
        return index is not None and index < (self.completions or 0)

    def compute(self) -> None:
        """Fill in everything that follows from the Job and its pods, in upstream's order."""
        self._count()
        self._compute_outcome()
        if self.indexed:
            self._compute_indexes()

    def _count(self) -> None:
        summaries, removed = self.job_pods.summaries, self.expected_removals
        self.active_count = sum([summary.active for summary in summaries])
        self.ready = sum([summary.ready for summary in summaries])
        self.terminating = sum([summary.terminating for summary in summaries])
        ended = self.job_pods.select(summary.ended for summary in summaries)
        self.ended = [pod for pod in ended if pod["metadata"]["uid"] not in removed]
        uncounted = dict.fromkeys([*self.uncounted.get("succeeded", ()), *self.uncounted.get("failed", ())])
        only_replace_failed = self.only_replace_failed
        for pod in self.ended:
            if pod["metadata"]["uid"] in uncounted or not self.is_valid_index(pod):
                continue
            if pods.phase(pod) == "Succeeded":
                self.new_succeeded.append(pod)
            elif pods.is_failed(pod, only_replace_failed):
                self.new_failed.append(pod)
        counted = sum(self.verdict(pod).counts for pod in self.new_failed)
        self.succeeded = self.status.get("succeeded", 0) + len(self.new_succeeded) + len(self.uncounted.get("succeeded", ()))
        self.failed = self.status.get("failed", 0) + counted + len(self.uncounted.get("failed", ()))

    def _compute_outcome(self) -> None:
        self.backoff = self.backoff.after(self.new_succeeded, self.new_failed)
        self.outcome = self._global_outcome()

    def _global_outcome(self) -> Outcome | None:
        features = self.features
        for kind, known in (
            ("SuccessCriteriaMet", features.success_policy or features.interim_conditions),
            ("FailureTarget", features.failure_policy or features.interim_conditions),
        ):
            present = meta.find_condition(self.job, kind) if known else None
            if present is not None and present["status"] == "True":
                return Outcome(kind, present.get("reason", ""), present.get("message", ""))
        for pod in self.pods if self.failure_policy else ():
            verdict = self.verdict(pod)
            if verdict.action == "FailJob":
                return Outcome("FailureTarget", "PodFailurePolicy", verdict.message)
        if self.failed > self.spec.get("backoffLimit", 6) or self._too_many_restarts():
            return self.ending(BACKOFF_EXCEEDED)
        if self.deadline_seconds() is not None and (self.deadline_seconds() or 0.0) <= 0:
            return self.ending(DEADLINE_EXCEEDED)
        return None

    def ending(self, outcome: Outcome) -> Outcome:
        """The outcome as this release writes it: with an interim condition or without, and a reason
        for success or none.
        """
        if outcome is COMPLETIONS_REACHED and not self.features.success_policy:
            outcome = Outcome(outcome.type, "", "")
        return outcome if self.features.interim_conditions else outcome._replace(type=outcome.terminal)

    def _too_many_restarts(self) -> bool:
        if self.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        total = sum(pods.restarts(pod) for pod in self.pods if pods.phase(pod) in ("Pending", "Running"))
        limit = self.spec.get("backoffLimit", 6)
        return total > 0 if limit == 0 else bool(total >= limit)

    def deadline_seconds(self) -> float | None:
        """How long until activeDeadlineSeconds are over; None when no deadline runs."""
        deadline, started = self.spec.get("activeDeadlineSeconds"), self.status.get("startTime")
        if deadline is None or started is None or self.suspended:
            return None
        return times.parse_time(started) + of_whole_seconds(deadline) - self.now

    def _compute_indexes(self) -> None:
        self.prev_succeeded_indexes = indexes.parse(self.status.get("completedIndexes", ""), self.completions)
        new = [index for pod in self.new_succeeded if (index := indexes.index_of(pod)) is not None]
        self.succeeded_indexes = self.prev_succeeded_indexes.union(Indexes.of(new))
        self.succeeded = len(self.succeeded_indexes)
        if self.per_index:
            self._compute_failed_indexes()
        policy = self.spec.get("successPolicy") if self.features.success_policy else None
        if self.outcome is None and (message := policies.match_success_policy(policy, self.succeeded_indexes)):
            self.outcome = Outcome("SuccessCriteriaMet", "SuccessPolicy", message)

    def _compute_failed_indexes(self) -> None:
        known = indexes.parse(self.status.get("failedIndexes") or "", self.completions)
        new = [index for pod in self.new_failed if (index := indexes.index_of(pod)) is not None and self._fails_index(pod)]
        self.failed_indexes = known.union(Indexes.of(new))
        if self.outcome is None:
            most = self.spec.get("maxFailedIndexes")
            if most is not None and len(self.failed_indexes) > most:
                self.outcome = self.ending(MAX_FAILED_INDEXES)
            elif self.failed_indexes and len(self.failed_indexes) + self.succeeded >= (self.completions or 0):
                self.outcome = self.ending(FAILED_INDEXES)
        self.delayed_by_index = self._delayed_pods()

    def decided_indexes(self) -> Indexes:
        """Those that have succeeded or failed."""
        return self.succeeded_indexes.union(self.failed_indexes or Indexes())

    def _fails_index(self, pod: Pod) -> bool:
        verdict = self.verdict(pod)
        if verdict.action == "FailIndex":
            return True
        return verdict.counts and indexes.count_of(pod, indexes.FAILURE_COUNT) >= self.spec["backoffLimitPerIndex"]

    def _delayed_pods(self) -> dict[int, Pod]:
        """By index that waits for a replacement: the failed pod whose annotations count the
        failures of the index.
        """
        decided = self.decided_indexes()
        held = dict.fromkeys(summary.completion_index for summary in self.job_pods.summaries if summary.active)
        latest: dict[int, Pod] = {}
        for pod in self.pods:
            index = indexes.index_of(pod)
            if index is None or index in decided or index in held or not self.is_valid_index(pod):
                continue
            if not pods.is_tracked(pod) or not pods.is_failed(pod, self.only_replace_failed):
                continue
            if index not in latest or attempts(pod) > attempts(latest[index]):
                latest[index] = pod
        return latest

    def index_delay_seconds(self, index: int) -> float:
        """In how many seconds the pod of an index may be replaced."""
        pod = self.delayed_by_index.get(index)
        if pod is None:
            return 0.0
        return backoff.remaining_seconds(attempts(pod) + 1, pods.finish_time(pod), self.now)


def attempts(pod: Pod) -> int:
    """How often an index failed before this pod, ignored failures included."""
    return indexes.count_of(pod, indexes.FAILURE_COUNT) + indexes.count_of(pod, indexes.IGNORED_FAILURE_COUNT)


def free_indexes(state: SyncState, count: int, held: Iterable[int | None]) -> list[int]:
    """The lowest indexes that are not among those ``held``, nor completed or failed, at most
    ``count``.
    """
    taken = dict.fromkeys(held)
    free = (index for index in state.decided_indexes().missing(state.completions or 0) if index not in taken)
    return list(islice(free, max(0, count)))

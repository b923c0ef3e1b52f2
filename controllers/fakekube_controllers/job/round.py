"""One look at a Job and its pods: who is alive, who is new among the finished, and what that decides.

Nothing here writes. Upstream: the first half of syncJob (pkg/controller/job/job_controller.go).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fakekube.apimachinery import times
from fakekube_controllers.job import backoff, conditions, indexes, pods, policies
from fakekube_controllers.job.backoff import Backoff
from fakekube_controllers.job.conditions import Outcome
from fakekube_controllers.job.controlled import JobPods
from fakekube_controllers.job.features import ALL, Features
from fakekube_controllers.job.pods import Pod
from fakekube_controllers.job.policies import Verdict

BACKOFF_EXCEEDED = Outcome("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
DEADLINE_EXCEEDED = Outcome("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
FAILED_INDEXES = Outcome("FailureTarget", "FailedIndexes", "Job has failed indexes")
MAX_FAILED_INDEXES = Outcome(
    "FailureTarget", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
COMPLETIONS_REACHED = Outcome("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods")


@dataclass(slots=True)
class Round:
    """What one sync knows. ``status`` and metadata are the sync's own copies; the spec and pods are read-only."""

    job: dict[str, Any]
    mine: JobPods
    now: float
    removed: Collection[str]  # uids of pods whose tracking finalizer is known to be on its way out
    record: Backoff
    features: Features = ALL
    written: Mapping[str, Any] = field(default_factory=dict)  # the status as it was read or written last
    tracked: dict[str, None] | None = None  # uids of pods with the tracking finalizer, once somebody asks
    active_count: int = 0
    ready: int = 0
    terminating: int = 0
    ended: list[Pod] = field(default_factory=list)  # tracked, and finished or on their way out
    released: dict[str, None] = field(default_factory=dict)  # uids of pods whose tracking finalizer this sync has taken
    new_succeeded: list[Pod] = field(default_factory=list)
    new_failed: list[Pod] = field(default_factory=list)
    succeeded: int = 0
    failed: int = 0
    previously_completed: list[int] = field(default_factory=list)
    completed: list[int] = field(default_factory=list)
    failed_indexes: list[int] | None = None
    delayed: dict[int, Pod] = field(default_factory=dict)  # last failed pod of an index that is yet to be replaced
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
        """All pods of the Job, in the order in which they came."""
        return self.mine.pods

    @property
    def active(self) -> list[Pod]:
        """Those that are neither finished nor on their way out."""
        return [*self.mine.those(fact.active for fact in self.mine.facts)]

    def is_tracked(self, uid: str) -> bool:
        """Whether the pod of that uid is there and is yet to lose its tracking finalizer."""
        if uid in self.removed or uid in self.released:
            return False
        if self.tracked is None:
            self.tracked = dict.fromkeys(
                pod["metadata"]["uid"] for pod in self.mine.those(fact.tracked for fact in self.mine.facts))
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
        """What the podFailurePolicy says of a pod."""
        return policies.judge(self.failure_policy, pod, per_index=self.features.per_index)

    def is_valid_index(self, pod: Pod) -> bool:
        """Whether the pod counts for an index that the Job still has; every pod of a plain Job does."""
        if not self.indexed:
            return True
        index = indexes.index_of(pod)
        return index is not None and index < (self.completions or 0)

    def look(self) -> None:
        """Fill in everything from the Job and its pods, in upstream's order."""
        self._count()
        self._take_failures_in()
        if self.indexed:
            self._look_at_indexes()

    def _count(self) -> None:
        facts, removed = self.mine.facts, self.removed
        self.active_count = sum([fact.active for fact in facts])
        self.ready = sum([fact.ready for fact in facts])
        self.terminating = sum([fact.terminating for fact in facts])
        ended = self.mine.those(fact.ended for fact in facts)
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

    def _take_failures_in(self) -> None:
        self.record = self.record.after(self.new_succeeded, self.new_failed)
        self.outcome = self._global_outcome()

    def _global_outcome(self) -> Outcome | None:
        features = self.features
        for kind, known in (
            ("SuccessCriteriaMet", features.success_policy or features.interim_conditions),
            ("FailureTarget", features.failure_policy or features.interim_conditions),
        ):
            if known and (present := conditions.find(self.job, kind)):
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
        """The outcome as this release tells it: announced or not, and with a reason for success or without."""
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
        return float(times.parse_time(started) + deadline - self.now)

    def _look_at_indexes(self) -> None:
        self.previously_completed = indexes.parse(self.status.get("completedIndexes", ""), self.completions)
        new = [index for pod in self.new_succeeded if (index := indexes.index_of(pod)) is not None]
        self.completed = sorted(dict.fromkeys([*self.previously_completed, *new]))
        self.succeeded = len(self.completed)
        if self.per_index:
            self._look_at_failed_indexes()
        policy = self.spec.get("successPolicy") if self.features.success_policy else None
        if self.outcome is None and (message := policies.success_message(policy, self.completed)):
            self.outcome = Outcome("SuccessCriteriaMet", "SuccessPolicy", message)

    def _look_at_failed_indexes(self) -> None:
        known = indexes.parse(self.status.get("failedIndexes") or "", self.completions)
        new = [index for pod in self.new_failed if (index := indexes.index_of(pod)) is not None and self._fails_index(pod)]
        self.failed_indexes = sorted(dict.fromkeys([*known, *new]))
        if self.outcome is None:
            most = self.spec.get("maxFailedIndexes")
            if most is not None and len(self.failed_indexes) > most:
                self.outcome = self.ending(MAX_FAILED_INDEXES)
            elif self.failed_indexes and len(self.failed_indexes) + self.succeeded >= (self.completions or 0):
                self.outcome = self.ending(FAILED_INDEXES)
        self.delayed = self._delayed_pods()

    def _fails_index(self, pod: Pod) -> bool:
        verdict = self.verdict(pod)
        if verdict.action == "FailIndex":
            return True
        return verdict.counts and indexes.count_of(pod, indexes.FAILURE_COUNT) >= self.spec["backoffLimitPerIndex"]

    def _delayed_pods(self) -> dict[int, Pod]:
        """For every index that waits for a replacement, the failed pod that knows how often the index failed."""
        decided = dict.fromkeys([*self.completed, *(self.failed_indexes or ())])
        held = dict.fromkeys(fact.completion_index for fact in self.mine.facts if fact.active)
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
        """How long the replacement of an index has to wait."""
        pod = self.delayed.get(index)
        if pod is None:
            return 0.0
        return backoff.remaining_seconds(attempts(pod) + 1, pods.finish_time(pod), self.now)


def attempts(pod: Pod) -> int:
    """How often an index failed before this pod, ignored failures included."""
    return indexes.count_of(pod, indexes.FAILURE_COUNT) + indexes.count_of(pod, indexes.IGNORED_FAILURE_COUNT)


def free_indexes(found: Round, count: int, held: Iterable[int | None]) -> list[int]:
    """The lowest indexes that are not among those ``held``, nor completed or failed, at most ``count``."""
    taken = dict.fromkeys([*found.completed, *(found.failed_indexes or ()), *held])
    result: list[int] = []
    for index in range(found.completions or 0):
        if len(result) >= count:
            break
        if index not in taken:
            result.append(index)
    return result

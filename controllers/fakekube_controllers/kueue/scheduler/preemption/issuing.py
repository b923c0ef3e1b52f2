"""The victims are told: evicted, with the reason, the message and the Events of a preemption.

Upstream: IssuePreemptions of pkg/scheduler/preemption/preemption.go.
"""

from typing import TYPE_CHECKING, NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.transport import TransportError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.workload import reasons, reservation, states
from fakekube_controllers.kueue.workload.evict import evict
from fakekube_controllers.kueue.workload.info import effective_priority, priority
from fakekube_controllers.kueue.workload.patching import LOOSE

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakekube.apimachinery.types import ReadOnlyTree, Tree
    from fakekube.client.client import Client
    from fakekube.client.recorder import Recorder
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
    from fakekube_controllers.kueue.features import Features
    from fakekube_controllers.kueue.metrics import KueueMetrics
    from fakekube_controllers.kueue.scheduler.preemption.common.expectations import Store
    from fakekube_controllers.kueue.scheduler.preemption.common.types import Target
    from fakekube_controllers.kueue.workload.info import Info

UNKNOWN = "UNKNOWN"
HUMAN_READABLE_REASONS = {
    reasons.IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    reasons.IN_COHORT_RECLAMATION: "reclamation within the cohort",
    reasons.IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    reasons.IN_COHORT_RECLAIM_WHILE_BORROWING: "reclamation within the cohort while borrowing",
    "": UNKNOWN,
}


class Outcome(NamedTuple):
    """For how many victims it went well, and for how many not."""

    preempted: int = 0
    failed: int = 0


class PreemptionIssuer(NamedTuple):
    """Evicts victims. ``exposes_local_queue_metrics`` says whether those of a Workload's LocalQueue
    are counted.
    """

    client: "Client"
    recorder: "Recorder"
    metrics: "KueueMetrics"
    expectations: "Store"
    features: "Features"
    exposes_local_queue_metrics: "Callable[[ReadOnlyTree], bool]"

    async def issue(
        self, preemptor: "Info", targets: "list[Target]", cq: "ClusterQueueSnapshot", now: float,
    ) -> Outcome:
        """Evict victims for a Workload of a ClusterQueue. One that is evicted, or is about to be
        seen as evicted, counts as done. ``now`` in Unix seconds.
        """
        preempted = 0
        for target in targets:
            victim = target.workload_info
            uid = meta.uid_of(victim.obj)
            if states.is_evicted(victim.obj):
                self.expectations.observed_uid(victim.key, uid)
            elif self.expectations.satisfied(victim.key):
                self.expectations.expect_uids(victim.key, [uid])
                try:
                    await self._evict(preemptor, target, cq, now)
                except (APIError, TransportError):
                    self.expectations.observed_uid(victim.key, uid)
                    return Outcome(preempted, 1)  # those after it are left for another cycle
            preempted += 1
        return Outcome(preempted)

    async def _evict(self, preemptor: "Info", target: "Target", cq: "ClusterQueueSnapshot", now: float) -> None:
        victim = target.workload_info
        assert target.workload_cq is not None, "only a slice that is replaced has none"
        message = preemption_message(
            preemptor.obj, target.reason, build_cq_path(preemptor.cluster_queue, cq),
            build_cq_path(victim.cluster_queue, target.workload_cq))

        def prepare(changed: "Tree") -> None:
            reservation.set_preempted_condition(changed, target.reason, message, now=now)

        await evict(
            self.client, self.recorder, victim.obj, reasons.EVICTED_BY_PREEMPTION, message, now=now, features=self.features,
            metrics=self.metrics, expose_local_queue_metrics=self.exposes_local_queue_metrics(victim.obj),
            custom_prepare=prepare, how=LOOSE)
        priorities = (
            f"; preemptor effective priority: {_priorities(preemptor.obj, self.features)}"
            f"; preemptee effective priority: {_priorities(victim.obj, self.features)}")
        self.recorder.report(victim.obj, "Normal", "Preempted", "Preempted", message + priorities)
        where = f"{states.reference_text(victim.key)} (UID: {meta.uid_of(victim.obj)}) in ClusterQueue {victim.cluster_queue}"
        self.recorder.report(
            preemptor.obj, "Normal", "PreemptedWorkload", "PreemptedWorkload", f"Preempted workload {where}{priorities}")
        self.metrics.report_preemption(preemptor.cluster_queue, target.reason)


def preemption_message(preemptor: "ReadOnlyTree", reason: str, preemptor_path: str, preemptee_path: str) -> str:
    """Why a Workload was preempted, for whom and where both are."""
    uid = meta.uid_of(preemptor) or UNKNOWN
    job_uid = meta.labels_of(preemptor).get(names.JOB_UID_LABEL) or UNKNOWN
    return (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: {job_uid}) due to {HUMAN_READABLE_REASONS[reason]}; "
        f"preemptor path: {preemptor_path or UNKNOWN}; preemptee path: {preemptee_path or UNKNOWN}")


def build_cq_path(name: str, cq: "ClusterQueueSnapshot") -> str:
    """``/cohort/queue``, from the root."""
    return "/" + "/".join(reversed([name, *(ancestor.name for ancestor in cq.path_parent_to_root())]))


def _priorities(workload: "ReadOnlyTree", features: "Features") -> str:
    effective, base = effective_priority(workload, features), priority(workload)
    return f"{effective} (base: {base}, boost: {effective - base})"

"""An entry gets its quota: counted in the cache at once, written to the Workload after that.

Upstream: admit, assumeWorkload, recordWorkloadAdmissionMetrics of scheduler.go.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.transport import TransportError
from fakekube_controllers.kueue.scheduler.entry import Entry, EntryStatus
from fakekube_controllers.kueue.scheduler.flavorassigner.attempts import format_flavor_assignment_attempts_for_events
from fakekube_controllers.kueue.slices.replacement import replace_workload_slice
from fakekube_controllers.kueue.workload import reservation, states
from fakekube_controllers.kueue.workload.admissionchecks import has_all_required_checks
from fakekube_controllers.kueue.workload.patching import LOOSE, patch_admission_status
from fakekube_controllers.kueue.workload.requeue import queued_wait_time

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fakekube.apimachinery.meta import ObjectKey
    from fakekube.apimachinery.types import ReadOnlyTree, Tree
    from fakekube.client.recorder import Recorder
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.scheduler.preemption.common.types import Target

    Spawn = Callable[[Coroutine[object, object, None], str], None]


INITIAL_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.01, 60.0
"""What could not be written is tried again by and by: what a server refuses once it may refuse
always.
"""


def retry_delay_seconds(failures: int) -> float:
    """How long to wait after so many failures before."""
    return float(min(INITIAL_DELAY_SECONDS * 2 ** min(failures, 32), MAX_DELAY_SECONDS))


class Admitter:
    """Admits entries. ``requeue`` puts back one that could not be written, for another cycle."""

    def __init__(
        self, kueue: "Kueue", recorder: "Recorder", spawn: "Spawn", requeue: "Callable[[Entry], Coroutine[object, object, None]]",
    ) -> None:
        self._kueue, self._recorder, self._spawn, self._requeue = kueue, recorder, spawn, requeue
        self._failures: dict[ObjectKey, int] = {}  # those that could not be written, one after the other

    def admit(self, entry: Entry, old_slice: "Target | None") -> None:
        """Assume an entry in the cache, and begin to write it.

        The slice that it replaces is finished once it is written.
        """
        assert entry.assignment is not None, "only what fits is admitted"
        admission: Tree = {
            "clusterQueue": entry.cluster_queue, "podSetAssignments": entry.assignment.to_api()}
        considered = format_flavor_assignment_attempts_for_events(entry.assignment)
        workload = states.with_own_status(entry.obj)
        if old_slice is not None and (cluster := states.cluster_name(old_slice.workload_info.obj)):
            # MultiKueue: the new slice runs where the old one does
            workload.setdefault("status", {})["clusterName"] = cluster
        assumed = states.with_own_status(workload)
        self._prepare(assumed, entry, admission)
        if not self._kueue.cache.add_or_update_workload(assumed):
            key = states.reference_text(entry.info.key)
            entry.inadmissible_msg = f"Failed to admit workload: workload {key} could not be added to the cache"
            return
        entry.status = EntryStatus.ASSUMED
        name = f"admit {states.reference_text(entry.info.key)}"
        self._spawn(self._write(entry, workload, admission, considered, old_slice), name)

    def _prepare(self, workload: "Tree", entry: Entry, admission: "Tree") -> None:
        cq, now = _cq(entry), self._kueue.clock.time()
        reservation.set_quota_reservation(workload, admission, now=now)
        if has_all_required_checks(workload, cq.admission_checks):
            reservation.sync_admitted_condition(workload, now=now, features=self._kueue.features)

    async def _write(
        self, entry: Entry, workload: "Tree", admission: "Tree", considered: str, old_slice: "Target | None",
    ) -> None:
        kueue = self._kueue

        def update(changed: "Tree") -> bool:
            self._prepare(changed, entry, admission)
            if kueue.features.TopologyAwareScheduling:
                changed["status"].pop("unhealthyNodes", None)  # they were replaced
            return True

        try:
            written = await patch_admission_status(kueue.client, workload, update, features=kueue.features, how=LOOSE)
        except (APIError, TransportError) as error:
            # the Workload or its queue may have been deleted in the meantime
            kueue.cache.delete_workload(entry.info.key)
            kueue.queues.notify_workload_update_watchers(workload, None)
            if not isinstance(error, APIError) or error.code != 404:
                await self._try_again(entry)
            return
        self._failures.pop(entry.info.key, None)
        assert written is not None, "there is always something to write"
        kueue.preemption_expectations.observed_uid(entry.info.key, meta.uid_of(written))
        self._record(written, entry.obj, admission["clusterQueue"], considered)
        if old_slice is not None:
            await self._replace_workload_slice(written, old_slice)

    async def _try_again(self, entry: Entry) -> None:
        """Requeue an entry that could not be written, later each time."""
        failures = self._failures.get(entry.info.key, 0)
        self._failures[entry.info.key] = failures + 1
        await self._kueue.clock.sleep(retry_delay_seconds(failures))
        await self._requeue(entry)

    def _record(self, written: "ReadOnlyTree", before: "ReadOnlyTree", cluster_queue: str, considered: str) -> None:
        kueue, now = self._kueue, self._kueue.clock.time()
        waited = queued_wait_time(written, now=now)
        exposes = kueue.should_expose_local_queue_metrics_for_workload(written)
        if not states.has_quota_reservation(before):
            note = f"Quota reserved in ClusterQueue {cluster_queue}, wait time since queued was {waited:.0f}s"
            if considered:
                note += f"; Flavors considered: {considered}"
            self._recorder.report(
                written, "Normal", "QuotaReserved", "QuotaReserved", reservation.truncate_event_message(note))
            kueue.metrics.quota_reserved(written, waited, expose_local_queue_metrics=exposes)
        if not states.is_admitted(written) or states.unhealthy_node_names(before):
            return
        self._recorder.report(
            written, "Normal", "Admitted", "Admitted",
            f"Admitted by ClusterQueue {cluster_queue}, wait time since reservation was 0s")
        for cohort in kueue.cache.workload_ancestors(written):
            kueue.metrics.count("cohort_subtree_admitted_workloads_total", cohort, states.priority_class_name(written))
        checks_seconds = 0.0 if states.status_of(written).get("admissionChecks") else None
        kueue.metrics.admitted(written, waited, checks_seconds=checks_seconds, expose_local_queue_metrics=exposes)

    async def _replace_workload_slice(self, new: "ReadOnlyTree", old_slice: "Target") -> None:
        """Finish the slice in whose place a larger one was admitted.

        Where that fails, whoever looks after the job finishes it.
        """
        kueue, old = self._kueue, old_slice.workload_info
        with suppress(APIError, TransportError):
            await replace_workload_slice(
                kueue.client, self._recorder, kueue.metrics, old.cluster_queue, new, old.obj, now=kueue.clock.time(),
                features=kueue.features)


def _cq(entry: Entry) -> "ClusterQueueSnapshot":
    assert entry.cq is not None, "entries were nominated"
    return entry.cq

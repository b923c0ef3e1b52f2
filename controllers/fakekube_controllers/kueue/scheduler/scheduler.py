"""The loop of cycles: heads of the queues, a snapshot, what ``cycle.py`` decides, and the writing.

The controller's queue holds one key while a cycle may change something. Upstream asks again and
again while a head stays first (a StrictFIFO queue whose head does not fit, a preemptor whose
victims still run) and slows down by milliseconds; here a head that nothing has changed for is not
asked again, so that time can go on.

Upstream: schedule and requeueAndUpdate of pkg/scheduler/scheduler.go.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.errors import APIError
from fakekube.client.transport import TransportError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.queues.requeue_reason import RequeueReason
from fakekube_controllers.kueue.scheduler.admitting import Admitter, retry_delay_seconds
from fakekube_controllers.kueue.scheduler.assignments import settings_of
from fakekube_controllers.kueue.scheduler.cycle import Action, Cycle, Decision
from fakekube_controllers.kueue.scheduler.entry import Entry, EntryStatus
from fakekube_controllers.kueue.scheduler.preemption.issuing import PreemptionIssuer
from fakekube_controllers.kueue.workload import reasons, reservation, states
from fakekube_controllers.kueue.workload.evict import evict
from fakekube_controllers.kueue.workload.patching import LOOSE, patch_admission_status

if TYPE_CHECKING:
    from fakekube.apimachinery.meta import ObjectKey
    from fakekube.apimachinery.types import Tree
    from fakekube.runtime.context import Context
    from fakekube.runtime.reconcile import Result
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.workload.info import Info

CYCLE = "cycle"  # the key
MAX_MESSAGES = 8
"""So often a head is told why it waits while time stands still. Where two queues are in each
other's way a head may be told two things in turn for ever, which upstream does every 10 ms.
"""


class Scheduler:
    """Schedules for one run of Kueue."""

    cycles: "WorkQueue[str]"

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self._kueue, self._ctx = kueue, ctx
        self.settings = settings_of(kueue.configuration, kueue.ordering)
        features, waits = kueue.features, kueue.configuration.wait_for_pods_ready
        self._blocks_admission = waits is not None and waits.block_admission
        self._recorder = kueue.recorder(names.ADMISSION_NAME)
        self._issuer = PreemptionIssuer(
            kueue.client, self._recorder, kueue.metrics, kueue.preemption_expectations, features,
            kueue.should_expose_local_queue_metrics_for_workload)
        self._admitter = Admitter(kueue, self._recorder, self._spawn, self._requeue_after_failure)
        self._number = 0
        self._is_requeueing = False
        self._has_failed = False  # whether something could not be written in this cycle
        self._failures = 0  # such cycles in a row
        self._told: dict[ObjectKey, int] = {}  # how often each was told why it waits, at ``_told_at``
        self._told_at = 0.0
        self._seen: dict[object, None] = {}  # heads and what they tried, since something changed

    def setup(self, queue: "WorkQueue[str]") -> None:
        """Listen to the queues."""
        self.cycles = queue
        self._kueue.queues.on_broadcast(self._wake)
        self._wake()

    def _wake(self) -> None:
        if not self._is_requeueing:
            self._seen.clear()
            self.cycles.add(CYCLE)

    @contextmanager
    def _requeueing(self) -> Iterator[None]:
        """What is put back into the queues in the block is by itself no reason for a cycle."""
        self._is_requeueing = True
        try:
            yield
        finally:
            self._is_requeueing = False

    def _spawn(self, coro: Coroutine[Any, Any, None], name: str) -> None:
        async def run() -> None:
            with self._ctx.activity.busy():
                await coro

        self._ctx.tasks.spawn_eagerly(run(), name)

    async def reconcile(self, request: str) -> "Result | None":
        """Run one cycle; another one follows while heads get further. Upstream: schedule."""
        heads = self._kueue.queues.heads()
        if not heads:
            return None
        left = {info.key: info for info in heads}
        try:
            gets_further = await self._schedule(heads)
            left.clear()
        finally:
            with self._requeueing():  # nothing is lost if the cycle fails
                for info in left.values():
                    self._kueue.queues.requeue_workload(info, RequeueReason.FAILED_AFTER_NOMINATION)
        if gets_further:
            self.cycles.add(request)
        return None

    async def _schedule(self, heads: "list[Info]") -> bool:
        """Whether the next cycle may come to something else."""
        kueue, started = self._kueue, self._ctx.clock.time()
        self._number += 1
        self._has_failed = False
        for info in heads:
            self._seen[_state_of(info)] = None
        cycle = Cycle(self.settings, kueue.cache.snapshot(), self._number, started)
        entries, inadmissible = cycle.nominate(heads, is_added=self._is_added, validate=kueue.objects.validate)
        for entry in cycle.in_order(entries):
            await self._carry_out(entry, cycle.process(entry), cycle)
        succeeded = False
        for entry in entries:
            if entry.status in (EntryStatus.ASSUMED, EntryStatus.EVICTED):
                succeeded = True
            else:
                await self._requeue_and_update(entry)
        for entry in inadmissible:
            await self._requeue_and_update(entry)
        for name, count in cycle.skipped_preemptions.items():
            kueue.metrics.set("admission_cycle_preemption_skips", count, name)
        result = "success" if succeeded else "inadmissible"
        kueue.metrics.count("admission_attempts_total", result)
        kueue.metrics.observe("admission_attempt_duration_seconds", self._ctx.clock.time() - started, result)
        self._failures = self._failures + 1 if self._has_failed else 0
        if self._has_failed:  # no event tells that it may be tried again
            self.cycles.add_after(CYCLE, retry_delay_seconds(self._failures - 1))
        if succeeded:
            self._seen.clear()
            return True
        return self._gets_further([*entries, *inadmissible])

    def _gets_further(self, entries: list[Entry]) -> bool:
        """Whether other heads are first now, or heads have other flavors to try."""
        result = False
        for entry in entries:
            if not self._kueue.queues.is_pending_active(entry.info.key):
                result = result or self._kueue.queues.has_pending_active(entry.cluster_queue)
            elif (state := _state_of(entry.info)) not in self._seen:
                self._seen[state] = None
                result = True
        return result

    def _is_added(self, info: "Info") -> bool:
        return self._kueue.cache.is_added(info.key, info.cluster_queue)

    async def _carry_out(self, entry: Entry, decision: Decision, cycle: Cycle) -> None:
        if decision.action == Action.ADMIT:
            await self._wait_for_pods_ready_if_needed(entry)
            entry.status = EntryStatus.NOMINATED
            self._admitter.admit(entry, decision.old_slice)
        elif decision.action == Action.PREEMPT:
            assert entry.cq is not None, "entries were nominated"
            outcome = await self._issuer.issue(entry.info, decision.targets, entry.cq, cycle.now)
            self._has_failed = self._has_failed or bool(outcome.failed)
            entry.mark_preemption_outcome(*outcome)
        elif decision.action == Action.EVICT:
            await self._evict_after_failed_tas_replacement(entry)

    async def _wait_for_pods_ready_if_needed(self, entry: Entry) -> None:
        """With ``blockAdmission``: hold the cycle up until the pods of all that is admitted are
        ready.
        """
        cache = self._kueue.cache
        if not self._blocks_admission or states.needs_second_pass(entry.obj) or cache.pods_ready_for_all_admitted_workloads():
            return
        await self._unset_quota_reservation(
            entry, reasons.WAITING_FOR_PODS_READY, reasons.WAITING,
            "waiting for all admitted workloads to be in PodsReady condition", shows_requests=False)
        ready = asyncio.get_running_loop().create_future()

        def changed() -> None:
            if cache.pods_ready_for_all_admitted_workloads() and not ready.done():
                ready.set_result(None)

        cache.when_pods_ready_changes = changed
        resume = self._ctx.activity.suspend()  # who waits for pods must not keep time from moving
        try:
            await ready
        finally:
            if resume is not None:
                resume()

    async def _evict_after_failed_tas_replacement(self, entry: Entry) -> None:
        kueue, nodes = self._kueue, ",".join(states.unhealthy_node_names(entry.obj))
        try:
            await evict(
                kueue.client, self._recorder, entry.obj, reasons.EVICTED_DUE_TO_NODE_FAILURES,
                f"Workload was evicted as there was no replacement for unhealthy node(s): {nodes}",
                now=self._ctx.clock.time(), features=kueue.features, metrics=kueue.metrics,
                expose_local_queue_metrics=kueue.should_expose_local_queue_metrics_for_workload(entry.obj), how=LOOSE)
        except (APIError, TransportError) as error:
            if not isinstance(error, APIError) or error.code != 404:
                self._has_failed = True
                return
        entry.status = EntryStatus.EVICTED

    async def _requeue_after_failure(self, entry: Entry) -> None:
        await self._requeue_and_update(entry)
        self._wake()

    async def _requeue_and_update(self, entry: Entry) -> None:
        """Put an entry back into its queue, and say in its status why."""
        queues = self._kueue.queues
        entry.settle_requeue_reason()
        if queues.queue_second_pass_if_needed(entry.obj, entry.info.second_pass_iteration):
            self._recorder.report(
                entry.obj, "Warning", "SecondPassFailed", "SecondPassFailed",
                reservation.truncate_event_message(entry.inadmissible_msg))
            return
        obj = entry.obj
        with self._requeueing():
            queues.requeue_workload(entry.info, entry.requeue_reason, entry.quota_reserved_reason)
        if entry.status not in (EntryStatus.NOT_NOMINATED, EntryStatus.SKIPPED, EntryStatus.PREEMPTION_GATED):
            return
        if self._is_told_enough(entry.info.key):
            return
        reason = states.unadmitted_workload_reason_with_fallback(
            entry.quota_reserved_reason, reasons.PENDING, self._kueue.features)
        if await self._unset_quota_reservation(
            entry, entry.quota_reserved_reason, reasons.PENDING, entry.inadmissible_msg, shows_requests=True
        ):
            self._told[entry.info.key] = self._told.get(entry.info.key, 0) + 1
        self._recorder.report(
            obj, "Warning", reason, reason, reservation.truncate_event_message(entry.inadmissible_msg))

    def _is_told_enough(self, key: "ObjectKey") -> bool:
        now = self._ctx.clock.time()
        if now != self._told_at:
            self._told_at = now
            self._told.clear()
        return self._told.get(key, 0) >= MAX_MESSAGES

    async def _unset_quota_reservation(
        self, entry: Entry, reason: str, fallback: str, message: str, *, shows_requests: bool,
    ) -> bool:
        """Write why an entry has no quota; whether that is news."""
        features = self._kueue.features
        condition_reason = states.unadmitted_workload_reason_with_fallback(reason, fallback, features)

        def update(changed: "Tree") -> bool:
            updated = reservation.unset_quota_reservation_with_condition(
                changed, condition_reason, message, now=self._ctx.clock.time(), features=features)
            if shows_requests and reservation.propagate_resource_requests(changed, entry.info):
                updated = True
            if entry.status == EntryStatus.PREEMPTION_GATED:
                return reservation.set_blocked_on_preemption_gates_condition(
                    changed, reasons.PREEMPTION_GATED, message, now=self._ctx.clock.time())
            return updated

        try:
            written = await patch_admission_status(self._kueue.client, entry.obj, update, features=features, how=LOOSE)
        except (APIError, TransportError):
            return False  # it is in its queue, and will say so in another cycle
        return written is not None


def _state_of(info: "Info") -> object:
    """A head, and which flavors it has tried."""
    last = info.last_assignment
    tried = repr(last.last_tried_flavor_idx) if last is not None else ""
    return info.key, info.obj["metadata"].get("resourceVersion"), tried

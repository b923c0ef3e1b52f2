"""What would become of a pending Workload if there were more quota, more room in a topology, or
fewer Workloads: scheduling cycles are run on snapshots, with all that waits in the queues of its
cohort, until it is admitted or left.

Nobody is preempted in them: who could preempt does so at once and is not asked about for long.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fakekube_controllers.kueue.queues.requeue_reason import IMMEDIATE, WHOLE_CLASS
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities
from fakekube_controllers.kueue.scheduler.assignments import Settings, settings_of
from fakekube_controllers.kueue.scheduler.cycle import Action, Cycle
from fakekube_controllers.kueue.scheduler.flavorassigner.flavorassigner import FlavorAssigner
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility
from fakekube_controllers.kueue.scheduler.preemption.preemptor import Preemptor
from fakekube_controllers.kueue.why import domains, shortfall
from fakekube_controllers.kueue.why.domains import RoomNeed
from fakekube_controllers.kueue.workload.info import Info, Usage
from fakekube_controllers.kueue.workload.scheduling_hash import SCHEDULING_HASH_UNKNOWN

if TYPE_CHECKING:
    from fakekube.apimachinery.meta import ObjectKey
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.scheduler.entry import Entry
    from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment
    from fakekube_controllers.kueue.scheduler.preemption.common.types import Target

MAX_NOMINATIONS = 5_000  # for one question
MAX_WAITING = 200  # in one queue


Lists = dict[str, list[Info]]
"""What waits, by ClusterQueue."""


class TooMany(Exception):
    """So much waits that nobody would wait for the answer."""


class Lack(NamedTuple):
    """What a Workload lacks where it is left: quota, or else room; neither: it is not known."""

    quota: FlavorResourceQuantities
    room: RoomNeed | None = None


class Extra(NamedTuple):
    """What there is to be besides: quota of the Workload's queue, and room; and who is gone."""

    quota: Mapping[FlavorResource, int]
    rooms: Sequence[RoomNeed] = ()
    gone: Sequence[Info] = ()


class _Nobody(Preemptor):
    """Finds no victims."""

    __slots__ = ()

    def _targets(self, *_args: object) -> "list[Target]":
        return []


class _NoVictims:
    def simulate_preemption(
        self, cq: "ClusterQueueSnapshot", info: Info, fr: FlavorResource, quantity: int,
    ) -> tuple[PreemptionPossibility, int]:
        """There are none."""
        return PreemptionPossibility.NO_CANDIDATES, 0


class Trial:
    """Tries one pending Workload, whose ClusterQueue is active.

    ``place`` is its place in its queue; None: it is being tried, or not known yet, and counts as
    the first.
    """

    def __init__(self, kueue: "Kueue", info: Info) -> None:
        self._kueue, self._info, self._name = kueue, info, info.cluster_queue
        settings = settings_of(kueue.configuration, kueue.ordering)
        self._settings = Settings(
            settings.features, _Nobody(settings.preemptor.ordering, settings.preemptor.strategies),
            settings.quota_check_strategy)
        own = kueue.queues.pending_workloads_info(self._name)
        self.place = next((place for place, each in enumerate(own) if each.key == info.key), None)
        self._left = 0
        waiting = {name: own if name == self._name else kueue.queues.pending_workloads_info(name) for name in self._queues()}
        if self.place is None:
            waiting[self._name] = [info]
        else:
            waiting[self._name] = own[:self.place + 1]
        self._is_too_many = any(len(listed) > MAX_WAITING for listed in waiting.values())
        self._waiting = waiting

    def begin(self) -> None:
        """A new question is asked, which may take as long as any."""
        self._left = MAX_NOMINATIONS

    def _queues(self) -> list[str]:
        """The ClusterQueues that may admit and share quota with the Workload's, itself included."""
        cq = self.snapshot().cluster_queue(self._name)
        assert cq is not None, "the queue is active"
        cohort = cq.parent()
        return [each.name for each in cohort.root().subtree_cluster_queues()] if cohort is not None else [self._name]

    def snapshot(self, extra: Extra | None = None) -> "Snapshot":
        """The state of the cache, with what there is to be besides."""
        snapshot = self._kueue.cache.snapshot()
        if extra is None:
            return snapshot
        for info in extra.gone:
            snapshot.remove_workload(info)
        cq = snapshot.cluster_queue(self._name)
        assert cq is not None, "the queue is active"
        for fr, amount in extra.quota.items():
            shortfall.give(cq, fr, amount)
        for room in extra.rooms:
            domains.give(snapshot, room)
        return snapshot

    def run(self, extra: Extra) -> Lack | None:
        """What is lacking then, by the Workload or by who is in its way in its queue; None where it
        is admitted. Raises TooMany.
        """
        if self._is_too_many:
            raise TooMany
        admitted: dict[ObjectKey, tuple[str, Usage]] = {}
        # what is inadmissible comes back later than a strict queue tries its head again
        self._cycles(extra, self._lists(admitted, active_only=True), admitted)
        return self._cycles(extra, self._lists(admitted, active_only=False), admitted)

    def _lists(self, admitted: "Mapping[ObjectKey, object]", *, active_only: bool) -> "Lists":
        """What waits in each queue, in its order, and is not admitted by now."""
        lists: Lists = {}
        for name, listed in self._waiting.items():
            queue = self._kueue.queues.cluster_queue(name)
            left_out = queue.inadmissible if active_only and queue is not None else {}
            lists[name] = [
                self._fresh(info, name) for info in listed if info.key not in admitted and info.key not in left_out]
        return lists

    def _cycles(self, extra: Extra, waiting: "Lists", admitted: "dict[ObjectKey, tuple[str, Usage]]") -> Lack | None:
        """Let cycles run until they come to nothing more."""
        seen: dict[object, None] = {}
        lack = Lack({})
        if self._info.key in admitted:
            return None
        while True:
            snapshot = self.snapshot(extra)
            for name, usage in admitted.values():
                cq = snapshot.cluster_queue(name)
                assert cq is not None, "its Workloads were admitted"
                cq.add_usage(usage)
            heads = [listed[0] for listed in waiting.values() if listed]
            self._left -= len(heads)
            if self._left < 0:
                raise TooMany
            cycle = Cycle(self._settings, snapshot, 0, self._kueue.clock.time())
            entries, others = cycle.nominate(heads, is_added=lambda _info: False, validate=self._kueue.objects.validate)
            gets_further = False
            for entry in cycle.in_order(entries):
                assert entry.cq is not None, "entries were nominated"
                if entry.cluster_queue == self._name:
                    lack = self._lack(snapshot, entry)
                if cycle.process(entry).action == Action.ADMIT:
                    assert entry.assignment is not None, "it is admitted"
                    admitted[entry.info.key] = entry.cluster_queue, entry.assignment.usage
                    if entry.info.key == self._info.key:
                        return None
                    del waiting[entry.cluster_queue][0]
                    seen.clear()
                    gets_further = True
                else:
                    gets_further |= self._requeue(entry, waiting[entry.cluster_queue], seen)
            for entry in others:
                if entry.info.key == self._info.key:
                    return Lack({})
                del waiting[entry.cluster_queue][0]
                gets_further = True
            if not gets_further or not any(waiting.values()):
                return lack

    def _requeue(self, entry: "Entry", waiting: list[Info], seen: dict[object, None]) -> bool:
        """Put a head back that was not admitted, or leave it; whether the next cycle may come to
        something else.
        """
        info, queue = entry.info, self._kueue.queues.cluster_queue(entry.cluster_queue)
        entry.settle_requeue_reason()
        last = info.last_assignment
        is_again = entry.requeue_reason in IMMEDIATE or (last is not None and last.pending_flavors())
        if queue is not None and queue.is_best_effort and not is_again:
            shape = info.scheduling_hash if entry.requeue_reason in WHOLE_CLASS else SCHEDULING_HASH_UNKNOWN
            waiting[:] = [each for each in waiting[1:] if shape == SCHEDULING_HASH_UNKNOWN or each.scheduling_hash != shape]
            return True
        state = info.key, repr(last.last_tried_flavor_idx) if last is not None else ""
        if state in seen:
            return False
        seen[state] = None
        return True

    def _fresh(self, info: Info, cluster_queue: str) -> Info:
        """The same Workload, with nothing of what was tried before."""
        made = Info(info.obj, self._kueue.info_options)
        made.cluster_queue = cluster_queue
        return made

    def _lack(self, snapshot: "Snapshot", entry: "Entry") -> Lack:
        """What the head of the queue lacks after those before it in the cycle."""
        assert entry.cq is not None, "entries were nominated"
        quota = shortfall.least(snapshot, entry.cq, entry.info)
        if quota is None or quota:
            return Lack(quota or {})
        return Lack({}, domains.needed(entry.cq, entry.info, self.assign(snapshot, entry.cq, entry.info)))

    def assign(self, snapshot: "Snapshot", cq: "ClusterQueueSnapshot", info: Info) -> "Assignment":
        """What a Workload would get without victims."""
        configuration = self._kueue.configuration
        return FlavorAssigner(
            self._fresh(info, cq.name), cq, snapshot.resource_flavors, configuration.fair_sharing is not None, _NoVictims(), None,
            configuration.resources.quota_check_strategy, 0, configuration.features).assign(None)



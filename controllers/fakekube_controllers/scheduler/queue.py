"""What is scheduled next, and what waits: for time (back-off), for an event (unschedulable), for a
PreEnqueue plugin.

An entity is in one of the parts, or in flight: between ``pop`` and ``done`` (which
``add_unschedulable_if_not_present`` says by itself). What happens while a pod is in flight is
remembered, and looked at when it comes back: it may be schedulable already. While nothing is
active, what only backs off after a rejection is scheduled at once; what backs off after an error,
and a group, waits (gate SchedulerPopFromBackoffQ).

Upstream: pkg/scheduler/backend/queue (scheduling_queue.go, active_queue.go, backoff_queue.go).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from fakekube.apimachinery import meta
from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.controller import attempt
from fakekube.util.clock import Clock
from fakekube.workqueue.queue import DAEMON_TRIES
from fakekube_controllers.scheduler.backoff import DEFAULT_BACKOFF, Backoff, calm, count_try, is_tried_too_often
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import ClusterEvent, ClusterEventWithHint
from fakekube_controllers.scheduler.framework.interface import PreEnqueuePlugin, QueueSortPlugin
from fakekube_controllers.scheduler.framework.queued import (
    EntityKey,
    QueuedEntityInfo,
    QueuedPodGroupInfo,
    QueuedPodInfo,
    pod_key,
)
from fakekube_controllers.scheduler.framework.types import PodInfo, pod_info
from fakekube_controllers.scheduler.heap import Heap
from fakekube_controllers.scheduler.inflight import Happened, InFlight
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.requeueing import AFTER_BACKOFF, IMMEDIATELY, SKIP, Requeueing
from fakekube_controllers.scheduler.resting import RestingGroups, rests
from fakekube_controllers.scheduler.runtime import ANY_EVENT, Framework

if TYPE_CHECKING:
    from fakekube.util.timers import Timer
    from fakekube_controllers.scheduler.queued_groups import Groups

log = logging.getLogger(__name__)

MAX_IN_UNSCHEDULABLE_SECONDS = 300.0
FLUSH_SECONDS = 30.0  # so often those that have waited longer are looked for


class ProfileQueueing(NamedTuple):
    """What the queue asks of one profile: PreEnqueue plugins, and the events that each plugin
    registers, by its name.
    """

    gates: Sequence[PreEnqueuePlugin]
    events: Mapping[str, Sequence[ClusterEventWithHint]]

    @classmethod
    def of_framework(cls, framework: Framework) -> Self:
        """That of a profile."""
        return cls(framework.pre_enqueue_plugins, framework.events())


class SchedulingQueue:
    """The entities of one scheduler. ``wake`` is called when there is something to ``pop``.

    ``profiles``: by the name of a scheduler. ``options``: how requests of pods are computed.
    ``in_flight``: where it notes what has been popped. ``pops_from_backoff``: the gate
    SchedulerPopFromBackoffQ.
    """

    def __init__(
        self, clock: Clock, sort: QueueSortPlugin, wake: Callable[[], None], profiles: Mapping[str, ProfileQueueing],
        nominator: Nominator | None = None, options: Options = IN_FLIGHT, *, in_flight: InFlight | None = None,
        backoff: Backoff = DEFAULT_BACKOFF, pops_from_backoff: bool = True,
        max_in_unschedulable_seconds: float = MAX_IN_UNSCHEDULABLE_SECONDS,
    ) -> None:
        self._clock, self._wake, self._profiles, self._options = clock, wake, profiles, options
        self._nominator = nominator or Nominator()
        self._backoff, self._pops_from_backoff = backoff, pops_from_backoff
        self._max_in_unschedulable_seconds = max_in_unschedulable_seconds
        self._active = Heap(sort.sort_key)
        self._backing_off = Heap(lambda entity: (self._expiration(entity), sort.sort_key(entity)))
        self._error_backing_off = Heap(lambda entity: (self._expiration(entity), entity.sequence))
        self._unschedulable: dict[EntityKey, QueuedEntityInfo] = {}
        self._in_flight = in_flight or InFlight()
        self._sequence = 0
        self._backoff_timer: Timer | None = None
        self._flush_timer: Timer | None = None
        self._resting = RestingGroups(clock, backoff, aligned=pops_from_backoff, try_now=self._to_active)
        self._requeueing = Requeueing({name: profile.events for name, profile in profiles.items()})
        self.groups: Groups | None = None  # None: a pod that names a group is as any other

    def __len__(self) -> int:
        """How many entities it holds."""
        return len(self._active) + len(self._backing_off) + len(self._error_backing_off) + len(self._unschedulable)

    def pending(self) -> dict[str, int]:
        """The number of pods by queue: active, backoff, unschedulable, gated."""
        numbers = {
            "active": _size(self._active), "backoff": _size(self._backing_off) + _size(self._error_backing_off),
            "unschedulable": 0, "gated": 0}
        for entity in self._unschedulable.values():
            numbers["gated" if entity.is_gated else "unschedulable"] += sum(1 for _ in entity.pods())
        return numbers

    # pods

    def add(self, pod: ReadOnlyTree) -> None:
        """A pod without a node was added."""
        self._sequence += 1
        queued = QueuedPodInfo(pod_info(pod, self._options), timestamp=self._clock.time(), sequence=self._sequence)
        self._nominator.add_nominated_pod(queued.info)
        if self.groups is not None and self.groups.is_member(pod):
            self.groups.add_pod(queued)
        else:
            self._to_active(queued)

    def update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        """A pod without a node was updated; one that is not known is added.

        An update that may make it schedulable, by the hints of plugins that rejected it, has it
        tried again.
        """
        uid = meta.uid_of(new)
        if self._in_flight.has(uid):
            for event in self._changes(old, new):
                self._in_flight.add(Happened(event, old, new))
            return
        queued, entity = self._queued_pod(old)
        if queued is None or queued.info.uid != uid:
            if isinstance(entity, QueuedPodInfo):
                self.take_out(entity.key)
            self.add(new)
            return
        before, queued.info = queued.info, self._info(queued.info, new)
        self._nominator.update_nominated_pod(before, queued.info)
        if entity is not None and entity.key in self._unschedulable and (queued.is_gated or not entity.is_gated):
            for event in self._changes(old, new):
                strategy = self._requeueing.strategy_for_pod(queued, Happened(event, old, new))
                if strategy != SKIP:
                    self.requeue(entity, strategy)
                    return

    def _queued_pod(self, pod: ReadOnlyTree) -> tuple[QueuedPodInfo | None, QueuedEntityInfo | None]:
        """A pod that waits, and the entity that it is in."""
        if self.groups is not None and self.groups.is_member(pod):
            return self.groups.queued_pod(pod)
        entity = self.entity(pod_key(pod))
        return (entity, entity) if isinstance(entity, QueuedPodInfo) else (None, entity)

    def _changes(self, old: ReadOnlyTree, new: ReadOnlyTree) -> list[ClusterEvent]:
        return events.pod_scheduling_properties_change(old, new, is_target=True, options=self._options)

    def _info(self, known: PodInfo, pod: ReadOnlyTree) -> PodInfo:
        return known.at(pod) if known.counts_like(pod) else pod_info(pod, self._options)

    def remove(self, pod: ReadOnlyTree) -> None:
        """A pod is gone, or has a node."""
        self._nominator.delete_nominated_pod_if_exists(meta.uid_of(pod))
        if self.groups is not None and self.groups.is_member(pod):
            self.groups.remove_pod(pod)
        else:
            self.take_out(pod_key(pod))

    def activate(self, uids: Iterable[str]) -> None:
        """Try pods now, whatever they wait for; one in flight when it comes back."""
        wanted = dict.fromkeys(uids)
        if not wanted:
            return
        for entity in [*self._unschedulable.values(), *self._backing_off, *self._error_backing_off]:
            if any(each.info.uid in wanted for each in entity.pods()):
                self._to_active(entity)
        for uid in wanted:
            if self._in_flight.has(uid):
                self._in_flight.add(Happened(events.FORCE_ACTIVATE, None, None, uid))

    # cycles

    def pop(self) -> QueuedEntityInfo | None:
        """The next entity, or None; in flight from now on."""
        entity = self._active.pop()
        if entity is None and self._pops_from_backoff:
            entity = self._backing_off.pop()
            if entity is not None:
                self._set_backoff_timer()
        if entity is None:
            return None
        entity.attempts += 1
        now = self._clock.time()
        for each in entity.pods():
            count_try(each, now)
            self._in_flight.begin(each.info.uid)
        if isinstance(entity, QueuedPodGroupInfo):
            for each in entity.pods():
                each.attempts += 1
            count_try(entity, now)
            self._resting.is_tried(entity)
            if self.groups is not None:
                self.groups.begin(entity)
        return entity

    def pop_pod(self, key: EntityKey) -> QueuedPodInfo | None:
        """One pod, whatever it waits for but a PreEnqueue plugin; in flight from now on."""
        entity = self.entity(key)
        if entity is not None and key not in self._active:
            self._to_active(entity)
        entity = self._active.delete(key)
        if not isinstance(entity, QueuedPodInfo):
            return None
        entity.attempts += 1
        self._in_flight.begin(entity.info.uid)
        return entity

    def done(self, uid: str) -> None:
        """A pod is in flight no more."""
        self._in_flight.end(uid)

    def add_unschedulable_if_not_present(self, queued: QueuedPodInfo, pod: ReadOnlyTree) -> None:
        """Take a pod back that could not be scheduled, as ``pod`` is now: plugins rejected it, or
        (none is named) there was an error.

        After an error, or when an event since ``pop`` may help, it waits for its back-off only.
        """
        uid = queued.info.uid
        is_member = self.groups is not None and self.groups.is_member(pod)
        if not is_member and self.entity(queued.key) is not None:
            self.done(uid)
            return
        if queued.unschedulable_plugins or queued.pending_plugins:
            queued.unschedulable_count += 1
            queued.consecutive_errors_count = 0
        else:
            queued.consecutive_errors_count += 1
        queued.info = self._info(queued.info, pod)
        queued.timestamp, queued.backoff_expiration = self._clock.time(), None
        queued.was_flushed_from_unschedulable, queued.flush_timestamp = False, 0.0
        strategy = AFTER_BACKOFF
        if queued.unschedulable_plugins or queued.pending_plugins or is_member:  # of a group: that knows of its errors
            strategy = max((self._requeueing.strategy_for_pod(queued, each) for each in self._in_flight.since(uid)), default=SKIP)
        self.done(uid)
        if is_member and self.groups is not None:
            self.groups.take_back(queued, strategy)
        else:
            self.requeue(queued, strategy)

    # events

    def move_all_to_active_or_backoff(
        self, event: ClusterEvent, old: ReadOnlyTree | None, new: ReadOnlyTree | None, max_priority: int | None = None,
        *, but: str = "",
    ) -> None:
        """An event has happened: try those again that it may help, after their back-off.

        Only entities with a pod of ``max_priority`` or less; not the pod with the uid ``but``.
        """
        self._resting.happened(event)
        if self._backoff_timer is not None and self._backoff_timer.daemon:
            self._set_backoff_timer()
        if not self._requeueing.is_of_interest(event):
            return
        happened = Happened(event, old, new)
        if self._unschedulable:
            listeners = None if event.is_wild_card else self._requeueing.listeners(happened)
            for entity in list(self._unschedulable.values()):
                if listeners is not None and listeners.isdisjoint(self._rejecting_plugins(entity)):
                    continue
                if (max_priority is None and not but) or _may_move(entity, max_priority, but):
                    self._move(entity, happened)
        self._in_flight.add(happened)

    def _move(self, entity: QueuedEntityInfo, happened: Happened) -> None:
        if entity.is_gated and not happened.event.is_wild_card and not events.matches_any(
                happened.event, entity.gating_plugin_events):
            return
        strategy = self._requeueing.strategy(entity, happened)
        if strategy != SKIP:
            self.requeue(entity, strategy)

    def _rejecting_plugins(self, entity: QueuedEntityInfo) -> frozenset[str]:
        """Those of one that is unschedulable, for as long as it is."""
        if entity.rejecting_plugins is None:
            entity.rejecting_plugins = self._requeueing.rejecting_plugins(entity)
        return entity.rejecting_plugins

    # the parts

    def entity(self, key: EntityKey) -> QueuedEntityInfo | None:
        """What it holds under a key."""
        return (self._active.get(key) or self._backing_off.get(key) or self._error_backing_off.get(key)
                or self._unschedulable.get(key))

    def is_active(self, entity: QueuedEntityInfo) -> bool:
        """Whether an entity is tried as soon as it is its turn."""
        return entity.key in self._active

    def backs_off_until(self, entity: QueuedEntityInfo) -> float | None:
        """When an entity that backs off is tried again, in Unix seconds; None: it does not."""
        backs_off = entity.key in self._backing_off or entity.key in self._error_backing_off
        return self._backoff.end(entity, aligned=self._pops_from_backoff) if backs_off else None

    def take_out(self, key: EntityKey) -> int:
        """Take an entity out of its part; the strategy by which ``requeue`` puts it there again."""
        if self._active.delete(key) is not None:
            return IMMEDIATELY
        entity = self._unschedulable.pop(key, None)
        self._resting.remove(key)
        if entity is not None:
            return AFTER_BACKOFF if rests(entity) else SKIP
        self._backing_off.delete(key)
        self._error_backing_off.delete(key)
        return AFTER_BACKOFF

    def pod_joined(self, entity: QueuedEntityInfo, queued: QueuedPodInfo) -> None:
        """A pod was added to an entity: it holds that back, or nothing changes by it."""
        if entity.key in self._active and not self._gate(queued):
            return
        self.requeue(entity, self.take_out(entity.key))

    def pod_left(self, entity: QueuedEntityInfo, queued: QueuedPodInfo) -> None:
        """A pod was taken out of an entity; what was rejected, or held by it, is tried once more
        without it. One without pods is gone.
        """
        if next(entity.pods(), None) is None:
            self.take_out(entity.key)
        elif entity.key in self._unschedulable:
            self.take_out(entity.key)
            self.requeue(entity, SKIP if entity.gating_pod not in (None, queued) else AFTER_BACKOFF)

    def rest(self, entity: QueuedPodGroupInfo) -> None:
        """A group was rejected, and no event since ``pop`` may help it: it backs off, unless a
        PreEnqueue plugin holds it by now.
        """
        self._is_held(entity)
        self._to_unschedulable(entity)

    def requeue(self, entity: QueuedEntityInfo, strategy: int) -> None:
        """Put an entity where it belongs by a strategy, unless a PreEnqueue plugin holds it."""
        if strategy == AFTER_BACKOFF:
            self._resting.catch_up(entity)
        if strategy == SKIP:
            self.take_out(entity.key)
            self._to_unschedulable(entity)
        elif strategy == AFTER_BACKOFF and self._is_backing_off(entity):
            self._to_backoff(entity)
        else:
            self._to_active(entity)

    def _to_active(self, entity: QueuedEntityInfo) -> None:
        comes_from_backoff = self._pops_from_backoff and (
            entity.key in self._backing_off or entity.key in self._error_backing_off or self._resting.has(entity))
        self.take_out(entity.key)
        if not comes_from_backoff and self._is_held(entity):
            self._to_unschedulable(entity)
            return
        now = self._clock.time()
        if is_tried_too_often(entity, now):
            calm(entity, now)
            self._error_backing_off.add(entity)
            self._set_backoff_timer()
            return
        if entity.initial_attempt_timestamp is None:
            entity.initial_attempt_timestamp = self._clock.time()
        self._active.add(entity)
        self._wake()

    def _to_backoff(self, entity: QueuedEntityInfo) -> None:
        was_resting = self._resting.has(entity)
        self.take_out(entity.key)
        if self._pops_from_backoff and not was_resting and self._is_held(entity):
            self._to_unschedulable(entity)
            return
        now = self._clock.time()
        is_calmed = is_tried_too_often(entity, now)
        if is_calmed:
            calm(entity, now)
        is_error = is_calmed or not (entity.unschedulable_plugins or entity.pending_plugins)  # as any group
        (self._error_backing_off if is_error else self._backing_off).add(entity)
        self._set_backoff_timer()
        if self._pops_from_backoff and not is_error:
            self._wake()

    def _to_unschedulable(self, entity: QueuedEntityInfo) -> None:
        entity.was_flushed_from_unschedulable, entity.rejecting_plugins = False, None
        self._unschedulable[entity.key] = entity
        self._resting.add(entity)
        if self._flush_timer is None:
            self._flush_timer = self._clock.call_later(FLUSH_SECONDS, self._flush, daemon=True)

    def _is_held(self, entity: QueuedEntityInfo) -> bool:
        """Ask PreEnqueue plugins about every pod; one that is held holds the whole entity."""
        entity.gating_plugin, entity.gating_plugin_events, entity.gating_pod = "", (), None
        for each in entity.pods():
            plugin = self._gate(each)
            if plugin:
                entity.gating_plugin, entity.gating_plugin_events, entity.gating_pod = plugin, each.gating_plugin_events, each
                break
        return entity.is_gated

    def _gate(self, queued: QueuedPodInfo) -> str:
        """The name of the plugin that holds a pod; the one that held it last is asked first."""
        profile = self._profiles.get(queued.info.pod["spec"].get("schedulerName", ""))
        if profile is None or not profile.gates:
            return ""
        last = queued.gating_plugin
        gates = sorted(profile.gates, key=lambda gate: gate.name != last) if last else profile.gates
        queued.gating_plugin, queued.gating_plugin_events = "", ()
        for gate in gates:
            status, raised = attempt(gate.pre_enqueue, queued.info)
            if raised is not None:
                log.error("%s about %s", gate.name, queued.key, exc_info=raised)
            if status is not None or raised is not None:
                queued.unschedulable_plugins[gate.name] = None
                queued.gating_plugin = gate.name
                queued.gating_plugin_events = [each.event for each in profile.events.get(gate.name, ANY_EVENT)]
                return gate.name
        return ""

    # times

    def _expiration(self, entity: QueuedEntityInfo) -> float:
        return self._backoff.expiration(entity, aligned=self._pops_from_backoff)

    def _is_backing_off(self, entity: QueuedEntityInfo) -> bool:
        return self._backoff.is_backing_off(entity, self._clock.time(), aligned=self._pops_from_backoff)

    def _set_backoff_timer(self) -> None:
        """Have the timer go off when the first back-off is over."""
        first = [entity for heap in (self._backing_off, self._error_backing_off) if (entity := heap.first()) is not None]
        daemon = all(self._is_hopeless(entity) for entity in first)
        if daemon:  # one behind them may pull time forward
            first = [entity for entity in self._error_backing_off if not self._is_hopeless(entity)] or first
            daemon = all(self._is_hopeless(entity) for entity in first)
        when = min((self._backoff.end(entity, aligned=self._pops_from_backoff) for entity in first), default=None)
        timer = self._backoff_timer
        if timer is not None and not timer.cancelled and (timer.when, timer.daemon) == (when, daemon):
            return
        if timer is not None:
            timer.cancel()
        self._backoff_timer = None
        if when is not None:
            self._backoff_timer = self._clock.call_later(when - self._clock.time(), self._flush_backoff, daemon=daemon)

    def _is_hopeless(self, entity: QueuedEntityInfo) -> bool:
        """Whether an entity must not pull time forward, which failed again and again."""
        return self._resting.is_hopeless(entity) or max(entity.consecutive_errors_count, entity.calmed_count) > DAEMON_TRIES

    def _flush_backoff(self) -> None:
        self._backoff_timer = None
        for heap in (self._backing_off, self._error_backing_off):
            while (entity := heap.first()) is not None and not self._is_backing_off(entity):
                self._to_active(entity)
        self._set_backoff_timer()

    def _flush(self) -> None:
        """Try what has been unschedulable for long, whatever has happened."""
        now = self._clock.time()
        for entity in list(self._unschedulable.values()):
            if now - max(entity.timestamp, entity.flush_timestamp) > self._max_in_unschedulable_seconds:
                entity.flush_timestamp = now
                self._move(entity, Happened(events.UNSCHEDULABLE_TIMEOUT, None, None))
                entity.was_flushed_from_unschedulable = entity.key not in self._unschedulable
        self._flush_timer = None
        if self._unschedulable:
            self._flush_timer = self._clock.call_later(FLUSH_SECONDS, self._flush, daemon=True)


def _size(entities: Iterable[QueuedEntityInfo]) -> int:
    return sum(1 for entity in entities for _ in entity.pods())


def _may_move(entity: QueuedEntityInfo, max_priority: int | None, but: str) -> bool:
    return any(
        each.info.uid != but and (max_priority is None or each.info.priority <= max_priority) for each in entity.pods())

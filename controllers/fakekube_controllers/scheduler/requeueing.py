"""What an event means for entities that wait: whether they are tried again, and after their
back-off or at once.

An event may help an entity if it may help one of its pods, and that is for the plugins to say that
rejected the pod, by the hints that they registered. Most events concern few of those that wait:
``listeners`` says which plugins an event may matter to at all, so that the others need not be asked
about each pod.

Upstream: pkg/scheduler/backend/queue (isPodWorthRequeuing, isEventOfInterest).
"""

import logging
from collections.abc import Callable, Mapping, Sequence

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.controller import attempt
from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import QUEUE, ClusterEvent, ClusterEventWithHint, QueueingHintFn
from fakekube_controllers.scheduler.framework.queued import QueuedEntityInfo, QueuedPodInfo
from fakekube_controllers.scheduler.inflight import Happened

log = logging.getLogger(__name__)

SKIP, AFTER_BACKOFF, IMMEDIATELY = range(3)  # strategies: where an entity goes
ANYBODY = ""  # among the names of plugins: any event may help

Registered = Mapping[str, Sequence[ClusterEventWithHint]]
CanHelp = Callable[[ReadOnlyTree | None, ReadOnlyTree | None], bool]


class Requeueing:
    """``registered``: by the name of a scheduler, the events that each plugin registers."""

    def __init__(self, registered: Mapping[str, Registered]) -> None:
        self._registered = registered
        events_ = {each.event: None for of_profile in registered.values() for listed in of_profile.values() for each in listed}
        self._events = list(events_)
        self._known = {name: None for of_profile in registered.values() for name in of_profile}
        self._of_interest: dict[ClusterEvent, bool] = {}
        self._hints: dict[tuple[str, ClusterEvent], Mapping[str, Sequence[QueueingHintFn | None]]] = {}
        self._listeners: dict[ClusterEvent, tuple[frozenset[str], Mapping[str, Sequence[CanHelp]]]] = {}

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin registered such an event."""
        found = self._of_interest.get(event)
        if found is None:
            found = self._of_interest[event] = event.is_wild_card or events.matches_any(event, self._events)
        return found

    def listeners(self, happened: Happened) -> frozenset[str]:
        """The names of the plugins whose rejections the event may undo, ANYBODY among them."""
        found = self._listeners.get(happened.event)
        if found is None:
            found = self._listeners[happened.event] = self._listening_to(happened.event)
        always, conditional = found
        if not conditional:
            return always
        return always.union([
            name for name, checks in conditional.items() if any(check(happened.old, happened.new) for check in checks)])

    def _listening_to(self, event: ClusterEvent) -> tuple[frozenset[str], Mapping[str, Sequence[CanHelp]]]:
        always, conditional = {ANYBODY: None}, dict[str, list[CanHelp]]()
        for of_profile in self._registered.values():
            for name, listed in of_profile.items():
                for each in listed:
                    if not each.event.matches(event):
                        continue
                    if each.can_help is None:
                        always[name] = None
                    else:
                        conditional.setdefault(name, []).append(each.can_help)
        return frozenset(always), {name: checks for name, checks in conditional.items() if name not in always}

    def rejecting_plugins(self, entity: QueuedEntityInfo) -> frozenset[str]:
        """The plugins that rejected the pods of an entity; ANYBODY where one has none, or one that
        is not known here.
        """
        found: dict[str, None] = {}
        for each in _asked_about(entity):
            if not each.unschedulable_plugins and not each.pending_plugins:
                return frozenset([ANYBODY])
            found |= each.unschedulable_plugins | each.pending_plugins
        return frozenset([name if name in self._known else ANYBODY for name in found])

    def strategy(self, entity: QueuedEntityInfo, happened: Happened) -> int:
        """What an event means for an entity: the most that it means for any of its pods."""
        best = SKIP
        for each in _asked_about(entity):
            best = max(best, self.strategy_for_pod(each, happened))
            if best == IMMEDIATELY:
                break
        return best

    def strategy_for_pod(self, queued: QueuedPodInfo, happened: Happened) -> int:
        """By the hints of the plugins that rejected it; rejected by none, it had no node."""
        pending = queued.pending_plugins
        if not queued.unschedulable_plugins and not pending:
            return AFTER_BACKOFF
        if happened.event.is_wild_card:
            return AFTER_BACKOFF if happened.only_for in ("", queued.info.uid) else SKIP
        listening = self._listening(queued.info.pod["spec"].get("schedulerName", ""), happened.event)
        strategy = SKIP
        for name in (*pending, *queued.unschedulable_plugins):
            for hint in listening.get(name, (None,)):
                if hint is None or _helps(hint, queued, happened):
                    if name in pending:
                        return IMMEDIATELY
                    if not pending:
                        return AFTER_BACKOFF
                    strategy = AFTER_BACKOFF
        return strategy

    def _listening(self, scheduler_name: str, event: ClusterEvent) -> Mapping[str, Sequence[QueueingHintFn | None]]:
        """The hints that the plugins of a profile registered for an event, by the plugin's name."""
        found = self._hints.get((scheduler_name, event))
        if found is None:
            found = self._hints[scheduler_name, event] = {
                name: [each.hint for each in listed if each.event.matches(event)]
                for name, listed in self._registered.get(scheduler_name, {}).items()}
        return found


def _asked_about(entity: QueuedEntityInfo) -> Sequence[QueuedPodInfo]:
    """The pods that it waits for: of a group that is held, the one that a plugin holds."""
    return (entity.gating_pod,) if entity.gating_pod is not None else list(entity.pods())


def _helps(hint: QueueingHintFn, queued: QueuedPodInfo, happened: Happened) -> bool:
    """What a hint says; one that raises helps."""
    said, raised = attempt(hint, queued.info, happened.old, happened.new)
    if raised is not None:
        log.error("a hint about %s", queued.key, exc_info=raised)
    return raised is not None or said == QUEUE

"""Claims that are checked while a test runs.

    with checking(cluster, Never(two_leaders), Eventually(complete, within="5m")):
        await cluster.advance("10m")

The predicates are asked in the middle of the commit that changes what they look at, before anybody
else hears of it. The first state that breaks a claim is the failure of whoever moves time: the
running ``settle``, ``advance`` or ``run_until`` raises, at the instant at which it came about. What
is still to come has until the end of the block, or its ``within``. A cluster with claims does what
it does without: they subscribe as watches do, to what predicates look at, and write nothing.
"""

import logging
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from fakekube.apimachinery.gvk import GroupResource
from fakekube.composition.fleet import Fleet
from fakekube.composition.snapshot import Snapshot
from fakekube.storage.record import Event
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.claims import Broken, Check, Claim, Reached, Refused, says_nothing
from fakekube.testing.fleetstate import FleetState
from fakekube.testing.history import Change, History
from fakekube.testing.present import Present
from fakekube.testing.temporal import HistoryError, error_of
from fakekube.util.answering import AnsweringThread, Stopwatch, TooSlow

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.storage.bucket import Bucket
    from fakekube.storage.watchcache import Subscription
    from fakekube.util.timers import Timer

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 10.0
"""So long, on the wall, a cluster in the background waits for the answer of a predicate."""

SLOW_SECONDS = 5.0
"""A claim that took so long in all, on the wall, is worth a line in the log."""


class ClaimError(TypeError):
    """What is no claim."""


def checking(where: "Cluster | BackgroundCluster | Fleet", *claims: Claim) -> "Checking":
    """A context manager: in the block, claims are true of every state, from the present one on.

    ``where`` is a cluster, one in the background (from the test's thread), or a fleet, whose
    predicates get a mapping of States by the names of its members. After a ``reset`` or ``restore``
    they are about the states from then on; what was reached stays so.

    Raises HistoryError (an AssertionError) at the end of the block for a claim that was broken in
    it, or whose wait was in vain; ClaimError for what is no claim.
    """
    for claim in claims:
        if not isinstance(claim, Claim):
            raise ClaimError(f"{claim!r} is no claim: say Always(p), Never(p), Eventually(p), Until(p, q) or LeadsTo(p, q)")
    return Checking(where, claims)


class Checking:
    """The block in which claims are checked; see ``checking``."""

    def __init__(self, where: "Cluster | BackgroundCluster | Fleet", claims: "tuple[Claim, ...]") -> None:
        self._where, self._running = where, Running(where, claims)

    def __enter__(self) -> Self:
        self._run(self._running.start)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._run(self._running.finish if error is None else partial(self._running.abandon, error))

    def give_up(self) -> None:
        """End it without a verdict."""
        self._run(self._running.give_up)

    def _run(self, function: Callable[[], None]) -> None:
        """Call it on the cluster's loop."""
        if isinstance(self._where, BackgroundCluster):
            self._where.run(lambda _: function())
        else:
            function()


class Running:
    """Claims while they are checked. To be used on the cluster's loop."""

    def __init__(self, where: "Cluster | BackgroundCluster | Fleet", claims: "tuple[Claim, ...]") -> None:
        self._thread: AnsweringThread | None = None
        if isinstance(where, BackgroundCluster):
            self._thread = AnsweringThread("fakekube claims", PATIENCE_SECONDS)
            where = where.cluster
        self._members: Mapping[str, Cluster] = where if isinstance(where, Fleet) else {"": where}
        self._is_fleet = isinstance(where, Fleet)
        self._driver = where.driver
        self._open = [Check(claim, Asking(claim, self._thread, self._revisions)) for claim in claims]
        self._listened: dict[Check, int] = {}  # how often it had been asked
        self._subscriptions: dict[tuple[str, GroupResource], Subscription] = {}
        self._all_of: dict[str, None] = {}  # members of which every change is wanted
        self._wanted: dict[tuple[str, GroupResource], None] = {}
        self._cancel: list[Callable[[], object]] = []
        self._timer: Timer | None = None
        self._error: HistoryError | None = None

    # its life

    def start(self) -> None:
        """Look at the present state, and at each that follows. Raises HistoryError."""
        self._begin()
        if self._error is not None:
            self.give_up()
        self._raise_error()

    def _begin(self) -> None:
        clusters = self._members
        self._begun = {member: cluster.apiserver.storage.revision for member, cluster in clusters.items()}
        self._state: Any = FleetState(clusters) if self._is_fleet else Present(clusters[""])
        for member, cluster in clusters.items():
            self._cancel.append(cluster.apiserver.buckets.on_made(partial(self._made, member)))
            cluster.apiserver.storage.on_retire[self._begin_anew] = None
            self._cancel.append(partial(cluster.apiserver.storage.on_retire.pop, self._begin_anew, None))
        self._look()

    def _begin_anew(self) -> None:
        """The cluster has another state now, and another history."""
        self._stop()
        for check in self._open:
            check.begin()
        self._begin()

    def _stop(self) -> None:
        """Look no longer."""
        for cancel in self._cancel:
            cancel()
        for subscription in tuple(self._subscriptions.values()):
            subscription.cancel()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._cancel.clear()
        self._subscriptions.clear()
        self._listened.clear()
        self._wanted.clear()
        self._all_of.clear()

    def finish(self) -> None:
        """No more states come. Raises HistoryError."""
        now = self._driver.clock.time()
        for check in self._open if self._error is None else ():
            broken = check.end(now, self._state.started) or self._nothing_to_see(check)
            if broken is not None:
                self._error = self._error_of(broken)
                break
        self.give_up()
        self._raise_error()

    def abandon(self, error: BaseException) -> None:
        """The block ends with an error of its own, which gets a note of a claim that is broken."""
        self.give_up()
        if self._error is not None and self._error is not error:
            error.add_note(f"and a claim was broken: {self._error}")

    def give_up(self) -> None:
        """Look no longer, and leave no failure behind."""
        self._stop()
        if self._thread is not None:
            self._thread.end()
        failure = self._driver.take_failure()  # which is raised here, if it is ours
        if failure is not None and failure is not self._error:
            self._driver.fail(failure)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    # every state

    def _changed(self, member: str, resource: GroupResource, event: Event) -> None:
        if self._error is not None:
            return
        state = self._state
        # as a History tells it: the server's own writes come with others'
        change = Change(event.cause.time if event.cause is not None else state.at, resource, event)
        if self._is_fleet:
            state.note(member, change)
        else:
            state.note(change)
        self._look()

    def _look(self) -> None:
        """Show the state to every claim."""
        deadline = math.inf
        for check in tuple(self._open):
            verdict = check.look(self._state)
            if isinstance(verdict, Broken):
                self._break(verdict)
                return
            if isinstance(verdict, Reached):
                self._open.remove(check)
            elif check.deadline is not None:
                deadline = min(deadline, check.deadline)
            if self._listened.get(check) != check.asked:
                self._listened[check] = check.asked
                self._listen(check)
        self._wait_until(deadline)

    def _break(self, broken: Broken) -> None:
        self._stop()
        self._error = self._error_of(broken)
        self._driver.fail(self._error, at_once=True)

    def _error_of(self, broken: Broken) -> HistoryError:
        cluster = self._members.get(broken.member) or next(iter(self._members.values()))
        server, begun = cluster.apiserver, cluster.apiserver.first_objects.started
        # not cluster.snapshot(), which asks components, who may be in the middle of something
        storage = server.unasked.add_to(server.storage.fork())
        taken = Snapshot(cluster.options, storage, self._driver.clock.time(), begun, cluster.rng.save(), {})
        error = error_of(broken, History(taken))
        error.__cause__ = broken.error
        return error

    def _wait_until(self, deadline: float) -> None:
        """Look again as soon as it is later than that, unless something comes before."""
        timer = self._timer
        if timer is not None and not timer.cancelled and timer.args == (deadline,):
            return
        if timer is not None:
            timer.cancel()
        self._timer = None if deadline == math.inf else self._driver.clock.call_at(
            math.nextafter(deadline, math.inf), self._is_too_late, deadline, daemon=True)

    def _is_too_late(self, _: float) -> None:
        now = self._driver.clock.time()
        for check in self._open:
            broken = check.end(now, self._state.started) if check.is_late(now) else None
            if broken is not None:
                self._break(broken)
                return

    # what there is to hear of

    def _listen(self, check: Check) -> None:
        """Hear of every change of what its predicates looked at."""
        for member, resource in self._state.resources(check.looks):
            if resource is None:
                self._all_of[member] = None
                for bucket in self._members[member].apiserver.storage.buckets:
                    self._subscribe(member, bucket, bucket.revision)
            elif (member, resource) not in self._wanted:
                self._wanted[member, resource] = None
                existing = self._members[member].apiserver.buckets.existing(resource)
                if existing is not None:
                    self._subscribe(member, existing, existing.revision)

    def _made(self, member: str, bucket: "Bucket") -> None:
        """A resource has a place for objects: somebody has asked for it for the first time."""
        if member in self._all_of or (member, bucket.resource) in self._wanted:
            self._subscribe(member, bucket, max(self._begun[member], bucket.compacted))

    def _subscribe(self, member: str, bucket: "Bucket", since: int) -> None:
        key = member, bucket.resource
        if key not in self._subscriptions:
            self._subscriptions[key] = bucket.subscribe(
                since, "", partial(self._changed, *key), closed=partial(self._closed, key))

    def _closed(self, key: tuple[str, GroupResource]) -> None:
        """A resource is served no more. One of its name may come."""
        self._subscriptions.pop(key, None)

    def _revisions(self) -> int:
        """Another number after every write."""
        return sum(cluster.apiserver.storage.revision for cluster in self._members.values())

    # what cannot be judged

    def _nothing_to_see(self, check: Check) -> Broken | None:
        """A claim about objects that there cannot be in this cluster."""
        for member, resource in self._state.resources(check.looks):
            server = self._members[member].apiserver
            if resource is not None and not server.storage.has(resource) and resource not in server.resources.stored:
                return says_nothing(check.claim, resource, member)
        return None


class Asking:
    """Asks the predicates of a claim: here, or in a thread, so that one that asks the cluster,
    which waits for it, waits in vain but not for ever.
    """

    def __init__(self, claim: Claim, thread: AnsweringThread | None, revisions: Callable[[], int]) -> None:
        self._claim, self._thread, self._revisions = claim, thread, revisions
        self._watch = Stopwatch()

    def __call__(self, call: Callable[[], Any]) -> Any:
        """What ``call()`` returns or raises. Raises Refused."""
        watch = self._watch
        was_slow = watch.seconds > SLOW_SECONDS
        before = self._revisions()
        with watch:
            answer = call() if self._thread is None else self._answer(self._thread, call)
        if self._revisions() != before:
            raise Refused("wrote to the cluster: it looks at the state that it is given, and changes nothing")
        if watch.seconds > SLOW_SECONDS and not was_slow:
            log.warning(
                "%s was asked %d times, which took %.1f s: look at single objects (get, field), or say each=",
                self._claim, watch.times, watch.seconds)
        return answer

    def _answer(self, thread: AnsweringThread, call: Callable[[], Any]) -> Any:
        try:
            return thread.call(call)
        except TooSlow:
            raise Refused(
                f"gave no answer within {PATIENCE_SECONDS:g} s: it looks at the state that it is given, and asks no cluster, "
                "which waits for its answer") from None

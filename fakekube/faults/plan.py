"""The rules that are at work in a cluster, what they met, and where requests meet them.

``Faults`` is an interceptor: it stands behind authorization, in front of the endpoints. A request
that no rule is about costs it one look into a table.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from fakekube.apimachinery.causes import ACTING, CAUSE
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import MetFault, Request
from fakekube.endpoints.openwatches import OpenWatches
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.faults.matching import Form, Matcher, is_about_cluster
from fakekube.faults.rules import MOST_RULES, FaultError, Rule, rule_of
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import turn

if TYPE_CHECKING:
    from fakekube.util.timers import Timer

KEPT_MEETINGS = 10_000
KEPT_FORMS = 4_096
FEW = 4
RULES_IN_A_TURN = 50
"""So many are read, or told, before others have a turn."""
OWN_PATHS = "/fakekube/"


class FaultNeverMet(AssertionError):
    """A fault that a test asked for, and that no request met: the test did not test it."""


class Meeting(NamedTuple):
    """One request, or one watch, that met a fault. ``time`` is Unix seconds."""

    time: float
    fault: str
    what: str
    verb: str
    path: str
    user_agent: str
    component: str


class Server(Protocol):
    """What faults need of the server that they are in."""

    @property
    def name(self) -> str:
        """That of its cluster in a fleet, empty for a cluster alone."""

    @property
    def revision(self) -> int:
        """The latest version of the storage."""

    @property
    def oldest_revision(self) -> int:
        """The oldest version of the storage that can be read."""

    def compact(self) -> None:
        """Let no past state be read any more."""

    def touch(self, resource: GroupResource, namespace: str, name: str) -> bool:
        """Give a stored object a new version, as when somebody changes it and takes that back;
        False where there is none.
        """

    def kind_of(self, resource: GroupResource) -> str:
        """The name of the kind of a resource; that of the resource where there is none."""

    def check_component(self, name: str) -> None:
        """Raises FaultError for the name of a component that the cluster does not know, nor the
        fleet.
        """

    async def crash(self, component: str) -> bool:
        """Let a component die and start again; returns, once it is dead, whether it sent the
        request that is being answered from outside of this process.
        """

    def is_elsewhere(self, info: RequestInfo) -> bool:
        """Whether another server answers a request, with versions of its own."""

    def asleep(self) -> AbstractContextManager[None]:
        """A block in which a request waits for time, so that nobody else waits for it."""

    @property
    def is_asked(self) -> bool:
        """Whether time stands while somebody's predicate is asked."""

    @property
    def watches(self) -> OpenWatches:
        """The watches that are open."""

    def labels_of(self, resource: GroupResource, namespace: str, name: str) -> Mapping[str, str] | None:
        """The labels of a stored object, None where there is none."""


class Fault:
    """One rule at work: what ``Faults.add`` returns. As a context manager it is removed at the end
    of the block, which fails if no request has met it.
    """

    def __init__(
        self, faults: "Faults", rule: Rule, matcher: Matcher, rng: Rng, began: float, revision: int,
    ) -> None:
        self.rule, self._matcher, self._faults, self._rng = rule, matcher, faults, rng
        self.began, self.revision = began, revision
        self.ends_requests = rule.moment == "before" and (rule.error is not None or rule.cut == "before")
        self.seen = self.met = self.missed = 0
        self.removed = False
        self.caught_up_at: float | None = None  # when a replica that is behind will have caught up
        self.timers: list[Timer] = []

    @property
    def name(self) -> str:
        """Its name, as logs and histories have it."""
        return self.rule.name

    def replica(self) -> int:
        """The version that a replica has which lags because of it: the latest, when it is over."""
        now, latest, rule = self._faults.clock.time(), self._faults.latest_revision, self.rule
        if self.removed or not self.is_open(now):
            return latest
        if rule.behind is not None and self.caught_up_at is None:
            self.revision = max(self._faults.oldest_revision, latest - rule.behind)
            self.caught_up_at = math.inf if rule.lasting is None else now + rule.lasting
        return self.revision if self.caught_up_at is None or now < self.caught_up_at else latest

    def is_open(self, now: float) -> bool:
        """Whether it is the time in which the rule holds."""
        rule = self.rule
        return now >= self.began + rule.after and (rule.until is None or now < self.began + rule.until)

    def is_about(self, form: Form) -> bool:
        """Whether it may be about requests of a form."""
        return self._matcher.is_about(form)

    def is_about_call(self, name: str) -> bool:
        """Whether it may be about calls of a webhook of that name."""
        return self._matcher.is_about_call(name)

    def is_about_asked(self, info: RequestInfo, user: str, user_agent: str) -> bool:
        """Whether it may be about such requests for that object, by that user and agent."""
        return self._matcher.is_about_asked(info, user, user_agent)

    def matches(self, info: RequestInfo, request: Request) -> bool:
        """Whether the rule is about a request, whichever of those it takes."""
        if not self._matcher.matches(info, request):
            return False
        rule = self.rule
        return not (rule.stale or rule.compact) or not self._faults.is_elsewhere(info)

    def takes(self, info: RequestInfo, request: Request, now: float) -> bool:
        """Whether a request, which has come now, meets the fault. Counts it."""
        if not self.is_open(now) or not self.matches(info, request):
            return False
        return self.counts()

    def counts(self) -> bool:
        """Whether the next of those that match is one to take."""
        rule = self.rule
        if rule.times is not None and self.met >= rule.times:
            return False
        self.seen += 1
        if rule.nth and self.seen not in rule.nth:
            return False
        if rule.every is not None and self.seen % rule.every:
            return False
        if rule.probability is not None and self._rng.uniform(0, 1) >= rule.probability:
            return False
        self.met += 1
        return True

    def is_missed(self) -> None:
        """What was taken for a watch became none: it has not met it."""
        self.met -= 1
        self.missed += 1

    def remove(self) -> None:
        """Let it be; watches that stand still go on. Harmless when it was removed."""
        self._faults.remove(self)

    def check(self) -> None:
        """Raises FaultNeverMet, unless a request met it or it is optional."""
        if self.met or self.rule.optional:
            return
        why = "none matched"
        if self.rule.error == "Conflict":
            why += ": a conflict meets writes that name the version of the object, as others are tried again by the server"
        if self.seen:
            why = f"{self.seen} matched, and " + ("no watch came of those" if self.missed else "none was one to take")
        raise FaultNeverMet(f"the fault {self} met no request: {why}")

    def __str__(self) -> str:
        return f"{self.name} ({self.rule.what})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.remove()
        if error is None:
            self.check()


class Faults:
    """All faults of one cluster. ``rng`` decides what is probable."""

    def __init__(self, clock: Clock, rng: Rng, server: Server) -> None:
        self.clock, self._rng, self.server = clock, rng, server
        self._active: dict[str, Fault] = {}
        self._by_form: dict[Form, list[Fault]] = {}
        self._by_asked: dict[tuple[str, str, str, str, str], list[Fault]] = {}
        self._meetings: deque[Meeting] = deque(maxlen=KEPT_MEETINGS)
        self._added = 0
        self.states = 0  # how many states there were: a request that waits belongs to one of them
        self.on_change: list[Callable[[Fault], None]] = []
        self.on_meeting: list[Callable[[Fault], None]] = []

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._active.values()))

    def __len__(self) -> int:
        return len(self._active)

    @property
    def latest_revision(self) -> int:
        """Of the storage."""
        return self.server.revision

    @property
    def oldest_revision(self) -> int:
        """The oldest of the storage that can be read."""
        return self.server.oldest_revision

    def is_elsewhere(self, info: RequestInfo) -> bool:
        """Whether another server answers a request, with versions of its own."""
        return self.server.is_elsewhere(info)

    def begin_again(self) -> None:
        """Another state has taken the place of that in which replicas began to lag, and in which
        requests wait.
        """
        self.states += 1
        for fault in self:
            fault.revision, fault.caught_up_at = self.server.revision, None

    @property
    def meetings(self) -> list[Meeting]:
        """Who met what, oldest first; the latest ten thousand."""
        return list(self._meetings)

    def add(self, rule: "Rule | Mapping[str, Any] | None" = None, **values: Any) -> Fault:
        """Let something go wrong from now on.

        ``rule`` or keyword arguments are the fields of a rule (docs/faults.md): verbs, resources,
        namespaces, names, labels, clusters, users, user_agents, components, paths say of which
        requests; nth, every, probability, times, after, until which of them; error, latency, cut,
        watch, stale, compact, lose_lease, crash, webhook what. Raises FaultError.
        """
        made = rule if isinstance(rule, Rule) and not values else rule_of({**_fields(rule), **values})
        self._check(made)
        if len(self._active) >= MOST_RULES:
            raise FaultError(f"there are {MOST_RULES:,} faults, and a cluster takes no more")
        return self._put(self._matcher(made))

    def _matcher(self, rule: Rule) -> Matcher:
        return Matcher(rule, self.server.labels_of, self.server.name)

    def _put(self, matcher: Matcher) -> Fault:
        """Let a rule hold which was checked."""
        made, server = matcher.rule, self.server
        self._added += 1
        if not made.name:
            made = made.model_copy(update={"name": self._free_name()})
        rng = self._rng.fork(f"{self._added} {made.name}")
        fault = Fault(self, made, matcher, rng, self.clock.time(), server.revision)
        self._active[made.name] = fault
        self._by_form.clear()
        self._by_asked.clear()
        for tell in self.on_change:
            tell(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Let a fault be; harmless when it was removed."""
        if self._active.get(fault.name) is not fault:
            return
        del self._active[fault.name]
        fault.removed = True
        self._by_form.clear()
        self._by_asked.clear()
        for timer in fault.timers:
            timer.cancel()
        for tell in self.on_change:
            tell(fault)

    def clear(self) -> None:
        """Remove all."""
        for fault in self:
            fault.remove()

    def begin(self, rules: Iterable[Rule]) -> None:
        """Let these rules hold from now on, and no others."""
        self.clear()
        self.add_all(rules)

    def add_all(self, rules: Iterable[Rule]) -> None:
        """Add several. Raises FaultError for a name that is taken, and for a component that the
        cluster does not know, and has added none then.
        """
        self._put_all([self._matcher(rule) for rule in rules])

    async def add_in_turns(self, rules: Iterable[Rule]) -> None:
        """As ``add_all``, with everything else on the loop between ``rules`` as they come; requests
        meet none of them before the last one has come.
        """
        matchers: list[Matcher] = []
        for rule in rules:
            matchers.append(self._matcher(rule))
            if not len(matchers) % RULES_IN_A_TURN:
                await turn()
        self._put_all(matchers)

    def _put_all(self, matchers: Sequence[Matcher]) -> None:
        for matcher in matchers:
            self._check(matcher.rule)
        count = len(self._active) + len(matchers)
        if count > MOST_RULES:
            raise FaultError(f"{count:,} faults are more than the {MOST_RULES:,} that a cluster takes")
        for matcher in sorted(matchers, key=lambda matcher: not matcher.rule.name):  # who has a name keeps it
            self._put(matcher)

    def _check(self, rule: Rule) -> None:
        if rule.name in self._active:
            raise FaultError(f"a fault is called {rule.name!r} already")
        if rule.crash and is_about_cluster(rule, self.server.name):
            self.server.check_component(rule.crash)

    def _free_name(self) -> str:
        number = self._added
        while f"fault-{number}" in self._active:
            number += 1
        return f"fault-{number}"

    def check(self) -> None:
        """Raises FaultNeverMet for the first that no request met."""
        for fault in self:
            fault.check()

    def named(self, name: str) -> Fault | None:
        """The fault of that name that is at work."""
        return self._active.get(name)

    def met_by(self, info: RequestInfo, request: Request) -> list[Fault]:
        """The faults that a request meets, in the order in which they were added; noted."""
        form = info.verb, info.group, info.resource, info.subresource
        found = self._by_form.get(form)
        if found is None:
            if len(self._by_form) >= KEPT_FORMS:  # somebody asks for what is not served, in many ways
                self._by_form.clear()
            found = self._by_form[form] = [
                fault for fault in self if fault.rule.webhook is None and fault.is_about(form)]
        if len(found) > FEW:
            found = self._about_asked(found, info, request)
        if not found or request.path.startswith(OWN_PATHS):
            return []
        now = self.clock.time()
        met = []
        for fault in found:
            if fault.takes(info, request, now):
                met.append(fault)
                if fault.ends_requests:
                    break  # nobody is left to meet the next
        return met

    def _about_asked(self, among: list[Fault], info: RequestInfo, request: Request) -> list[Fault]:
        """Those of a form that may be about such a request for this object by this client: clients
        ask for the same things again and again.
        """
        user = request.user.name if request.user is not None else ""
        # verb and path tell the form; the name of a collection stands in its query
        asked = info.verb, info.path, info.name, user, request.headers.get("user-agent", "")
        found = self._by_asked.get(asked)
        if found is None:
            if len(self._by_asked) >= KEPT_FORMS:
                self._by_asked.clear()
            found = self._by_asked[asked] = [fault for fault in among if fault.is_about_asked(info, user, asked[-1])]
        return found

    def of_calls(self, name: str) -> Fault | None:
        """The fault that a call of a webhook meets, or of what converts the objects of a
        definition; noted.
        """
        now = self.clock.time()
        for fault in self:
            if fault.rule.webhook is None or not fault.is_open(now) or not fault.is_about_call(name) or not fault.counts():
                continue
            cause, acting = CAUSE.get(), ACTING.get()
            self._meetings.append(Meeting(
                now, fault.name, fault.rule.what, "call", name, cause.user_agent if cause is not None else "",
                acting.component if acting is not None else ""))
            return fault
        return None

    def note(self, fault: Fault, info: RequestInfo, request: Request, component: str = "") -> None:
        """Remember that a request met a fault; the request log and the history name it."""
        acting = ACTING.get()
        rule, before = fault.rule, request.fault
        info.fault = f"{info.fault}, {fault.name}" if info.fault else fault.name
        is_told = not (rule.watch or rule.stale or rule.compact or rule.lose_lease) and (before is None or before.told)
        request.fault = MetFault(info.fault, not rule.lose_lease and (before is None or before.served), is_told)
        for tell in self.on_meeting:
            tell(fault)
        self._meetings.append(Meeting(
            self.clock.time(), fault.name, fault.rule.what, info.verb, info.path, request.headers.get("user-agent", ""),
            component or (acting.component if acting is not None else "")))

    def explain(self) -> Iterable[str]:
        """What is at work, as people read it: for who waits in vain."""
        for fault in self:
            yield f"fault {fault}: {fault.met} of {fault.seen} matching requests met it"


def _fields(rule: "Rule | Mapping[str, Any] | None") -> dict[str, Any]:
    if isinstance(rule, Rule):
        return rule.model_dump(exclude_unset=True)
    return dict(rule or {})

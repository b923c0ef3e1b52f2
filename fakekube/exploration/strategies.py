"""Named strategies against an unchanged operator: what a seed lets go wrong with it.

A strategy draws a plan of faults from what the operator did in the calm run: which of its writes is
the last before it dies, from which event on a watch stands still. A plan is a pure function of the
strategy, the calm run and the seed, and its faults are choices of a run (``util.choices``); so the
runner shrinks them, the story tells when they were met, and a schedule replays them.

The strategies are those of Sieve (Sun et al., OSDI 2022), which restarts operators on a real
cluster, and those that its authors leave to fault injectors: conflicts, writes of which nobody
knows whether they were committed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apiserver.filters import LogEntry
from fakekube.exploration.draws import Drawn, Draws
from fakekube.faults.rules import WRITING, Rule, rule_of
from fakekube.util.choices import Deviation

MOST_READS_AFTER = 40
"""So many reads of an operator that starts again a replica that is behind answers at most."""

STALLS_SECONDS = (0.05, 1.0, 5.0, 20.0)
"""How long a watch stands still, and a replica is behind: little and much against a retry. Nothing
lasts longer than the last of them, so that a test knows how much time to give.
"""

MOST_GAPS = 3
"""A watch may stand still until just after one of so many next moments at which it was told of
something.
"""

JUST_AFTER_SECONDS = 0.05

LATE_SECONDS = (0.02, 0.2, 1.0, 5.0)

UNCOUNTED = ("events", "leases")
"""Resources whose writes are words and heartbeats."""

AMBIGUOUS_ANSWERS = ("InternalError", "Timeout", "EtcdTimeout", "EtcdLeaderChanged", "")
"""What is said of a write that was committed; the empty one is no answer."""

LISTING = ("list", "watch")


class Target(NamedTuple):
    """The operator that is tried: patterns of its user agents and users.

    ``component`` is what dies; empty for a client that nobody here can start again. ``clusters``
    are members of a fleet: what it does in others is left alone.
    """

    name: str
    user_agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    component: str = ""
    clusters: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of rules about its requests."""
        return {name: value for name in ("user_agents", "users", "clusters") if (value := getattr(self, name))}


class Write(NamedTuple):
    """A write of the target that was taken: its number among all the target's writes, from 1, and
    where it stands among all requests.
    """

    number: int
    entry: LogEntry
    place: int


@dataclass(frozen=True)
class Calm:
    """What was asked in the calm run, by everybody, oldest first; ``own`` are those of ``requests``
    that the target made.
    """

    target: Target
    requests: tuple[LogEntry, ...]
    own: tuple[LogEntry, ...]

    @cached_property
    def places(self) -> list[int]:
        """Where each of ``own`` stands among ``requests``."""
        numbered = enumerate(self.requests)
        return [next(place for place, one in numbered if one is entry) for entry in self.own]

    @cached_property
    def writes(self) -> list[Write]:
        """The target's writes that were taken, but for words and heartbeats."""
        writes = [(entry, place) for entry, place in zip(self.own, self.places, strict=True) if entry.verb in WRITING]
        return [Write(number, entry, place) for number, (entry, place) in enumerate(writes, 1)
                if is_taken(entry) and entry.resource not in UNCOUNTED]

    @cached_property
    def watched(self) -> dict[str, set[str]]:
        """The resources that the target watches, as rules name them, and in which namespaces; the
        empty one is all.
        """
        found: dict[str, set[str]] = {}
        for entry in self.own:
            if entry.verb == "watch" and entry.code < 400:
                found.setdefault(resource_of(entry), set()).add(entry.namespace)
        return found

    @cached_property
    def events(self) -> dict[str, list[int]]:
        """The writes that the target's watches told of, by resource: where they stand among all
        requests. Of words and heartbeats there are none, but the resource if there were any.
        """
        found: dict[str, list[int]] = {}
        for place, entry in enumerate(self.requests):
            resource = resource_of(entry)
            namespaces = self.watched.get(resource, ()) if is_taken(entry) else ()
            if "" in namespaces or entry.namespace in namespaces:
                places = found.setdefault(resource, [])
                if entry.resource not in UNCOUNTED:
                    places.append(place)
        return found

    def versions_between(self, first: int, last: int) -> int:
        """How many versions newer the cluster is after one request than after another."""
        return sum(is_taken(entry) for entry in self.requests[first + 1:last + 1])


def is_taken(entry: LogEntry) -> bool:
    """Whether a request is a write that the server took, and no dry run."""
    return entry.verb in WRITING and entry.code < 400 and not entry.dry_run


def resource_of(entry: LogEntry) -> str:
    """The resource of a request as rules name it, ``jobs.batch``; without the subresource."""
    return f"{entry.resource}.{entry.group}" if entry.group else entry.resource


Draw = Callable[[Calm, Draws], "list[dict[str, Any]]"]


def plan_of(strategy: str, calm: Calm, seed: int) -> list[Rule]:
    """The faults that a seed lets the target meet, the same for the same arguments.

    It is empty where the strategy has nothing to do: for an operator without watches say. KeyError
    for a strategy that there is not.
    """
    drawn = STRATEGIES[strategy](calm, Draws(seed, f"{strategy} {calm.target.name}"))
    common = {**calm.target.fields, "optional": True}
    # two faults of one kind at one moment are one
    rules = {rule["name"]: rule_of({**common, **rule}) for rule in drawn}
    return list(rules.values())


def deviations_of(rules: Sequence[Rule]) -> tuple[Deviation, ...]:
    """A plan as choices of a run."""
    return tuple(Deviation.of_fault(rule.model_dump(mode="json", by_alias=True, exclude_defaults=True)) for rule in rules)


def _told(entry: LogEntry) -> str:
    return " ".join(part for part in (entry.verb, resource_of(entry), entry.name, entry.subresource) if part)


def _crash(calm: Calm, write: Write, moment: str) -> dict[str, Any]:
    target = calm.target
    return {
        "name": f"{target.name} dies {moment} its write {write.number} is committed ({_told(write.entry)})",
        "verbs": "write", "nth": write.number, "crash": target.component, "moment": moment}


def crash_points_of(calm: Calm, moment: str = "after") -> list[list[Rule]]:
    """A plan for each write that the target made: it dies after that one is committed, or before.
    """
    common = {**calm.target.fields, "optional": True}
    return [[rule_of({**common, **_crash(calm, write, moment)})] for write in calm.writes]


def _intermediate_states(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """It dies between two of its writes."""
    if not calm.target.component:
        return []
    points = [(write, moment) for moment in ("after", "before") for write in calm.writes]
    return [_crash(calm, *points[one.place]) for one in draws.in_turn(len(points))]


def _stale_states(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """It dies, or its watches end, and what answers next is behind what it saw.

    Each state that it saw has its turn to be what it sees again; it dies at a later moment.
    """
    states = sorted(place for places in calm.events.values() for place in places)
    for drawn in draws.in_turn(len(states))[:1]:
        state, seconds = states[drawn.place], draws.other(drawn, STALLS_SECONDS)
        own = {write.place: write for write in calm.writes} if calm.target.component else {}
        later = [place for place in sorted({*states, *own}) if place > state] or [state]
        # the last moment comes first: what is seen again is oldest then
        end = later[draws.rng.randbelow(len(later)) if drawn.before else -1]
        if not calm.target.component:
            return _stale_outside(calm, state, end, seconds)
        crash = _crash(calm, own[end], "after") if end in own else _crash_as_others_write(calm, end)
        reads = sum(entry.verb in LISTING for entry, place in zip(calm.own, calm.places, strict=True) if place <= end)
        return [crash, _behind(calm, state, end, reads, seconds)]
    return []


def _crash_as_others_write(calm: Calm, end: int) -> dict[str, Any]:
    entry = calm.requests[end]
    resource = "/".join(part for part in (resource_of(entry), entry.subresource) if part)
    nth = sum(one.verb == entry.verb and resource_of(one) == resource_of(entry) and one.subresource == entry.subresource
              for one in calm.requests[:end + 1])
    return {
        "name": f"{calm.target.name} dies when {entry.verb} number {nth} of {resource} is committed ({_told(entry)})",
        "verbs": entry.verb, "resources": resource, "nth": nth, "crash": calm.target.component, "moment": "after",
        "user_agents": (), "users": ()}


def _stale_outside(calm: Calm, state: int, end: int, seconds: float) -> list[dict[str, Any]]:
    """Its watches break, and it lists anew, at a replica that is behind."""
    resource = resource_of(calm.requests[end])
    events = 1 + calm.events[resource].index(end)
    return [
        {"name": f"the watch of {resource} by {calm.target.name} breaks{_after(events)}",
         "resources": resource, "watch": "cut", "events": events, "times": 1},
        _behind(calm, state, end, sum(entry.verb in LISTING for entry in calm.own), seconds)]


def _behind(calm: Calm, state: int, now: int, reads: int, seconds: float) -> dict[str, Any]:
    """After so many reads a replica answers that stands where the cluster was after a request."""
    behind = max(1, calm.versions_between(state, now))
    versions = f"{behind} version{'' if behind == 1 else 's'}"
    return {
        "name": f"{calm.target.name} then reads for {seconds:g} s from a replica that is {versions} behind",
        "verbs": ",".join(LISTING), "nth": list(range(reads + 1, reads + 1 + MOST_READS_AFTER)), "stale": True,
        "behind": behind, "lasting": seconds}


def _of_watches(calm: Calm, draws: Draws, make: Callable[[str, int, Drawn], dict[str, Any]]) -> list[dict[str, Any]]:
    """Faults of watches, each of some resource, from one of its events on."""
    points = [(resource, events) for resource, places in calm.events.items() for events in range(len(places) + 1)]
    return [{"resources": points[one.place][0], **make(*points[one.place], one)} for one in draws.in_turn(len(points))]


def _after(events: int) -> str:
    return f" after {events} event{'' if events == 1 else 's'}" if events else ""


def _still_seconds(calm: Calm, draws: Draws, resource: str, events: int, drawn: Drawn) -> float:
    """How long a watch stands still after so many events: of several lengths, or until just after
    it was told of more.
    """
    times = [calm.requests[place].time for place in calm.events[resource]]
    begin = times[max(0, events - 1)] if times else 0.0
    later = [time for time in dict.fromkeys(times) if begin < time < begin + STALLS_SECONDS[-1]][:MOST_GAPS]
    return draws.other(drawn, (*(round(time - begin + JUST_AFTER_SECONDS, 3) for time in later), *STALLS_SECONDS))


def _unobserved_states(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """It looks away, and sees only what came of it in the end."""
    def make(resource: str, events: int, drawn: Drawn) -> dict[str, Any]:
        seconds = _still_seconds(calm, draws, resource, events, drawn)
        return {
            "name": f"{calm.target.name} sees nothing of {resource} for {seconds:g} s{_after(events)}, then lists anew",
            "watch": "expire", "events": events, "lasting": seconds, "times": 1 + draws.rng.randbelow(2)}

    return _of_watches(calm, draws, make)


def _slow_deliveries(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """What its watches tell comes late: all of it, or what follows one of the events."""
    name, made = calm.target.name, []
    points = [(resource, events, late) for resource, places in calm.events.items() for events, late in (
        *((0, seconds) for seconds in LATE_SECONDS), *((number, 0.0) for number in range(1 + len(places))))]
    for one in draws.in_turn(len(points)):
        resource, events, late = points[one.place]
        if late:
            made.append({
                "name": f"{name} hears of {resource} {late:g} s late", "resources": resource, "watch": "late", "lasting": late})
            continue
        seconds = _still_seconds(calm, draws, resource, events, one)
        made.append({
            "name": f"the watch of {resource} by {name} stands still for {seconds:g} s{_after(events)}",
            "resources": resource, "watch": "stall", "events": events, "lasting": seconds, "times": 1})
    return made


def _duplicate_deliveries(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """Its watches expire, so that it lists anew, and hears again of all there is."""
    def make(resource: str, events: int, _: Drawn) -> dict[str, Any]:
        times = 1 + draws.rng.randbelow(3)
        return {
            "name": f"{calm.target.name} hears again of all {resource}{_after(events)}, {times} times",
            "watch": "expire", "events": max(1, events), "times": times}

    return _of_watches(calm, draws, make)


def _conflicts(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """Others were faster: its writes that name a version are refused once each, updates, patches
    and deletions.
    """
    conditional = [entry for entry in calm.own if entry.conditional]
    taken = [(number, entry) for number, entry in enumerate(conditional, 1)
             if is_taken(entry) and entry.resource not in UNCOUNTED]
    chosen = [taken[one.place] for one in draws.in_turn(len(taken))]
    return [
        {"name": f"conditional write {number} of {calm.target.name} meets a conflict ({_told(entry)})",
         "nth": number, "error": "Conflict"} for number, entry in chosen]


def _ambiguous_writes(calm: Calm, draws: Draws) -> list[dict[str, Any]]:
    """Its writes are committed, and it is told otherwise, or nothing."""
    made: list[dict[str, Any]] = []
    for one in draws.in_turn(len(calm.writes)):
        write, error = calm.writes[one.place], draws.other(one, AMBIGUOUS_ANSWERS)
        how = {"error": error, "moment": "after"} if error else {"cut": "after"}
        said = f"answered with {error}" if error else "not answered"
        name = f"write {write.number} of {calm.target.name} is committed and {said} ({_told(write.entry)})"
        made.append({"name": name, "verbs": "write", "nth": write.number, **how})
    return made


STRATEGIES: Mapping[str, Draw] = MappingProxyType({
    "intermediate-states": _intermediate_states,
    "stale-states": _stale_states,
    "unobserved-states": _unobserved_states,
    "slow-deliveries": _slow_deliveries,
    "duplicate-deliveries": _duplicate_deliveries,
    "conflicts": _conflicts,
    "ambiguous-writes": _ambiguous_writes,
})
"""By name, in the order in which ``all`` tries them."""

ALL = "all"


class StrategyError(ValueError):
    """A text that names no strategy; it says which there are."""


def strategies_of(value: object) -> tuple[str, ...]:
    """The strategies that an option names: one, several with commas or as a list, or ``all``.

    Raises StrategyError.
    """
    texts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    names = [str(text).strip() for text in texts]
    if names == [ALL]:
        return tuple(STRATEGIES)
    for name in names:
        if name not in STRATEGIES:
            raise StrategyError(f"{name!r} is no strategy: known are {', '.join(STRATEGIES)}, and {ALL} for all of them")
    return tuple(dict.fromkeys(names))

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
from types import MappingProxyType
from typing import Any, NamedTuple

from fakekube.apiserver.filters import LogEntry
from fakekube.faults.rules import WRITING, Rule, rule_of
from fakekube.util.choices import Deviation
from fakekube.util.rng import Rng

MOST_FAULTS = 3
"""So many faults a plan has at most: bugs of controllers need one or two (Sieve, section 6)."""

MOST_READS_AFTER = 40
"""So many reads of an operator that starts again a replica that is behind answers at most."""

STALLS_SECONDS = (0.05, 1.0, 5.0, 20.0)
"""How long a watch stands still, and a replica is behind: little and much against a retry."""

LATE_SECONDS = (0.02, 0.2, 1.0, 5.0)

UNCOUNTED = ("events", "leases")
"""Resources whose writes are words and heartbeats."""

AMBIGUOUS_ANSWERS = ("InternalError", "Timeout", "EtcdTimeout", "EtcdLeaderChanged")


class Target(NamedTuple):
    """The operator that is tried: patterns of its user agents and users.

    ``component`` is what dies; empty for a client that nobody here can start again.
    """

    name: str
    user_agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    component: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of rules about its requests."""
        return {name: value for name, value in (("user_agents", self.user_agents), ("users", self.users)) if value}


class Calm(NamedTuple):
    """What was asked in the calm run, by everybody, oldest first; ``own`` by the target."""

    target: Target
    requests: tuple[LogEntry, ...]
    own: tuple[LogEntry, ...]

    @property
    def writes(self) -> list[tuple[int, LogEntry]]:
        """The target's writes that were taken, each with its number among all its writes, from 1.
        """
        writes = [entry for entry in self.own if entry.verb in WRITING]
        return [(number, entry) for number, entry in enumerate(writes, 1)
                if entry.code < 400 and entry.resource not in UNCOUNTED]

    @property
    def watched(self) -> list[str]:
        """The resources that the target watches, as rules name them."""
        return list(dict.fromkeys(resource_of(entry) for entry in self.own if entry.verb == "watch" and entry.code < 400))

    def events_of(self, resource: str) -> int:
        """How many writes of a resource there were, which are events of its watches."""
        return sum(entry.verb in WRITING and entry.code < 400 and resource_of(entry) == resource for entry in self.requests)


def resource_of(entry: LogEntry) -> str:
    """The resource of a request as rules name it, ``jobs.batch``; without the subresource."""
    return f"{entry.resource}.{entry.group}" if entry.group else entry.resource


Draw = Callable[[Calm, Rng], "list[dict[str, Any]]"]


def plan_of(strategy: str, calm: Calm, seed: int) -> list[Rule]:
    """The faults that a seed lets the target meet, the same for the same arguments.

    It is empty where the strategy has nothing to do: for an operator without watches say. KeyError
    for a strategy that there is not.
    """
    rng = Rng(seed).fork(f"{strategy} {calm.target.name}")
    drawn = STRATEGIES[strategy](calm, rng)
    common = {**calm.target.fields, "optional": True}
    # two faults of one kind at one moment are one
    rules = {rule["name"]: rule_of({**common, **rule}) for rule in drawn}
    return list(rules.values())


def deviations_of(rules: Sequence[Rule]) -> tuple[Deviation, ...]:
    """A plan as choices of a run."""
    return tuple(Deviation.of_fault(rule.model_dump(mode="json", by_alias=True, exclude_defaults=True)) for rule in rules)


def _one(rng: Rng, values: Sequence[Any]) -> Any:
    return values[rng.randbelow(len(values))]


def _several(rng: Rng, values: Sequence[Any]) -> list[Any]:
    """One, two or three of them, one most often, in their order."""
    count = 1 if rng.randbelow(2) else 1 + rng.randbelow(MOST_FAULTS)
    left = list(range(len(values)))
    chosen = [left.pop(rng.randbelow(len(left))) for _ in range(min(count, len(values)))]
    return [values[index] for index in sorted(chosen)]


def _told(entry: LogEntry) -> str:
    return " ".join(part for part in (entry.verb, resource_of(entry), entry.name, entry.subresource) if part)


def _crash(calm: Calm, number: int, entry: LogEntry, moment: str) -> dict[str, Any]:
    target = calm.target
    when = "after" if moment == "after" else "before"
    return {
        "name": f"{target.name} dies {when} its write {number} is committed ({_told(entry)})",
        "verbs": "write", "nth": number, "crash": target.component, "moment": moment}


def crash_points_of(calm: Calm, moment: str = "after") -> list[list[Rule]]:
    """A plan for each write that the target made: it dies after that one is committed, or before.
    """
    common = {**calm.target.fields, "optional": True}
    return [[rule_of({**common, **_crash(calm, number, entry, moment)})] for number, entry in calm.writes]


def _intermediate_states(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """It dies between two of its writes."""
    if not calm.target.component:
        return []
    return [_crash(calm, number, entry, "before" if rng.randbelow(4) == 0 else "after")
            for number, entry in _several(rng, calm.writes)]


def _stale_states(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """It dies, or its watches end, and what answers next is behind what it saw."""
    seconds = _one(rng, STALLS_SECONDS)
    if not calm.target.component:
        return [] if not calm.watched else [{
            "name": f"the watches of {calm.target.name} stand still for {seconds:g} s, then their connections break",
            "watch": "cut", "events": _one(rng, range(1 + max(map(calm.events_of, calm.watched)))), "lasting": seconds,
            "times": len(calm.watched)}]
    if not calm.writes:
        return []
    number, entry = _one(rng, calm.writes)
    until = calm.own.index(entry) + 1
    reads = sum(one.verb in ("list", "watch") for one in calm.own[:until])
    behind = 1 + rng.randbelow(max(2, sum(one.verb in WRITING and one.code < 400 for one in calm.requests)))
    return [
        _crash(calm, number, entry, "after"),
        {"name": f"{calm.target.name} then reads from a replica that is {behind} versions behind for {seconds:g} s",
         "verbs": "list,watch", "nth": list(range(reads + 1, reads + 1 + MOST_READS_AFTER)), "stale": True,
         "behind": behind, "lasting": seconds}]


def _of_watches(
    calm: Calm, rng: Rng, make: Callable[[str, int], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Faults of watches of some resources, each from one of its events on."""
    busy = [resource for resource in calm.watched if calm.events_of(resource)]
    return [{"resources": resource, **make(resource, rng.randbelow(calm.events_of(resource) + 1))}
            for resource in _several(rng, busy)]


def _after(events: int) -> str:
    return f" after {events} event{'' if events == 1 else 's'}" if events else ""


def _unobserved_states(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """It looks away, and sees only what came of it in the end."""
    def make(resource: str, events: int) -> dict[str, Any]:
        seconds = _one(rng, STALLS_SECONDS)
        return {
            "name": f"{calm.target.name} sees nothing of {resource} for {seconds:g} s{_after(events)}, then lists anew",
            "watch": "expire", "events": events, "lasting": seconds, "times": 1 + rng.randbelow(2)}

    return _of_watches(calm, rng, make)


def _slow_deliveries(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """What its watches tell comes late."""
    def make(resource: str, events: int) -> dict[str, Any]:
        if rng.randbelow(2):
            seconds = _one(rng, LATE_SECONDS)
            return {"name": f"{calm.target.name} hears of {resource} {seconds:g} s late", "watch": "late", "lasting": seconds}
        seconds = _one(rng, STALLS_SECONDS)
        return {
            "name": f"the watch of {resource} by {calm.target.name} stands still for {seconds:g} s{_after(events)}",
            "watch": "stall", "events": events, "lasting": seconds, "times": 1}

    return _of_watches(calm, rng, make)


def _duplicate_deliveries(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """Its watches expire, so that it lists anew, and hears again of all there is."""
    def make(resource: str, events: int) -> dict[str, Any]:
        times = 1 + rng.randbelow(3)
        return {
            "name": f"{calm.target.name} hears again of all {resource}{_after(events)}, {times} times",
            "watch": "expire", "events": max(1, events), "times": times}

    return _of_watches(calm, rng, make)


def _conflicts(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """Others were faster: its updates are refused once each."""
    updates = [entry for entry in calm.own if entry.verb == "update"]
    taken = [(number, entry) for number, entry in enumerate(updates, 1)
             if entry.code < 400 and entry.resource not in UNCOUNTED]
    return [
        {"name": f"update {number} of {calm.target.name} meets a conflict ({_told(entry)})", "verbs": "update", "nth": number,
         "error": "Conflict"} for number, entry in _several(rng, taken)]


def _ambiguous_writes(calm: Calm, rng: Rng) -> list[dict[str, Any]]:
    """Its writes are committed, and it is told otherwise, or nothing."""
    made: list[dict[str, Any]] = []
    for number, entry in _several(rng, calm.writes):
        error = _one(rng, (*AMBIGUOUS_ANSWERS, ""))
        how = {"error": error, "moment": "after"} if error else {"cut": "after"}
        said = f"answered with {error}" if error else "not answered"
        name = f"write {number} of {calm.target.name} is committed and {said} ({_told(entry)})"
        made.append({"name": name, "verbs": "write", "nth": number, **how})
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

"""What is free in a real cluster, asked of one place: which watcher hears first, how long a request
takes, which of two timers of one instant fires first.

Whoever is free to choose asks ``pick`` or ``delay`` and says in its label what is chosen; 0 is what
the calm run does, in which nobody has a Choices and nobody asks. The answers are drawn from a seed,
or replayed from those of an earlier run; what was not 0 is recorded as a deviation from the calm
run. A draw depends on the seed, the label and how often that label was asked, and on nothing else:
so a run in which some deviations are left out still makes the others. A seed decides for each group
of labels how often it deviates at all, never and most of the time included ("swarm testing", Groce
et al., ISSTA 2012), since bugs hide from uniform noise.

Upstream has no counterpart; the idea is FoundationDB's and TigerBeetle's simulators'.
"""

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import orjson

from fakekube.util import base64url
from fakekube.util.rng import bits_of

VERSION = 1
"""Of the format. It grows whenever a seed no longer means the same: labels, draws, or who asks."""

DELAYS_SECONDS = (0.0, 0.001, 0.003, 0.01, 0.02, 0.04)
"""How late something may be: little against what controllers wait for, and of several sizes."""

RATES = (0.0, 0.1, 0.3, 0.6)
"""How often a group of labels deviates: each seed draws one of these for each group."""

MOST_BYTES = 1 << 22
"""So long the deviations of a text may be once they are unpacked."""

MOST_IN_LINE = 4
"""So far ahead of others something may be taken out of a queue."""

FAULT = "fault "
"""What the label of a fault that is planned begins with; its rule follows, as JSON."""

_ALL = float(1 << 64)
_CALM = (0, 0)
_DELAYS = len(DELAYS_SECONDS)

T = TypeVar("T")


class ScheduleError(ValueError):
    """A text that is no schedule, or one of another version; it says which and why."""


class Deviation(NamedTuple):
    """A choice that was not the calm run's: the ``nth`` time (from 1) that ``label`` was asked,
    of so many ``possible`` answers.

    ``seconds`` is how long it delays something, None for an order; ``time`` when it was made, in
    Unix seconds of the cluster, and ``revision`` the version that the cluster was at, None where
    nobody knows.
    """

    label: str
    nth: int
    value: int
    possible: int = 0
    seconds: float | None = None
    time: float | None = None
    revision: int | None = None

    @classmethod
    def of_fault(cls, rule: Mapping[str, Any]) -> "Deviation":
        """That a fault is planned; ``rule`` has its fields, and a name of its own."""
        return cls(f"{FAULT}{orjson.dumps(rule).decode()}", 1, 1, 2)

    @property
    def rule(self) -> str:
        """The rule of a fault that is planned, as JSON; empty for another choice."""
        return self.label.removeprefix(FAULT) if self.label.startswith(FAULT) else ""

    def __str__(self) -> str:
        if self.rule:
            return f"fault: {_name_of(self.rule)}"
        taken = f"number {self.value + 1} of {self.possible} is taken"
        how = taken if self.seconds is None else f"{self.seconds * 1000:g} ms late"
        return f"{self.label}: {how}" + (f" (time {self.nth})" if self.nth > 1 else "")


def _unknown() -> tuple[None, None]:
    """The time and the version, where there is no cluster."""
    return None, None


class Choices:
    """The choices of one run.

    ``seed`` is drawn from, unless ``replayed`` has the deviations of an earlier run, beside which
    everything is calm. ``deviations`` are those of this run so far.
    """

    __slots__ = ("_planned", "_planned_labels", "_rates", "_times", "deviations", "seed", "tell_moment")

    def __init__(self, seed: int | None = None, replayed: Iterable[Deviation] | None = None) -> None:
        assert seed is not None or replayed is not None, "draw from a seed, or replay"
        self.seed = seed
        self.deviations: list[Deviation] = []
        self.tell_moment: Callable[[], tuple[float | None, int | None]] = _unknown
        self._plan(None if replayed is None else {(one.label, one.nth): one.value for one in replayed})
        self._times: dict[str, int] = {}
        self._rates: dict[str, float] = {}

    def _plan(self, planned: dict[tuple[str, int], int] | None) -> None:
        self._planned = planned
        self._planned_labels = frozenset(label for label, _ in planned or () if not label.startswith(FAULT))

    @classmethod
    def of(cls, text: str) -> Self:
        """What ``schedule_of`` has written: ``1:17`` for a seed, ``1:17:...`` for deviations.

        Raises ScheduleError.
        """
        version, colon, rest = text.strip().partition(":")
        if not colon or not version.isdecimal():
            raise ScheduleError(f"{text!r} is no schedule: say VERSION:SEED, {VERSION}:17 say")
        if int(version) != VERSION:
            raise ScheduleError(
                f"the schedule {text[:40]!r} is of version {version}, and this release of fakekube knows version {VERSION} only: "
                "explore again, the same seeds do something else here")
        seed, colon, packed = rest.partition(":")
        if (seed and not seed.isdecimal()) or (not seed and not colon):
            raise ScheduleError(f"{seed!r} is no seed: say a whole number, {VERSION}:17 say")
        return cls(int(seed) if seed else None, _unpacked(packed) if colon else None)

    def again(self) -> Self:
        """The same from the beginning: nothing asked yet."""
        made = type(self)(self.seed, () if self._planned is not None else None)
        made._plan(self._planned)
        return made

    @property
    def planned_faults(self) -> list[str]:
        """The rules of faults that are planned, as JSON."""
        return [label.removeprefix(FAULT) for label, _ in self._planned or () if label.startswith(FAULT)]

    def meet(self, name: str) -> None:
        """A request has met a fault of that name: a deviation, if it was planned, the first time.
        """
        for text in self.planned_faults:
            label = f"{FAULT}{text}"
            if _name_of(text) == name and label not in self._times:
                self._times[label] = 1
                self.deviations.append(Deviation(label, 1, 1, 2, None, *self.tell_moment()))

    def may_deviate(self, group: str) -> bool:
        """Whether anything of a group of labels can come out otherwise than in the calm run.

        Where it cannot nobody needs to ask, nor to make a label.
        """
        if self._planned is not None:
            return bool(self._planned_labels)
        rate = self._rates.get(group)
        return (self._draw_rate(group) if rate is None else rate) > 0

    def pick(self, label: str, count: int, group: str = "") -> int:
        """Which of ``count`` possibilities, from 0 on, which is the calm run's.

        ``label`` says in words what is chosen, the same in every run; ``group`` (the label, unless
        it is said) what deviates equally often.
        """
        value, nth = self._pick(label, count, group or label) if count > 1 else _CALM
        if value:
            self.deviations.append(Deviation(label, nth, value, count, None, *self.tell_moment()))
        return value

    def delay(self, label: str, group: str = "") -> float:
        """How many seconds something is late, one of ``DELAYS_SECONDS``."""
        value, nth = self._pick(label, _DELAYS, group or label)
        if not value:
            return 0.0
        seconds = DELAYS_SECONDS[value]
        self.deviations.append(Deviation(label, nth, value, _DELAYS, seconds, *self.tell_moment()))
        return seconds

    def _pick(self, label: str, count: int, group: str) -> tuple[int, int]:
        """What is chosen, and the how manieth time that its label was asked.

        Nobody needs to know that of labels that never deviate.
        """
        planned, times = self._planned, self._times
        if planned is not None:
            if label not in self._planned_labels:
                return _CALM
            nth = times[label] = times.get(label, 0) + 1
            return min(planned.get((label, nth), 0), count - 1), nth
        rate = self._rates.get(group)
        if rate is None:
            rate = self._draw_rate(group)
        if not rate:
            return _CALM
        nth = times[label] = times.get(label, 0) + 1
        share = bits_of(f"{self.seed} {nth} {label}") / _ALL
        return (1 + int(share / rate * (count - 1)) if share < rate else 0), nth

    def _draw_rate(self, group: str) -> float:
        rate = self._rates[group] = RATES[bits_of(f"{self.seed} how often {group}") % len(RATES)]
        return rate


class ChosenDeque(deque[T]):
    """A queue of which ``choices`` say what comes next: not always what came first."""

    def __init__(self, choices: Choices, name: str) -> None:
        super().__init__()
        self._choices, self._name = choices, name

    def popleft(self) -> T:
        """Take out one of the first. IndexError when there is none."""
        if len(self) < 2:
            return super().popleft()
        if not self._choices.may_deviate(self._name):
            return super().popleft()
        first = self[0]
        shown = f", {first} first" if isinstance(first, str | tuple) else ""
        index = self._choices.pick(f"of {self._name}{shown}", min(len(self), MOST_IN_LINE), self._name)
        chosen = self[index]
        del self[index]
        return chosen


def schedule_of(seed: int | None, deviations: Iterable[Deviation] | None = None) -> str:
    """The text that ``Choices.of`` reads: of a seed, or of deviations (and the seed that they came
    from).
    """
    text = f"{VERSION}:{'' if seed is None else seed}"
    if deviations is None:
        return text
    packed = zlib.compress(orjson.dumps([[one.label, one.nth, one.value] for one in deviations]), 9)
    return f"{text}:{base64url.encoded(packed)}"


def _name_of(rule: str) -> str:
    """The name of a fault that is planned; the whole text where it has none."""
    try:
        tree = orjson.loads(rule)
    except ValueError:
        return rule
    return str(tree.get("name") or rule) if isinstance(tree, dict) else rule


def _unpacked(packed: str) -> list[Deviation]:
    """Raises ScheduleError."""
    data = base64url.decoded(packed)
    try:
        inflate = zlib.decompressobj()
        plain = inflate.decompress(data or b"", MOST_BYTES)
        if not inflate.eof:
            raise ScheduleError("the deviations of the schedule are cut off, or too long")
        made = [Deviation(label, nth, value) for label, nth, value in orjson.loads(plain)]
    except (zlib.error, ValueError, TypeError) as error:
        raise ScheduleError(f"the deviations of the schedule cannot be read: {error}") from error
    if not all(isinstance(label, str) and _is_number(nth) and _is_number(value) for label, nth, value, *_ in made):
        raise ScheduleError("the deviations of the schedule cannot be read: they are no list of label, time and value")
    return made


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0

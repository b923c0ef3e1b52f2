"""Claims: what must be true of the states of a cluster, one after the other.

``Always(p)``, ``Never(p)``, ``Eventually(p)``, ``Until(p, q)`` and ``LeadsTo(p, q)`` are data. A
Check of one is shown every state in turn, and says so at the first that decides it. Whether the
states come from a history or as they are made is all the same to it: ``temporal.py`` reads a
history, ``runningclaims.py`` looks on while a test runs.

A predicate is asked again only when something changed that it looked at the last time: one object
(``get``, ``field``, ``condition``), the objects of a namespace or all of a resource (``list``), the
time, or whatever changes (``change``, ``revision``). Anchors: linear temporal logic over finite
traces (De Giacomo and Vardi, 2013).
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.resources import Resource
from fakekube.testing.history import Change, Look, State
from fakekube.tracing.text import offset_text
from fakekube.util.answering import answer_of
from fakekube.util.driver import describe
from fakekube.util.durations import Duration, seconds_of, text_of

Predicate = Callable[[Any], Any]
"""Of a State; of an object, where a claim is about ``each``; of a FleetState in a fleet."""
Ask = Callable[[Callable[[], Any]], Any]
"""How a predicate is called: at once, or in a thread of its own."""


class Broken(NamedTuple):
    """How a claim is not true: in words, by which change if one decided it, and the error of a
    predicate.
    """

    claim: "Claim"
    text: str
    change: Change | None = None
    error: BaseException | None = None
    member: str = ""


class Reached(NamedTuple):
    """A claim that is true whatever comes, since a version."""

    revision: int


Verdict = Broken | Reached | None
"""None: it depends on what comes."""


class Refused(Exception):
    """A predicate that gave no answer; the text says how."""


def ask_at_once(call: Callable[[], Any]) -> Any:
    """Call it here."""
    return call()


class Question:
    """A predicate of states, and its last answer. Raises Refused, from the error of a predicate."""

    def __init__(self, predicate: Predicate, each: Resource | None = None, *, one_is_enough: bool = False) -> None:
        """About ``each`` object of a resource only those that changed are asked about; the answer
        is whether all of them are so, or any.
        """
        self.predicate, self._each, self._one_is_enough = predicate, each, one_is_enough
        self.looks: Mapping[Look, None] = {}
        self.asked = 0  # so often
        self.decided_by = ""  # the object of ``each`` that decided the answer, or gave none
        self._answer = self._is_asked = False
        self._at = 0.0

    def ask(self, state: State, ask: Ask) -> bool:
        """Whether it holds, asked anew if it may have changed."""
        if self._is_asked and not state.concerns(self.looks) and (None not in self.looks or state.at == self._at):
            return self._answer
        self._is_asked, self._at = True, state.at
        self.asked += 1
        if self._each is not None:
            self._answer = self._ask_of_each(self._each, state, ask)
            return self._answer
        state.looked_at = {}
        try:
            self._answer = self._called(state, ask)
        finally:
            self.looks = state.looked_at
        return self._answer

    def _ask_of_each(self, each: Resource, state: State, ask: Ask) -> bool:
        self.looks = state.looks_at_all_of(each)
        for tree in state.changed(each):
            metadata = tree["metadata"]
            name = "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
            self.decided_by = f" of {each.plural} {name}"
            if self._called(tree, ask) == self._one_is_enough:
                return self._one_is_enough
        self.decided_by = ""
        return not self._one_is_enough

    def _called(self, about: Any, ask: Ask) -> bool:
        answer, error = answer_of(lambda: ask(lambda: _truth(self.predicate(about))))
        if isinstance(error, Refused):
            raise error
        if error is not None:
            hint = ": it looks at the state that it is given, and asks no cluster" if isinstance(error, APIError) else ""
            text = str(error).partition("\n")[0]
            raise Refused(f"raised {type(error).__name__}: {text}{hint}") from error
        return bool(answer)


def _truth(answer: Any) -> bool:
    """Whether an answer is a yes. Raises Refused for one that says nothing."""
    if inspect.iscoroutine(answer):
        answer.close()
    if inspect.isawaitable(answer) or inspect.isasyncgen(answer):
        raise Refused(f"gave back a {type(answer).__name__}: it looks at the state that it is given, and awaits nothing")
    if inspect.isgenerator(answer) or callable(answer):
        raise Refused(f"gave back a {type(answer).__name__}, which is always true: say any(...) or all(...), or call it")
    return bool(answer)


@dataclass(frozen=True)
class Claim(ABC):
    """What must be true of the states of a cluster.

    Raises TypeError for what is no predicate, and for a resource that is none; ValueError for what
    is no duration.
    """

    predicate: Predicate

    def __post_init__(self) -> None:
        each, then = getattr(self, "each", None), getattr(self, "then", self.predicate)
        for predicate in (self.predicate, then):
            if not callable(predicate):
                raise TypeError(f"{type(self).__name__}: {predicate!r} is no predicate: say a function of the state")
        if each is not None and not isinstance(each, Resource):
            raise TypeError(f"{type(self).__name__}: each={each!r} is no resource: say PODS of fakekube.client.resources")
        self._limit_seconds()

    @property
    def questions(self) -> tuple[Question, ...]:
        """New ones, for a check."""
        return (Question(self.predicate),)

    @abstractmethod
    def look(self, check: "Check", state: State, *answers: bool) -> Verdict:
        """What a state says of it, by the answers to its questions."""

    def end(self, check: "Check", now: float, started: float) -> Broken | None:
        """How it is not true when no more states come."""
        return None

    @property
    def limit_seconds(self) -> float | None:
        """How long it may take what is to come."""
        return self._limit_seconds()

    def _limit_seconds(self) -> float | None:
        within: Duration | None = getattr(self, "within", None)
        return None if within is None else seconds_of(within)

    @property
    def limit_text(self) -> str:
        """The same in words, which follow others; empty where there is no limit."""
        return "" if self.limit_seconds is None else f" within {text_of(self.limit_seconds)}"

    def __str__(self) -> str:
        named = [describe(one) for one in (self.predicate, getattr(self, "then", None)) if one is not None]
        return f"{type(self).__name__}({', '.join(named)}{self.limit_text})"


@dataclass(frozen=True)
class Always(Claim):
    """Every state fulfils the predicate; about ``each`` object of a resource: every object in every
    state.
    """

    each: Resource | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """One about the states, or about what changed."""
        return (Question(self.predicate, self.each),)

    def look(self, check: "Check", state: State, *answers: bool) -> Verdict:
        """It ends with the first state that does not."""
        return None if answers[0] else check.broken(state, f"{describe(self.predicate)} was not true{check.decided_by}")


@dataclass(frozen=True)
class Never(Claim):
    """No state fulfils the predicate; about ``each`` object of a resource: no object in any state.
    """

    each: Resource | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """One about the states, or about what changed."""
        return (Question(self.predicate, self.each, one_is_enough=True),)

    def look(self, check: "Check", state: State, *answers: bool) -> Verdict:
        """It ends with the first state that does."""
        return check.broken(state, f"{describe(self.predicate)} was true{check.decided_by}") if answers[0] else None


@dataclass(frozen=True)
class Eventually(Claim):
    """Some state fulfils the predicate, ``within`` so long after the first one if that is given."""

    within: Duration | None = None

    def look(self, check: "Check", state: State, *answers: bool) -> Verdict:
        """It ends with the first state that does."""
        if check.is_first and self.limit_seconds is not None:
            check.deadline = state.at + self.limit_seconds
        if check.is_late(state.at):
            return self.end(check, state.at, state.started)
        return Reached(state.number) if answers[0] else None

    def end(self, check: "Check", now: float, started: float) -> Broken:
        """It was never true, or is not yet."""
        return Broken(self, f"{describe(self.predicate)} {check.in_vain('was never true', 'is not true', now, started)}")


@dataclass(frozen=True)
class _OfTwo(Claim):
    """A claim about a predicate and what comes ``then``, ``within`` so long if that is given."""

    then: Predicate
    within: Duration | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """One of each."""
        return (Question(self.predicate), Question(self.then))


@dataclass(frozen=True)
class Until(_OfTwo):
    """Some state fulfils ``then``, ``within`` so long after the first one if that is given, and
    every state before it fulfils the predicate.

    What was true until then may go on or end, and need not have begun where the first state fulfils
    ``then``. Linear temporal logic calls it the strong until.
    """

    def look(self, check: "Check", state: State, *answers: bool) -> Verdict:
        """It ends with the first state that fulfils ``then``, or neither."""
        if check.is_first and self.limit_seconds is not None:
            check.deadline = state.at + self.limit_seconds
        if check.is_late(state.at):
            return self.end(check, state.at, state.started)
        if answers[1]:
            return Reached(state.number)
        if answers[0]:
            return None
        return check.broken(state, f"{describe(self.predicate)} was not true until {describe(self.then)}, which had not come")

    def end(self, check: "Check", now: float, started: float) -> Broken:
        """What it waits for has not come."""
        vain = check.in_vain("never came", "has not come", now, started)
        return Broken(self, f"{describe(self.then)}, until which {describe(self.predicate)} was to be true, {vain}")


@dataclass(frozen=True)
class LeadsTo(_OfTwo):
    """Whenever the predicate comes true, ``then`` is true at that state or a later one, ``within``
    so long if that is given.
    """

    def look(self, check: "Check", state: State, *answers: bool) -> Verdict:
        """It ends when what follows comes too late."""
        if check.is_late(state.at):
            return self.end(check, state.at, state.started)
        if answers[0] and not check.was and check.waits_since is None:
            check.waits_since = state.moment, state.last, state.member
            check.deadline = None if self.limit_seconds is None else state.at + self.limit_seconds
        check.was = answers[0]
        if answers[1]:
            check.waits_since = check.deadline = None
        return None

    def end(self, check: "Check", now: float, started: float) -> Broken | None:
        """What came true is still not followed."""
        if check.waits_since is None:
            return None
        moment, change, member = check.waits_since
        vain = check.in_vain("did not follow", "did not follow", now, started)
        text = f"{describe(self.predicate)} came true {moment}, and {describe(self.then)} {vain}"
        return Broken(self, text, change, None, member)


class Check:
    """One claim while it is checked: ``look`` at every state in turn, until a verdict.

    ``deadline`` is the last time at which what it waits for may come.
    """

    def __init__(self, claim: Claim, ask: Ask = ask_at_once) -> None:
        self.claim, self._ask = claim, ask
        self.begin()

    def begin(self) -> None:
        """Forget what was seen: another history begins."""
        self._questions = self.claim.questions
        self.is_first = True
        self.deadline: float | None = None
        # of LeadsTo: whether the predicate held, and since when what follows is waited for
        self.was = False
        self.waits_since: tuple[str, Change | None, str] | None = None

    def look(self, state: State) -> Verdict:
        """What this state decides."""
        answers = []
        for question in self._questions:
            try:
                answers.append(question.ask(state, self._ask))
            except Refused as refused:
                text = f"{describe(question.predicate)} {refused}, when it was asked{question.decided_by} {state.moment}"
                return Broken(self.claim, text, state.last, refused.__cause__, state.member)
        verdict = self.claim.look(self, state, *answers)
        self.is_first = False
        return verdict

    def end(self, now: float, started: float) -> Broken | None:
        """How the claim is not true when no more states come until ``now``; ``started`` is when the
        cluster began.
        """
        return self.claim.end(self, now, started)

    @property
    def looks(self) -> Iterator[Look]:
        """What its predicates looked at the last time that they were asked."""
        return (look for question in self._questions for look in question.looks)

    @property
    def asked(self) -> int:
        """How often they were."""
        return sum(question.asked for question in self._questions)

    @property
    def decided_by(self) -> str:
        """`` of pods default/web-0``, which decided an answer about each object; else empty."""
        return "".join(question.decided_by for question in self._questions)

    def is_late(self, time: float) -> bool:
        """Whether it waits for something that can only come too late."""
        return self.deadline is not None and time > self.deadline

    def broken(self, state: State, text: str) -> Broken:
        """A state decided so."""
        return Broken(self.claim, f"{text} {state.moment}", state.last, None, state.member)

    def in_vain(self, never: str, not_yet: str, now: float, started: float) -> str:
        """In words: what it waits for did not come in time, or not yet."""
        if self.deadline is None or now > self.deadline:
            return f"{never}{self.claim.limit_text}"
        return f"{not_yet} yet, {offset_text(now - started)}; it has until {offset_text(self.deadline - started)}"


def says_nothing(claim: Claim, resource: GroupResource, member: str = "") -> Broken:
    """A claim that is true since the cluster cannot have objects that it is about."""
    return Broken(claim, f"{claim} says nothing: the cluster stores no {resource}", member=member)

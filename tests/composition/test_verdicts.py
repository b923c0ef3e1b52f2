"""What each kind of claim says of states one after the other: when it is decided, and in which
words.
"""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import PODS
from fakekube.testing.claims import (
    Always,
    Broken,
    Check,
    Claim,
    Eventually,
    LeadsTo,
    Never,
    Question,
    Reached,
    Refused,
    Until,
    ask_at_once,
    says_nothing,
)
from fakekube.tracing.text import offset_text


class State:
    """A moment: its time, and what two predicates say of it."""

    started = 0.0

    def __init__(self, at: float, first: Any = False, then: Any = False) -> None:
        self.at, self.first, self.then, self.number = at, first, then, int(at) + 1
        self.last: Any = f"change {self.number}"
        self.member = "m"
        self.looked_at: Any = {}
        self.is_concerned = True

    @property
    def moment(self) -> str:
        return f"at {offset_text(self.at)} (version {self.number})"

    def concerns(self, _looks: Any) -> bool:
        return self.is_concerned


def p(state: Any) -> Any:
    return state.first


def q(state: Any) -> Any:
    return state.then


def verdicts(claim: Claim, *states: tuple[Any, ...], now: float = 100.0) -> list[Any]:
    """What each state decides, and the end; a verdict that breaks it as its text and change."""
    check = Check(claim)
    found: list[Any] = [check.look(cast("Any", State(*each))) for each in states]
    if not any(found):
        found.append(check.end(now, 0.0))
    assert all(each.claim is claim for each in found if isinstance(each, Broken))
    return [_short(each) for each in found]


def _short(verdict: Any) -> Any:
    if isinstance(verdict, Broken):
        text = verdict.text.replace(f"{p_text()}", "P").replace(f"{q_text()}", "Q")
        return (text, verdict.change, verdict.member)
    return verdict.revision if isinstance(verdict, Reached) else verdict


def p_text() -> str:
    return str(Eventually(p)).removeprefix("Eventually(").removesuffix(")")


def q_text() -> str:
    return str(Eventually(q)).removeprefix("Eventually(").removesuffix(")")


@pytest.mark.parametrize(("claim", "states", "said"), [
    (Always(p), [(0, True), (1, True)], [None, None, None]),
    (Always(p), [(0, True), (5, False)], [None, ("P was not true at +5s (version 6)", "change 6", "m")]),
    (Never(p), [(0,), (1,)], [None, None, None]),
    (Never(p), [(0,), (5, True)], [None, ("P was true at +5s (version 6)", "change 6", "m")]),
    (Eventually(p), [(0,), (5, True)], [None, 6]), (Eventually(p), [(0,)], [None, ("P was never true", None, "")]),
    (Eventually(p, 5), [(2,), (7, True)], [None, 8]),
    (Eventually(p, 5), [(2,), (8, True)], [None, ("P was never true within 0:00:05", None, "")]),
    (Eventually(p, 98), [(2,)], [None, ("P is not true yet, +1m40s; it has until +1m40s", None, "")]),
    (Eventually(p, 97), [(2,)], [None, ("P was never true within 0:01:37", None, "")]),
    (Eventually(p, 0), [(2, True)], [3]),
    (Until(p, q), [(0, False, True)], [1]), (Until(p, q), [(0, True), (1, True), (2, False, True)], [None, None, 3]),
    (Until(p, q), [(0, True), (1,)], [None, ("P was not true until Q, which had not come at +1s (version 2)", "change 2", "m")]),
    (Until(p, q), [(0, True)], [None, ("Q, until which P was to be true, never came", None, "")]),
    (Until(p, q, 5), [(2, True), (7, True, True)], [None, 8]),
    (Until(p, q, 5), [(2, True), (8, True, True)],
     [None, ("Q, until which P was to be true, never came within 0:00:05", None, "")]),
    (Until(p, q, 99), [(2, True)],
     [None, ("Q, until which P was to be true, has not come yet, +1m40s; it has until +1m41s", None, "")]),
    (LeadsTo(p, q), [(0,), (1, False, True)], [None, None, None]),
    (LeadsTo(p, q), [(0, True, True), (1, True)], [None, None, None]),
    (LeadsTo(p, q), [(0, True), (1,), (2, False, True)], [None, None, None, None]),
    (LeadsTo(p, q), [(0,), (1, True), (2,), (3, True)],
     [None, None, None, None, ("P came true at +1s (version 2), and Q did not follow", "change 2", "m")]),
    (LeadsTo(p, q), [(0, True), (1, True, True), (2,), (3, True)],
     [None, None, None, None, ("P came true at +3s (version 4), and Q did not follow", "change 4", "m")]),
    (LeadsTo(p, q, 5), [(1, True), (6, False, True), (20,)], [None, None, None, None]),
    (LeadsTo(p, q, 5), [(1, True), (4, True), (7, False, True)],
     [None, None, ("P came true at +1s (version 2), and Q did not follow within 0:00:05", "change 2", "m")]),
    (LeadsTo(p, q, 99), [(1, True)],
     [None, ("P came true at +1s (version 2), and Q did not follow yet, +1m40s; it has until +1m40s", "change 2", "m")]),
])
def test_what_decides_a_claim(claim: Claim, states: list[Any], said: list[Any]) -> None:
    """Given states one after the other, when a claim is checked, then the first that decides it
    does, at its edge of time too, and what has not come is told at the end.
    """
    assert verdicts(claim, *states) == said


def test_a_check_that_begins_again() -> None:
    """Given a check, when it begins again, then nothing of before counts, and its deadline is
    reckoned anew.
    """
    check = Check(Eventually(p, 5))
    assert check.look(cast("Any", State(1))) is None
    assert (check.deadline, check.is_first, check.is_late(6), check.is_late(6.1)) == (6, False, False, True)
    assert check.asked == 1
    check.begin()
    assert (check.deadline, check.is_first, check.is_late(99), check.asked, check.waits_since, check.was) == (
        None, True, False, 0, None, False)
    check.look(cast("Any", State(50)))
    assert check.deadline == 55


def test_a_question_is_asked_again_where_something_changed() -> None:
    """Given a predicate and its last answer, when a state changed nothing that it looked at, then
    it is not asked; and when it looked at the time, it is at every other time.
    """
    for looks, times, asked in (({}, (1, 2, 2), 1), ({None: None}, (1, 2, 2), 2), ({None: None}, (1, 1), 1)):
        calls: list[float] = []

        def sees(state: Any, looks: Any = looks, calls: list[float] = calls) -> bool:
            state.looked_at.update(looks)
            calls.append(state.at)
            return True

        question = Question(sees)
        for at in times:
            state = State(at)
            state.is_concerned = False
            assert question.ask(cast("Any", state), ask_at_once)
        assert (len(calls), question.asked, dict(question.looks)) == (asked, asked, looks)
    question = Question(p)
    assert [question.ask(cast("Any", State(1, value)), ask_at_once) for value in (1, 0, "x")] == [True, False, True]


async def awaits(_: Any) -> bool:
    return True


def raises(error: Exception) -> Any:
    def function(_: Any) -> bool:
        raise error
    return function


async def gives(_: Any) -> Any:
    yield 1


def iter_nothing() -> Any:
    yield from ()


@pytest.mark.parametrize(("predicate", "told"), [
    (awaits, "gave back a coroutine: it looks at the state that it is given, and awaits nothing"),
    (gives, "gave back a async_generator: it looks at the state that it is given, and awaits nothing"),
    (lambda _: iter_nothing(), "gave back a generator, which is always true: say any(...) or all(...), or call it"),
    (lambda _: p, "gave back a function, which is always true: say any(...) or all(...), or call it"),
    (raises(KeyError("a\nb")), "raised KeyError: 'a\\nb'"), (raises(ValueError("a\nb")), "raised ValueError: a"),
    (raises(APIError(404, "NotFound", "x")),
     "raised APIError: x: it looks at the state that it is given, and asks no cluster"),
])
def test_predicates_that_give_no_answer(predicate: Any, told: str) -> None:
    """Given a predicate that raises or gives back what says nothing, when it is asked, then the
    claim is broken there, in words, with the error.
    """
    question = Question(predicate)
    with pytest.raises(Refused) as refused:
        question.ask(cast("Any", State(3)), ask_at_once)
    assert str(refused.value) == told
    verdict = Check(Always(predicate)).look(cast("Any", State(3)))
    assert isinstance(verdict, Broken)
    assert verdict.text.endswith(f" {told}, when it was asked at +3s (version 4)")
    assert (cast("Any", verdict.change), verdict.member) == ("change 4", "m")
    assert (verdict.error is None) is told.startswith("gave back")


class Pods(State):
    """A moment at which some pods changed."""

    def __init__(self, *names: str) -> None:
        super().__init__(1)
        self.names = names

    def looks_at_all_of(self, resource: Any) -> Any:
        return {(resource.plural,): None}

    def changed(self, _resource: Any) -> list[Any]:
        metadata = [{"name": name.rpartition("/")[2], "namespace": name.rpartition("/")[0]} for name in self.names]
        return [{"metadata": each} for each in metadata]


def is_b(tree: Any) -> bool:
    if tree["metadata"]["name"] == "x":
        raise ValueError("wrong")
    return str(tree["metadata"]["name"]) == "b"


@pytest.mark.parametrize(("claim", "names", "told"), [
    (Never(is_b, each=PODS), ("n/a", "n/b", "n/x"), "was true of pods n/b at +1s (version 2)"),
    (Always(is_b, each=PODS), ("n/b", "c"), "was not true of pods c at +1s (version 2)"),
    (Never(is_b, each=PODS), ("n/a",), None), (Always(is_b, each=PODS), ("b", "b"), None), (Never(is_b, each=PODS), (), None),
    (Always(is_b, each=PODS), (), None),
    (Never(is_b, each=PODS), ("a", "n/x"), "raised ValueError: wrong, when it was asked of pods n/x at +1s (version 2)"),
])
def test_claims_about_each_object(claim: Claim, names: tuple[str, ...], told: str | None) -> None:
    """Given a claim about each object, when some changed, then those are asked about up to the one
    that decides, which is named.
    """
    check = Check(claim)
    verdict = check.look(cast("Any", Pods(*names)))
    if told is None:
        assert (verdict, check.decided_by, list(check.looks)) == (None, "", [("pods",)])
    else:
        assert isinstance(verdict, Broken)
        assert verdict.text.endswith(f") {told}")
    check = Check(claim)
    assert list(check.looks) == []


@pytest.mark.parametrize(("made", "error", "told"), [
    (lambda: Always(cast("Any", 1)), TypeError, "Always: 1 is no predicate: say a function of the state"),
    (lambda: LeadsTo(p, cast("Any", "x")), TypeError, "LeadsTo: 'x' is no predicate: say a function of the state"),
    (lambda: Until(cast("Any", None), q), TypeError, "Until: None is no predicate: say a function of the state"),
    (lambda: Never(p, cast("Any", "pods")), TypeError,
     "Never: each='pods' is no resource: say PODS of fakekube.client.resources"),
    (lambda: Eventually(p, "soon"), ValueError, "'soon' is no duration: say 1h30m, 90s or 500ms"),
])
def test_claims_that_cannot_be_meant(made: Any, error: type[Exception], told: str) -> None:
    """Given what is no predicate, resource or duration, when a claim is made of it, then it is
    refused in words.
    """
    with pytest.raises(error) as refused:
        made()
    assert str(refused.value) == told


def test_the_words_for_a_claim() -> None:
    """Given claims, when they are told, then each is its kind, its predicates and its limit."""
    assert [str(each).replace(p_text(), "P").replace(q_text(), "Q") for each in (
        Always(p), Never(p, PODS), Eventually(p, "1h"), Until(p, q), LeadsTo(p, q, 1.5))] == [
        "Always(P)", "Never(P)", "Eventually(P within 1:00:00)", "Until(P, Q)", "LeadsTo(P, Q within 0:00:01.500000)"]
    assert [each.limit_seconds for each in (Always(p), Eventually(p), Eventually(p, "1h"))] == [None, None, 3600]
    nothing = says_nothing(Always(p), PODS.group_resource, "m")
    assert nothing.text.replace(p_text(), "P") == "Always(P) says nothing: the cluster stores no pods"
    assert (nothing.change, nothing.error, nothing.member) == (None, None, "m")
    assert Always(p) == Always(p) != Always(q)

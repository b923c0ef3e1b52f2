"""What must be true of a history: some time, all the time, never, or whenever something else was.

A predicate gets a State: all objects at one moment, and the time. It is asked about every state in
turn, after the fact, so that nothing is polled and nothing missed between two looks; and only when
something changed that it looked at before. ``checking`` judges the same claims while a test runs.
"""

from functools import wraps
from typing import TYPE_CHECKING

from fakekube.testing import claims, explain
from fakekube.testing.claims import Broken, Check, Claim, Predicate, Question, Reached
from fakekube.testing.history import History, Look
from fakekube.testing.present import Present
from fakekube.util.driver import Stalled, describe
from fakekube.util.durations import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakekube.client.resources import Resource
    from fakekube.composition.cluster import Cluster
    from fakekube.testing.history import Where

Since = int | str | None


class HistoryError(AssertionError):
    """A history is not as it must be.

    The text has the writes that led there, the seed, and how to replay it. ``broken`` says what was
    claimed of it, and which change was not as claimed, where it was by a claim.
    """

    broken: Broken | None = None

    @property
    def reason(self) -> str:
        """What is equal of two errors if the same is wrong: the claim, and the kind of error that a
        predicate raised. Empty where there was no claim.
        """
        if self.broken is None:
            return ""
        claim, error = self.broken.claim, self.broken.error
        return f"{claim}" if error is None else f"{claim} {type(error).__name__}"


def eventually(where: "Where", predicate: Predicate, *, within: Duration | None = None, since: Since = None) -> int:
    """Some state fulfils the predicate, ``within`` so long after the first one if that is given.

    Returns its version.

    ``since``: the version to begin with, else the beginning of the cluster. Raises HistoryError (an
    AssertionError), HistoryForgotten.
    """
    return judge(where, claims.Eventually(predicate, within), since=since)


def always(where: "Where", predicate: Predicate, *, each: "Resource | None" = None, since: Since = None) -> None:
    """Every state fulfils the predicate; with ``each``, a resource, every object of it in every
    state does. Raises as ``eventually``.
    """
    judge(where, claims.Always(predicate, each), since=since)


def never(where: "Where", predicate: Predicate, *, each: "Resource | None" = None, since: Since = None) -> None:
    """No state fulfils the predicate; with ``each``, no object in any state. Raises as
    ``eventually``.
    """
    judge(where, claims.Never(predicate, each), since=since)


def until(
    where: "Where", predicate: Predicate, then: Predicate, *, within: Duration | None = None, since: Since = None,
) -> int:
    """Some state fulfils ``then``, ``within`` so long after the first one if that is given, and
    every state before it fulfils the predicate.

    Returns the version of that state. Raises as ``eventually``.
    """
    return judge(where, claims.Until(predicate, then, within), since=since)


def leads_to(
    where: "Where", first: Predicate, then: Predicate, *, within: Duration | None = None, since: Since = None,
) -> None:
    """Whenever ``first`` comes true, ``then`` is true at that state or a later one, ``within`` so
    long if that is given.

    What is still to come when the history ends has not come: let time pass before you ask. Raises
    as ``eventually``.
    """
    judge(where, claims.LeadsTo(first, then, within), since=since)


def judge(where: "Where", claim: Claim, *, since: Since = None) -> int:
    """A claim is true of a history.

    Returns the version of the state that decided it, 0 where none did. Raises as ``eventually``.
    """
    history = History.of(where)
    check = Check(claim)
    for state in history.states(since):
        verdict = check.look(state)
        if isinstance(verdict, Reached):
            return verdict.revision
        if verdict is not None:
            raise error_of(verdict, history) from verdict.error
    broken = check.end(history.now, history.started)
    for _, resource in state.resources(check.looks) if broken is None else ():
        if resource is not None and not history.stores(resource):
            broken = claims.says_nothing(claim, resource)
    if broken is not None:
        raise error_of(broken, history)
    return 0


def error_of(broken: Broken, history: History) -> HistoryError:
    """What is raised for a claim that is not true of a history."""
    error = HistoryError("\n".join([broken.text, *explain.explanation(history, broken.change)]))
    error.broken = broken
    return error


async def run_until(
    cluster: "Cluster", predicate: Predicate, *, within: Duration | None = None, grace: Duration | None = None,
) -> int:
    """Let time pass until the present state fulfils the predicate; returns its version.

    As ``Cluster.run_until``, which see, but the predicate looks at the state and not through a
    client, and is asked when something was written. Raises Stalled with what led to the present
    state, the seed, and how to replay it.
    """
    state = Present(cluster)
    asked, time = -1, 0.0
    looks: Mapping[Look, None] = {}
    holds = False

    @wraps(predicate)
    def now() -> bool:
        nonlocal asked, holds, time, looks
        revision, moment = cluster.apiserver.storage.revision, cluster.clock.time()
        if revision != asked or (None in looks and moment != time):
            state.refresh()
            question = Question(predicate)
            try:
                asked, time, holds = revision, moment, question.ask(state, claims.ask_at_once)
            except claims.Refused as refused:
                raise refused.__cause__ or TypeError(f"{describe(predicate)} {refused}") from None
            looks = question.looks
        return holds

    try:
        await cluster.run_until(now, within=within, grace=grace)
    except Stalled as stalled:
        text = str(stalled)
        raise Stalled("\n".join([text, *explain.explanation(History.of(cluster), told=text)])) from None
    return asked

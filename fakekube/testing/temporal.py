"""What must be true of a history: some time, all the time, never, or whenever something else was.

A predicate gets a State: all objects at one moment, and the time. It is asked about every state in
turn, after the fact, so that nothing is polled and nothing missed between two looks; and only when
something changed that it looked at before.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

from fakekube.testing import explain
from fakekube.testing.history import Change, History, Present, State
from fakekube.util.driver import Stalled, describe
from fakekube.util.durations import Duration, seconds_of, text_of

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.testing.history import Where

Predicate = Callable[[State], Any]


class HistoryError(AssertionError):
    """A history is not as it must be.

    The text has the writes that led there, the seed, and how to replay it.
    """


def eventually(where: "Where", predicate: Predicate, *, within: Duration | None = None, since: int | str | None = None) -> int:
    """Some state fulfils the predicate, ``within`` so long after the first one if that is given.

    Returns its version.

    ``since``: the version to begin with, else the beginning of the cluster. Raises HistoryError (an
    AssertionError), HistoryForgotten.
    """
    history = History.of(where)
    end = None
    for state, holds in _ask(history, predicate, since):
        end = end if end is not None or within is None else state.at + seconds_of(within)
        if end is not None and state.at > end:
            break
        if holds:
            return state.revision
    limit = "" if within is None else f" within {text_of(seconds_of(within))}"
    raise _error(history, f"{describe(predicate)} was never true{limit}", None)


def always(where: "Where", predicate: Predicate, *, since: int | str | None = None) -> None:
    """Every state fulfils the predicate. Raises as ``eventually``."""
    history = History.of(where)
    for state, holds in _ask(history, predicate, since):
        if not holds:
            raise _error(history, f"{describe(predicate)} was not true {_when(history, state)}", state.change)


def never(where: "Where", predicate: Predicate, *, since: int | str | None = None) -> None:
    """No state fulfils the predicate. Raises as ``eventually``."""
    history = History.of(where)
    for state, holds in _ask(history, predicate, since):
        if holds:
            raise _error(history, f"{describe(predicate)} was true {_when(history, state)}", state.change)


def leads_to(
    where: "Where", first: Predicate, then: Predicate, *, within: Duration | None = None, since: int | str | None = None,
) -> None:
    """Whenever ``first`` comes true, ``then`` is true at that state or a later one, ``within`` so
    long if that is given.

    What is still to come when the history ends has not come: let time pass before you ask. Raises
    as ``eventually``.
    """
    history = History.of(where)
    limit = None if within is None else seconds_of(within)
    waiting: tuple[float, str, Change | None] | None = None
    was = False
    for (state, holds), (_, fulfilled) in zip(_ask(history, first, since), _ask(history, then, since), strict=True):
        if waiting is not None and limit is not None and state.at > waiting[0] + limit:
            break
        if holds and not was and waiting is None:
            waiting = state.at, _when(history, state), state.change
        was = bool(holds)
        if fulfilled:
            waiting = None
    if waiting is None:
        return
    came, when, change = waiting
    text = f"{describe(first)} came true {when}, and {describe(then)} did not follow"
    if limit is not None and history.now <= came + limit:
        text += f" yet, {explain.offset(history, history.now)}; it has until {explain.offset(history, came + limit)}"
    elif limit is not None:
        text += f" within {text_of(limit)}"
    raise _error(history, text, change)


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
    holds: Any = False

    @wraps(predicate)
    def now() -> bool:
        nonlocal asked, holds, time
        revision, moment = cluster.apiserver.storage.revision, cluster.clock.time()
        if revision != asked or (None in state.looked_at and moment != time):
            state.refresh()
            asked, time, holds = revision, moment, predicate(state)
        return bool(holds)

    try:
        await cluster.run_until(now, within=within, grace=grace)
    except Stalled as stalled:
        text = str(stalled)
        raise Stalled("\n".join([text, *explain.explanation(History.of(cluster), told=text)])) from None
    return asked


def _ask(history: History, predicate: Predicate, since: int | str | None) -> Iterator[tuple[State, Any]]:
    """Every state with what the predicate says of it."""
    holds: Any = None
    asked = False
    looked_at: dict[Any, None] = {}
    time = 0.0
    for state in history.states(since):
        changed = state.change is not None and state.change.resource in looked_at
        if not asked or changed or (None in looked_at and state.at != time):
            state.looked_at = {}
            holds, asked, time = predicate(state), True, state.at
            looked_at = state.looked_at
        yield state, holds


def _when(history: History, state: State) -> str:
    return f"at {explain.offset(history, state.at)} (version {state.revision})"


def _error(history: History, text: str, change: Change | None) -> HistoryError:
    return HistoryError("\n".join([text, *explain.explanation(history, change)]))

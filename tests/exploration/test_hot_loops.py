"""Loops that are hot while a test runs, and claims that options name."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.composition.options import OptionError
from fakekube.exploration.claimed import claims_of
from fakekube.exploration.hotloops import HOT_SECONDS, MOST_AT_ONCE, HotLoop
from fakekube.exploration.oracles import Who
from fakekube.testing import Always


def change(time: float, who: str = "me", uid: str = "u", resource: str = "pods") -> Any:
    cause = SimpleNamespace(user_agent=who, user="x") if who else None
    record = SimpleNamespace(record=SimpleNamespace(uid=uid))
    return SimpleNamespace(
        change=SimpleNamespace(time=time, cause=cause, event=record, name="pods a/p",
            resource=SimpleNamespace(resource=resource)))


def test_a_loop_that_is_hot() -> None:
    """Given a writer, when it has written one object too often at once, then that is seen; when
    somebody else writes between, or time passes, it is not.
    """
    def seen(*states: Any, who: str = "me") -> list[bool]:
        hot = HotLoop(lambda: [Who((who,))])
        return [hot(state) for state in states]

    often = [change(1.0)] * (MOST_AT_ONCE + 1)
    assert seen(*often) == [False] * MOST_AT_ONCE + [True]
    assert not any(seen(*often, who="you"))
    assert not any(seen(*often[:-1], change(1.0, "you"), change(1.0)))
    assert not any(seen(*often[:-1], change(1.0, uid="v")))
    assert not any(seen(*[change(1.0, resource="leases")] * (MOST_AT_ONCE + 1)))
    assert seen(*often[:-1], SimpleNamespace(change=None), change(1.0))[-2:] == [False, True]
    limit = (MOST_AT_ONCE + 1) * HOT_SECONDS
    assert [seen(*often[:-1], change(1.0 + limit + late))[-1] for late in (-0.01, 0.01)] == [True, False]
    hot = HotLoop(list)
    for state in (*often, change(3.5)):
        hot(state)
    assert hot.text(change(3.5).change) == (
        f"pods a/p was written {MOST_AT_ONCE + 2} times in 2.5 s by me, while nobody else wrote anything: it never comes to rest")


CLAIM = Always(bool)
CLAIMS = [CLAIM, CLAIM]


def test_claims_that_options_name() -> None:
    """Given an option, when it names claims, then they come in their order; what is none is told.
    """
    here = __name__
    assert claims_of(CLAIM) == claims_of([CLAIM]) == [CLAIM]
    assert claims_of(f"{here}:CLAIM, {here}:CLAIMS,") == [CLAIM, CLAIM, CLAIM]
    assert claims_of([CLAIM, (CLAIM, f"{here}:CLAIM")]) == [CLAIM] * 3
    assert claims_of(()) == []
    with pytest.raises(OptionError) as refused:
        claims_of([7])
    assert str(refused.value) == (
        "claims: 7 is no claim: say Always(p), Never(p), Eventually(p), Until(p, q) or LeadsTo(p, q) of fakekube.testing, "
        "a list of them, or module:name of one")

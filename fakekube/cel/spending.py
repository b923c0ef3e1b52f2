"""What an evaluation may spend, and when it lets others have a turn.

A frame has the cost that is left at index 0, and at 1 the work: elements copied or compared, which
cost too little. Where an evaluation has a Turn, these are what is left of the turn, and the rest
stands at 5 and 6. So closures look at one number, turns or no turns.
"""

from typing import Any

from fakekube.cel import errors
from fakekube.util import turns
from fakekube.util.turns import Turn

WORK_PER_COST = 5
BEGINNING = 3  # to begin takes as long as so many units
_TURN, _COST, _WORK = 4, 5, 6
FIRST_SLOT = 7
"""Where variables begin in a frame."""


def begin(frame: list[Any], cost: int, work: int, turn: Turn | None) -> None:
    """Let a frame spend so much, at once no more than a turn has. Raises TakesLong.

    What was converted and made ready for an evaluation before it is forgotten.
    """
    more_cost = more_work = 0
    if turn is not None:
        if turn.left <= 0:
            turn.end()
        left = turn.left
        if cost > left:
            cost, more_cost = left, cost - left
        left *= WORK_PER_COST
        if work > left:
            work, more_work = left, work - left
    frame[:FIRST_SLOT] = (cost, work, None, None, turn, more_cost, more_work)


def finish(frame: list[Any], turn: Turn | None) -> int:
    """Tell the turn what is left of it.

    What is left of the cost is returned; it is negative when there was too little.
    """
    cost: int = frame[0]
    if turn is None:
        return cost
    left, work = turn.left, frame[1] // WORK_PER_COST
    if cost < left:
        left = cost
    if work < left:
        left = work
    turn.left = left - BEGINNING
    cost += frame[_COST]
    return cost


def left(frame: list[Any]) -> int:
    """What may be spent yet, later turns included; negative when there was too little."""
    cost: int = frame[0] + frame[_COST]
    return cost


def all_left(frame: list[Any]) -> tuple[int, int]:
    """The cost and the work that are left, later turns included."""
    return frame[0] + frame[_COST], frame[1] + frame[_WORK]


def require(frame: list[Any], cost: int) -> None:
    """Raise CostExceeded unless so much is left."""
    if cost > (frame[0] if frame[_TURN] is None else left(frame)):
        raise errors.CostExceeded


def exceeded(frame: list[Any]) -> None:
    """Go on in another turn, or raise CostExceeded when all is spent.

    Closures call it when frame[0] or frame[1] is negative. Raises TakesLong in the first turn.
    """
    if frame[_TURN] is None or frame[0] + frame[_COST] < 0 or frame[1] + frame[_WORK] < 0:
        raise errors.CostExceeded
    end_turn(frame)


def end_turn(frame: list[Any]) -> None:
    """Let others have a turn, if there are any. Raises TakesLong in the first turn."""
    if frame[_TURN] is None:
        return
    frame[_TURN].end()
    cost = min(frame[_COST], max(turns.UNITS - frame[0], 0))
    work = min(frame[_WORK], max(turns.UNITS * WORK_PER_COST - frame[1], 0))
    frame[0] += cost
    frame[_COST] -= cost
    frame[1] += work
    frame[_WORK] -= work

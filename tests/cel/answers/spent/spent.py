"""What evaluations spend: cost, work, and how they are cut into turns.

Cost is upstream's and is compared with it elsewhere. Work is ours: it bounds what costs too little,
so nobody else can tell what it should be. The table notices when it changes; read the lines that
differ. ``python -m tests.cel.answers.spent.spent`` writes it down again, for review.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakekube.cel import errors, types, values
from fakekube.cel.environment import Environment, Program
from fakekube.cel.frames import Given
from fakekube.cel.library import bindings, kubernetes
from fakekube.cel.spending import WORK_PER_COST
from fakekube.util import turns
from fakekube.util.turns import TakesLong, Turn
from tests.cel.answers.answers import DATA as SMALL
from tests.cel.answers.answers import expressions
from tests.cel.expressions import DATA as VARIABLES
from tests.cel.expressions import Generator

FOLDER = Path(__file__).parent
LIMIT, UNITS, TRIED_LIMITS = 1_000_000, 40, (3, 30)
RANDOM = 300
DATA: dict[str, Any] = SMALL | VARIABLES | {
    "hundred": list(range(100)), "lists": [[1, 2, 3], [1, 2, 4], [5]], "maps": [{"a": [1]}, {"a": [2]}, {"b": [2], "c": 1}],
    "long": "abc def ghi " * 20, "wide": "äöü " * 20, "pattern": "[a-z]+", "large": "(a|b|c|d){1,40}x{3,9}",
    "nulls": [None, {"a": None}], "optional": values.OptionalValue([1, 2]), "no": values.NONE,
}
TYPED = {"typed": types.list_of(types.INT), "text": types.STRING, "entries": types.map_of(types.STRING, types.INT),
         "wrong": types.STRING, "uneven": types.list_of(types.INT)}
TYPED_DATA: dict[str, Any] = {"typed": [5, 3, 1, 4, 1], "text": "one two three", "entries": {"a": 1, "b": 2},
                              "wrong": 5, "uneven": [1, "a", None]}


class Counted(Turn):
    """Turns of a few units that end at once."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.ended = UNITS, 0

    def end(self) -> None:
        """The next begins."""
        self.ended += 1
        self.left = UNITS


def environment() -> Environment:
    """With all libraries of 1.37; the variables are dyn but for a few."""
    base = kubernetes.environment(37, stored=True)
    libraries = (*kubernetes.libraries(37, stored=True), bindings.library())
    declared = {**dict.fromkeys(DATA, types.DYN), **TYPED}
    return Environment(declared, libraries=libraries, options=base.options)


def texts() -> Iterator[str]:
    """All expressions of the table."""
    yield from (FOLDER / "expressions.txt").read_text().splitlines()
    yield from expressions()
    for seed in range(RANDOM):
        yield Generator(seed, ("strings", "optionals", "bindings", "kubernetes")).any(3)


def outcome(program: Program, limit: int, turn: Turn | None = None) -> tuple[str, Given]:
    """How an evaluation ends, and its frame."""
    given = Given({**DATA, **TYPED_DATA})
    try:
        program.run_on(given, limit, turn)
    except TakesLong:
        return "TakesLong", given
    except errors.CelError as error:
        return error.__class__.__name__, given
    return "ends", given


def line(text: str, base: Environment) -> str | None:
    """What the table says of an expression; None if it cannot be run."""
    try:
        program = base.compile(text)
    except errors.CelError:
        return None
    ended, given = outcome(program, LIMIT)
    spent = f"{ended}, cost {LIMIT - given.frame[0]}, work {LIMIT * WORK_PER_COST - given.frame[1]}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turns, "UNITS", UNITS)
        turn = Counted()
        in_turns, _ = outcome(program, LIMIT, turn)
    cut = f"{in_turns} after {turn.ended} turns with {turn.left} left"
    cost = LIMIT - given.frame[0]
    limited = ", ".join(f"{outcome(program, limit)[0]} with {limit}" for limit in (*TRIED_LIMITS, *range(cost - 1, cost + 1)))
    return f"{text}  # {spent}; {cut}; {limited}"


def lines() -> list[str]:
    """The table."""
    base = environment()
    return [told for text in texts() if (told := line(text, base)) is not None]


if __name__ == "__main__":
    (FOLDER / "spent.txt").write_text("\n".join(lines()) + "\n")

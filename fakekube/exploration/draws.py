"""What a seed draws of some possibilities: each in its turn, in a mixed order.

A fault that matters may be one of fifty. Drawn at random it is missed by two hundred seeds more
often than one would think; in turn, as many seeds as there are possibilities come to each of them
once, whichever seed is the first. Each is tried alone first, and in company when its turn comes
again.
"""

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple, TypeVar

from fakekube.util.rng import Rng, bits_of

T = TypeVar("T")

MOST_TOGETHER = 3
"""So many are drawn together at most: bugs of controllers need one or two (Sieve, section 6)."""

GOLDEN = 0.618
"""Steps of this part of a whole spread evenly over it."""


class Drawn(NamedTuple):
    """What was drawn: its ``place`` among what was possible; and ``before``, how often it
    was drawn earlier.
    """

    place: int
    before: int


class Draws:
    """The draws of one seed; ``name`` says for whom, so that others come in another order."""

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self.rng = Rng(seed).fork(name)

    def in_turn(self, count: int) -> list[Drawn]:
        """One of so many, in their order up to three where each was drawn before; none of none."""
        if not count:
            return []
        step = max(1, int(count * GOLDEN))
        while gcd(step, count) > 1:
            step += 1
        before, index = self._seed // count, (self._seed * step + bits_of(self._name)) % count
        chosen = {index: before}
        if before and not self.rng.randbelow(3):
            for _ in range(1 + self.rng.randbelow(MOST_TOGETHER - 1)):
                chosen.setdefault(self.rng.randbelow(count), self.rng.randbelow(before + 1))
        return [Drawn(one, chosen[one]) for one in sorted(chosen)]

    def other(self, drawn: Drawn, values: Sequence[T]) -> T:
        """One of some values, another each time that the same is drawn."""
        return values[(drawn.before + bits_of(f"{self._name} {drawn.place}")) % len(values)]

"""Randomness as an argument: one seeded generator a cluster, so that one seed gives one history.

Upstream draws from crypto/rand and math/rand wherever it likes; names here have the same alphabet
and the same shape as apimachinery/pkg/util/rand's. Nothing here guards a secret.
"""

import random
from hashlib import blake2b

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
LETTERS = len(SUFFIX_ALPHABET)
PAIRS = tuple(first + second for second in SUFFIX_ALPHABET for first in SUFFIX_ALPHABET)


class Rng:
    """A seeded generator. A part that must not change the draws of others takes a ``fork``."""

    __slots__ = ("_made", "seed")

    def __init__(self, seed: int | str = 0) -> None:
        self.seed = seed
        self._made: random.Random | None = None

    @property
    def _random(self) -> random.Random:
        """The generator itself, seeded on first use: seeding is slow, and most forks never draw."""
        if self._made is None:
            self._made = random.Random(self.seed)
        return self._made

    @classmethod
    def unpredictable(cls) -> "Rng":
        """A generator that nobody has seen before, for use on clusters that are not ours."""
        return cls(random.SystemRandom().getrandbits(128))

    def fork(self, name: str) -> "Rng":
        """A generator of its own for ``name``.

        It is the same for the same seed, whatever was drawn from this one.
        """
        return Rng(f"{self.seed}/{name}")

    def save(self) -> list[int]:
        """The generator's position, for ``load``."""
        return list(self._random.getstate()[1])

    def load(self, state: list[int]) -> None:
        """Continue from a saved position. ValueError, TypeError for what was never saved."""
        self._random.setstate((3, tuple(state), None))

    def uid(self) -> str:
        """An RFC 4122 version 4 UUID."""
        bits = self._random.getrandbits(128)
        bits = bits & ~(0xF << 76) | 4 << 76
        bits = bits & ~(0x3 << 62) | 2 << 62
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def suffix(self, length: int = 5) -> str:
        """What upstream appends to a generateName: no vowels, no digits that look like letters."""
        number, text = int(self._random.random() * LETTERS**length), ""
        for _ in range(length // 2):
            number, pair = divmod(number, LETTERS * LETTERS)
            text += PAIRS[pair]
        return text + SUFFIX_ALPHABET[number] if length % 2 else text

    def uniform(self, low: float, high: float) -> float:
        """A float between ``low`` and ``high``."""
        return self._random.uniform(low, high)

    def randbelow(self, limit: int) -> int:
        """An int from 0 to ``limit`` - 1. ValueError when ``limit`` is not positive."""
        return self._random.randrange(limit)


def bits_of(text: str) -> int:
    """64 bits that a text alone decides, the same in every process: for draws that must not depend
    on which others were made before.
    """
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")

"""The retained changes of one bucket, of which the older ones are packed.

States that follow each other are nearly the same: compressed together, 64 states of pods take a
twentieth of their bytes. So when a bucket has that many changes more than are kept as they are, the
oldest of these are packed: half a millisecond once in 64 writes. Who reads so far back pays for it.
ADR 13 has the figures.
"""

import zlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate, chain, islice, pairwise
from struct import calcsize, pack, unpack, unpack_from

from fakekube.storage.entry import Entry, size_of

PORTION = 64  # more at a time save little: a compressor looks 32 KB back, which is about eight pods
LEVEL = 2  # of 1 to 9: the fastest on pods; 6 halves the bytes and takes twice the time
RAW = -15  # no header and no checksum
STATES = calcsize("2i")  # of the lengths of an entry's two states

Portion = tuple[tuple[Entry, ...], bytes, bytes]
"""Entries without their states; the length of each state, two to an entry (-1: there is none); the
states, compressed. As flat as an entry is."""


def packed(entries: Iterable[Entry]) -> Portion:
    """Entries as a portion."""
    entries = tuple(entries)
    states = [state for entry in entries for state in entry[5:7]]
    lengths = [-1 if state is None else len(state) for state in states]
    return (
        tuple(entry if entry[5] is entry[6] is None else (*entry[:5], None, None, *entry[7:]) for entry in entries),
        pack(f"{len(lengths)}i", *lengths),
        zlib.compress(b"".join(filter(None, states)), LEVEL, RAW))


def unpacked(portion: Portion) -> list[Entry]:
    """The entries of a portion, as they were."""
    bare, lengths, data = portion
    sizes, all_states = unpack(f"{2 * len(bare)}i", lengths), zlib.decompress(data, RAW)
    ends = accumulate((max(size, 0) for size in sizes), initial=0)
    states = [None if size < 0 else all_states[start:end] for size, (start, end) in zip(sizes, pairwise(ends), strict=True)]
    return [
        entry if before is last is None else (*entry[:5], before, last, *entry[7:])
        for entry, before, last in zip(bare, states[::2], states[1::2], strict=True)]


def size_in(portion: Portion, number: int) -> int:
    """How many bytes an entry of a portion takes, about, when it is not packed."""
    before: int
    last: int
    before, last = unpack_from("2i", portion[1], number * STATES)
    return size_of(portion[0][number]) + max(before, 0) + max(last, 0)


class Track:
    """The retained entries of one bucket.

    Forks share them until somebody adds to them or forgets one.

    ``plain`` is how many of the latest are kept as they are, at least.
    """

    __slots__ = ("_forgotten", "_latest", "_plain", "_portion", "_portions", "_shared")

    def __init__(self, plain: int, entries: Iterable[Entry] = ()) -> None:
        self._plain, self._portion = plain, max(1, min(PORTION, plain))
        self._portions: deque[Portion] = deque()  # oldest first, as the next ones
        self._latest: deque[Entry] = deque(entries)
        self._forgotten = 0  # so many entries of the first portion
        self._shared = False

    def __len__(self) -> int:
        return sum(len(bare) for bare, _, _ in self._portions) - self._forgotten + len(self._latest)

    def newest_first(self) -> Iterator[Entry]:
        """The entries, and after them perhaps some that are forgotten."""
        return chain(reversed(self._latest), chain.from_iterable(map(_newest_first, reversed(self._portions))))

    def heads(self) -> Iterator[Entry]:
        """The entries, oldest first, without the states of those that are packed: nothing is
        unpacked.
        """
        packed_ones = chain.from_iterable(bare for bare, _, _ in self._portions)
        return chain(islice(packed_ones, self._forgotten, None), self._latest)

    def entries_at(self, revisions: Collection[int]) -> Iterator[Entry]:
        """Those of the entries that made these revisions, oldest first; no more is unpacked than
        what they are in.
        """
        for portion in self._portions:
            if any(entry[0] in revisions for entry in portion[0]):
                yield from (entry for entry in unpacked(portion) if entry[0] in revisions)
        yield from (entry for entry in self._latest if entry[0] in revisions)

    def append(self, entry: Entry) -> None:
        """Add the newest entry."""
        if self._shared:
            self._own()
        self._latest.append(entry)
        if len(self._latest) >= self._plain + self._portion:
            self._portions.append(packed(self._latest.popleft() for _ in range(self._portion)))

    @property
    def oldest_revision(self) -> int:
        """The revision of the oldest entry; there must be one."""
        return self._portions[0][0][self._forgotten][0] if self._portions else self._latest[0][0]

    def forget(self) -> tuple[int, int]:
        """Forget the oldest entry: its revision, and how many bytes it took, about."""
        if self._shared:
            self._own()
        if not self._portions:
            entry = self._latest.popleft()
            return entry[0], size_of(entry)
        portion, number = self._portions[0], self._forgotten
        self._forgotten += 1
        if self._forgotten == len(portion[0]):
            self._portions.popleft()
            self._forgotten = 0
        return portion[0][number][0], size_in(portion, number)

    def sizes(self) -> Iterator[tuple[int, int]]:
        """The revision and the bytes, about, of each entry, oldest first."""
        first = self._forgotten
        for portion in self._portions:
            for number in range(first, len(portion[0])):
                yield portion[0][number][0], size_in(portion, number)
            first = 0
        for entry in self._latest:
            yield entry[0], size_of(entry)

    def fork(self) -> "Track":
        """A track with the same entries."""
        other = Track(self._plain)
        other._portions, other._latest, other._forgotten = self._portions, self._latest, self._forgotten
        self._shared = other._shared = True
        return other

    def _own(self) -> None:
        """Take a copy, to be changed."""
        self._portions, self._latest, self._shared = self._portions.copy(), self._latest.copy(), False


def _newest_first(portion: Portion) -> Iterator[Entry]:
    return reversed(unpacked(portion))

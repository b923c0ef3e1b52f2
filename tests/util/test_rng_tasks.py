"""Randomness is seeded; tasks do not fail in silence."""

import asyncio
import uuid

import pytest

from fakekube.util.rng import SUFFIX_ALPHABET, Rng
from fakekube.util.tasks import Tasks


def test_one_seed_gives_one_history():
    """Given two generators of one seed, when both draw, then they draw the same, forks included."""
    first, second = Rng(7), Rng(7)
    first.fork("kubelet").uid()
    assert [first.uid(), first.suffix(), first.randbelow(9), first.uniform(1, 2)] == [
        second.uid(), second.suffix(), second.randbelow(9), second.uniform(1, 2)]
    assert first.fork("a").uid() == second.fork("a").uid() != second.fork("b").uid()


def test_uids_are_version_4():
    """Given a generator, when it makes uids, then they parse as random UUIDs and differ."""
    rng = Rng(0)
    uids = [rng.uid() for _ in range(100)]
    assert all(uuid.UUID(uid).version == 4 and uuid.UUID(uid).variant == uuid.RFC_4122 for uid in uids)
    assert len(set(uids)) == 100


def test_suffixes_have_the_alphabet_of_generated_names():
    """Given a generator, when it makes suffixes, then they are five characters of upstream's
    alphabet.
    """
    rng = Rng(0)
    assert all(len(s) == 5 and not s.strip(SUFFIX_ALPHABET) for s in (rng.suffix() for _ in range(100)))


async def test_close_cancels_and_raises_the_first_failure():
    """Given a task that runs and one that failed, when closed, then the first is cancelled and the
    error raised.
    """
    tasks = Tasks()
    waiting = tasks.spawn(asyncio.Event().wait(), "waits")

    async def broken():
        raise ValueError("broken")

    tasks.spawn(broken(), "broken")
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="broken"):
        await tasks.close()
    assert waiting.cancelled()
    assert len(tasks) == 0

"""One seed, one history of Kueue: every event of every resource, whatever Python's hashes are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def history(play: str, hash_seed: str, seed: int = 7) -> tuple[int, str]:
    """How many lines a play's history has, and their digest."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'controllers'}"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.controllers.kueue.histories", play, str(seed)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, digest = done.stdout.split()
    return int(count), digest


@pytest.mark.parametrize(("play", "least"), [("alone", 400), ("together", 200)])
def test_one_seed_gives_one_history_under_any_hash_seed(play: str, least: int) -> None:
    """Given queues with preemption, an elastic Job, a group of pods and a restart of Kueue, or a
    fleet with MultiKueue and an outage / when it is played in three processes with other hashes /
    then every object and every event is the same: type, resource, name, uid, revision, time.
    """
    first, second, third = (history(play, seed) for seed in ("0", "1", "4711"))
    assert first == second == third
    assert first[0] > least


def test_another_seed_gives_another_history() -> None:
    """Given the same queues / when the seed is another / then names and uids are others."""
    assert history("alone", "0", seed=7)[1] != history("alone", "0", seed=8)[1]

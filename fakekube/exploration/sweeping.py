"""Very many seeds of a run of pytest, in parts, by whatever runs functions: processes, or machines.

A part is a process of its own, which is told its seeds and leaves what it found in a file; nothing
is shared, and a part is a function of its arguments. So any ``concurrent.futures.Executor`` does
whose workers find the project where this process has it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

LEAST_SEEDS = 100
"""So many seeds are worth the start of a process, unless there are fewer."""

PARTS_OF_WORKER = 2
"""So many parts each worker gets, so that none waits long for the slowest."""

SHOWN_LINES = 30
ADDOPTS = "PYTEST_ADDOPTS"


class Failure(NamedTuple):
    """One way in which a test fails with a seed: the seed, the schedule that replays it, the fewest
    deviations, and all that is told about it.
    """

    seed: int
    schedule: str
    deviations: tuple[str, ...]
    story: str


class SweptTest(NamedTuple):
    """What came of one test: how many seeds it ran with, distinct histories, distinct failures."""

    test: str
    seeds: int
    histories: int
    failures: tuple[Failure, ...]

    def __str__(self) -> str:
        count = len(self.failures)
        failures = "no failure" if not count else f"{count} failure{'s' if count > 1 else ''}"
        return f"{self.test}: {self.seeds} seeds, {self.histories} distinct histories, {failures}"


class Sweep(NamedTuple):
    """What came of all parts: by test; and texts on parts that did not come to explore."""

    tests: tuple[SweptTest, ...]
    problems: tuple[str, ...]


def sweep(
    command: Sequence[str], seeds: range, executor: Executor, workers: int, options: Sequence[str] = (),
) -> Sweep:
    """Run a command in which pytest runs with all seeds, in parts for so many workers.

    ``options`` are more options of pytest, each without spaces.
    What the executor raises goes to the caller.
    """
    size = max(min(LEAST_SEEDS, len(seeds)), -(-len(seeds) // (workers * PARTS_OF_WORKER)))
    folder = str(Path.cwd())
    parts = [seeds[begin:begin + size] for begin in range(0, len(seeds), size)]
    waiting = {
        executor.submit(run_part, tuple(command), part[0], part[-1], folder, tuple(options)): part[0] for part in parts}
    done = {waiting[future]: future.result() for future in as_completed(waiting)}
    return merged([done[first] for first in sorted(done)])


def run_part(
    command: tuple[str, ...], first: int, last: int, folder: str, more: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Run the command with seeds from the first to the last, in a folder; what it left, and its
    words where it left nothing.
    """
    with tempfile.TemporaryDirectory() as scratch:
        findings = Path(scratch) / "findings"
        options = " ".join([f"--fakekube-explore={first}-{last}", f"--fakekube-findings={findings}", *more])
        if command[0] == "pytest":  # that of this Python, wherever the part runs
            command = (sys.executable, "-m", *command)
        environment = os.environ | {ADDOPTS: f"{os.environ.get(ADDOPTS, '')} {options}".strip()}
        try:
            done = subprocess.run(  # noqa: S603 - the user's own command
                command, cwd=folder, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError as error:
            return {"explored": [], "problems": [f"{command[0]}: {error.strerror}"]}
        if findings.exists():
            found = json.loads(findings.read_text())
            if found["explored"] or found["failed"] or not done.returncode:
                return {
                    "explored": found["explored"],
                    "problems": [f"{test} fails in the calm run:\n{text}" for test, text in found["failed"].items()]}
        words = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        return {"explored": [], "problems": [f"{' '.join(command)} ended with {done.returncode}:\n{words}"]}


def merged(parts: Sequence[dict[str, Any]]) -> Sweep:
    """What all parts found: each failure once, that of the lowest seed first."""
    seeds: dict[str, int] = {}
    histories: dict[str, dict[str, None]] = {}
    failures: dict[str, dict[tuple[str, ...], Failure]] = {}
    for one in (one for part in parts for one in part["explored"]):
        test = one["test"]
        seeds[test] = seeds.get(test, 0) + one["seeds"]
        histories.setdefault(test, {}).update(dict.fromkeys(one["fingerprints"]))
        found = failures.setdefault(test, {})
        if "schedule" in one:
            deviations = tuple(one["deviations"])
            found.setdefault((one["failure"], *deviations), Failure(one["seed"], one["schedule"], deviations, one["story"]))
    return Sweep(
        tuple(SweptTest(test, seeds[test], len(histories[test]), tuple(failures[test].values())) for test in seeds),
        tuple(dict.fromkeys(problem for part in parts for problem in part["problems"])))

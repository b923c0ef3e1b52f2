"""What ``fakekube explore`` runs, and how it tells what came of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner

from fakekube.cli import exploring
from fakekube.cli.main import cli
from fakekube.exploration import sweeping
from fakekube.exploration.sweeping import Failure, Sweep, SweptTest

PASSED = SweptTest("a", 5, 3, ())
FAILED = SweptTest("b", 5, 2, (Failure(7, "1:7", (), "the story"),))
NOTHING = "nothing was explored: no test of the command has a cluster of its own\n"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was swept; nothing runs."""
    found: list[Any] = []

    @contextmanager
    def executor(workers: int | None, dask: str | None) -> Iterator[tuple[Any, int]]:
        if dask == "nowhere":
            raise OSError("nobody is there")
        yield (workers, dask), 4

    def sweep(command: Sequence[str], seeds: range, executor: Any, workers: int, options: Sequence[str] = ()) -> Sweep:
        found.append((command, seeds, executor, workers, options))
        return Sweep((PASSED,), ())

    monkeypatch.setattr(exploring, "_executor", executor)
    monkeypatch.setattr(sweeping, "sweep", sweep)
    return found


@pytest.mark.parametrize(("words", "call"), [
    ("true", (("true",), range(1000), (None, None), 4, ())),
    ("--seeds 5-6 --workers 1 --dask there -- true -q",
     (("true", "-q"), range(5, 7), (1, "there"), 4, ())),
    ("--strategies stale-states,conflicts -- true",
     (("true",), range(1000), (None, None), 4, ("--fakekube-strategies=stale-states,conflicts",))),
])
def test_what_is_swept(calls: list[Any], words: str, call: Any) -> None:
    """Given a command, when it is explored, then its words, the seeds, the executor and the
    strategies are handed on, and the tests are told.
    """
    result = CliRunner().invoke(cli, ["explore", *words.split()])
    assert (result.exit_code, result.output) == (0, "a: 5 seeds, 3 distinct histories, no failure\n")
    [(command, seeds, *others)] = calls
    assert (command, len(seeds), seeds[-1] - seeds[0], *others) == (call[0], len(call[1]), call[1][-1] - call[1][0], *call[2:])


@pytest.mark.parametrize(("words", "code", "text"), [
    ("--seeds x true", 2, "--seeds: "),
    ("--strategies x true", 2, "--strategies: "),
    ("/nowhere/pytest", 1, "there is no command '/nowhere/pytest' here\n"),
    ("--dask nowhere true", 1, "nobody is there\n"),
])
def test_what_cannot_be_explored(calls: list[Any], words: str, code: int, text: str) -> None:
    """Given a mistake, when it is explored, then one sentence says so, and nothing runs."""
    result = CliRunner().invoke(cli, ["explore", *words.split()])
    assert (result.exit_code, result.output.count("\n"), calls) == (code, 1, [])
    assert result.output.startswith(f"Error: {text}")


@pytest.mark.parametrize(("tests", "problems", "code", "out", "err"), [
    ((PASSED,), (), 0, "a: 5 seeds, 3 distinct histories, no failure\n", ""),
    ((PASSED, FAILED), (), 1,
     "a: 5 seeds, 3 distinct histories, no failure\nb: 5 seeds, 2 distinct histories, 1 failure\n\nthe story\n\n", ""),
    ((PASSED,), ("a part ended",), 1, "a: 5 seeds, 3 distinct histories, no failure\n", "\na part ended\n"),
    ((), ("a part ended",), 1, "", "\na part ended\n"),
    ((), (), 1, "", NOTHING),
])
def test_what_came_of_it(
    tests: tuple[SweptTest, ...], problems: tuple[str, ...], code: int, out: str, err: str, capsys: pytest.CaptureFixture[str],
) -> None:
    """Given what came of a sweep, when it is told, then tests and stories are on standard output,
    problems on standard error, and only a sweep without either kind of fault ends with 0.
    """
    assert exploring._show(Sweep(tests, problems)) == code
    assert tuple(capsys.readouterr()) == (out, err)

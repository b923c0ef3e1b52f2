"""A copy of the checkout in which a module is changed and the tests of its area are run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from tests.mutation.contexts import CPU_SECONDS, FAILED
from tests.mutation.mutants import Mutant

KEPT = ".mutation"
"""Where the measures are, below the checkout."""

CACHES = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__", KEPT)
KEPT_OUT = shutil.ignore_patterns(".git", ".venv", *CACHES)
TEST_CPU_SECONDS, TEST_SECONDS, MUTANT_SECONDS = 60, 180, 7200
"""What a test may compute, what it may last, and what all tests of a mutant may last. A busy
machine must kill nothing: only the first is short, and what kills a mutant is told."""
NOTHING_SELECTED = 5
SELECTED = "not slow and not real and not toolchain"


class Unsound(Exception):
    """The tests of an area cannot be run."""


class Checkout:
    """One copy. Nothing outside of ``folder`` is ever written."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.root = folder / "checkout"
        self._source, self._folder = source, folder
        shutil.copytree(source, self.root, ignore=KEPT_OUT, symlinks=True)
        (self.root / ".git").mkdir()  # whatever looks for a repository stops here

    def measure(self, tests: Collection[str], data: Path) -> None:
        """Run test files as they are, and write to ``data`` which test executes which line; those
        that fail are told.
        """
        ended = self._pytest(tests, {"FAKEKUBE_MUTATION_LINES": str(data)}, seconds=MUTANT_SECONDS)
        if ended is None or ended.returncode not in (0, 1, NOTHING_SELECTED):
            raise Unsound(f"{', '.join(tests)[:300]} cannot be run\n{ended.stdout[-3000:] if ended else 'too slow'}")
        failed = [test for test in Path(f"{data}{FAILED}").read_text().split("\0") if test]
        for test in failed:
            print(f"fails without a change: {test}", flush=True)

    def survives(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether none of these tests fails with the change."""
        chosen = self._folder / "tests"
        chosen.write_text("\0".join(tests))
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        path = self.root / mutant.file
        before, times = path.read_text(), path.stat()
        path.write_text(mutant.code)
        try:
            ended = self._pytest(files, {"FAKEKUBE_MUTATION_TESTS": str(chosen)}, seconds=MUTANT_SECONDS)
        finally:
            path.write_text(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        if ended is not None and ended.returncode == 0:
            return True
        last = ended.stdout.strip().splitlines()[-3:] if ended is not None else ["too slow"]
        reason = next((line for line in last if line.startswith(("FAILED", "ERROR"))), last[-1] if last else "it ended")
        print(f"killed: {mutant.file}:{mutant.lines[0]} {mutant.operator}: {reason[:200]}", flush=True)
        return False

    def _pytest(
        self, tests: Iterable[str], variables: dict[str, str], *, seconds: float
    ) -> "subprocess.CompletedProcess[str] | None":
        elsewhere = [each for each in sys.path if not Path(each).is_relative_to(self._source) or "site-packages" in each]
        path = os.pathsep.join([str(self.root), str(self.root / "controllers"), *elsewhere])
        command = [sys.executable, "-m", "pytest", "-q", "-m", SELECTED, "-p", "no:cacheprovider"]
        command += [] if "FAKEKUBE_MUTATION_LINES" in variables else ["-x"]
        command += ["-p", "tests.mutation.contexts", "--timeout", str(TEST_SECONDS), "--hypothesis-seed", "0", *tests]
        variables = {**variables, CPU_SECONDS: str(TEST_CPU_SECONDS), "PYTHONPATH": path}
        environment = {**os.environ, **variables}
        # Code is kept compiled: a changed module is known by its time, and its own time comes back.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            return subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return None

"""A copy of the checkout in which a module is changed and the tests of its area are run."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

import coverage

from tests.mutation.areas import Area
from tests.mutation.contexts import FAILED
from tests.mutation.mutants import Mutant

KEPT_OUT = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__")
TEST_SECONDS, MUTANT_SECONDS = 60, 600
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

    def measure(self, area: Area) -> "Lines":
        """Run the tests of an area as they are. Which of them execute which line; those that fail
        are told, and left out.
        """
        file = self._folder / f"{area.name}.coverage"
        ended = self._pytest(area.tests, {"FAKEKUBE_MUTATION_LINES": str(file)}, seconds=3 * MUTANT_SECONDS)
        if ended is None or ended.returncode not in (0, 1):
            raise Unsound(f"the tests of {area.name} cannot be run\n{ended.stdout[-3000:] if ended else 'too slow'}")
        failed = [test for test in Path(f"{file}{FAILED}").read_text().split("\0") if test]
        for test in failed:
            print(f"fails without a change: {test}", flush=True)
        return Lines(file, self.root, failed)

    def survives(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether none of these tests fails with the change."""
        chosen = self._folder / "tests"
        chosen.write_text("\0".join(tests))
        files = tuple(dict.fromkeys(test.partition("::")[0] for test in tests))
        path = self.root / mutant.file
        before, times = path.read_text(), path.stat()
        path.write_text(mutant.code)
        try:
            ended = self._pytest(files, {"FAKEKUBE_MUTATION_TESTS": str(chosen)}, seconds=MUTANT_SECONDS)
        finally:
            path.write_text(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return ended is not None and ended.returncode == 0

    def _pytest(
        self, tests: tuple[str, ...], variables: dict[str, str], *, seconds: float
    ) -> "subprocess.CompletedProcess[str] | None":
        elsewhere = [each for each in sys.path if not Path(each).is_relative_to(self._source) or "site-packages" in each]
        path = os.pathsep.join([str(self.root), str(self.root / "controllers"), *elsewhere])
        command = [sys.executable, "-m", "pytest", "-q", "-m", SELECTED, "-p", "no:cacheprovider"]
        command += [] if "FAKEKUBE_MUTATION_LINES" in variables else ["-x"]
        command += ["-p", "tests.mutation.contexts", "--timeout", str(TEST_SECONDS), "--hypothesis-seed", "0", *tests]
        environment = {**os.environ, **variables, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            return subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return None


class Lines:
    """Which tests execute which line of which file."""

    def __init__(self, file: Path, root: Path, failed: Collection[str]) -> None:
        self._failed = failed
        data = coverage.CoverageData(str(file))
        data.read()
        self._by_file = {str(Path(name).relative_to(root)): data.contexts_by_lineno(name) for name in data.measured_files()}
        self._all = {test for lines in self._by_file.values() for tests in lines.values() for test in tests}

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that execute what is changed, those with the fewest lines of the file first.

        What is executed at import concerns every test of the file; what nobody is known to execute,
        as in other processes, every test of the area.
        """
        lines = self._by_file.get(str(mutant.file), {})
        touching = {test for line in mutant.lines for test in lines.get(line, ())}
        counts: dict[str, int] = defaultdict(int)
        for tests in lines.values():
            for test in tests:
                counts[test] += 1
        wanted = (counts.keys() - {""} or self._all) if touching <= {""} else touching
        return sorted((test for test in wanted if test and test not in self._failed), key=lambda test: (counts[test], test))

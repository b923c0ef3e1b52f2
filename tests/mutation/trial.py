"""A copy of the checkout in which a module is changed and the tests of its area are run."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import coverage

from tests.mutation.areas import Area
from tests.mutation.mutants import Mutant

KEPT_OUT = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__")
TEST_SECONDS, MUTANT_SECONDS = 60, 600
SELECTED = "not slow and not real and not toolchain"


class Unsound(Exception):
    """The tests of an area fail without any change."""


class Checkout:
    """One copy. Nothing outside of ``folder`` is ever written."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.root = folder / "checkout"
        self._source, self._folder = source, folder
        shutil.copytree(source, self.root, ignore=KEPT_OUT, symlinks=True)
        (self.root / ".git").mkdir()  # whatever looks for a repository stops here

    def measure(self, area: Area) -> "Lines":
        """Run the tests of an area as they are. Which of them execute which line."""
        file = self._folder / f"{area.name}.coverage"
        ended = self._pytest(area.tests, {"FAKEKUBE_MUTATION_LINES": str(file)}, seconds=3 * MUTANT_SECONDS)
        if ended is None or ended.returncode != 0:
            raise Unsound(f"the tests of {area.name} fail without a change\n{ended.stdout[-3000:] if ended else 'too slow'}")
        return Lines(file, self.root)

    def survives(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether no test fails with the change. ``tests`` empty: all of the area."""
        chosen = self._folder / "tests"
        chosen.write_text("\0".join(tests))
        files = tuple(dict.fromkeys(test.partition("::")[0] for test in tests)) or mutant.area.tests
        path = self.root / mutant.file
        before, times = path.read_text(), path.stat()
        path.write_text(mutant.code)
        try:
            ended = self._pytest(files, {"FAKEKUBE_MUTATION_TESTS": str(chosen)} if tests else {}, seconds=MUTANT_SECONDS)
        finally:
            path.write_text(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return ended is not None and ended.returncode == 0

    def _pytest(
        self, tests: tuple[str, ...], variables: dict[str, str], *, seconds: float
    ) -> "subprocess.CompletedProcess[str] | None":
        elsewhere = [each for each in sys.path if not Path(each).is_relative_to(self._source) or "site-packages" in each]
        path = os.pathsep.join([str(self.root), str(self.root / "controllers"), *elsewhere])
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", SELECTED, "-p", "no:cacheprovider"]
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

    def __init__(self, file: Path, root: Path) -> None:
        data = coverage.CoverageData(str(file))
        data.read()
        self._by_file = {str(Path(name).relative_to(root)): data.contexts_by_lineno(name) for name in data.measured_files()}

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that execute what is changed, those with the fewest lines of the file first.

        What is executed at import concerns every test of the file; empty: nobody is known.
        """
        lines = self._by_file.get(str(mutant.file), {})
        touching = {test for line in mutant.lines for test in lines.get(line, ())}
        counts: dict[str, int] = defaultdict(int)
        for tests in lines.values():
            for test in tests:
                counts[test] += 1
        wanted = counts.keys() if touching <= {""} else touching
        return sorted((test for test in wanted if test), key=lambda test: (counts[test], test))

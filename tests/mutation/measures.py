"""Which tests execute which lines, kept from one run to the next.

What a test file executes is measured once and kept by the digest of that file and its data. Of a
module that has changed since, only which tests execute anything of it is still believed. A folder
stands for no more than itself: delete it to begin anew.
"""

import ast
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from threading import RLock
from typing import Any

import coverage

from tests.mutation.contexts import FAILED

BROAD = ("/stories/", "/conversations/", "/refusals/", "/answers/")
"""Folders of tests that look at everything: they come first, as one of them mostly notices."""
FEW = 20
"""Where fewer tests execute a line, they may have been the first of many: what it makes is kept by
a module that they imported, or remembered. So the others of the module are asked as well.
"""
DATA, DATA_FOLDERS = (".txt", ".yaml", ".json"), ("stories", "told")


class Measures:
    """The measures in a folder, for the checkout ``root`` as it is now."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._folder, self._index = folder, folder / "index.json"
        self._lock = RLock()
        folder.mkdir(parents=True, exist_ok=True)
        files = [*root.glob("fakekube/**/*.py"), *root.glob("controllers/**/*.py"), *root.glob("tests/**/test_*.py")]
        self._digests = {str(file.relative_to(root)): _digest(file) for file in files}

    def missing(self, files: Iterable[str]) -> list[str]:
        """Those of the test files that are not known as they are now."""
        known = self._read()["tests"]
        return [file for file in files if known.get(file, [""])[0] != self._digests[file]]

    def complete(self, files: Collection[str], measure: Callable[[Collection[str], Path], None]) -> None:
        """Measure these test files. ``measure`` runs them and writes what it finds to a file."""
        data = f"{hashlib.sha256(repr([(file, self._digests[file]) for file in files]).encode()).hexdigest()[:16]}.coverage"
        measure(files, self._folder / data)
        failed = Path(f"{self._folder / data}{FAILED}").read_text().split("\0")
        with self._lock:
            index = self._read()
            index["runs"][data] = self._digests
            for file in files:
                mine = [test for test in failed if test.startswith(f"{file}::")]
                index["tests"][file] = [self._digests[file], data, mine]
            self._index.write_text(json.dumps(index))

    def failed(self, files: Iterable[str]) -> list[str]:
        """The tests of these files that fail without a change."""
        index = self._read()
        return [test for file in files for test in index["tests"][file][2]]

    def tests(self, module: str, code: str, lines: Collection[int], files: Collection[str]) -> list[str]:
        """The tests of these files that execute one of the lines of a module with this code: the
        broad ones, then those that execute the fewest of its lines.

        What is executed at import concerns every test that executes anything of the module, and so
        does, after those that do, what ``FEW`` execute. What nobody is known to execute, as in
        other processes, concerns every test there is, and so does a module that has nothing to
        execute but at its import.
        """
        index = self._read()
        counts, touching, everybody = Counter[str](), set[str](), set[str]()
        at_import = not _inside_functions(code, lines)
        by_run: dict[str, set[str]] = defaultdict(set)
        for file in files:
            by_run[index["tests"][file][1]].add(file)
        for data, mine in by_run.items():
            all_lines = at_import or index["runs"][data].get(module) != self._digests[module]
            kept = coverage.CoverageData(str(self._folder / data))
            kept.read()
            contexts = {context for context in kept.measured_contexts() if context.partition("::")[0] in mine}
            everybody |= contexts
            for name in kept.measured_files():
                by_line = kept.contexts_by_lineno(name) if name.endswith(f"/checkout/{module}") else {}
                for line, tests in by_line.items():
                    here = contexts.intersection(tests)
                    touching |= here if all_lines or line in lines else set()
                    counts.update(here)
        wanted = (touching or counts.keys() or everybody) - set(self.failed(files))
        ordered = _ordered(wanted, counts)
        if len(ordered) < FEW:
            more = everybody if at_import else counts.keys()
            ordered += _ordered(more - wanted - set(self.failed(files)), counts)
        return ordered

    def _read(self) -> Any:
        with self._lock:
            return json.loads(self._index.read_text()) if self._index.exists() else {"runs": {}, "tests": {}}


def _ordered(tests: Iterable[str], counts: Counter[str]) -> list[str]:
    return sorted(tests, key=lambda test: (not any(name in test for name in BROAD), counts[test], test))


def _digest(file: Path) -> str:
    """Of a module; of one with tests, with the stories and tables that it may play: those in its
    folder and in ``stories`` and ``told`` below.
    """
    folders = [file.parent, *(file.parent / name for name in DATA_FOLDERS)] if file.name.startswith("test_") else []
    data = [each for folder in folders for each in sorted(folder.glob("*.*")) if each.suffix in DATA]
    return hashlib.sha256(b"".join(part.read_bytes() for part in [file, *data])).hexdigest()


def _inside_functions(code: str, lines: Collection[int]) -> bool:
    """Whether all these lines belong to the body of a function."""
    bodies = [
        range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return all(any(line in body for body in bodies) for line in lines)

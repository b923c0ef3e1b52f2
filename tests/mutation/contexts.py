"""A pytest plugin: which tests execute which lines, or, told so, only the tests that are wanted.

``FAKEKUBE_MUTATION_LINES=FILE`` measures; ``FAKEKUBE_MUTATION_TESTS=FILE`` names the wanted tests,
one a line, those first that are told first; one of them that computes longer than
``FAKEKUBE_MUTATION_CPU_SECONDS`` ends the process. It is loaded before what is measured.
"""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

FAILED, CPU_SECONDS = ".failed", "FAKEKUBE_MUTATION_CPU_SECONDS"
LINES, TESTS = os.environ.get("FAKEKUBE_MUTATION_LINES"), os.environ.get("FAKEKUBE_MUTATION_TESTS")


class Measure:
    """Tells coverage which test runs."""

    def __init__(self, file: str) -> None:
        code = ["fakekube", "controllers/fakekube_controllers"]
        self.file, self.failed = file, dict[str, None]()
        self.coverage = coverage.Coverage(data_file=file, source=code, config_file=False)
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """One test, with what it sets up and tears down."""
        self.coverage.switch_context(item.nodeid)
        result = yield
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without a change tells nothing of one."""
        if report.failed:
            self.failed[report.nodeid] = None

    def pytest_unconfigure(self) -> None:
        """Write it, and beside it which tests failed."""
        self.coverage.stop()
        self.coverage.save()
        Path(f"{self.file}{FAILED}").write_text("\0".join(self.failed))


class Chosen:
    """Runs only the wanted tests, each in its time."""

    def __init__(self, file: str) -> None:
        self.order = {name: number for number, name in enumerate(Path(file).read_text().split("\0"))}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """In the order in which they are wanted."""
        items[:] = sorted((item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        """Time that the process computes, whatever else the machine does; no handler: it ends."""
        signal.setitimer(signal.ITIMER_PROF, float(os.environ[CPU_SECONDS]))


MEASURE = Measure(LINES) if LINES else None


def pytest_configure(config: pytest.Config) -> None:
    """Register what is asked for."""
    if MEASURE is not None:
        config.pluginmanager.register(MEASURE)
    if TESTS:
        config.pluginmanager.register(Chosen(TESTS))

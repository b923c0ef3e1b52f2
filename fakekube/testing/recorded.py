"""Records what the tests of one run of pytest ask of their clusters: ``--fakekube-record FILE``."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakekube.recording.recorder import Recorder


class RecordedTests:
    """A plugin of pytest that tells a recorder which test runs. UsageError for a file that cannot
    be written.
    """

    def __init__(self, path: Path, *, secrets: bool) -> None:
        try:
            self.recorder = Recorder.to_file(path, secrets=secrets)
        except OSError as error:
            raise pytest.UsageError(f"--fakekube-record: {error}") from error

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Name the test while it runs, with what is made and ended for it."""
        self.recorder.test = item.nodeid
        yield
        self.recorder.test = ""

    def pytest_sessionfinish(self) -> None:
        """Write what is left."""
        self.recorder.flush()

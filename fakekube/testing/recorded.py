"""Records what the tests of one run of pytest ask of their clusters: ``--fakekube-record FILE``.

The cluster of the fixture is given a recorder; of clusters that a test makes by itself, in another
process too, the environment says where they are recorded.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakekube.composition.front import RECORD_VARIABLE, SECRETS_VARIABLE
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
        wanted = {RECORD_VARIABLE: str(path.absolute()), **({SECRETS_VARIABLE: "true"} if secrets else {})}
        self._before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Name the test while it runs, with what is made and ended for it."""
        self.recorder.test = item.nodeid
        yield
        self.recorder.test = ""

    def pytest_sessionfinish(self) -> None:
        """Write what is left."""
        self.recorder.flush()

    def pytest_unconfigure(self) -> None:
        """Leave the environment as it was."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

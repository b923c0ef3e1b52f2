"""Upstream's own managers of custom workloads, as processes beside a served cluster.

A program starts them: ``tools/reference`` of the folder that FAKEKUBE_RECORDINGS names, by default
``../shared`` beside the repository. Where there is none the tests are skipped.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("FAKEKUBE_RECORDINGS") or ROOT.parent / "shared") / "tools" / "reference"
SECONDS = 400.0  # the first time a manager is built

MARKS = [
    pytest.mark.toolchain, pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.is_file(), reason=f"nothing here starts managers: {PROGRAM} does not exist")]


@contextmanager
def running(name: str, kubeconfig: Path, folder: Path, config: Path | None = None) -> Iterator[Path]:
    """A manager in a process, with a configuration of its own; the file has what it says."""
    log, configured = folder / f"{name}.log", () if config is None else ("--config", str(config))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(PROGRAM), "manager", name, "--kubeconfig", str(kubeconfig), *configured], stdout=output, stderr=output,
            start_new_session=True)
        try:
            yield log
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)

"""Programs of other languages as tests: what the tool chain's own runner says of one test becomes
pytest's verdict.

Their modules come from the network, once; where tool chain or modules are not to be had, the tests
are skipped and say why.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

MARKS = [pytest.mark.toolchain, pytest.mark.timeout(1200)]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skips where a command is missing."""
    missing = [command for command in commands if shutil.which(command) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {' and no '.join(missing)} on this machine")


def tests_in(folder: Path, files: str, pattern: str) -> list[str]:
    """The names of the tests that a folder's files declare, as the first group of ``pattern`` finds
    them.
    """
    found = [name for path in sorted(folder.glob(files)) for name in re.findall(pattern, path.read_text(), re.MULTILINE)]
    assert found, f"no tests in {folder}"
    return found


def prepare(command: Sequence[str], folder: Path, *, fetches: bool) -> None:
    """Run a step of the build.

    A step that ``fetches`` modules and fails skips the test, any other fails it.
    """
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode and fetches:
        pytest.skip(f"modules are not to be had: {' '.join(command[:3])}: {done.stdout[-500:]}")
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"


def run(command: Sequence[str], folder: Path, kubeconfig: Path, *, real: bool, skipped: str, **environment: str) -> str:
    """Run one test of a program against the cluster of ``kubeconfig``; what it prints explains a
    failure.

    ``skipped`` is the text by which its runner tells that it skipped the test, which it may where
    nobody runs pods. Returns what was printed.
    """
    settings = ENVIRONMENT | {"KUBECONFIG": str(kubeconfig)} | ({"WITHOUT_KUBELETS": "yes"} if real else {}) | environment
    done = subprocess.run(
        command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180, check=False)
    if done.returncode == 0 and skipped in done.stdout:
        pytest.skip("it needs nodes with kubelets")
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout

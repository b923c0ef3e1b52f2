"""Node programs against a served cluster, with the official client."""

import re
from pathlib import Path

import pytest

from tests.clients import toolchains

FOLDER = Path(__file__).with_name("node")
TESTS = toolchains.tests_in(FOLDER, "*.test.js", r"^test\('([^']+)'")

pytestmark = [*toolchains.MARKS, toolchains.needs("node", "npm")]


@pytest.fixture(scope="session")
def modules() -> None:
    """The client and what it needs, in place."""
    installed, lock = FOLDER / "node_modules" / ".package-lock.json", FOLDER / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        toolchains.prepare(["npm", "ci", "--no-audit", "--no-fund"], FOLDER, fetches=True)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("test", TESTS)
def test_a_node_program(request: pytest.FixtureRequest, kubeconfig: Path, test: str) -> None:
    """Given a cluster, when a Node program does what it is called, then all that it looks at is as
    it expects.
    """
    command = ["node", "--test-reporter=tap", f"--test-name-pattern=^{re.escape(test)}$", "clients.test.js"]
    real = bool(request.config.getoption("--kubeconfig"))
    printed = toolchains.run(command, FOLDER, kubeconfig, real=real, skipped="# SKIP it needs")
    assert "# pass 1" in printed, printed

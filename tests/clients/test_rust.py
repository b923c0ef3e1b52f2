"""Rust programs against a served cluster: an operator of kube-rs."""

from pathlib import Path

import pytest

from tests.clients import toolchains

FOLDER = Path(__file__).with_name("rust")
TESTS = toolchains.tests_in(FOLDER / "tests", "*.rs", r"^#\[tokio::test.*\]\nasync fn (\w+)\(")

pytestmark = [*toolchains.MARKS, toolchains.needs("cargo", "cc")]


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The command that runs the programs, which are built."""
    toolchains.prepare(["cargo", "fetch", "--quiet"], FOLDER, fetches=True)
    command = ["cargo", "test", "--quiet", "--offline"]
    toolchains.prepare([*command, "--no-run"], FOLDER, fetches=False)
    return command


@pytest.mark.parametrize("test", TESTS)
def test_a_rust_program(request: pytest.FixtureRequest, kubeconfig: Path, program: list[str], test: str) -> None:
    """Given a cluster, when a Rust program does what it is called, then all that it looks at is as
    it expects.
    """
    real = bool(request.config.getoption("--kubeconfig"))
    printed = toolchains.run([*program, "--", "--exact", test], FOLDER, kubeconfig, real=real, skipped="; 1 ignored;")
    assert "test result: ok. 1 passed" in printed, printed

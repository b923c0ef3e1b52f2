"""Java programs against a served cluster, with the official client and with fabric8's."""

from pathlib import Path

import pytest

from tests.clients import toolchains

FOLDER = Path(__file__).with_name("java")
SOURCES = FOLDER / "src" / "test" / "java" / "clients"
TESTS = [
    f"{name}#{test}" for name in ("OfficialTest", "Fabric8Test", "OperatorTest")
    for test in toolchains.tests_in(SOURCES, f"{name}.java", r"^  @Test\n  void (\w+)\(")
]

pytestmark = [*toolchains.MARKS, toolchains.needs("java", "mvn")]


@pytest.fixture(scope="session")
def classpath() -> str:
    """Where the compiled programs and what they need are."""
    toolchains.prepare(["mvn", "-q", "-B", "dependency:resolve-plugins", "dependency:copy-dependencies"], FOLDER, fetches=True)
    toolchains.prepare(["mvn", "-q", "-B", "test-compile"], FOLDER, fetches=False)
    return "target/test-classes:target/dependency/*"


@pytest.mark.parametrize("test", TESTS)
def test_a_java_program(request: pytest.FixtureRequest, kubeconfig: Path, classpath: str, test: str) -> None:
    """Given a cluster, when a Java program does what it is called, then all that it looks at is as
    it expects.
    """
    launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--disable-ansi-colors"]
    command = ["java", "-cp", classpath, *launcher, "--details=tree", f"--select-method=clients.{test}"]
    real = bool(request.config.getoption("--kubeconfig"))
    printed = toolchains.run(command, FOLDER, kubeconfig, real=real, skipped="[         1 tests aborted")
    assert "[         1 tests successful" in printed, printed

"""Go programs against a served cluster: typed clients in protobuf, dynamic and metadata clients,
informers, managers.
"""

from pathlib import Path

import pytest

from tests.clients import toolchains

FOLDER = Path(__file__).with_name("golang")
TESTS = toolchains.tests_in(FOLDER, "*_test.go", r"^func (Test\w+)\(")

pytestmark = [*toolchains.MARKS, toolchains.needs("go")]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, built."""
    binary = tmp_path_factory.mktemp("go") / "clients"
    toolchains.prepare(["go", "mod", "download"], FOLDER, fetches=True)
    toolchains.prepare(["go", "test", "-c", "-o", str(binary), "."], FOLDER, fetches=False)
    return binary


def run(request: pytest.FixtureRequest, program: Path, kubeconfig: Path, test: str, **environment: str) -> None:
    command = [str(program), "-test.v", "-test.timeout=150s", f"-test.run=^{test}$"]
    real = bool(request.config.getoption("--kubeconfig"))
    assert f"--- PASS: {test}" in toolchains.run(
        command, FOLDER, kubeconfig, real=real, skipped=f"--- SKIP: {test}", **environment)


@pytest.mark.spec("API-027")
@pytest.mark.parametrize("test", TESTS)
def test_a_go_program(request: pytest.FixtureRequest, kubeconfig: Path, program: Path, test: str) -> None:
    """Given a cluster, when a Go program does what its comment says, then all that it looks at is
    as it expects.
    """
    run(request, program, kubeconfig, test)


def test_an_informer_of_an_older_client(request: pytest.FixtureRequest, kubeconfig: Path, program: Path) -> None:
    """Given a client that does not know streamed lists, when an informer starts, then it lists and
    watches as ever.
    """
    run(request, program, kubeconfig, "TestSharedInformer", KUBE_FEATURE_WatchListClient="false")


def test_a_client_that_would_take_cbor(request: pytest.FixtureRequest, kubeconfig: Path, program: Path) -> None:
    """Given a dynamic client that takes CBOR, when the server gives none, then it goes on in JSON.
    """
    run(request, program, kubeconfig, "TestDynamicClient", KUBE_FEATURE_ClientsAllowCBOR="true")


@pytest.mark.fake_only(reason="it needs a server of an older release")
@pytest.mark.parametrize("test", ["TestObjectsInProtobuf", "TestDefinitionsInProtobuf", "TestSharedInformer", "TestManager"])
@pytest.mark.parametrize("release", [
    pytest.param(release, marks=pytest.mark.fakekube(kubernetes_version=release)) for release in ("1.30", "1.33")])
def test_a_client_that_is_newer_than_the_server(
    request: pytest.FixtureRequest, kubeconfig: Path, program: Path, release: str, test: str) -> None:
    """Given a server some releases older than the client, when the client sends what the server has
    not and asks for a streamed list, then the one is skipped, and instead of the other the client
    lists and watches.
    """
    run(request, program, kubeconfig, test, WITHOUT_STREAMED_LISTS="yes")

"""Blocking tests whose operator runs in another thread or process and thinks for 0.3 s before it
acts: virtual time waits.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import kopf
import pytest
from kopf.testing import KopfRunner
from kubernetes import client, config

from fakekube.testing.background import BackgroundCluster
from fakekube.util.driver import Stalled
from tests.clients import toolchains
from tests.plugin import operators

OPERATORS = Path(operators.__file__)
CLOCKS = [pytest.param(clock, marks=pytest.mark.fakekube(clock=clock)) for clock in ("auto", "manual")]
DURATIONS = [None, "10m"]
GO = Path(__file__).parents[1] / "clients" / "golang"


@contextmanager
def thread(name: str, kubeconfig: Path) -> Iterator[None]:
    """An operator in a thread of the test's process, which ends by itself."""
    running = operators.in_thread(name, kubeconfig)
    yield
    running.join(10)
    assert not running.is_alive()


@contextmanager
def process(*command: str, kubeconfig: Path) -> Iterator[None]:
    """An operator in a process of its own, which ends by itself."""
    with subprocess.Popen(list(command), env=os.environ | {"KUBECONFIG": str(kubeconfig)}) as running:
        yield
        assert running.wait(10) == 0


@contextmanager
def kopf_in_thread(kubeconfig: Path) -> Iterator[None]:
    """kopf as its own documentation runs it in tests: in a thread."""
    before = os.environ.get("KUBECONFIG")
    os.environ["KUBECONFIG"] = str(kubeconfig)
    try:
        with KopfRunner(["run", "--standalone", "-n", "default", str(OPERATORS)], registry=kopf.OperatorRegistry(), timeout=20):
            yield
    finally:
        os.environ.pop("KUBECONFIG")
        if before is not None:
            os.environ["KUBECONFIG"] = before


STARTS: MappingProxyType[str, Callable[[Path], AbstractContextManager[Any]]] = MappingProxyType({
    "kubernetes": lambda path: thread("kubernetes", path),
    "lightkube": lambda path: thread("lightkube", path),
    "process": lambda path: process(sys.executable, str(OPERATORS), "lightkube", kubeconfig=path),
    "kopf": kopf_in_thread,
})


def connected(server: BackgroundCluster) -> client.CoreV1Api:
    settings = client.Configuration()
    config.load_kube_config(str(server.kubeconfig), client_configuration=settings)
    return client.CoreV1Api(client.ApiClient(settings))


def check(server: BackgroundCluster, start: Callable[[Path], AbstractContextManager[Any]], within: str | None) -> None:
    """The test that all of them pass: start the operator, make an object, wait for its answer; no
    virtual time has passed.
    """
    core, began = connected(server), server.clock.now()
    with start(server.kubeconfig):
        core.create_namespaced_config_map("default", {"metadata": {"name": "mine"}, "data": {"asks": "kopf"}})
        server.run_until(lambda: core.read_namespaced_config_map("mine", "default").data.get("seen") == "yes", within=within)
        assert server.clock.now() == began


@pytest.mark.parametrize("within", DURATIONS)
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("name", STARTS)
def test_an_operator_acts_before_time_moves(
    fakekube_server: BackgroundCluster, name: str, clock: str, within: str | None) -> None:
    """Given an operator that was started a moment ago, with each client, when a test runs until it
    has acted, then it has, and no virtual time has passed.
    """
    assert fakekube_server.clock.mode == clock
    check(fakekube_server, STARTS[name], within)


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The operator in Go, built."""
    built = tmp_path_factory.mktemp("go") / "operator"
    toolchains.prepare(["go", "mod", "download"], GO, fetches=True)
    toolchains.prepare(["go", "build", "-o", str(built), "./operator"], GO, fetches=False)
    return built


@pytest.mark.toolchain
@pytest.mark.timeout(1200)
@toolchains.needs("go")
@pytest.mark.parametrize("within", DURATIONS)
@pytest.mark.parametrize("clock", CLOCKS)
def test_an_operator_in_go_acts_before_time_moves(
    fakekube_server: BackgroundCluster, binary: Path, clock: str, within: str | None) -> None:
    """Given an operator with client-go's informers, when a test runs until it has acted, then it
    has, and no time has passed.
    """
    assert fakekube_server.clock.mode == clock
    check(fakekube_server, lambda path: process(str(binary), kubeconfig=path), within)


@pytest.mark.fakekube(clock="manual")
def test_advance_and_settle_wait_too(fakekube_server: BackgroundCluster) -> None:
    """Given an operator that thinks, when the test lets an hour pass, then it has acted at the
    instant it was told.
    """
    core, began = connected(fakekube_server), fakekube_server.clock.time()
    with thread("kubernetes", fakekube_server.kubeconfig):
        core.create_namespaced_config_map("default", {"metadata": {"name": "mine"}})
        fakekube_server.advance("1h")
    found = core.read_namespaced_config_map("mine", "default")
    assert found.data == {"seen": "yes"}
    entry = fakekube_server.cluster.apiserver.log
    assert [one.time for one in entry if one.verb == "patch" and one.name == "mine"] == [began]


@pytest.mark.fakekube(clock="manual", grace="300ms")
def test_stalled_says_who_is_connected(fakekube_server: BackgroundCluster) -> None:
    """Given an operator that does nothing, when a test waits for it in vain, then it is told who
    watches what from where, and which predicate of the test's own was not true.
    """
    core = connected(fakekube_server)
    with thread("kubernetes", fakekube_server.kubeconfig):
        core.create_namespaced_config_map("default", {"metadata": {"name": "others"}})

        def it_was_answered() -> bool:
            return bool(core.read_namespaced_config_map("others", "default").data)

        with pytest.raises(Stalled) as stalled:
            fakekube_server.run_until(it_was_answered)
        core.create_namespaced_config_map("default", {"metadata": {"name": "mine"}})
    text = str(stalled.value)
    assert f"it_was_answered ({__file__}:{it_was_answered.__code__.co_firstlineno})" in text.splitlines()[0]
    assert "client outside: OpenAPI-Generator/" in text
    assert " at 127.0.0.1 watches /api/v1/namespaces/default/configmaps; was last told of a change " in text


def test_a_test_that_is_alone_waits_for_nobody(
    fakekube_server: BackgroundCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a test with a blocking client and no operator, when it makes an object and waits, then
    no real time is granted.
    """
    core = connected(fakekube_server)

    def never(*_: object) -> None:
        raise AssertionError("real time was granted")

    monkeypatch.setattr("fakekube.util.outside.ClientsOutside.grant", never)
    core.create_namespaced_config_map("default", {"metadata": {"name": "mine"}})
    began = fakekube_server.clock.time()
    fakekube_server.advance("10m")
    fakekube_server.settle()
    fakekube_server.run_until(lambda: bool(core.read_namespaced_config_map("mine", "default").metadata.uid))
    assert fakekube_server.clock.time() == began + 600


def test_companions_are_those_that_are_younger(fakekube_server: BackgroundCluster) -> None:
    """Given a thread and a process that a test started, when it is asked for companions, then they
    are new once, and there as long as they live; those that it is told to leave out are neither.
    """
    from fakekube.testing.companions import PROCESS_SECONDS, THREAD_SECONDS, Companions

    found, end = Companions(), threading.Event()
    assert (found.connect_seconds(), found.are_there()) == (0, False)
    running = threading.Thread(target=end.wait)
    running.start()
    assert (found.connect_seconds(), found.connect_seconds(), found.are_there()) == (THREAD_SECONDS, 0, True)
    end.set()
    running.join()
    assert not found.are_there()
    if Path("/proc/self/task").exists():
        with subprocess.Popen(["sleep", "60"]) as child:
            assert (found.connect_seconds([child.pid]), found.are_there()) == (0, False)
            assert (found.connect_seconds(), found.are_there()) == (PROCESS_SECONDS, True)
            child.kill()
        assert not found.are_there()

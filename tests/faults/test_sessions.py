"""Commands in containers, as a client of the world runs them, while things go wrong."""

import gc
from collections.abc import Iterator
from typing import Any

import kubernetes
import pytest
import websocket
from kubernetes.stream import stream

from fakekube.testing.background import BackgroundCluster

pytestmark = [
    pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackgroundCluster]:
    """A served cluster with a pod that runs."""
    kubeconfig = tmp_path_factory.mktemp("sessions") / "kubeconfig"
    with BackgroundCluster(kubeconfig=kubeconfig, nodes=1) as cluster:
        api = core(cluster)
        api.create_namespaced_pod("default", POD)
        cluster.run_until(lambda: api.read_namespaced_pod("p", "default").status.phase == "Running")
        yield cluster


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """What the client leaves unclosed goes with its test, whose warnings are ignored."""
    yield
    gc.collect()


def core(cluster: BackgroundCluster) -> kubernetes.client.CoreV1Api:
    """A client, which ``stream`` changes for good."""
    return kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(cluster.kubeconfig)))


def run(cluster: BackgroundCluster) -> tuple[str, str]:
    """What ``echo hello`` prints, and what is said of its end."""
    session: Any = stream(
        core(cluster).connect_get_namespaced_pod_exec, "p", "default", command=["echo", "hello"], stdout=True, stderr=True,
        stdin=False, tty=False, _preload_content=False)
    session.run_forever(timeout=20)
    found = session.read_stdout(), session.read_channel(3)
    session.close()
    return found


def test_a_session_on_a_calm_day(served: BackgroundCluster) -> None:
    """Given nothing that goes wrong / when a command runs / then it prints, and ends well."""
    printed, status = run(served)
    assert printed == "hello\n"
    assert '"Success"' in status


def test_a_session_breaks_in_its_middle(served: BackgroundCluster) -> None:
    """Given sessions that are cut in the body / when a command runs / then its client loses the
    connection, and the next one runs.
    """
    lost = pytest.raises(websocket.WebSocketConnectionClosedException, match="Connection to remote host was lost")
    with served.faults.add(resources="pods/exec", cut="body", times=1), lost:
        run(served)
    assert run(served)[0] == "hello\n"


@pytest.mark.parametrize(("rule", "said"), [
    ({"cut": "before"}, "(?i)connection|closed"), ({"cut": "after"}, "(?i)connection|closed"),
    ({"error": "ServiceUnavailable"}, "503"), ({"error": "EtcdTimeout"}, "500")])
def test_a_session_is_refused(served: BackgroundCluster, rule: dict[str, Any], said: str) -> None:
    """Given sessions that are cut or refused before they begin / when a command is to run / then
    its client is told so, and the next one runs.
    """
    with served.faults.add(resources="pods/exec", times=1, **rule), pytest.raises(kubernetes.client.ApiException, match=said):
        run(served)
    assert run(served)[0] == "hello\n"


def test_a_session_takes_its_time(served: BackgroundCluster) -> None:
    """Given sessions that begin late / when a command runs / then it prints later."""
    before = served.clock.time()
    with served.faults.add(resources="pods/exec", latency="30s"):
        assert run(served)[0] == "hello\n"
    assert served.clock.time() >= before + 30

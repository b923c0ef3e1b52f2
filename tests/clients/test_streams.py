"""Commands in containers, their logs and ports, through the clients that people use for it."""

import asyncio
import contextlib
import gc
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import kr8s.asyncio
import kubernetes_asyncio
import lightkube
import pytest
from kr8s.asyncio.objects import Pod
from kubernetes import client
from kubernetes.stream import portforward, stream
from kubernetes.stream.ws_client import ERROR_CHANNEL, WSClient
from kubernetes_asyncio.stream import WsApiClient

pytestmark = [
    pytest.mark.fake_only(reason="it needs nodes whose containers run the commands that it sends"),
    pytest.mark.fakekube(nodes=1, clock=20),
    pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning"),
    # the official client leaves that to the collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
ALL = {"stdin": False, "stdout": True, "stderr": True, "tty": False}
with_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")

Kubectl = Callable[..., str]


@pytest.fixture
def core(api: client.ApiClient, namespace: str, until: Callable[..., Any]) -> Iterator[client.CoreV1Api]:
    """The core API, and in the namespace a pod ``p`` that is running for good."""
    core = client.CoreV1Api(api)
    spec = {"containers": [{"name": "c", "image": "busybox"}]}
    core.create_namespaced_pod(namespace, {"metadata": {"name": "p"}, "spec": spec})
    until(lambda: core.read_namespaced_pod("p", namespace).status.phase == "Running")
    yield core
    gc.collect()  # what the official client leaves unclosed, while its warning is ignored


def execute(core: client.CoreV1Api, namespace: str, *command: str, **options: Any) -> Any:
    call = core.connect_get_namespaced_pod_exec
    return stream(call, "p", namespace, command=list(command), **{**ALL, **options})


@pytest.mark.spec("API-137")
def test_the_official_client_runs_commands(core: client.CoreV1Api, namespace: str) -> None:
    """Given a running pod, when commands are sent, then their output comes back, both streams in
    order, and the exit code.
    """
    assert execute(core, namespace, "echo", "hello") == "hello\n"
    script = "echo this goes to stderr >&2; echo this goes to stdout"
    assert execute(core, namespace, "/bin/sh", "-c", script) == "this goes to stderr\nthis goes to stdout\n"
    for code in (0, 3):
        session = execute(core, namespace, "sh", "-c", f"echo x; exit {code}", _preload_content=False)
        session.run_forever(timeout=10)
        session.close()
        assert (session.read_stdout(), session.returncode) == ("x\n", code)
    session = execute(core, namespace, "sh", "-c", "exit 3", _preload_content=False)
    session.run_forever(timeout=10)
    session.close()
    status = json.loads(session.read_channel(ERROR_CHANNEL))
    assert status["reason"] == "NonZeroExitCode"
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]


@pytest.mark.spec("API-137")
def test_the_official_client_speaks_to_a_shell(core: client.CoreV1Api, namespace: str) -> None:
    """Given a shell in a pod, when lines are written to it, then each is answered on its stream,
    until it is told to exit.
    """
    session: WSClient = execute(core, namespace, "/bin/sh", stdin=True, _preload_content=False)
    session.write_stdin("echo test string 1\n")
    assert session.readline_stdout(timeout=10) == "test string 1"
    session.write_stdin("echo test string 2 >&2\n")
    assert session.readline_stderr(timeout=10) == "test string 2"
    session.write_stdin("exit 4\n")
    session.run_forever(timeout=10)
    session.close()
    assert session.returncode == 4


def test_the_official_client_ends_an_input(core: client.CoreV1Api, namespace: str) -> None:
    """Given cat, when bytes are written and the channel is closed, then they come back and cat has
    ended well.
    """
    session: WSClient = execute(core, namespace, "cat", stdin=True, binary=True, _preload_content=False)
    session.write_stdin(b"\x00\xff" * 40_000)
    session.close_channel(0)
    session.run_forever(timeout=10)
    session.close()
    assert session.read_stdout() == b"\x00\xff" * 40_000
    assert session.returncode == 0


def test_the_official_client_is_told_of_a_wrong_container(core: client.CoreV1Api, namespace: str) -> None:
    """Given a container that the pod does not have, when a command is sent, then the error says so.
    """
    with pytest.raises(client.ApiException) as caught:
        execute(core, namespace, "ls", container="nope")
    assert "container nope is not valid for pod p" in str(caught.value)


def test_the_official_client_is_told_that_no_stream_was_asked_for(
    api: client.ApiClient, core: client.CoreV1Api, namespace: str) -> None:
    """Given no stream at all, when a command is sent, then the answer says so; before 1.36 the API
    server has agreed before it asks the kubelet, and the channel for errors says it.
    """
    text, without = "you must specify at least 1 of stdin, stdout, stderr", {"stdout": False, "stderr": False}
    if int(client.VersionApi(api).get_code().minor) >= 36:
        with pytest.raises(client.ApiException) as caught:
            execute(core, namespace, "ls", **without)
        assert text in str(caught.value)
        return
    session = execute(core, namespace, "ls", _preload_content=False, **without)
    session.run_forever(timeout=10)
    session.close()
    status = json.loads(session.read_channel(ERROR_CHANNEL))
    assert (status["status"], status["reason"], status["code"]) == ("Failure", "InternalError", 500)
    assert text in status["message"]


def test_the_official_client_forwards_ports(core: client.CoreV1Api, namespace: str) -> None:
    """Given a pod, when two ports are forwarded, then what is sent to each comes back from it."""
    forward = portforward(core.connect_get_namespaced_pod_portforward, "p", namespace, ports="80,8080")
    for port in (80, 8080):
        connection = forward.socket(port)
        connection.setblocking(True)
        connection.sendall(b"to %d" % port)
        assert connection.recv(100) == b"to %d" % port
        connection.close()
        assert forward.error(port) is None


async def test_the_asyncio_client_runs_commands(kubeconfig: Path, core: client.CoreV1Api, namespace: str) -> None:
    """Given a running pod, when commands are sent with and without waiting for all of it, then
    output and exit code come.
    """
    settings = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(str(kubeconfig), client_configuration=settings)
    async with WsApiClient(settings) as connected:
        call = kubernetes_asyncio.client.CoreV1Api(connected).connect_get_namespaced_pod_exec
        assert await call("p", namespace, command=["sh", "-c", "echo hi; echo there >&2"], **ALL) == "hi\nthere\n"
        async with await call("p", namespace, command=["sh", "-c", "exit 9"], _preload_content=False, **ALL) as session:
            messages = [message.data async for message in session]
    assert WsApiClient.parse_error_data(messages[-1][1:]) == 9


async def test_kr8s_runs_commands_and_forwards_ports(kubeconfig: Path, core: client.CoreV1Api, namespace: str) -> None:
    """Given a running pod, when kr8s runs a command and forwards a port, then both answer."""
    api = await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    pod = await Pod.get("p", namespace=namespace, api=api)
    done = await pod.exec(["sh", "-c", "echo hi; exit 2"], check=False)
    assert (done.stdout, done.returncode) == (b"hi\n", 2)
    async with pod.portforward(80, local_port=0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"ping")
        assert await asyncio.wait_for(reader.read(100), 10) == b"ping"
        writer.close()
        await _settled(lambda: reader.read())
    await api._session.aclose()


async def _settled(look: Callable[[], Awaitable[bytes]]) -> None:
    """Wait for the other side's end, however it comes."""
    with contextlib.suppress(ConnectionError, TimeoutError):
        await asyncio.wait_for(look(), 10)


def test_lightkube_runs_commands(kubeconfig: Path, core: client.CoreV1Api, namespace: str) -> None:
    """Given a running pod, when lightkube runs a command, then it has the output and the exit code.
    """
    connected = lightkube.Client(config=lightkube.KubeConfig.from_file(kubeconfig), namespace=namespace)
    done = connected.exec("p", command=["echo", "hi"], stdout=True)
    assert (done.stdout, done.exit_code) == ("hi\n", 0)


# kubectl


@pytest.fixture
def inside(kubectl: Kubectl, core: client.CoreV1Api, namespace: str) -> Kubectl:
    """kubectl in the namespace with the pod."""
    return lambda *arguments, **options: kubectl("-n", namespace, *arguments, **options)


@with_kubectl
@pytest.mark.kubectl
@pytest.mark.spec("API-137", "API-172")
def test_kubectl_runs_commands(inside: Kubectl) -> None:
    """Given a running pod, when kubectl runs commands in it, then their output, input and exit code
    are its own.
    """
    assert inside("exec", "p", "--", "echo", "hello") == "hello\n"
    assert inside("exec", "-i", "p", "--", "cat", stdin="typed\n") == "typed\n"
    assert "command terminated with exit code 3" in inside("exec", "p", "--", "sh", "-c", "echo x; exit 3", code=3)
    assert "container nope" in inside("exec", "p", "-c", "nope", "--", "ls", code=1)


@with_kubectl
@pytest.mark.kubectl
def test_kubectl_copies_files(inside: Kubectl, tmp_path: Path) -> None:
    """Given files, when kubectl copies them to a pod and back, then they are the same, and commands
    in the pod see them.
    """
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a").write_bytes(os.urandom(300_000))
    (tmp_path / "in" / "sub" / "b").write_text("two\n")
    inside("cp", str(tmp_path / "in"), "p:/data")
    assert inside("exec", "p", "--", "cat", "/data/sub/b") == "two\n"
    inside("cp", "p:/data", str(tmp_path / "out"))
    assert (tmp_path / "out" / "a").read_bytes() == (tmp_path / "in" / "a").read_bytes()
    assert (tmp_path / "out" / "sub" / "b").read_text() == "two\n"


@with_kubectl
@pytest.mark.kubectl
def test_kubectl_runs_a_pod_to_talk_to(inside: Kubectl) -> None:
    """Given nothing, when kubectl runs a pod with an input and removes it, then what is typed is
    answered, and the exit code is the container's; a pod that has nothing to wait for shows its
    log.
    """
    typed = "echo from inside; exit 5\n"
    said = inside("run", "one", "-i", "--rm", "--image=busybox", "--restart=Never", "--", "sh", stdin=typed, code=5)
    assert "from inside\n" in said
    said = inside("run", "two", "-i", "--rm", "--image=busybox", "--restart=Never", "--", "echo", "quick")
    assert "quick\n" in said
    assert inside("get", "pods", "-o", "name") == "pod/p\n"


@with_kubectl
@pytest.mark.kubectl
def test_kubectl_follows_a_log(inside: Kubectl) -> None:
    """Given a pod that speaks now and then, when kubectl follows its log, then it has all of it
    when the pod has ended.
    """
    inside("run", "speaker", "--image=busybox", "--restart=Never", "--", "sh", "-c", "echo one; sleep 20; echo two; sleep 5")
    inside("wait", "--for=condition=Ready", "pod/speaker", "--timeout=30s")
    assert inside("logs", "-f", "speaker") == "one\ntwo\n"


@pytest.mark.kubectl
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name} on this machine"))
    for name in ("kubectl.1.27", "kubectl.1.30", "kubectl.1.31")])
def test_older_kubectls_run_commands(core: client.CoreV1Api, kubeconfig: Path, namespace: str, name: str) -> None:
    """Given kubectl from before and after it took to WebSocket, when it runs a command with an
    input, then both come back with the exit code.
    """
    script = "cat; echo x >&2; exit 3"
    command = [name, "--kubeconfig", str(kubeconfig), "-n", namespace, "exec", "-i", "p", "--", "sh", "-c", script]
    done = subprocess.run(command, input="typed\n", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (3, "typed\n"), done.stderr
    assert done.stderr.startswith("x\n")


@pytest.fixture
def forwarded(kubeconfig: Path, core: client.CoreV1Api, namespace: str) -> Iterator[int]:
    """The local port of a ``kubectl port-forward`` to port 80 of the pod."""
    command = ["kubectl", "--kubeconfig", str(kubeconfig), "-n", namespace, "port-forward", "pod/p", ":80", "--address=127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert "Forwarding from" in line, running.communicate(timeout=10)
        yield int(line.split("127.0.0.1:")[1].split()[0])
        running.terminate()


@with_kubectl
@pytest.mark.kubectl
def test_kubectl_forwards_a_port(forwarded: int) -> None:
    """Given kubectl forwarding a port, when clients connect one after the other, then each gets
    back what it sends, and the end when it ends.
    """
    for number in range(2):
        with socket.create_connection(("127.0.0.1", forwarded), timeout=10) as connection:
            connection.sendall(b"ping %d" % number)
            assert connection.recv(100) == b"ping %d" % number
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100) == b""

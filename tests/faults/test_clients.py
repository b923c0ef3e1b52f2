"""Clients of the world, each of which sees of a fault what it would see of a real cluster, with and
without TLS.
"""

import asyncio
import http.client
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import kr8s
import kr8s.asyncio
import kr8s.asyncio.objects
import kubernetes
import kubernetes_asyncio
import lightkube
import pytest
import urllib3
from lightkube.resources.core_v1 import ConfigMap

from fakekube.testing.background import BackgroundCluster
from fakekube.testing.operators import thread_operator

pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning")


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BackgroundCluster]:
    """A cluster in which nothing happens by itself, served, with a ConfigMap."""
    with BackgroundCluster(kubeconfig=tmp_path / "kubeconfig", nodes=0, controllers="", tls=request.param) as cluster:
        core(cluster).create_namespaced_config_map("default", {"metadata": {"name": "a"}})
        yield cluster


def core(cluster: BackgroundCluster) -> kubernetes.client.CoreV1Api:
    """The synchronous client."""
    return kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(cluster.kubeconfig)))


def kubectl(cluster: BackgroundCluster, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What kubectl says."""
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("there is no kubectl")
    return subprocess.run(
        [program, "--kubeconfig", str(cluster.kubeconfig), *arguments], capture_output=True, text=True, timeout=60,
        check=False, **options)


def test_the_synchronous_client_comes_back_when_it_is_told_to(served: BackgroundCluster) -> None:
    """Given a server that takes no requests for a moment / when a client reads / then it tries
    again after Retry-After, and has its answer.
    """
    with served.faults.add(error="TooManyRequests", verbs="get", retry_after_seconds=0, times=2) as fault:
        assert core(served).read_namespaced_config_map("a", "default").metadata.name == "a"
        assert fault.met == 2


@pytest.mark.parametrize("cut", ["before", "after"])
def test_the_synchronous_client_and_a_lost_answer(served: BackgroundCluster, cut: str) -> None:
    """Given a connection that breaks before or after the commit / when a client creates an object /
    then it has no answer, and the object is there in the second case.
    """
    api = core(served)
    with served.faults.add(cut=cut, verbs="create"), pytest.raises(urllib3.exceptions.ProtocolError) as caught:
        api.create_namespaced_config_map("default", {"metadata": {"name": "b"}})
    assert isinstance(caught.value.args[1], http.client.RemoteDisconnected)
    assert [item.metadata.name for item in api.list_namespaced_config_map("default").items if item.metadata.name == "b"] == (
        ["b"] if cut == "after" else [])


@pytest.mark.parametrize(("ends", "error"), [
    ("cut", urllib3.exceptions.ProtocolError), ("expire", kubernetes.client.ApiException)])
def test_the_synchronous_client_and_a_watch(served: BackgroundCluster, ends: str, error: type[Exception]) -> None:
    """Given a watch that breaks, or expires again and again / when it is read / then the client is
    told.
    """
    watch = kubernetes.watch.Watch()
    with served.faults.add(watch=ends), pytest.raises(error) as caught:
        list(watch.stream(core(served).list_namespaced_config_map, "default"))
    if isinstance(caught.value, kubernetes.client.ApiException):
        assert caught.value.status == 410


async def test_the_asynchronous_client(served: BackgroundCluster) -> None:
    """Given ambiguous errors, cut bodies and watches that end / when kubernetes_asyncio meets them
    / then it raises what it raises of a real cluster, and its watch goes on.
    """
    configuration = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(str(served.kubeconfig), client_configuration=configuration)
    async with kubernetes_asyncio.client.ApiClient(configuration) as client:
        api = kubernetes_asyncio.client.CoreV1Api(client)
        loop = asyncio.get_running_loop()

        def add(**values: Any) -> Any:
            return loop.run_in_executor(None, lambda: served.faults.add(**values))

        await add(name="unsure", error="EtcdLeaderChanged", moment="after", verbs="create", times=1)
        with pytest.raises(kubernetes_asyncio.client.ApiException) as caught:
            await api.create_namespaced_config_map("default", {"metadata": {"name": "b"}})
        assert caught.value.status == 500
        assert "etcdserver: leader changed" in caught.value.body
        await add(name="body", cut="body", verbs="get", times=1)
        with pytest.raises(Exception, match=r"(?i)payload is not completed|connection"):
            await api.read_namespaced_config_map("b", "default")
        await add(name="ends", watch="end", events=1, times=1)
        names = []
        async with kubernetes_asyncio.watch.Watch() as watch:
            async for event in watch.stream(api.list_namespaced_config_map, "default"):
                names.append(event["object"].metadata.name)
                if len(names) == 2:
                    # A response that is broken off says goodbye over TLS, for which nobody waits:
                    # the connection would outlive the loop of this test.
                    watch.resp.connection.transport.abort()
                    break
        assert names == ["a", "b"]


async def test_kr8s(served: BackgroundCluster) -> None:
    """Given an overloaded server and one that is about to stop / when kr8s reads and writes / then
    it is told so, with the status.
    """
    api = await kr8s.asyncio.api(kubeconfig=str(served.kubeconfig), namespace="default")
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, lambda: served.faults.add(error="ServiceUnavailable", verbs="patch", times=1))
    found = await kr8s.asyncio.objects.ConfigMap.get("a", namespace="default", api=api)
    with pytest.raises(kr8s.ServerError, match="503"):
        await found.patch({"data": {"x": "1"}})
    await found.patch({"data": {"x": "1"}})
    await loop.run_in_executor(None, lambda: served.faults.add(cut="before", verbs="patch", times=1))
    with pytest.raises(httpx.RemoteProtocolError, match="disconnected"):
        await found.patch({"data": {"x": "2"}})
    await api._session.aclose()


def test_lightkube(served: BackgroundCluster) -> None:
    """Given a conflict, and a watch that expires / when lightkube meets them / then both are errors
    with their status.
    """
    client = lightkube.Client(lightkube.KubeConfig.from_file(str(served.kubeconfig)), namespace="default")
    found = client.get(ConfigMap, "a").metadata
    version = found.resourceVersion if found is not None else None
    with served.faults.add(error="Conflict", verbs="patch", times=1), pytest.raises(lightkube.ApiError) as caught:
        client.patch(ConfigMap, "a", {"metadata": {"resourceVersion": version}, "data": {"x": "1"}})
    assert caught.value.status.code == 409
    with served.faults.add(watch="expire", events=1, times=1), pytest.raises(lightkube.ApiError) as expired:
        list(client.watch(ConfigMap))
    assert expired.value.status.code == 410
    client._client._client.close()


@pytest.mark.parametrize(("rule", "code", "said"), [
    ({"error": "TooManyRequests", "retry_after_seconds": 0, "times": 2}, 0, "configmap/a"),
    ({"error": "EtcdTimeout"}, 1, "Error from server: etcdserver: request timed out"),
    ({"error": "ServerTimeout", "times": 1, "retry_after_seconds": 1}, 0, "configmap/a"),
    ({"cut": "body"}, 1, "unexpected EOF"),
])
def test_kubectl(served: BackgroundCluster, rule: dict[str, Any], code: int, said: str) -> None:
    """Given faults of a read / when kubectl meets them / then it tries again where it is told to,
    and else says what Go says.
    """
    with served.faults.add(verbs="get", resources="configmaps", **rule):
        done = kubectl(served, "get", "configmap", "a", "-o", "name")
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done


def test_kubectl_waits_for_what_a_watch_tells_late(served: BackgroundCluster) -> None:
    """Given a watch that breaks as it begins / when kubectl waits for a change by it / then it
    comes again, and hears of it.
    """
    with served.faults.add(watch="cut", resources="configmaps", times=1) as fault:
        waiting: list[Any] = []
        thread = threading.Thread(target=lambda: waiting.append(kubectl(
            served, "wait", "configmap/a", "--for=jsonpath={.data.x}=1", "--timeout=30s")))
        thread.start()
        served.run_until(lambda: fault.met > 0)
        core(served).patch_namespaced_config_map("a", "default", {"data": {"x": "1"}})
        thread.join()
    assert waiting[0].returncode == 0, waiting[0]


def test_who_loses_a_watch_has_real_time_to_come_again(tmp_path: Path) -> None:
    """Given an operator that thinks for 0.1 s when its watch has expired / when time advances far
    beyond that / then what it does next is done at that time, and not at the end.
    """
    begun = threading.Event()

    def operate(kubeconfig: Path, stop: threading.Event) -> None:
        api = kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(kubeconfig)))
        for _ in api.list_namespaced_config_map("default", watch=True, _preload_content=False).stream():
            begun.set()
        time.sleep(0.1)  # it thinks
        api.create_namespaced_config_map("default", {"metadata": {"name": "b"}})
        stop.wait()

    with BackgroundCluster(
            kubeconfig=tmp_path / "kubeconfig", nodes=0, controllers="", extra=[thread_operator("o", operate)]) as cluster:
        cluster.faults.add(watch="expire", events=1, lasting=20, times=1)
        core(cluster).create_namespaced_config_map("default", {"metadata": {"name": "a"}})
        assert begun.wait(10)
        cluster.advance("2m")
        first, second = (
            core(cluster).read_namespaced_config_map(name, "default").metadata.creation_timestamp for name in "ab")
    assert (second - first).total_seconds() == 20


OPERATOR = """
import kopf

@kopf.on.login()
def login(**kwargs):
    return kopf.login_with_kubeconfig(**kwargs)

@kopf.on.startup()
def configure(settings, **_):
    settings.networking.error_backoffs = [0.05, 0.05, 0.05]
    settings.watching.reconnect_backoff = 0.05

@kopf.on.create("configmaps", labels={"operator": "kopf"})
def greet(patch, name, **_):
    patch.metadata.annotations["greeting"] = f"hello {name}"
"""


def test_kopf(tmp_path: Path) -> None:
    """Given an operator whose watches break and expire and whose patches fail now and then / when
    objects come / then each is greeted, and every fault was met.
    """
    (tmp_path / "greeter.py").write_text(OPERATOR)
    plan = [
        {"watch": "cut", "events": 2, "resources": "configmaps", "times": 1},
        {"watch": "expire", "events": 1, "resources": "configmaps", "times": 1},
        {"error": "EtcdTimeout", "verbs": "patch", "resources": "configmaps", "times": 1},
        {"cut": "after", "verbs": "patch", "resources": "configmaps", "nth": 2}]
    options: dict[str, Any] = {"nodes": 0, "controllers": "", "clock": "real", "faults": plan}
    with BackgroundCluster(kubeconfig=tmp_path / "kubeconfig", **options) as served, (tmp_path / "log").open("w") as log:
        api = core(served)
        operator = subprocess.Popen(
            [sys.executable, "-m", "kopf", "run", "--standalone", "-n", "default", "greeter.py"], cwd=tmp_path,
            env=os.environ | {"KUBECONFIG": str(served.kubeconfig)}, stdout=log, stderr=log)
        try:
            for name in "xyz":
                api.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": {"operator": "kopf"}}})

            def greeted() -> bool:
                items = api.list_namespaced_config_map("default", label_selector="operator=kopf").items
                return all("greeting" in (item.metadata.annotations or {}) for item in items)

            served.run_until(greeted, within="40s")
        finally:
            operator.send_signal(signal.SIGTERM)
            operator.wait(30)

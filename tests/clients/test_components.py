"""Upstream's own kube-controller-manager and kube-scheduler beside a server whose controllers are
off, all but the kubelet. Skipped where they are not named; see ``components.py``.
"""

from collections.abc import Iterator

import pytest

from tests.clients.components import COMPONENTS, MARKS, World, components

LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}

pytestmark = MARKS


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server with two nodes, the two components beside it."""
    with components(tmp_path_factory.mktemp("components")) as world:
        yield world


def test_they_lead(world: World) -> None:
    """Given both components, when they start, then each holds its Lease."""
    for name in COMPONENTS:
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{name}"
        world.until(lambda path=path: bool((world.send("GET", path) or {}).get("spec", {}).get("holderIdentity")))


def test_a_deployment_behind_a_service(world: World) -> None:
    """Given a Deployment and a Service, when the components run, then it is available, and a slice
    has its pods.
    """
    world.create("/apis/apps/v1/namespaces/default/deployments", "web", spec={
        "replicas": 3, "selector": {"matchLabels": LABELS}, "template": TEMPLATE})
    world.create("/api/v1/namespaces/default/services", "web", spec={"selector": LABELS, "ports": [{"port": 80}]})
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    world.until(lambda: world.status(path).get("availableReplicas") == 3)

    def addresses() -> int:
        slices = world.send(
            "GET", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb")
        return sum(len(each.get("endpoints") or ()) for each in slices["items"])

    world.until(lambda: addresses() == 3)
    pods = world.send("GET", "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb")["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
    world.send("DELETE", path, {"propagationPolicy": "Foreground"})
    world.until(lambda: world.send("GET", path) is None and addresses() == 0)


def test_a_job_a_daemon_set_and_a_stateful_set(world: World) -> None:
    """Given workloads of other kinds, when their controllers run, then the Job completes, and the
    others are ready.
    """
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "1"]}]}
    world.create("/apis/batch/v1/namespaces/default/jobs", "j", spec={
        "completions": 3, "parallelism": 2, "template": {"spec": pod}})
    sets = {"selector": {"matchLabels": {"app": "set"}}, "template": {**TEMPLATE, "metadata": {"labels": {"app": "set"}}}}
    world.create("/apis/apps/v1/namespaces/default/daemonsets", "d", spec=sets)
    labels = {"app": "state"}
    world.create("/apis/apps/v1/namespaces/default/statefulsets", "s", spec={
        "replicas": 2, "serviceName": "s", "selector": {"matchLabels": labels},
        "template": {**TEMPLATE, "metadata": {"labels": labels}}})
    world.until(lambda: world.status("/apis/batch/v1/namespaces/default/jobs/j").get("succeeded") == 3)
    world.until(lambda: world.status("/apis/apps/v1/namespaces/default/daemonsets/d").get("numberReady") == 2)
    world.until(lambda: world.status("/apis/apps/v1/namespaces/default/statefulsets/s").get("readyReplicas") == 2)
    [condition] = [each for each in world.status("/apis/batch/v1/namespaces/default/jobs/j")["conditions"]
                   if each["type"] == "Complete"]
    assert condition["status"] == "True"


def test_a_namespace_with_a_quota_comes_and_goes(world: World) -> None:
    """Given a namespace with a quota, when it is deleted, then the quota had been counted, and all
    of it goes.
    """
    world.create("/api/v1/namespaces", "team")
    world.until(lambda: world.send("GET", "/api/v1/namespaces/team/serviceaccounts/default") is not None)
    world.create("/api/v1/namespaces/team/configmaps", "c")
    world.create("/api/v1/namespaces/team/resourcequotas", "q", spec={"hard": {"count/configmaps": "9"}})
    path = "/api/v1/namespaces/team/resourcequotas/q"
    world.until(lambda: world.status(path).get("used", {}).get("count/configmaps", "0") != "0")
    world.send("DELETE", "/api/v1/namespaces/team")
    world.until(lambda: world.send("GET", "/api/v1/namespaces/team") is None)


def test_they_miss_nothing(world: World) -> None:
    """Given what the components have logged, when it is searched, then nothing was fatal or
    missing, and nobody crashed.
    """
    complaints = [line for line in world.errors() if line.startswith("F") or "not found" in line or "panic" in line]
    assert complaints == []

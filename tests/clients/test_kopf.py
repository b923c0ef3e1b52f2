"""An operator written with kopf, running in a process of its own against a served cluster."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

OPERATOR = Path(__file__).with_name("kopf_operator.py")
LABELS = {"operator": "kopf"}


@pytest.fixture
def operator(kubeconfig: Path, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """The running operator, and the file that it logs to. It must end well."""
    log = tmp_path / "operator.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kopf", "run", "--standalone", "-n", namespace, str(OPERATOR)],
            env=os.environ | {"KUBECONFIG": str(kubeconfig)}, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield log
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(30)
    assert code == 0, log.read_text()


def settings(name: str) -> client.V1ConfigMap:
    """A ConfigMap that the operator looks after."""
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=LABELS), data={"mode": "a"})


@pytest.mark.spec("API-102", "API-112", "API-142", "API-173")
def test_an_operator_looks_after_config_maps(
    api: client.ApiClient, namespace: str, operator: Path, until: Callable[..., Any]) -> None:
    """Given a running operator with handlers for creation, update and deletion, when a ConfigMap is
    created, changed and deleted, then each handler leaves its mark, the finalizer holds the object
    until the last has succeeded, and its event is there; what has not its label it leaves alone.
    """
    core = client.CoreV1Api(api)
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "other"}})
    core.create_namespaced_config_map(namespace, settings("mine"))

    def annotation(key: str) -> str | None:
        annotations: dict[str, str] = core.read_namespaced_config_map("mine", namespace).metadata.annotations or {}
        return annotations.get(key)

    assert until(lambda: annotation("greeting")) == "hello mine"
    assert core.read_namespaced_config_map("mine", namespace).metadata.finalizers == ["kopf.zalando.org/KopfFinalizerMarker"]
    until(lambda: annotation("kopf.zalando.org/last-handled-configuration"))
    core.patch_namespaced_config_map("mine", namespace, {"data": {"mode": "b"}})
    assert until(lambda: annotation("change")) == "from a to b"
    core.delete_namespaced_config_map("mine", namespace)
    until(lambda: [item.metadata.name for item in core.list_namespaced_config_map(
        namespace, label_selector="operator=kopf").items] == [])
    other = core.read_namespaced_config_map("other", namespace)
    assert (other.metadata.annotations, other.metadata.finalizers) == (None, None)
    posted = until(lambda: core.list_namespaced_event(namespace, field_selector="involvedObject.name=mine").items)
    assert [(event.reason, event.message) for event in posted] == [("Greeted", "mine was greeted")]


@pytest.mark.spec("API-076", "API-173")
def test_an_operator_sees_what_was_there_before_it(
    api: client.ApiClient, namespace: str, request: pytest.FixtureRequest, until: Callable[..., Any]) -> None:
    """Given a Job and a ConfigMap that are older than the operator, when it starts, then it looks
    after both.
    """
    core, batch = client.CoreV1Api(api), client.BatchV1Api(api)
    core.create_namespaced_config_map(namespace, settings("older"))
    batch.create_namespaced_job(namespace, {"metadata": {"name": "older", "labels": LABELS}, "spec": {
        "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    request.getfixturevalue("operator")
    until(lambda: "greeting" in (core.read_namespaced_config_map("older", namespace).metadata.annotations or {}))
    until(lambda: (batch.read_namespaced_job("older", namespace).metadata.annotations or {}).get("limit") == "6")
    core.delete_namespaced_config_map("older", namespace)
    until(lambda: core.list_namespaced_config_map(namespace, label_selector="operator=kopf").items == [])

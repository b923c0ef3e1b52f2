"""Operators outside that make a Secret for each ConfigMap with the label ``shop``, with which
``test_crashing_operators.py`` plays: in kopf, in a thread, and as a command.
"""

import sys
import threading
from pathlib import Path
from typing import Any

import kopf
from kubernetes import client, config, watch

from fakekube.testing.operators import command_operator, kopf_operator, operator_kubeconfig, thread_operator

COMMAND = (sys.executable, str(Path(__file__).with_name("crashing_command.py")))
SELECTOR = {"shop": "web"}
CONFLICT = 409

handlers = kopf.OperatorRegistry()


def connected(kubeconfig: Path) -> client.CoreV1Api:
    """The official client, with settings of its own."""
    settings = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=settings)
    return client.CoreV1Api(client.ApiClient(settings))


def make_secret(core: client.CoreV1Api, name: str) -> None:
    """Make the Secret, unless it is there."""
    try:
        core.create_namespaced_secret("default", {"metadata": {"name": name}})
    except client.ApiException as error:
        if error.status != CONFLICT:
            raise


@kopf.on.login(registry=handlers)
def never_asked(**_: Any) -> None:
    raise AssertionError("this could lead to another cluster")


@kopf.on.create("configmaps", labels=SELECTOR, registry=handlers)
def created(name: str, **_: Any) -> None:
    make_secret(connected(operator_kubeconfig()), name)


def run(kubeconfig: Path, stop: threading.Event) -> None:
    """Watch until the event is set, or a connection breaks."""
    core = connected(kubeconfig)
    while not stop.is_set():
        for event in watch.Watch().stream(core.list_namespaced_config_map, "default", label_selector="shop=web"):
            if event["type"] == "ADDED":
                make_secret(core, event["object"].metadata.name)


OPERATORS = {
    "kopf": kopf_operator(
        "shop", handlers, namespaces=["default"], settings=kopf.OperatorSettings(), memo=kopf.Memo(lock=threading.Lock())),
    "thread": thread_operator("shop", run),
    "command": command_operator("shop", COMMAND),
}
SHOP = OPERATORS["thread"]

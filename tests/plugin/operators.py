"""Operators that think for 0.3 s of real time before they act, each with another client;
``test_operators.py`` runs them.

    python operators.py NAME

runs one as a process, with the cluster of $KUBECONFIG. Each answers every ConfigMap ``mine`` by
``data.seen: yes``.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import kopf

THINKS_SECONDS = 0.3
SEEN = {"data": {"seen": "yes"}}


@kopf.on.login()
def login(**kwargs: Any) -> Any:
    return kopf.login_with_kubeconfig(**kwargs)


@kopf.on.create("configmaps", field="data.asks", value="kopf")
def answer(patch: kopf.Patch, **_: Any) -> None:
    time.sleep(THINKS_SECONDS)
    patch.setdefault("data", {})["seen"] = "yes"


def kubernetes_client(kubeconfig: Path) -> None:
    """An operator with the official client."""
    from kubernetes import client, config, watch

    settings = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=settings)
    core = client.CoreV1Api(client.ApiClient(settings))
    for event in watch.Watch().stream(core.list_namespaced_config_map, "default"):
        if event["object"].metadata.name == "mine":
            time.sleep(THINKS_SECONDS)
            core.patch_namespaced_config_map("mine", "default", SEEN)
            return


def lightkube_client(kubeconfig: Path) -> None:
    """An operator with lightkube."""
    import lightkube
    from lightkube.resources.core_v1 import ConfigMap
    from lightkube.types import PatchType

    client = lightkube.Client(lightkube.KubeConfig.from_file(kubeconfig), namespace="default")
    for _, found in client.watch(ConfigMap):
        if found.metadata is not None and found.metadata.name == "mine":
            time.sleep(THINKS_SECONDS)
            client.patch(ConfigMap, "mine", SEEN, patch_type=PatchType.MERGE)
            client._client._client.close()
            return


CLIENTS = {"kubernetes": kubernetes_client, "lightkube": lightkube_client}


def in_thread(name: str, kubeconfig: Path) -> threading.Thread:
    """One of them in a thread, which has started."""
    thread = threading.Thread(target=CLIENTS[name], args=(kubeconfig,), name=f"operator with {name}", daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    CLIENTS[sys.argv[1]](Path(os.environ["KUBECONFIG"]))

"""Plain clients over HTTP, each in a thread: the official one, kubernetes_asyncio and lightkube.
"""

import asyncio
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import aiohttp
import httpx2
import kubernetes
import kubernetes_asyncio
import lightkube
from lightkube.resources.core_v1 import ConfigMap
from urllib3.exceptions import HTTPError

from fakekube.testing.operators import thread_operator
from tests.exploration.operators import POD, is_web

PAUSE_SECONDS = 0.02
"""Of real time, before somebody tries again who met an error."""

LASTING = 3600
CONFLICT, NOT_FOUND, GONE = 409, 404, 410


def connected(kubeconfig: Path) -> kubernetes.client.CoreV1Api:
    settings = kubernetes.client.Configuration()
    kubernetes.config.load_kube_config(str(kubeconfig), client_configuration=settings)
    return kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(settings))


def but(status, call, *arguments):
    """What it returns; None where it is answered with this status."""
    try:
        return call(*arguments)
    except kubernetes.client.ApiException as error:
        if error.status != status:
            raise
        return None


class CleansByName:
    """Makes a Secret for a map, which has its finalizer; deletes it when the map is to go. It lists
    what a replica has (``resourceVersion=0``), as client-go does, and watches from there.

    Starts again at a replica on which the map that was before is still to go: it deletes the Secret
    of the one that is there now (Sieve: stale states, as in operators of RabbitMQ and Cassandra,
    where a cluster is made again under its name).
    """

    FINALIZER = "tests/secret"

    def __call__(self, kubeconfig: Path, stop: threading.Event) -> None:
        core = self.core = connected(kubeconfig)
        while not stop.is_set():
            try:
                listed = core.list_namespaced_config_map("default", resource_version="0")
                for found in listed.items:
                    self.came(found)
                for event in kubernetes.watch.Watch().stream(
                        core.list_namespaced_config_map, "default", resource_version=listed.metadata.resource_version,
                        timeout_seconds=LASTING):
                    if event["type"] != "DELETED":
                        self.came(event["object"])
            except (kubernetes.client.ApiException, HTTPError):
                stop.wait(PAUSE_SECONDS)

    def came(self, found) -> None:
        metadata = found.metadata
        if not is_web(metadata.name):
            return
        if metadata.deletion_timestamp is None:
            self.have(found, [self.FINALIZER])
            made = {"metadata": {"name": metadata.name, "labels": {"of": metadata.uid}}}
            but(CONFLICT, self.core.create_namespaced_secret, "default", made)
        elif metadata.finalizers:
            secret = but(NOT_FOUND, self.core.read_namespaced_secret, metadata.name, "default")
            if secret is not None and self.is_of(secret, found):
                but(NOT_FOUND, self.core.delete_namespaced_secret, metadata.name, "default")
            self.have(found, [])

    def is_of(self, secret, found) -> bool:
        return True

    def have(self, found, finalizers) -> None:
        """Let this very map have these finalizers."""
        uid = found.metadata.uid
        while found is not None and found.metadata.uid == uid and (found.metadata.finalizers or []) != finalizers:
            if found.metadata.deletion_timestamp is not None and finalizers:
                return
            found.metadata.finalizers = finalizers
            if but(CONFLICT, self.core.replace_namespaced_config_map, found.metadata.name, "default", found) is not None:
                return
            found = but(NOT_FOUND, self.core.read_namespaced_config_map, found.metadata.name, "default")


class CleansByUid(CleansByName):
    """Looks whose Secret it is."""

    def is_of(self, secret, found) -> bool:
        return secret.metadata.labels["of"] == found.metadata.uid


async def _bill(kubeconfig: Path, stop: threading.Event, field: str) -> None:
    settings = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(str(kubeconfig), client_configuration=settings)
    async with kubernetes_asyncio.client.ApiClient(settings) as api:
        core = kubernetes_asyncio.client.CoreV1Api(api)
        while not stop.is_set():
            try:
                async with kubernetes_asyncio.watch.Watch() as events:
                    async for event in events.stream(core.list_namespaced_config_map, "default", timeout_seconds=LASTING):
                        name = event["object"].metadata.name
                        if event["type"] == "ADDED" and is_web(name):
                            await core.create_namespaced_pod("default", {"metadata": {field: f"{name}-bill"}, "spec": POD})
            except kubernetes_asyncio.client.ApiException as error:
                if error.status not in (CONFLICT, GONE):
                    await asyncio.sleep(PAUSE_SECONDS)
            except (aiohttp.ClientError, TimeoutError):
                await asyncio.sleep(PAUSE_SECONDS)


def bills(kubeconfig: Path, stop: threading.Event, *, field: str) -> None:
    """Makes a pod for each map that is added; where a watch ends it begins another.

    Each watch begins with all that is there: it bills again (Sieve: what is told twice).
    """
    asyncio.run(_bill(kubeconfig, stop, field))


def counts(kubeconfig: Path, stop: threading.Event, *, writes: int) -> None:
    """Counts a map once, in itself: adds one, then notes that it did; both in one write if told so.

    A write that was committed and answered with an error counts twice.
    """
    client = lightkube.Client(lightkube.KubeConfig.from_file(kubeconfig), namespace="default")
    with closing(client._client._client):
        while not stop.is_set():
            try:
                for _, found in client.watch(ConfigMap):
                    if is_web(found.metadata.name):
                        count(client, found.metadata.name, writes)
            except (httpx2.HTTPError, lightkube.ApiError):
                stop.wait(PAUSE_SECONDS)


def count(client: lightkube.Client, name: str, writes: int) -> None:
    found = client.get(ConfigMap, name)
    data = found.data or {}
    if "counted" in data:
        return
    found.data = counted = {**data, "count": str(int(data.get("count", "0")) + 1)}
    if writes == 2:
        found = client.replace(found)
    found.data = {**counted, "counted": "true"}
    client.replace(found)


by_name, by_uid = thread_operator("by-name", CleansByName()), thread_operator("by-uid", CleansByUid())
bills_again, bills_once = thread_operator("bills-again", partial(bills, field="generateName")), thread_operator(
    "bills-once", partial(bills, field="name"))
counts_twice, counts_once = thread_operator("counts-twice", partial(counts, writes=2)), thread_operator(
    "counts-once", partial(counts, writes=1))

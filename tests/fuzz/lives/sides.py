"""The two servers that a life is played on: a real one in real time, and ours in virtual time."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

import orjson

from fakekube import Cluster
from fakekube.apimachinery.http import Request
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.client.users import admin
from tests.fuzz.lives.seeing import KINDS, Sight, Tree, plain

STEP_SECONDS = 60.0  # a real server that is not quiet after so long is taken as it is


class Side:
    """One server, as one life sees it."""

    def __init__(self, client: Client, namespace: str, *, hashes: bool) -> None:
        self._client, self.namespace, self.hashes = client, namespace, hashes
        self.answers: list[Any] = []  # what was answered since the last look
        self.step, self.marks = 0, dict[str, list[int]]()  # of each pod the steps in which something happened to it

    async def below(
        self, method: str, kind: str, name: str = "", body: Any = None, media: str = "application/merge-patch+json",
    ) -> Any:
        """Send a request about a collection (one of ``KINDS``) or an object in it
        (``name/subresource``), note the answer, and return its body.
        """
        group, _, plural = kind.rpartition("/")
        path = f"/{group}/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")
        return await self._ask(method, path, body, media if method == "PATCH" else "application/json")

    async def _ask(self, method: str, path: str, body: Any, media: str) -> Any:
        answer = await self._client.transport.request(Request(
            method, path, {}, {"content-type": media, "accept": "application/json", "user-agent": "lives/1"},
            b"" if body is None else json.dumps(body).encode(), user=admin()))
        told = orjson.loads(answer.body or b"{}")
        warnings = sorted(text for name, text in answer.headers if name.lower() == "warning")
        text = told.get("message", "") if answer.status >= 300 else ""
        self.answers.append([answer.status, plain(text, hashes=self.hashes), *warnings])
        return told

    async def settle(self, seconds: float) -> float:
        """Wait until the server has done what it does, or for ``seconds``; how long that was."""
        raise NotImplementedError

    async def sight(self) -> Sight:
        """What is there now."""
        objects = await self.objects()
        for pod in objects.get("api/v1/pods", ()):
            self.marks.setdefault(pod["metadata"]["uid"], [self.step])
        return Sight(objects, self.marks, hashes=self.hashes)

    def mark(self, tree: Tree) -> None:
        """Note that something is done to a pod in this step."""
        self.marks.setdefault(tree["metadata"]["uid"], []).append(self.step)

    async def objects(self) -> dict[str, list[Tree]]:
        """The objects by collection."""
        raise NotImplementedError


async def served(client: Client) -> list[str]:
    """Those of ``KINDS`` that a server has."""
    kinds = []
    for kind in KINDS:
        asked = Request("GET", f"/{kind}", {"limit": ["1"]}, {"accept": "application/json"}, b"", user=admin())
        answer = await client.transport.request(asked)
        if answer.status == 200:
            kinds.append(kind)
    return kinds


class Watched:
    """Every object of the kinds of a real server, by watches that all lives share."""

    def __init__(self, client: Client, kinds: list[str]) -> None:
        self.client, self.kinds = client, kinds
        self.objects: dict[str, dict[str, dict[str, Tree]]] = {kind: {} for kind in kinds}
        self.changed: dict[str, float] = {}  # of each namespace: when something in it changed last

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for kind in self.kinds:
                tasks.create_task(self._watch(kind))

    async def _watch(self, kind: str) -> None:
        _, *group, version, plural = kind.split("/")
        resource = Resource(group[0] if group else "", version, plural, "")
        while True:
            async with await self.client.watch(resource, send_initial_events=False) as events:
                async for event in events:
                    self._note(kind, event)

    def _note(self, kind: str, event: Any) -> None:
        change, tree = (event["type"], event["object"]) if isinstance(event, Mapping) else (event.type, event.object)
        if change not in ("ADDED", "MODIFIED", "DELETED"):
            return
        metadata = tree["metadata"]
        namespace = metadata.get("namespace", "")
        there = self.objects[kind].setdefault(namespace, {})
        if change == "DELETED":
            there.pop(metadata["uid"], None)
        else:
            there[metadata["uid"]] = tree
        self.changed[namespace] = asyncio.get_running_loop().time()


class Real(Side):
    """A life on the real server."""

    def __init__(self, watched: Watched, namespace: str, quiet: float, *, hashes: bool) -> None:
        super().__init__(watched.client, namespace, hashes=hashes)
        self._watched, self._quiet = watched, quiet

    async def begin(self) -> None:
        """Make the namespace, and wait for the account that its pods need."""
        await self._ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}}, "application/json")
        while "metadata" not in await self.below("GET", "api/v1/serviceaccounts", "default"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        self.answers.clear()

    async def end(self) -> None:
        """Let the namespace go, with the pods that no kubelet ends."""
        await self._ask("DELETE", f"/api/v1/namespaces/{self.namespace}", None, "application/json")
        await self.below("DELETE", "api/v1/pods", body={"gracePeriodSeconds": 0})

    async def settle(self, seconds: float) -> float:
        """Wait until nothing has changed for a while, and for ``seconds`` at least."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() < began + STEP_SECONDS:
            last = max(began, self._watched.changed.get(self.namespace, 0.0))
            if loop.time() >= max(last + self._quiet, began + seconds):
                break
            await asyncio.sleep(0.1)
        return loop.time() - began

    async def objects(self) -> dict[str, list[Tree]]:
        """What the watches have."""
        return {kind: list(there.get(self.namespace, {}).values()) for kind, there in self._watched.objects.items()}


class Ours(Side):
    """A life on a cluster of ours."""

    def __init__(self, cluster: Cluster, kinds: list[str], namespace: str, *, hashes: bool) -> None:
        super().__init__(cluster.client, namespace, hashes=hashes)
        self._cluster, self._kinds = cluster, kinds

    async def begin(self) -> None:
        """Make the namespace."""
        await self._ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}}, "application/json")
        await self._cluster.advance(1)
        self.answers.clear()

    async def settle(self, seconds: float) -> float:
        """Let so many virtual seconds pass."""
        await self._cluster.advance(seconds)
        return seconds

    async def objects(self) -> dict[str, list[Tree]]:
        """What lists show."""
        noted = list(self.answers)
        objects = {}
        for kind in self._kinds:
            listed = await self.below("GET", kind)
            objects[kind] = listed.get("items") or []
        self.answers[:] = noted
        return objects


@contextlib.asynccontextmanager
async def watching(client: Client) -> Any:
    """The watches of a real server, while they run."""
    watched = Watched(client, await served(client))
    task = asyncio.create_task(watched.run())
    await asyncio.sleep(1)
    try:
        yield watched
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, BaseExceptionGroup):
            await task


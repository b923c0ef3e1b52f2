"""A server to throw things at: whatever comes, what it answers must keep some promises."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.http import Frame, Request, Response
from fakekube.apiserver.nodeproxy import NoNodes
from fakekube.composition.controlplane import build_apiserver
from fakekube.composition.identity import Identity
from fakekube.composition.options import ClusterOptions
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng

NAMESPACE = "/api/v1/namespaces/default"
MAPS, PODS = f"{NAMESPACE}/configmaps", f"{NAMESPACE}/pods"
MAP, POD = f"{MAPS}/kept", f"{PODS}/kept"
JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

DRY_RUN = {"dryRun": "All"}
PANIC = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: '

SERVER_ERRORS = re.compile(
    r"unknown patch type: .* in map: map\[|The order in patch list:\n|map: .* does not contain declared merge key: \w+$|"
    r"expected a \S+.*, but received a \S+|list element types are not identical: \[\[|value for key \d+ is not a map$|"
    r"unable to find api field in struct \w+ for the json field |no elements in any of the given slices$|"
    r"cannot merge lists without merge key for (?:string|map)$|merging lists cannot yet be specified in the patch$|"
    r"merging an object in json but data type is not struct, instead is: map$|"
    r"failed to create typed patch object \([^;]*; .*, Kind=\w*\): |"
    r"failed to convert new object \([^;]*; .*, Kind=\w+\) to proper version: unable to convert unstructured object to |"
    r'(?:resourceVersion: Invalid value: ".*": )?strconv\.ParseUint: parsing ".*": (?:invalid syntax|value out of range)$|'
    r"Timeout: Too large resource version: \d+, current: \d+$|"
    r'no endpoints available for service ".*"$|unsupported role reference kind: ".*"$', re.DOTALL)
"""The only messages with 500 and above, all of them upstream's: of a strategic merge patch that
cannot be merged, of a configuration that does not fit its schema or its kind, of a version that is
no number or lies ahead, of a service that nobody stands behind, of a binding to what is no role.
"""

Query = Mapping[str, str | list[str]]


class Hurried(ManualClock):
    """A clock by which nobody waits: a sleep moves it."""

    async def sleep(self, seconds: float) -> None:
        self._time += seconds


class Ear:
    """Takes the frames of a stream."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def send(self, frame: Frame) -> None:
        self.frames.append(frame.data)

    def end(self) -> None:
        pass


class Target:
    """A server with a ConfigMap and a Pod called ``kept``, on a loop of its own."""

    def __init__(self, **options: Any) -> None:
        self.loop = asyncio.new_event_loop()
        chosen = ClusterOptions.of(**options)
        self.identity = Identity(chosen)
        self._who = {"authorization": f"Bearer {self.identity.token}"} if options else {}
        plane = build_apiserver(
            chosen, ManualClock(), Rng(0), identity=self.identity, nodes=NoNodes(), service_accounts=lambda: False)
        self.server = plane.apiserver
        self.storage = plane.apiserver.storage
        pod = {"metadata": {"name": "kept"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        # what a resource has from the beginning comes to be when it is first asked for
        for kind in self.server.resources.kinds:
            if "list" in kind.verbs:
                self.read(f"/{'apis/' + kind.group if kind.group else 'api'}/{kind.version}/{kind.plural}")
        assert self.send("POST", MAPS, orjson.dumps({"metadata": {"name": "kept"}, "data": {"k": "v"}})).status == 201
        assert self.send("POST", PODS, orjson.dumps(pod)).status == 201

    def read(self, path: str) -> Any:
        """The tree that a GET gives."""
        request = Request("GET", path, {}, self._who, b"")
        return orjson.loads(self.loop.run_until_complete(self.server.handle(request)).body)

    def post(self, path: str, tree: Any, query: Query | None = None) -> Response:
        """Create something, as the administrator."""
        return self.send("POST", path, orjson.dumps(tree), query=query)

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        media: str = JSON,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """One request.

        Its answer is no panic, can be written, and, if it is a refusal, nothing has happened.
        """
        asked = {name: [value] if isinstance(value, str) else value for name, value in (query or {}).items()}
        request = Request(method, path, asked, {"content-type": media, **self._who, **(headers or {})}, body, patience=Hurried())
        before = self.storage.revision
        response = self.loop.run_until_complete(asyncio.wait_for(self.server.handle(request), 60))
        if response.stream is not None:
            ear = Ear()
            response.stream.start(ear)
            response.stream.stop()
            assert all(orjson.loads(frame) for frame in ear.frames if frame[:1] == b"{")
        for name, value in response.headers:
            assert f"{name}: {value}".encode().isascii() or name in ("Warning", "Audit-Id")
        assert b"Traceback" not in response.body
        if response.status >= 400:
            assert self.storage.revision == before
            assert not response.body.startswith(PANIC), response.body
        if response.status >= 500:
            message = self.told(response)[1]
            assert SERVER_ERRORS.match(message), f"{response.status} that is not upstream's: {message[:300]}"
        if response.content_type == JSON and response.body:
            orjson.loads(response.body)
        return response

    def told(self, response: Response) -> tuple[int, str]:
        """Status code and message."""
        tree: Any = orjson.loads(response.body)
        return response.status, str(tree.get("message", ""))


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    found = Target()
    yield found
    found.loop.close()

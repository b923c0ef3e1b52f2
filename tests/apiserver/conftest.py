"""An API server without a socket, and a short way to ask it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from fakekube.apimachinery.http import Frame, Request, Response, UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.apiserver.apiserver import APIServer
from fakekube.composition.controlplane import build_apiserver
from fakekube.composition.identity import Identity
from fakekube.composition.nodeagents import NodeAgents
from fakekube.composition.options import ClusterOptions
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng

TABLE = {"accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}


@dataclass
class Answer:
    """One answer, its body decoded where it is JSON."""

    response: Response
    tree: Any = field(init=False)

    def __post_init__(self) -> None:
        is_json = self.response.content_type.startswith("application/json") and self.response.body
        self.tree = orjson.loads(self.response.body) if is_json else None

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def message(self) -> str:
        return str(self.tree["message"])

    @property
    def warnings(self) -> list[str]:
        return self.headers("Warning")

    def headers(self, name: str) -> list[str]:
        return [value for key, value in self.response.headers if key == name]


class Receiver:
    """Takes the frames of a stream."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.ended = False

    def send(self, frame: Frame) -> None:
        self.events.append(frame.tree)

    def end(self) -> None:
        self.ended = True


class Api:
    """A server with a namespace ``t``."""

    def __init__(self, server: APIServer, clock: ManualClock) -> None:
        self.server, self.clock = server, clock

    async def __call__(
        self, method: str, url: str, body: Tree | list[Any] | bytes | None = None, headers: Mapping[str, str] | None = None, *,
        user: UserInfo | None = None,
    ) -> Answer:
        parts = urlsplit(url)
        data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        query = parse_qs(parts.query, keep_blank_values=True)
        request = Request(method, parts.path, query, dict(headers or {}), data, user)
        return Answer(await self.server.handle(request))

    async def watch(self, url: str, headers: Mapping[str, str] | None = None) -> Receiver:
        answer = await self("GET", url, headers=headers)
        assert answer.status == 200
        assert answer.response.stream
        receiver = Receiver()
        answer.response.stream.start(receiver)
        return receiver

    async def patch(self, url: str, body: Any, media: str = "application/merge-patch+json") -> Answer:
        return await self("PATCH", url, body, {"content-type": media})


class Talkative:
    """A kubelet whose containers have all said the same."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.server = self.logs = self

    def lines(self, namespace: str, name: str, container: str, *, previous: bool) -> list[tuple[float, str]] | None:
        return None if previous else [(1.0, "one"), (2.0, "two"), (3.0, "three")]


@pytest.fixture
async def api() -> Api:
    clock = ManualClock()
    identity = Identity(ClusterOptions.of())
    identity.tokens["secret"] = UserInfo("robin", ("system:masters",))
    plane = build_apiserver(
        ClusterOptions.of(), clock, Rng(0), identity=identity, nodes=NodeAgents(lambda: Talkative(clock)),
        service_accounts=lambda: False)
    result = Api(plane.apiserver, clock)
    answer = await result("POST", "/api/v1/namespaces", {"metadata": {"name": "t"}})
    assert answer.status == 201, answer.tree
    return result

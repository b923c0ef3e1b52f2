"""An API server alone, and what changes its state and time."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
import pytest

from fakekube.apimachinery.http import Request
from fakekube.composition.controlplane import build_apiserver
from fakekube.composition.identity import Identity
from fakekube.composition.nodeagents import NodeAgents
from fakekube.composition.options import ClusterOptions
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCOUNTS = "/api/v1/namespaces/t/serviceaccounts"


class Answer(NamedTuple):
    status: int
    tree: Any

    @property
    def message(self) -> str:
        return str(self.tree["message"])


class Server:
    """``send`` as the administrator, unless headers or a certificate say otherwise."""

    def __init__(self, **options: Any) -> None:
        self.clock, values = ManualClock(), ClusterOptions.of(**options)
        self.identity = Identity(values)
        self.plane = build_apiserver(
            values, self.clock, Rng(0), identity=self.identity, nodes=NodeAgents(lambda: None), service_accounts=lambda: False)

    async def send(
        self, method: str, path: str, tree: Any = None, headers: Mapping[str, str] | None = None, **values: Any,
    ) -> Answer:
        body = b"" if tree is None else orjson.dumps(tree)
        response = await self.plane.apiserver.handle(Request(method, path, headers=headers or {}, body=body, **values))
        return Answer(response.status, orjson.loads(response.body) if response.body else None)

    async def who(self, token: str = "", **values: Any) -> Any:
        """What a review of oneself says, or the code of a refusal."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        answer = await self.send(
            "POST", SELF, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}, headers, **values)
        return answer.tree["status"]["userInfo"] if answer.status == 201 else answer.status

    async def review(self, token: str, *audiences: str) -> Any:
        """The status of a TokenReview."""
        spec: dict[str, Any] = {"token": token} | ({"audiences": list(audiences)} if audiences else {})
        return (await self.send("POST", REVIEWS, {"spec": spec})).tree["status"]

    async def account(self, name: str = "bot") -> Any:
        """A service account of the namespace ``t``."""
        await self.send("POST", "/api/v1/namespaces", {"metadata": {"name": "t"}})
        return (await self.send("POST", ACCOUNTS, {"metadata": {"name": name}})).tree["metadata"]

    async def token(self, name: str = "bot", **spec: Any) -> str:
        """A token of an account."""
        answer = await self.send("POST", f"{ACCOUNTS}/{name}/token", {"spec": spec})
        assert answer.status == 201, answer.tree
        return str(answer.tree["status"]["token"])


@pytest.fixture
async def server() -> Server:
    made = Server()
    await made.account()
    return made

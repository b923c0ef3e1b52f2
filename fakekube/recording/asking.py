"""Requests to the cluster that is played on, and waiting for what it does."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.apimachinery.types import Json
from fakekube.client.transport import Transport
from fakekube.util.clock import Clock

PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)
JSON = {"content-type": "application/json", "accept": "application/json", "user-agent": "fakekube"}


class Target:
    """A cluster behind a transport, and the clock by which it is waited for."""

    def __init__(self, transport: Transport, clock: Clock) -> None:
        self._transport, self._clock = transport, clock

    async def ask(
        self, method: str, path: str, *, query: Any = None, body: bytes = b"", headers: Any = JSON, user: UserInfo | None = None,
    ) -> Response:
        """One request, as another user if one is named. Raises TransportError."""
        return await self._transport.request(Request(method, path, query or {}, headers, body, user))

    async def until(self, is_over: Callable[[], Awaitable[bool]], seconds: float) -> tuple[bool, float]:
        """Ask again and again, for so long; whether it became true, and how long it was waited."""
        began, turn = self._clock.time(), 0
        while not await is_over():
            pause = PAUSES_SECONDS[min(turn, len(PAUSES_SECONDS) - 1)]
            if self._clock.time() + pause > began + seconds:
                return False, self._clock.time() - began
            await self._clock.sleep(pause)
            turn += 1
        return True, self._clock.time() - began


def tree_of(response: Response) -> Json:
    """The body of an answer: a tree, or a text; None where there is none."""
    if not response.body:
        return None
    try:
        tree: Json = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        return response.body.decode(errors="replace")
    return tree


def message_of(response: Response) -> str:
    """What a Status says."""
    tree = tree_of(response)
    return str(tree.get("message", "")) if isinstance(tree, dict) else ""

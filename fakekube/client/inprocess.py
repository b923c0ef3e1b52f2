"""A transport that calls a Handler in the same process.

There is no socket and no copy, and the event loop gets no turn where nothing is waited for.
"""

from collections.abc import Coroutine
from typing import Any

from fakekube.apimachinery.http import Handler, Request, Response


class InProcess:
    """Passes requests to ``handler`` as they are."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def request(self, request: Request) -> Coroutine[Any, Any, Response]:
        """The handler's answer, to be awaited."""
        return self.handler.handle(request)

    async def close(self) -> None:
        """Nothing to close."""

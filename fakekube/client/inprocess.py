"""A transport that calls a Handler: no socket, no copy, and no turn of the event loop when nothing is waited for."""

from collections.abc import Coroutine
from typing import Any

from fakekube.apimachinery.http import Handler, Request, Response


class InProcess:
    """Carries requests to ``handler`` as they are: same bytes in, same bytes out."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def request(self, request: Request) -> Coroutine[Any, Any, Response]:
        """The handler's answer, to be awaited."""
        return self.handler.handle(request)

    async def close(self) -> None:
        """Nothing to give up."""

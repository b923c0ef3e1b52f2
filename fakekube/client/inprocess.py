"""A transport that calls a Handler: no socket, no copy, and no turn of the event loop when nothing is waited for."""

from fakekube.apimachinery.http import Handler, Request, Response


class InProcess:
    """Carries requests to ``handler`` as they are: same bytes in, same bytes out."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    async def request(self, request: Request) -> Response:
        """The handler's answer."""
        return await self.handler.handle(request)

    async def close(self) -> None:
        """Nothing to give up."""

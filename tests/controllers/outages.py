"""A server that does not answer to some requests."""

from dataclasses import replace
from typing import Any

from fakekube.apimachinery.http import Response


class Outage:
    """While it holds, whoever asks for something by such a method at a path that ends so is refused
    like somebody who asks for what no server has, or with another code.
    """

    def __init__(self, cluster: Any, method: str, *paths: str, code: int = 404) -> None:
        self._method, self._paths, self._code, self._server = method, paths, code, cluster.apiserver
        self._handle, self._server.handle = self._server.handle, self.handle

    async def handle(self, request: Any) -> Any:
        """Answer, in the place of the server."""
        if request.method == self._method and request.path.endswith(self._paths):
            if self._code != 404:
                return Response(self._code, b"out of order", "text/plain")
            request = replace(request, path="/nowhere")
        return await self._handle(request)

    def ends(self) -> None:
        """The server answers to all again."""
        self._server.handle = self._handle

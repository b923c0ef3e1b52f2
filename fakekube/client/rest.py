"""Requests as one user with one user agent: a method, a path, a query and a body.

Upstream: client-go/rest.RESTClient.

It knows no resources; ``client.py`` has a method for each verb. Left out: rate limits and retries.
"""

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.client.transport import Transport, TransportError

Query = dict[str, list[str]]

JSON = "application/json"


class RESTClient:
    """Sends requests over a transport. Every method raises TransportError when there is no answer.

    ``user`` is for transports without a connection to log in on; over HTTP the transport's
    credentials say who asks.
    """

    def __init__(self, transport: Transport, *, user_agent: str, user: UserInfo | None) -> None:
        self.transport, self.user_agent, self.user = transport, user_agent, user
        self._headers = {"user-agent": user_agent, "accept": JSON}
        self._json_headers = self._headers | {"content-type": JSON}

    async def request(
        self, method: str, path: str, *, query: Query | None = None, body: bytes = b"", content_type: str = JSON,
        accept: str = "",
    ) -> Response:
        """Any request at all. Raises APIError for an answer of 400 and above."""
        return _accepted(await self.transport.request(self._made(method, path, query, body, content_type, accept)))

    async def send(
        self, method: str, path: str, query: Query | None = None, body: Json = None, content_type: str = JSON,
    ) -> Response:
        """A request with a tree for its body, or none.

        The answer is not parsed. Raises APIError as ``request`` does.
        """
        encoded = b"" if body is None else orjson.dumps(body)
        return _accepted(
            await self.transport.request(self._made(method, path, query, encoded, content_type, canonical=True)))

    async def tree(
        self, method: str, path: str, query: Query | None = None, body: Json = None, content_type: str = JSON, *,
        shared: bool = False,
    ) -> Tree:
        """What the server answers to such a request, parsed. With ``shared`` others may have the
        tree, too, and nobody changes it: a server of this process then has nothing to parse.

        Raises APIError as ``request`` does.
        """
        encoded = b"" if body is None else orjson.dumps(body)
        response = await self.transport.request(self._made(method, path, query, encoded, content_type, canonical=True))
        answer = _accepted(response)
        return answer.tree() if shared and answer.tree is not None else _parsed(answer, method, path)

    async def find(self, path: str, query: Query | None = None) -> Tree | None:
        """What the server answers to a GET;

        None for a 404. Raises APIError for any other answer of 400 and above.
        """
        response = await self.transport.request(self._made("GET", path, query, b"", JSON, canonical=True))
        if response.status == 404 and response.cut is None:
            return None
        return _parsed(_accepted(response), "GET", path)

    def _made(
        self, method: str, path: str, query: Query | None, body: bytes, content_type: str, accept: str = "", *,
        canonical: bool = False,
    ) -> Request:
        headers = self._headers
        if body:
            headers = self._json_headers if content_type == JSON else {**headers, "content-type": content_type}
        if accept:
            headers = {**headers, "accept": accept}
        return Request(method, path, query or {}, headers, body, self.user, canonical=canonical)


def _accepted(response: Response) -> Response:
    """The answer. Raises APIError for one of 400 and above, TransportError for one that broke off.
    """
    if response.cut is not None:
        raise TransportError("unexpected EOF" if response.cut else "EOF")
    if response.status >= 400:
        raise error_of(response)
    return response


def _parsed(response: Response, method: str, path: str) -> Tree:
    """The tree of an answer. Raises TransportError for one that is no JSON."""
    try:
        result: Tree = orjson.loads(response.body)
    except orjson.JSONDecodeError as error:
        raise TransportError(f"{method} {path}: the answer is no JSON: {error}") from error
    return result


def error_of(response: Response) -> APIError:
    """The error that an answer of 400 or above stands for, a Status or not."""
    try:
        status = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return APIError.from_status(status, response.status)
    return APIError(response.status, "", response.body.decode(errors="replace").strip())

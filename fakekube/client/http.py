"""A transport over HTTP, to any server: a served cluster of ours, or a real one.

Upstream: client-go/rest.

aiohttp is imported with the first request: it is slow to import, and a client in the server's own
process does not need it. Left out: protobuf, retries, throttling.
"""

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.client.transport import TransportError
from fakekube.util.activity import Activity
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    import aiohttp

PATH_SAFE = "/:@!$&'()*+,;=~"
CONNECT_TIMEOUT_SECONDS = 30.0
REQUEST_TIMEOUT_SECONDS = 120.0


class HTTP:
    """Sends requests to ``url`` (``https://127.0.0.1:6443``), on one event loop.

    Close it after use. ``headers`` go with every request (an Authorization, say). With
    ``impersonate`` a request's user is sent in impersonation headers; without, it is ignored, and
    credentials decide. ``activity`` is held while a request is in flight, so that virtual time
    waits for it.
    """

    def __init__(
        self, url: str, *, tls: ssl.SSLContext | bool = True, headers: Mapping[str, str] | None = None,
        impersonate: bool = False, activity: Activity | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self._tls, self._headers, self._impersonate = tls, dict(headers or {}), impersonate
        self._activity = activity or Activity()
        self._tasks = Tasks()
        self._session: aiohttp.ClientSession | None = None

    async def request(self, request: Request) -> Response:
        """The server's answer. A watch, or a log that is followed, comes as a stream."""
        import aiohttp
        from yarl import URL

        session = self._open()
        query = [(name, value) for name, values in request.query.items() for value in values]
        encoded = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query)
        url = f"{self.url}{quote(request.path, safe=PATH_SAFE)}{'?' if encoded else ''}{encoded}"
        streaming = request.flag("watch") or request.flag("follow")
        timeout = aiohttp.ClientTimeout(
            total=None if streaming else REQUEST_TIMEOUT_SECONDS, sock_connect=CONNECT_TIMEOUT_SECONDS,
        )
        self._activity.hold()
        try:
            answer = await session.request(
                request.method, URL(url, encoded=True), headers=self._all_headers(request), data=request.body or None,
                ssl=self._tls, timeout=timeout, allow_redirects=False,
            )
            headers = list(answer.headers.items())
            content_type = answer.headers.get("Content-Type", "")
            if streaming and answer.status < 400:
                stream = _HTTPStream(answer, self._tasks)
                return Response(answer.status, b"", content_type, headers, stream)
            async with answer:
                return Response(answer.status, await answer.read(), content_type, headers)
        # ValueError: no URL
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            what = f"{request.method} {self.url}{request.path}"
            raise TransportError(f"{what}: {error or type(error).__name__}") from error
        finally:
            self._activity.release()

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), headers=self._headers, auto_decompress=True,
            )
        return self._session

    def _all_headers(self, request: Request) -> list[tuple[str, str]]:
        headers = list(request.headers.items())
        if self._impersonate and request.user is not None:
            headers.append(("Impersonate-User", request.user.name))
            headers += [("Impersonate-Group", group) for group in request.user.groups]
        return headers

    async def close(self) -> None:
        """Close connections and streams."""
        await self._tasks.close()
        if self._session is not None:
            await self._session.close()
            self._session = None


class _HTTPStream:
    """The lines of a response that is still coming."""

    def __init__(self, answer: "aiohttp.ClientResponse", tasks: Tasks) -> None:
        self._answer, self._tasks = answer, tasks
        self._stopped = False

    def start(self, sink: Sink) -> None:
        self._tasks.spawn(self._read(sink), f"stream {self._answer.url.path}")

    def stop(self) -> None:
        self._stopped = True
        self._answer.close()

    async def _read(self, sink: Sink) -> None:
        import aiohttp

        rest = b""
        try:
            async for data in self._answer.content.iter_any():
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    if line and not self._stopped:
                        sink.send(Frame(line))
        except (aiohttp.ClientError, TimeoutError, OSError):
            pass  # a stream that breaks ends: whoever reads it resumes or not
        finally:
            self._answer.close()
        if not self._stopped:
            sink.end()

"""The servers behind APIServices: Handlers of this process, and others over HTTP(S): the Servers of
``fakekube.aggregator``.
"""

import ssl
from base64 import b64encode
from collections.abc import Callable
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fakekube.aggregator.servers import HANDLERS, Call
from fakekube.apimachinery.http import Frame, Handler, Response, Sink
from fakekube.apimachinery.types import Tree
from fakekube.composition.httppool import HTTPPool, Reused, body_of
from fakekube.util.tasks import Tasks
from fakekube.webhooks.services import Endpoint, ServiceResolver
from fakekube.webhooks.transport import NoAnswer

if TYPE_CHECKING:
    import aiohttp

    from fakekube.util.certificates import Signed

URLS = "urls.fakekube.invalid"
"""The namespace of the services that stand for URLs: it leads nowhere else."""
MAX_BODY_BYTES, MAX_LINE_BYTES = 64 << 20, 16 << 20
"""A server that answers more, or more in one line of a stream, is cut off."""
NO_AUTOMATIC_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
GROUP_PRIORITY, VERSION_PRIORITY = 1000, 15


class Registered:
    """The servers that a test or an add-on has named, by the names of their APIServices."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        self.urls: dict[str, str] = {}

    def add(
        self, name: str, server: Handler | str, *, ca_bundle: bytes, group_priority: int, version_priority: int,
    ) -> Tree:
        """Let a server answer for ``v1.example.com``; the APIService that stands for it.

        ValueError when there is one of that name.
        """
        if name in self.handlers or name in self.urls:
            raise ValueError(f"there is a server for {name!r} already")
        version, _, group = name.partition(".")
        spec: Tree = {
            "group": group, "version": version, "groupPriorityMinimum": group_priority, "versionPriority": version_priority}
        if isinstance(server, str):
            self.urls[name] = server
            spec["service"] = {"namespace": URLS, "name": name}
            spec |= {"caBundle": b64encode(ca_bundle).decode()} if ca_bundle else {"insecureSkipTLSVerify": True}
        else:
            self.handlers[name] = server
            spec |= {"service": {"namespace": HANDLERS, "name": name}, "insecureSkipTLSVerify": True}
        return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name}, "spec": spec}


class AggregatedServers:
    """What an API server needs to ask other servers. Close it after use.

    ``resolver`` says where services listen. ``certificate`` is what the API server shows of itself,
    if anything.
    """

    def __init__(
        self, registered: Registered, resolver: ServiceResolver, tasks: Tasks, certificate: Callable[[], "Signed | None"],
    ) -> None:
        self._registered, self._resolver, self._tasks = registered, resolver, tasks
        self._pool = HTTPPool(lambda context: _show(context, certificate()))

    def handler(self, name: str) -> Handler | None:
        """The Handler of this process that is called so."""
        return self._registered.handlers.get(name)

    def resolve(self, namespace: str, name: str, port: int) -> Endpoint:
        """Where a service listens. Raises NoAnswer."""
        if namespace != URLS:
            return self._resolver.resolve(namespace, name, port)
        url = self._registered.urls.get(name)
        if url is None:
            raise NoAnswer(f"no URL {name} is registered")
        return Endpoint(urlsplit(url).netloc, urlsplit(url).scheme == "http")

    def is_mapped(self, namespace: str, name: str, port: int) -> bool:
        """Whether somebody has said where a service listens."""
        return namespace == URLS or self._resolver.is_known(namespace, name, port)

    async def send(self, call: Call) -> Response:
        """The answer of another server. Raises NoAnswer."""
        from yarl import URL

        parts = urlsplit(call.url)
        name = call.server_name
        if name.endswith(f".{URLS}.svc"):
            name = parts.hostname or ""

        async def send(session: "aiohttp.ClientSession", context: ssl.SSLContext, reused: Reused) -> Response:
            answer = await session.request(
                call.method, URL(call.url, encoded=True), data=call.body or None, headers=call.headers, ssl=context,
                server_hostname=name if parts.scheme == "https" else None, trace_request_ctx=reused, allow_redirects=False,
                skip_auto_headers=NO_AUTOMATIC_HEADERS)
            media = answer.headers.get("Content-Type", "")
            headers = [each for each in answer.headers.items() if each[0].lower() != "content-encoding"]  # it is decoded
            if call.streams and answer.status < 400:
                return Response(
                    answer.status, content_type=media, headers=headers, stream=_Stream(answer, self._tasks, media), is_watch=True)
            async with answer:
                return Response(answer.status, await body_of(answer, MAX_BODY_BYTES), media, headers)

        return await self._pool.ask((call.ca_bundle, call.is_insecure), name, parts.netloc, send)

    async def close(self) -> None:
        """Close the connections; harmless when there are none."""
        await self._pool.close()


def _show(context: ssl.SSLContext, signed: "Signed | None") -> None:
    """Let servers see a certificate that ask for one."""
    if signed is not None:
        with NamedTemporaryFile(suffix=".pem") as file:  # the ssl module reads a key from files only
            file.write(signed.key + signed.certificate)
            file.flush()
            context.load_cert_chain(file.name)


class _Stream:
    """An answer that is still coming: JSON by lines, which are frames of a watch, all else as it
    comes.
    """

    def __init__(self, answer: "aiohttp.ClientResponse", tasks: Tasks, media: str) -> None:
        self._answer, self._tasks, self._by_lines = answer, tasks, media.startswith("application/json")
        self._stopped = False

    def start(self, sink: Sink) -> None:
        """Send what comes."""
        if not self._stopped:
            self._tasks.spawn(self._read(sink), f"stream {self._answer.url.path}")

    def stop(self) -> None:
        """Nobody wants more."""
        self._stopped = True
        self._answer.close()

    async def _read(self, sink: Sink) -> None:
        import aiohttp

        begun, size = list[bytes](), 0  # pieces of a line that has no end yet
        try:
            async for data in self._answer.content.iter_any():
                *lines, rest = data.split(b"\n") if self._by_lines else (data, b"")
                if lines and begun:
                    lines[0], begun, size = b"".join([*begun, lines[0]]), [], 0
                for line in lines:
                    if line and not self._stopped:
                        sink.send(Frame(line + b"\n" if self._by_lines else line))
                begun, size = [*begun, rest] if rest else begun, size + len(rest)
                if size > MAX_LINE_BYTES:
                    begun = []
                    break
            if begun and not self._stopped:
                sink.send(Frame(b"".join(begun)))
        except (aiohttp.ClientError, TimeoutError, OSError):
            pass  # a stream that breaks ends: whoever reads it resumes or not
        finally:
            self._answer.close()
        if not self._stopped:
            sink.end()

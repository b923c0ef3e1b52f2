"""Webhooks called over HTTP(S), with aiohttp's client: the Transport of ``fakekube.webhooks``.

Connections are kept and used again, as Go does. The texts of failures are those of Go's net/http
and crypto/tls. Upstream: net/http Transport. Left out: HTTP/2, proxies from the environment.
"""

import errno
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fakekube.composition import certificatetexts
from fakekube.util.memory import Memo
from fakekube.webhooks.transport import Answer, NoAnswer, Post

if TYPE_CHECKING:
    import aiohttp

MAX_BODY_BYTES = 8 << 20
"""A webhook that answers more is cut off: upstream would take it, until its memory is full."""
MAX_REDIRECTS, MAX_CONTEXTS = 10, 64
_DIALLING = {errno.ECONNREFUSED: "connection refused", errno.EHOSTUNREACH: "no route to host",
             errno.ENETUNREACH: "network is unreachable", errno.ETIMEDOUT: "connection timed out"}


class WebhookPosts:
    """Sends POSTs on the loop on which it is first used. Close it after use."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._contexts: Memo[bytes, ssl.SSLContext] = Memo(MAX_CONTEXTS)

    async def post(self, post: Post) -> Answer:
        """The answer. Raises NoAnswer."""
        reused = Reused()
        try:
            return await self._sent(post, reused)
        except Dropped:
            if not reused.connection:
                raise
        return await self._sent(post, Reused())  # the server closed it while nobody used it

    async def close(self) -> None:
        """Close the connections; harmless when there are none."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _sent(self, post: Post, reused: "Reused") -> Answer:
        import aiohttp
        from yarl import URL

        parts = urlsplit(post.url)
        url, headers, server_name = post.url, dict(post.headers), None
        if post.address:
            url = post.url.replace(parts.netloc, post.address, 1)
            headers["Host"] = parts.netloc
            server_name = parts.hostname if parts.scheme == "https" else None
        try:
            context = self._context(post.ca_bundle)
            answer = await self._open().post(
                URL(url, encoded=True), data=post.body, headers=headers, ssl=context, server_hostname=server_name,
                trace_request_ctx=reused, max_redirects=MAX_REDIRECTS)
            async with answer:
                return Answer(answer.status, {name.lower(): value for name, value in answer.headers.items()}, await _body(answer))
        except aiohttp.ClientConnectorCertificateError as error:
            context, address = new_context(post.ca_bundle), post.address or parts.netloc
            text = await certificatetexts.told(error.certificate_error, parts.hostname or "", address, context)
            raise NoAnswer(text) from error
        except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError) as error:
            ended = isinstance(error, aiohttp.ServerDisconnectedError)
            raise Dropped("EOF" if ended else "read: connection reset by peer") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(told(error)) from error

    def _context(self, ca_bundle: bytes) -> ssl.SSLContext:
        found = self._contexts.get(ca_bundle)
        if found is None:
            found = new_context(ca_bundle)
            self._contexts.put(ca_bundle, found)
        return found

    def _open(self) -> "aiohttp.ClientSession":
        if self._session is None:
            self._session = new_session()
        return self._session


class Dropped(NoAnswer):
    """The connection was closed without an answer."""


class Reused:
    """Whether a request went over a connection that another had used before."""

    connection = False


def new_session() -> "aiohttp.ClientSession":
    """What sends requests, each with a Reused in its trace context, and keeps no cookies."""
    import aiohttp

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[trace],
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None))


async def _note(_session: object, context: Any, _params: object) -> None:
    context.trace_request_ctx.connection = True


def new_context(ca_bundle: bytes) -> ssl.SSLContext:
    """TLS that trusts the certificates of a bundle, or the system's authorities where it is empty.

    Raises ValueError for a bundle that is none.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not ca_bundle:
        context.load_default_certs()
        return context
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # Go trusts what it is given, root or not
    try:
        context.load_verify_locations(cadata=ca_bundle.decode("ascii"))
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise ValueError("unable to load root certificates: unable to parse bytes as PEM block") from error
    return context


async def _body(answer: "aiohttp.ClientResponse") -> bytes:
    """The body. Raises NoAnswer for one that is too large."""
    pieces, size = [], 0
    async for piece in answer.content.iter_any():
        size += len(piece)
        if size > MAX_BODY_BYTES:
            answer.close()
            raise NoAnswer(f"http: response body is larger than {MAX_BODY_BYTES} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def told(error: Exception) -> str:
    """What Go says of a failure."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {error.host}: no such host"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return _tls(error.os_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        host = f"[{error.host}]" if ":" in error.host else error.host
        why = _DIALLING.get(error.os_error.errno or 0) or str(error.os_error.strerror or error.os_error).lower()
        return f"dial tcp {host}:{error.port}: connect: {why}"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "unexpected EOF"
    if isinstance(error, aiohttp.TooManyRedirects):
        return f"stopped after {MAX_REDIRECTS} redirects"
    if isinstance(error, aiohttp.ClientResponseError):
        return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
    return str(error) or type(error).__name__


def _tls(error: OSError) -> str:
    reason = getattr(error, "reason", "") or ""
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return "http: server gave HTTP response to HTTPS client"
    return f"remote error: tls: {reason.lower().replace('_', ' ') or error}"

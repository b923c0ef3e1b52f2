"""HTTP(S) to servers that an API server asks, webhooks and aggregated ones, with aiohttp's client.

Connections are kept and used again, as Go does. The texts of failures are those of Go's net/http
and crypto/tls. Upstream: net/http Transport. Left out: HTTP/2, proxies from the environment.
"""

import errno
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from fakekube.composition import certificatetexts
from fakekube.util.memory import Memo
from fakekube.webhooks.transport import NoAnswer

if TYPE_CHECKING:
    import aiohttp

MAX_REDIRECTS, MAX_CONTEXTS = 10, 64
_DIALLING = {errno.ECONNREFUSED: "connection refused", errno.EHOSTUNREACH: "no route to host",
             errno.ENETUNREACH: "network is unreachable", errno.ETIMEDOUT: "connection timed out"}

T = TypeVar("T")
Trust = tuple[bytes, bool]
"""A bundle of authorities (PEM; empty: the system's), and whether any certificate will do."""


class Dropped(NoAnswer):
    """The connection was closed without an answer."""


class Reused:
    """Whether a request went over a connection that another had used before."""

    connection = False


class HTTPPool:
    """Connections on the loop on which it is first used. Close it after use.

    ``prepare`` is given each TLS context that is made.
    """

    def __init__(self, prepare: Callable[[ssl.SSLContext], None] | None = None) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._contexts: Memo[Trust, ssl.SSLContext] = Memo(MAX_CONTEXTS)
        self._prepare = prepare

    async def close(self) -> None:
        """Close the connections; harmless when there are none."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(
        self, trust: Trust, server_name: str, address: str,
        send: "Callable[[aiohttp.ClientSession, ssl.SSLContext, Reused], Awaitable[T]]",
    ) -> T:
        """What ``send`` makes of an answer; it gives the Reused to the request, and is called once
        more where the server has closed a connection while nobody used it.

        ``server_name`` and ``address`` are for the texts of failures. Raises NoAnswer.
        """
        reused = Reused()
        try:
            return await self._asked(trust, server_name, address, send, reused)
        except Dropped:
            if not reused.connection:
                raise
        return await self._asked(trust, server_name, address, send, Reused())

    async def _asked(
        self, trust: Trust, server_name: str, address: str,
        send: "Callable[[aiohttp.ClientSession, ssl.SSLContext, Reused], Awaitable[T]]", reused: Reused,
    ) -> T:
        import aiohttp

        try:
            return await send(self._open(), self._context(trust), reused)
        except aiohttp.ClientConnectorCertificateError as error:
            text = await certificatetexts.told(error.certificate_error, server_name, address, _context_of(trust[0]))
            raise NoAnswer(text) from error
        except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError) as error:
            ended = isinstance(error, aiohttp.ServerDisconnectedError)
            raise Dropped("EOF" if ended else "read: connection reset by peer") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(_told(error)) from error

    def _context(self, trust: Trust) -> ssl.SSLContext:
        found = self._contexts.get(trust)
        if found is None:
            found = _context_of(trust[0])
            if trust[1]:
                found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
            if self._prepare is not None:
                self._prepare(found)
            self._contexts.put(trust, found)
        return found

    def _open(self) -> "aiohttp.ClientSession":
        if self._session is None:
            self._session = _new_session()
        return self._session


async def body_of(answer: "aiohttp.ClientResponse", max_bytes: int) -> bytes:
    """The body. Raises NoAnswer for one that is too large."""
    pieces, size = [], 0
    async for piece in answer.content.iter_any():
        size += len(piece)
        if size > max_bytes:
            answer.close()
            raise NoAnswer(f"http: response body is larger than {max_bytes} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _new_session() -> "aiohttp.ClientSession":
    """What sends requests, each with a Reused in its trace context, and keeps no cookies."""
    import aiohttp

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[trace],
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None))


async def _note(_session: object, context: Any, _params: object) -> None:
    context.trace_request_ctx.connection = True


def _context_of(ca_bundle: bytes) -> ssl.SSLContext:
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


def _told(error: Exception) -> str:
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

"""Which requests are answered: those of programs, and of pages that the server itself has shown.

A page of any site can have its reader's browser send requests to this machine: forms, images, a
WebSocket; and by DNS rebinding (a name of the page's owner that suddenly leads to 127.0.0.1) ones
whose answers it may read. Such a request gives itself away by its ``Host``, its ``Origin`` or its
``Sec-Fetch-Site``; a program sends its own address and neither of the others. What is allowed to
ask from elsewhere gets the headers with which a browser lets a page read the answer.

Upstream: net/http's CrossOriginProtection and apiserver/pkg/server/filters/cors.go. Unlike the
former this guards reading too. Left out: CORS origins as regular expressions.
"""

from collections.abc import Iterable, Mapping

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.origins import ANY, DEFAULT_PORTS, address_of, host_of, is_loopback, origin_of, plain_host

LOOPBACK = ("localhost", "127.0.0.1", "::1")
IN_CLUSTER = (
    "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
"""The names by which every API server is known to pods, and which its certificates carry."""
NOT_CROSS_SITE = (None, "same-origin", "same-site", "none")
"""What ``Sec-Fetch-Site`` says of a request that comes from here, or from nowhere."""
MAX_QUOTED = 100
CORS_HEADERS = (
    ("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH"),
    ("Access-Control-Allow-Headers", (
        "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since")),
    ("Access-Control-Expose-Headers", "Date"),
    ("Access-Control-Allow-Credentials", "true"),
    ("Vary", "Origin"),
)
"""Upstream's, but for the last one."""


class CrossOriginProtection:
    """Decides about requests by where they come from.

    ``bind_address`` is the address that is listened on, ``names`` are others by which clients know
    the server. ``allow_hosts`` and ``allow_origins`` are what else is let in, ``*`` everything.
    """

    def __init__(
        self, bind_address: str = "127.0.0.1", *, names: Iterable[str] = (), allow_hosts: Iterable[str] = (),
        allow_origins: Iterable[str] = (),
    ) -> None:
        allowed = list(allow_hosts)
        self._any_host = ANY in allowed
        address = address_of(bind_address)
        self._any_address = not bind_address or (address is not None and address.is_unspecified)
        known = [*LOOPBACK, *IN_CLUSTER, bind_address or "localhost", *names, *allowed]
        hosts = [plain_host(host) for host in known if host != ANY]
        self._hosts = frozenset(hosts)
        self._ahead_of_port = frozenset(f"[{host}]" if ":" in host else host for host in hosts)
        self._origins = frozenset(map(origin_of, allow_origins))

    def refusal(self, target: str, headers: Mapping[str, str]) -> Response | None:
        """The answer to a request that must not be answered, 403, else None.

        ``target`` is that of the request line, header names are in lower case.
        """
        host = headers.get("host")
        if host is not None and not self._is_ours(host):
            return _forbidden(_of_host(host))
        # absolute form, as proxies send it: its host is what counts
        if target[:1] != "/" and "://" in target:
            named = target.partition("://")[2].partition("/")[0]
            if not self._is_ours(named):
                return _forbidden(_of_host(named))
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if origin is None:
            return None if site in NOT_CROSS_SITE else _forbidden(
                "a page of another site has sent this request (Sec-Fetch-Site), and without an Origin it cannot be allowed: "
                "open the address by hand, or start the server with --allow-origin and let the page ask by CORS")
        if self.allows_origin(origin) or (site in NOT_CROSS_SITE and self._is_same_site(origin, host)):
            return None
        return _forbidden(
            f"a page of origin {_quoted(origin)} has sent this request, and pages of other sites may not use this server: "
            f"start it with --allow-origin {_shown(origin)} if this one may")

    def allows_origin(self, origin: str) -> bool:
        """Whether ``allow_origins`` names an origin."""
        if not self._origins:
            return False
        try:
            return ANY in self._origins or origin_of(origin) in self._origins
        except ValueError:
            return False

    def preflight(self, request: Request) -> Response | None:
        """The answer to a browser that asks whether a page may ask, else None."""
        if request.method != "OPTIONS" or not self.allows_origin(request.headers.get("origin", "")):
            return None
        return Response(204, content_type="")

    def let_read(self, request: Request, response: Response) -> None:
        """Add the headers with which a browser lets a page of an allowed origin read an answer."""
        origin = request.headers.get("origin")
        if origin is not None and self.allows_origin(origin):
            response.headers = [*response.headers, ("Access-Control-Allow-Origin", origin), *CORS_HEADERS]

    def _is_ours(self, authority: str) -> bool:
        name, colon, port = authority.rpartition(":")
        if self._any_host or authority in self._ahead_of_port:
            return True
        if colon and name in self._ahead_of_port and port.isdecimal():
            return True
        return self._is_known(host_of(authority), any_address=self._any_address)

    def _is_known(self, host: str, *, any_address: bool) -> bool:
        """Whether a host is one of ours.

        No DNS stands between a page and an address that it names as such: where all addresses of
        the machine are listened on, ``any_address`` takes each for one of them.
        """
        if not host:
            return False
        return host in self._hosts or is_loopback(host) or (any_address and address_of(host) is not None)

    def _is_same_site(self, origin: str, host: str | None) -> bool:
        """Whether the server itself, or another one on this machine, has shown the page."""
        scheme, separator, authority = origin.partition("://")
        if not separator or scheme not in DEFAULT_PORTS:
            return False
        return authority == host or self._is_known(host_of(authority), any_address=False)


def _of_host(host: str) -> str:
    return (
        f"this server is not known as {_quoted(host)}, and a page that rebinds a name of its own would ask like this: "
        f"start it with --allow-host {_shown(host_of(host) or 'NAME')} if it is to be")


def _quoted(text: str) -> str:
    return go_quote(text[:MAX_QUOTED])


def _shown(text: str) -> str:
    return text if len(text) <= MAX_QUOTED and text.isprintable() and " " not in text else "ORIGIN"


def _forbidden(message: str) -> Response:
    error = APIError(403, "Forbidden", message)
    return Response(403, orjson.dumps(error.status()), headers=[("X-Content-Type-Options", "nosniff")])

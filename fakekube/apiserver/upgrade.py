"""Agreeing on a connection's protocol: what a client offers, what a kubelet accepts.

Upstream: k8s.io/streaming/pkg/httpstream (Handshake) and its wsstream. WebSocket carries numbered
channels, or, for port-forward, a whole SPDY/3.1 connection; older clients ask for SPDY itself.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, Response
from fakekube.auth.authenticator import BEARER_PROTOCOL

SPDY_VERSION = "SPDY/3.1"
V5 = "v5.channel.k8s.io"
COMMAND_CHANNELS = ("", "channel.k8s.io", "base64.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io")
COMMAND_SPDY = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
PORT_CHANNELS = ("", "v4.channel.k8s.io", "v4.base64.channel.k8s.io")
PORT_SPDY = ("portforward.k8s.io",)
TUNNEL = f"{SPDY_VERSION}+portforward.k8s.io"
LOG_CHANNELS = ("", "binary.k8s.io", "base64.binary.k8s.io")


class Refused(Exception):
    """There is no common protocol; ``response`` says so."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__(response.status)


class Chosen(NamedTuple):
    """What both sides speak from now on."""

    protocol: str
    spdy: bool = False

    def response(self) -> Response:
        """The head of the 101, as far as it depends on the protocol."""
        if self.spdy:
            return Response(101, headers=[
                ("Connection", "Upgrade"), ("Upgrade", SPDY_VERSION), ("X-Stream-Protocol-Version", self.protocol)])
        return Response(101)


def offered(request: Request) -> list[str]:
    """The sub-protocols that a WebSocket client offers, without the one that carries its token."""
    return [name for name in _listed(request, "sec-websocket-protocol") if not name.startswith(BEARER_PROTOCOL)]


def wants_websocket(request: Request) -> bool:
    """Whether a request asks to change to WebSocket."""
    headers = request.headers
    return headers.get("upgrade", "").lower() == "websocket" and "upgrade" in headers.get("connection", "").lower()


def choose_websocket(request: Request, supported: Sequence[str]) -> str:
    """The first sub-protocol offered that is supported.

    Raises Refused: 403 without a body, as Go's WebSocket server.
    """
    found = next((name for name in offered(request) or [""] if name in supported), None)
    if found is None:
        raise Refused(Response(403, content_type=""))
    return found


def offers(request: Request, protocol: str) -> bool:
    """Whether a request asks for WebSocket and has this sub-protocol among those that it offers."""
    return wants_websocket(request) and protocol in offered(request)


def check(request: Request) -> None:
    """Raise 400 unless a request asks for another protocol."""
    if "upgrade" not in request.headers.get("connection", "").lower():
        raise errors.bad_request("Upgrade request required")


def choose(request: Request, *, channels: Sequence[str], first: str, spdy: Sequence[str]) -> Chosen:
    """The protocol that both sides speak. Raises Refused.

    Over WebSocket that is ``first``, if it is given and offered, or else one of ``channels``;
    without WebSocket one of ``spdy``.
    """
    if wants_websocket(request):
        return Chosen(first if first and first in offered(request) else choose_websocket(request, channels))
    return Chosen(_choose_spdy(request, spdy), spdy=True)


def _choose_spdy(request: Request, supported: Sequence[str]) -> str:
    header = "X-Stream-Protocol-Version"
    if header.lower() not in request.headers:
        raise _refused(400, f"header {header} does not exist in request with {len(request.headers)} headers")
    names = _listed(request, header.lower())
    if not names:
        raise _refused(400, f"header {header} contains [{request.headers[header.lower()]}], but no valid protocols")
    found = next((name for name in names if name in supported), None)
    if found is None:
        text = f"unable to negotiate protocol: client supports {_go(names)}, server accepts {_go(supported)}"
        refused = _refused(403, text)
        refused.response.headers += [("X-Accepted-Stream-Protocol-Versions", name) for name in supported]
        raise refused
    if SPDY_VERSION.lower() not in request.headers.get("upgrade", "").lower():
        raise _refused(400, "missing upgrade headers in request")
    return found


def _listed(request: Request, header: str) -> list[str]:
    return [name.strip() for name in request.headers.get(header, "").split(",") if name.strip()]


def _refused(code: int, why: str) -> Refused:
    return Refused(Response(code, f"unable to upgrade: {why}\n".encode(), "text/plain; charset=utf-8"))


def _go(names: Sequence[str]) -> str:
    return f"[{' '.join(names)}]"

"""How other servers are reached: the port that the composition fills in.

Upstream: the proxy's transport, kube-aggregator/pkg/apiserver/resolvers.go.
"""

from typing import NamedTuple, Protocol

from fakekube.apimachinery.http import Handler, Headers, Response
from fakekube.webhooks.services import Endpoint

HANDLERS = "handlers.fakekube.invalid"
"""The namespace of the services that stand for Handlers of this process: it leads nowhere else."""


class Call(NamedTuple):
    """A request to another server.

    ``url`` is what is called, by the address that is dialled. ``server_name`` is whom the
    certificate must name. ``ca_bundle`` is PEM; without one the system's authorities are trusted.
    ``is_insecure`` says that any certificate will do. ``streams`` says that the answer may come in
    pieces, and that its end is not waited for.
    """

    method: str
    url: str
    headers: Headers
    body: bytes = b""
    server_name: str = ""
    ca_bundle: bytes = b""
    is_insecure: bool = False
    streams: bool = False


class Servers(Protocol):
    """The servers that APIServices may name."""

    def handler(self, name: str) -> Handler | None:
        """The Handler of this process that is called so."""

    def resolve(self, namespace: str, name: str, port: int) -> Endpoint:
        """Where a service listens. Raises NoAnswer in upstream's words."""

    def is_mapped(self, namespace: str, name: str, port: int) -> bool:
        """Whether somebody has said where a service listens, whatever the cluster says of it."""

    async def send(self, call: Call) -> Response:
        """The answer of another server. Raises NoAnswer; waits for as long as it takes."""

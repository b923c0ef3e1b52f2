"""A cluster on a port. ``Cluster.serve`` makes one, which stops with the cluster."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fakekube.apimachinery.origins import is_loopback
from fakekube.composition.options import OptionError
from fakekube.server.crossorigin import CrossOriginProtection
from fakekube.server.http import HttpServer
from fakekube.server.kubeconfig import kubeconfig, write_kubeconfig

if TYPE_CHECKING:
    from fakekube.apimachinery.http import Handler
    from fakekube.util.activity import Activity
    from fakekube.util.clock import Clock
    from fakekube.util.outside import ClientsOutside


class Served:
    """Where a cluster listens: ``url``, ``token``, and a kubeconfig for it.

    ``names`` are others by which clients know it; ``allow_hosts`` and ``allow_origins`` are let in
    besides this machine. Raises OptionError for a ``host`` that other machines reach, unless
    ``insecure``.
    """

    def __init__(
        self, handler: "Handler", *, token: str, clock: "Clock", activity: "Activity", host: str, port: int,
        compresses: Callable[[], bool], insecure: bool = False, allow_hosts: Iterable[str] = (),
        allow_origins: Iterable[str] = (), names: Iterable[str] = (), outside: "ClientsOutside | None" = None,
    ) -> None:
        if not insecure and not is_loopback(host):
            raise OptionError(
                f"bind_address: other machines could reach {host or 'every address of this one'}, and whoever reaches the "
                "server is the cluster's administrator: bind to 127.0.0.1, or say --insecure if that is meant")
        self.token = token
        self._http = HttpServer(
            handler, clock=clock, host=host, port=port, activity=activity, compresses=compresses, outside=outside,
            protection=CrossOriginProtection(host, names=names, allow_hosts=allow_hosts, allow_origins=allow_origins))

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        await self._http.start()

    def handle_with(self, handler: "Handler") -> None:
        """Answer by another handler from now on."""
        self._http.handler = handler

    async def stop(self) -> None:
        """End the streams and close; harmless when it is closed."""
        await self._http.stop()

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return self._http.url

    @property
    def kubeconfig(self) -> str:
        """The text of a kubeconfig that leads here."""
        return kubeconfig(self.url, self.token)

    def write_kubeconfig(self, path: Path) -> None:
        """Write that text to a file."""
        write_kubeconfig(path, self.url, self.token)

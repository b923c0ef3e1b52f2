"""A cluster on a port. ``Cluster.serve`` makes one, which stops with the cluster."""

import logging
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fakekube.apimachinery.origins import ANY, is_loopback
from fakekube.composition.options import OptionError
from fakekube.server.crossorigin import IN_CLUSTER, LOOPBACK, CrossOriginProtection
from fakekube.server.http import HttpServer
from fakekube.server.kubeconfig import NAME, kubeconfig, tree
from fakekube.server.kubeconfigfile import KubeconfigFile

if TYPE_CHECKING:
    import ssl

    from fakekube.apimachinery.http import Handler
    from fakekube.apimachinery.types import Tree
    from fakekube.composition.identity import Identity
    from fakekube.util.activity import Activity
    from fakekube.util.clock import Clock
    from fakekube.util.outside import ClientsOutside

log = logging.getLogger(__name__)

SERVICE_ADDRESS = "10.0.0.1"
"""That of the service ``kubernetes``, which certificates of API servers name."""


class Served:
    """Where a cluster listens: ``url``, ``token``, and a kubeconfig for it.

    ``names`` are others by which clients know it; ``allow_hosts`` and ``allow_origins`` are let in
    besides this machine. Raises OptionError for a ``host`` that other machines reach, unless
    ``identity`` has TLS, or ``insecure``. With TLS and without ``insecure``, nobody is the
    administrator there without the token.
    """

    def __init__(
        self, handler: "Handler", *, identity: "Identity", clock: "Clock", activity: "Activity", host: str, port: int,
        compresses: Callable[[], bool], insecure: bool = False, allow_hosts: Iterable[str] = (),
        allow_origins: Iterable[str] = (), names: Iterable[str] = (), outside: "ClientsOutside | None" = None,
    ) -> None:
        if not insecure and not is_loopback(host) and not identity.has_tls:
            raise OptionError(
                f"bind_address: other machines could reach {host or 'every address of this one'}, and whoever reaches the "
                "server is the cluster's administrator: bind to 127.0.0.1, say --tls so that a token is needed, or --insecure "
                "if that is meant")
        self.token = identity.token
        self._authority = identity.root_ca.encode() if identity.has_tls else b""
        known = [host, *names, *(name for name in allow_hosts if name != ANY)]
        self._http = HttpServer(
            handler, clock=clock, host=host, port=port, tls=_tls(identity, known), exposed=not insecure and not is_loopback(host),
            activity=activity, compresses=compresses, outside=outside,
            protection=CrossOriginProtection(
                host, names=names, allow_hosts=allow_hosts, allow_origins=allow_origins))
        self._kubeconfigs: list[KubeconfigFile] = []

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        await self._http.start()

    def handle_with(self, handler: "Handler") -> None:
        """Answer by another handler from now on."""
        self._http.handler = handler

    async def stop(self, grace_seconds: float = 0.5) -> None:
        """End the streams, close, and take our entries out of kubeconfigs; harmless when it is
        closed. Answers that are being written have ``grace_seconds`` to finish.
        """
        while self._kubeconfigs:
            file = self._kubeconfigs.pop()
            try:
                file.remove()
            except OSError as error:
                log.warning("the cluster stays in %s: %s", file.path, error)
        await self._http.stop(grace_seconds)

    def break_off(self) -> None:
        """Stop listening, and break all connections off where they are; ``stop`` ends the rest."""
        self._http.break_off()

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``, or with ``https``."""
        return self._http.url

    def tree(self, name: str = NAME) -> "Tree":
        """A kubeconfig that leads here, as a tree; ``name`` is that of cluster, user and context.
        """
        return tree(self.url, self.token, certificate_authority=self._authority, name=name)

    @property
    def kubeconfig(self) -> str:
        """The text of a kubeconfig that leads here."""
        return kubeconfig(self.url, self.token, certificate_authority=self._authority)

    def kubeconfig_for(self, token: str, *, namespace: str = "default") -> str:
        """The text of a kubeconfig that leads here with another token than the administrator's."""
        return kubeconfig(self.url, token, certificate_authority=self._authority, namespace=namespace)

    def write_kubeconfig(self, path: Path) -> None:
        """Add cluster, user and context ``fakekube`` to a kubeconfig, new or not, until this stops.

        Entries of another server of ours are replaced. Raises NotReplaced for a file that is no
        kubeconfig, or has entries of that name that are not ours; OSError.
        """
        file = KubeconfigFile(path)
        file.add(self.tree())
        self._kubeconfigs.append(file)


def _tls(identity: "Identity", names: Iterable[str]) -> "ssl.SSLContext | None":
    """What a server that is known by ``names`` needs for TLS; None without."""
    if not identity.has_tls:
        return None
    from fakekube.server.tls import server_context

    known = dict.fromkeys((*LOOPBACK, *IN_CLUSTER, SERVICE_ADDRESS, *filter(None, names), socket.gethostname()))
    try:
        return server_context(identity.authority, known, identity.client_authorities)
    except ValueError as error:
        raise OptionError(f"client_ca_file: {error}") from error

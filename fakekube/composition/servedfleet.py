"""A fleet on ports, one for each member, and one kubeconfig with a context for each."""

import logging
from collections.abc import Mapping
from pathlib import Path

from fakekube.apimachinery.types import Tree
from fakekube.composition.serving import Served
from fakekube.server.kubeconfigfile import KubeconfigFile

log = logging.getLogger(__name__)


class ServedFleet:
    """Where the members listen. ``url`` and ``token`` are the first's."""

    def __init__(self, servers: Mapping[str, Served]) -> None:
        self.servers = servers
        first = next(iter(servers.values()))
        self.url, self.token = first.url, first.token
        self._kubeconfigs: list[KubeconfigFile] = []

    def member_at(self, url: str) -> str | None:
        """The name of the member that listens at a URL."""
        return next((name for name, server in self.servers.items() if server.url == url.rstrip("/")), None)

    def tree(self) -> Tree:
        """A kubeconfig with a cluster, user and context of each member's name; the first is the
        current one.
        """
        trees = [server.tree(name) for name, server in self.servers.items()]
        joined = {part: [one for each in trees for one in each[part]] for part in ("clusters", "users", "contexts")}
        return trees[0] | joined

    def write_kubeconfig(self, path: Path) -> None:
        """Add these to a kubeconfig, new or not, until the fleet stops. Raises as
        ``Served.write_kubeconfig``.
        """
        file = KubeconfigFile(path)
        file.add(self.tree())
        self._kubeconfigs.append(file)

    def remove_kubeconfigs(self) -> None:
        """Take the entries out of the files again."""
        while self._kubeconfigs:
            file = self._kubeconfigs.pop()
            try:
                file.remove()
            except OSError as error:
                log.warning("the clusters stay in %s: %s", file.path, error)

"""A served cluster with something to read and something to lose, and whether it was read or
changed.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fakekube.client.resources import PODS, SECRETS
from fakekube.composition.cluster import Cluster
from fakekube.composition.serving import Served

SECRET = "c2VlbiBieSBhIHBhZ2U="


class Victim:
    """``cluster``, ``server``, and the commands that ran in its pod ``p``."""

    def __init__(self, cluster: Cluster, server: Served, commands: list[Any]) -> None:
        self.cluster, self.server, self.commands = cluster, server, commands
        self._revision, self._time = cluster.apiserver.storage.revision, cluster.clock.time()
        self._asked = cluster.apiserver.log.total

    @property
    def changes(self) -> list[str]:
        """What is not as it was."""
        now = {
            "objects": self.cluster.apiserver.storage.revision != self._revision,
            "clock": self.cluster.clock.time() != self._time, "commands": bool(self.commands),
        }
        return [name for name, changed in now.items() if changed]

    @property
    def answered(self) -> int:
        """How many requests the API server has got since the beginning."""
        return self.cluster.apiserver.log.total - self._asked


@asynccontextmanager
async def serve(**options: Any) -> AsyncIterator[Victim]:
    """A victim with a Secret and a running pod, on a clock that only its own path moves."""
    commands: list[Any] = []

    def on_exec(process: Any) -> str:
        commands.append(process.command)
        return SECRET

    async with Cluster(nodes=1, clock="manual", on_exec=on_exec, **options) as cluster:
        await cluster.client.create(SECRETS, {"metadata": {"name": "s", "namespace": "default"}, "data": {"key": SECRET}})
        pod = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        await cluster.client.create(PODS, pod)
        await cluster.advance("10s")  # the pod runs
        server = await cluster.serve()
        yield Victim(cluster, server, commands)

"""A component that dies while it waits for the answer to one of its writes."""

import asyncio
from collections.abc import Callable
from typing import Any

from fakekube import Cluster
from fakekube.apimachinery.causes import ACTING

MOST_RESTARTS = 150


class Restarts:
    """Counts the writes of a component, Events apart, and restarts it after those that ``when``
    says. ``parts`` are the names by which it acts, its own unless others are given.
    """

    def __init__(
        self, cluster: Cluster, component: str, when: Callable[[int], bool], parts: tuple[str, ...] = (),
    ) -> None:
        self.cluster, self.component, self.when, self.writes, self.count = cluster, component, when, 0, 0
        self._parts = parts or (component,)
        self._handle = cluster.apiserver.handle
        cluster.apiserver.handle = self.handle  # type: ignore[method-assign]  # in place of the server's

    async def handle(self, request: Any) -> Any:
        """Answer a request, unless the component does not live to see the answer."""
        response = await self._handle(request)
        acting = ACTING.get()
        if request.method == "GET" or acting is None or acting.component not in self._parts or "/events" in request.path:
            return response
        self.writes += 1
        if self.when(self.writes) and self.count < MOST_RESTARTS:
            self.count += 1
            self.cluster.tasks.spawn(self._restart(), f"restart of {self.component}")
            await asyncio.Event().wait()
        return response

    async def _restart(self) -> None:
        with self.cluster.activity.busy():
            await self.cluster.manager.stop_component(self.component)
            await self.cluster.manager.start_component(self.component)

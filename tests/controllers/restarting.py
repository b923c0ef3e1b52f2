"""A component that dies while it waits for the answer to one of its writes."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from fakekube import Cluster

MOST_RESTARTS = 150


class Restarts:
    """Counts the writes of a component, Events apart, and restarts it after those that ``when``
    says. ``agent`` is the user agent that it writes with, its name unless given; ``others`` are
    clusters to which it writes as well, over a link.

    It does not die twice in a row at the same write: what is written anew at each start, as the
    reason of a deletion before the deletion, would be all that is ever done.
    """

    def __init__(
        self, cluster: Cluster, component: str, when: Callable[[int], bool], *, agent: str = "",
        others: Iterable[Cluster] = (),
    ) -> None:
        self.cluster, self.component, self.when, self.writes, self.count = cluster, component, when, 0, 0
        self.written: list[str] = []
        self._died_at = ""
        self._agent = agent or component
        self._listen(cluster, is_linked=False)
        for other in others:
            self._listen(other, is_linked=True)

    def _listen(self, cluster: Cluster, *, is_linked: bool) -> None:
        """Stand in front of a server. Whoever comes over a link says who it is in a header."""
        answered = cluster.apiserver.handle

        async def handle(request: Any) -> Any:
            response = await answered(request)
            is_ours = request.headers.get("user-agent") == self._agent and ("authorization" in request.headers) == is_linked
            if request.method == "GET" or not is_ours or "/events" in request.path:
                return response
            await self._after_write(request)
            return response

        cluster.apiserver.handle = handle  # type: ignore[method-assign]  # in place of the server's

    async def _after_write(self, request: Any) -> None:
        """Does not return if the component does not live to see the answer."""
        self.writes += 1
        self.written.append(f"{request.method} {request.path}")
        if self.when(self.writes) and self.count < MOST_RESTARTS and self._died_at != self.written[-1]:
            self.count += 1
            self._died_at = self.written[-1]
            self.cluster.tasks.spawn(self._restart(), f"restart of {self.component}")
            await asyncio.Event().wait()

    async def _restart(self) -> None:
        with self.cluster.activity.busy():
            await self.cluster.manager.stop_component(self.component)
            await self.cluster.manager.start_component(self.component)

"""Connections to the ports of pods: port-forward, and the API server's proxy.

A port is answered by the callback ``on_connect``, by a page where a server would listen, or by an
echo; the proxy is not answered by the echo. Upstream: pkg/kubelet/kubelet_pods.go (GetPortForward)
and k8s.io/cri-streaming.
"""

import asyncio
import logging

from fakekube.apimachinery import meta
from fakekube.apimachinery.streams import Forward, NodeError, PortStreams, StreamError
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.controller import attempt_async
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.pods.runs import PodRuns
from fakekube_controllers.kubelet.server import pages
from fakekube_controllers.kubelet.server.lifetime import callback_failed, while_running
from fakekube_controllers.kubelet.server.logs import ContainerLogs
from fakekube_controllers.kubelet.server.port_connection import PortConnection
from fakekube_controllers.kubelet.server.process import Connection, OnConnect

log = logging.getLogger(__name__)


class Ports:
    """The ports of all pods."""

    def __init__(
        self, clock: Clock, activity: Activity, runs: PodRuns, logs: ContainerLogs, on_connect: OnConnect | None,
    ) -> None:
        self._clock, self._activity, self._runs, self._logs, self._on_connect = clock, activity, runs, logs, on_connect
        self._open: dict[PortConnection, None] = {}

    def close(self) -> None:
        """End the connections of the API server's proxy."""
        for connection in list(self._open):
            connection.hang_up()

    async def forward(self, pod: ReadOnlyTree) -> Forward:
        """The way to the ports of a running pod. Raises NodeError."""
        running = self._any_running(pod)
        if running is None:
            raise NodeError(500, f'pod not found ("{meta.name_of(pod)}_{meta.namespace_of(pod)}")')

        async def connect(streams: PortStreams) -> None:
            serving = self._serve(Connection(pod, streams, self._clock))
            if await while_running(self._logs, meta.uid_of(pod), running, serving, asyncio.Event()) is None:
                raise StreamError("the pod runs no longer")

        return connect

    async def dial(self, pod: ReadOnlyTree, port: int) -> PortConnection:
        """A connection to a port on which ``on_connect`` listens, or a server would.
        ConnectionRefusedError when nothing runs that could; reading from it raises that when
        ``on_connect`` does not care for a port that nothing else answers.
        """
        running = self._any_running(pod)
        if running is None or (self._on_connect is None and pages.container_on(pod, port) is None):
            raise ConnectionRefusedError

        async def connect(streams: PortStreams) -> None:
            serving = self._serve_or_refuse(Connection(pod, streams, self._clock))
            if await while_running(self._logs, meta.uid_of(pod), running, serving, asyncio.Event()) is None:
                raise StreamError("EOF")

        connection = PortConnection(port, self._activity, connect, lambda gone: self._open.pop(gone, None))
        self._open[connection] = None
        return connection

    async def _serve(self, connection: Connection) -> bool:
        if await self._serve_by_callback(connection) or await _serve_page(connection):
            return True
        while data := await connection.read():
            await connection.write(data)
        return True

    async def _serve_or_refuse(self, connection: Connection) -> bool:
        with self._activity.busy():
            if not await self._serve_by_callback(connection) and not await _serve_page(connection):
                raise ConnectionRefusedError
        return True

    async def _serve_by_callback(self, connection: Connection) -> bool:
        """Whether the callback took it. Raises StreamError when it raised."""
        if self._on_connect is None:
            return False
        served, error = await attempt_async(self._on_connect, connection)
        if error is not None:
            raise callback_failed("on_connect", error, log)
        return served is not False

    def _any_running(self, pod: ReadOnlyTree) -> Container | None:
        """A container of a pod that runs."""
        run = self._runs.find_for_change(pod)
        return next((container for container in run.containers if container.running), None) if run is not None else None


async def _serve_page(connection: Connection) -> bool:
    """Whether a server would listen there, for which a page was served."""
    container = pages.container_on(connection.pod, connection.port)
    if container is None:
        return False
    await pages.serve(connection, container)
    return True

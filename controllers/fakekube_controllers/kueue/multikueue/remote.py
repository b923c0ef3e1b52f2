"""The connection to one worker cluster: a client, watches of what this manager made there, and
since when it is lost.

Upstream: remoteClient in pkg/controller/admissionchecks/multikueue/multikueuecluster.go.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Stream
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.kubeconfig import ConfigError, client_of
from fakekube.client.resources import Resource
from fakekube.client.transport import TransportError
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.multikueue import integrations
from fakekube_controllers.kueue.multikueue.adapters import MultiKueueAdapter
from fakekube_controllers.kueue.multikueue.kubeconfigs import Kubeconfig
from fakekube_controllers.kueue.names import WORKLOADS

if TYPE_CHECKING:
    from fakekube.runtime.context import Context

RETRY_INCREMENT_SECONDS = 5.0
RETRY_MAX_STEPS = 7
NOT_FOUND = 404

OnWorkload = Callable[[Request], None]


def retry_after_seconds(failed_attempts: int) -> float:
    """The wait after so many attempts in a row that failed: 5 s, doubled up to 5 min 20 s."""
    if failed_attempts == 0:
        return 0.0
    return RETRY_INCREMENT_SECONDS * 2.0 ** (min(failed_attempts, RETRY_MAX_STEPS) - 1)


class CannotConnect(Exception):
    """A worker cluster cannot be reached, or lacks a kind."""


class RemoteClient:
    """One worker cluster. ``on_workload`` hears of Workloads that changed there, ``on_lost`` of the
    end of a connection.

    It begins as lost: a worker that was away before Kueue started is waited for as long as any.
    """

    def __init__(
        self, name: str, ctx: "Context", adapters: Iterable[MultiKueueAdapter], origin: str, on_workload: OnWorkload,
        on_lost: Callable[[str], None],
    ) -> None:
        self.name, self.origin = name, origin
        self._ctx, self._adapters, self._on_workload, self._on_lost = ctx, tuple(adapters), on_workload, on_lost
        self.is_connected = False
        self.lost_since: float | None = ctx.clock.time()
        self.failed_attempts, self._next_attempt = 0, 0.0
        self.connections = 0  # that were made so far
        self._client: Client | None = None
        self._config = ""
        self._watches: list[_Watch] = []

    @property
    def client(self) -> Client:
        """That of the present or the last connection."""
        assert self._client is not None, "it was connected once"
        return self._client

    async def connect(self, config: Kubeconfig) -> float | None:
        """Be connected by a kubeconfig; if it is too early for an attempt, the seconds to wait.

        Raises CannotConnect.
        """
        is_new = config.text != self._config
        if not is_new and self.is_connected:
            return None
        self.stop_watches()
        now = self._ctx.clock.time()
        if is_new:
            self._config, self.failed_attempts, self._next_attempt = config.text, 0, 0.0
        if not self.is_connected and self._next_attempt > now:
            return self._next_attempt - now
        try:
            await self._connect(config.tree)
        except (CannotConnect, ConfigError, APIError, TransportError) as error:
            self.failed_attempts += 1
            self._next_attempt = now + retry_after_seconds(self.failed_attempts)
            self.stop_watches()
            raise CannotConnect(str(error)) from error
        self.failed_attempts, self._next_attempt = 0, 0.0
        return None

    async def _connect(self, config: Tree) -> None:
        ctx = self._ctx
        if self._client is not None:
            await self._client.close()
        self._client = client_of(
            config, f"the kubeconfig of cluster {self.name}", user_agent=names.KUEUE_NAME, activity=ctx.activity,
            find=ctx.options.get("find_cluster"))
        self.is_connected = False
        await self._watch(WORKLOADS, _itself)
        for adapter in self._adapters:
            if await integrations.is_served(ctx.client, adapter.resource):
                await self._watch(adapter.resource, adapter.workload_keys_for)
        self.is_connected, self.lost_since = True, None
        self.connections += 1
        for watch in tuple(self._watches):
            watch.start()

    async def _watch(self, resource: Resource, keys: Callable[[ReadOnlyTree], Iterable[Request]]) -> None:
        watch = _Watch(self, keys)
        try:
            watch.stream = await self.client.open_watch(
                resource, watch, label_selector=f"{names.MULTIKUEUE_ORIGIN_LABEL}={self.origin}", allow_bookmarks=True)
        except APIError as error:
            if error.code == NOT_FOUND:
                raise CannotConnect(f'no matches for kind "{resource.kind}" in version "{resource.api_version}"') from error
            raise
        self._watches.append(watch)

    def changed(self, keys: Iterable[Request]) -> None:
        """Workloads have changed there."""
        for key in keys:
            self._on_workload(key)

    def lose(self) -> None:
        """The connection is lost; harmless when it was before."""
        was_connected, self.is_connected = self.is_connected, False
        if self.lost_since is None:
            self.lost_since = self._ctx.clock.time()
        if was_connected:
            self._on_lost(self.name)

    def disconnect(self) -> None:
        """Stop watching, and count as lost from now on."""
        self.stop_watches()
        self.is_connected = False
        if self.lost_since is None:
            self.lost_since = self._ctx.clock.time()

    def stop_watches(self) -> None:
        """End all watches from this side."""
        watches, self._watches = self._watches, []
        for watch in watches:
            watch.stop()

    async def close(self) -> None:
        """Be done with the cluster."""
        self.stop_watches()
        if self._client is not None:
            await self._client.close()


class _Watch:
    """Takes the events of a watch. Until it is started, it keeps what it hears: who is told of a
    change looks only at connected clusters, and a connection that is not yet made cannot be lost.
    """

    def __init__(self, remote: RemoteClient, keys: Callable[[ReadOnlyTree], Iterable[Request]]) -> None:
        self._remote, self._keys = remote, keys
        self.stream: Stream | None = None
        self._heard: list[Request] | None = []
        self._is_ended = self._is_stopped = False

    def send(self, frame: Frame) -> None:
        event: ReadOnlyTree = frame.tree  # type: ignore[assignment]  # that of a watch is a tree
        if self._is_stopped or event["type"] in ("BOOKMARK", "ERROR"):
            return
        keys = self._keys(event["object"])
        if self._heard is None:
            self._remote.changed(keys)
        else:
            self._heard.extend(keys)

    def end(self) -> None:
        self._is_ended = True
        if self._heard is None and not self._is_stopped:
            self._remote.lose()

    def start(self) -> None:
        """Tell what was heard, and from now on at once."""
        heard, self._heard = self._heard, None
        self._remote.changed(heard or ())
        if self._is_ended and not self._is_stopped:
            self._remote.lose()

    def stop(self) -> None:
        self._is_stopped = True
        if self.stream is not None:
            self.stream.stop()


def _itself(obj: ReadOnlyTree) -> Iterable[Request]:
    return [Request(meta.namespace_of(obj), meta.name_of(obj))]

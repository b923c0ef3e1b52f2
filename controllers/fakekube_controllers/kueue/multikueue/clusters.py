"""Keeps the connections to worker clusters, tells of them in the status of MultiKueueClusters, and
collects what was left on workers.

Upstream: clustersReconciler in pkg/controller/admissionchecks/multikueue/multikueuecluster.go.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import SECRETS
from fakekube.client.transport import TransportError
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue.multikueue import adapters, group, integrations, kubeconfigs
from fakekube_controllers.kueue.multikueue.active import write_active
from fakekube_controllers.kueue.multikueue.adapters import MultiKueueAdapter, MultiWorkloadAdapter, Sides
from fakekube_controllers.kueue.multikueue.kubeconfigs import CannotLoad
from fakekube_controllers.kueue.multikueue.owners import Adapters
from fakekube_controllers.kueue.multikueue.remote import CannotConnect, RemoteClient
from fakekube_controllers.kueue.names import MULTIKUEUE_CLUSTERS, MULTIKUEUE_ORIGIN_LABEL, WORKLOADS

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

COLLECT = Request("", "")
"""In the place of a cluster: look for what was left on all of them."""
FILE_POLL = timedelta(seconds=10)
"""How often a kubeconfig in a file that cannot be used is looked at again; upstream watches it."""


def clusters_of_secret(kueue: "Kueue", secret: Tree) -> Iterable[Request]:
    """The MultiKueueClusters that read a Secret."""
    if meta.namespace_of(secret) != kueue.configuration.namespace:
        return []
    return [
        Request("", meta.name_of(cluster)) for cluster in kueue.ctx.lister(MULTIKUEUE_CLUSTERS).list()
        if _is_of_secret(cluster, meta.name_of(secret))]


def _kubeconfig_of(cluster: ReadOnlyTree) -> ReadOnlyTree:
    return ((cluster.get("spec") or {}).get("clusterSource") or {}).get("kubeConfig") or {}


def _is_of_secret(cluster: ReadOnlyTree, name: str) -> bool:
    config = _kubeconfig_of(cluster)
    return config.get("locationType") != kubeconfigs.PATH and config.get("location") == name


class Clusters:
    """The connections by the names of MultiKueueClusters, for all controllers of MultiKueue."""

    def __init__(self, kueue: "Kueue") -> None:
        self._kueue = kueue
        self.remotes: dict[str, RemoteClient] = {}
        self.adapters = Adapters(integrations.adapters_of(kueue))
        self.on_workload: Callable[[Request], None] = _nobody
        self.on_lost: Callable[[str], None] = _nobody
        self.on_connected: Callable[[str], None] = _nobody

    def connected(self, name: str) -> RemoteClient | None:
        """The connection to a cluster, unless it is lost."""
        remote = self.remotes.get(name)
        return remote if remote is not None and remote.is_connected else None

    def sides(self, remote: RemoteClient, adapter: MultiKueueAdapter) -> Sides:
        """What an adapter works with."""
        kueue = self._kueue
        return Sides(
            kueue.ctx.lister(adapter.resource), kueue.client, remote.client, remote.origin, kueue.features, kueue.clock.time())

    def remote(self, name: str) -> RemoteClient:
        """The connection of a name, new or not."""
        if name not in self.remotes:
            kueue = self._kueue
            self.remotes[name] = RemoteClient(
                name, kueue.ctx, self.adapters.all, kueue.configuration.multi_kueue.origin,
                self._changed, self._lost)
        return self.remotes[name]

    def _changed(self, key: Request) -> None:
        self.on_workload(key)

    def _lost(self, name: str) -> None:
        self.on_lost(name)


def _nobody(_: object) -> None:
    """Who is told before a controller has started."""


class ClusterReconciler:
    """Reconciles one MultiKueueCluster, or collects what was left (COLLECT)."""

    def __init__(self, kueue: "Kueue", clusters: Clusters, ctx: Context) -> None:
        self._kueue, self._clusters, self._ctx = kueue, clusters, ctx
        self._listed, self._secrets = ctx.lister(MULTIKUEUE_CLUSTERS), ctx.lister(SECRETS)
        self._workloads = ctx.lister(WORKLOADS)
        self._interval = timedelta(seconds=kueue.configuration.multi_kueue.gc_interval_seconds)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Hear of lost connections, and collect now and then."""
        self._clusters.on_lost = lambda name: queue.add(Request("", name))
        self._ctx.on_close(self._disconnect_all)
        if self._interval:
            queue.add_after(COLLECT, self._interval.total_seconds(), daemon=True)

    async def _disconnect_all(self) -> None:
        for remote in self._clusters.remotes.values():
            await remote.close()

    async def reconcile(self, request: Request) -> Result | None:
        """Connect or disconnect, and write the status. Raises APIError."""
        if request == COLLECT:
            await self._collect()
            return Result(self._interval, daemon=True)
        cluster = self._listed.get("", request.name)
        if cluster is None or meta.is_deleting(cluster):
            remote = self._clusters.remotes.pop(request.name, None)
            if remote is not None:
                await remote.close()
            return None
        return await self._connect(cluster)

    async def _connect(self, cluster: ReadOnlyTree) -> Result | None:
        name = meta.name_of(cluster)
        remote = self._clusters.remote(name)
        before = remote.connections
        try:
            config = kubeconfigs.load(cluster, self._secrets, self._kueue.configuration.namespace, self._kueue.features)
        except CannotLoad as error:
            remote.disconnect()
            message = f"load client config failed: {error}"
            await write_active(self._ctx, MULTIKUEUE_CLUSTERS, cluster, "False", error.reason, message)
            is_file = not _is_of_secret(cluster, _kubeconfig_of(cluster).get("location", ""))
            return Result(FILE_POLL, daemon=True) if is_file else None
        try:
            wait = await remote.connect(config)
        except CannotConnect as error:
            remote.disconnect()
            await write_active(self._ctx, MULTIKUEUE_CLUSTERS, cluster, "False", "ClientConnectionFailed", str(error))
            wait = await remote.connect(config)
        if wait is not None:
            return Result.after(wait, daemon=True)
        if remote.connections != before:
            self._clusters.on_connected(name)
        await write_active(self._ctx, MULTIKUEUE_CLUSTERS, cluster, "True", "Active", "Connected")
        return None

    # what was left

    async def _collect(self) -> None:
        """Delete the Workloads on workers whose local ones are gone, and their jobs."""
        for name in sorted(self._clusters.remotes):
            remote = self._clusters.connected(name)
            if remote is None:
                continue
            try:
                await self._collect_from(remote)
            except (APIError, TransportError):
                remote.lose()

    async def _collect_from(self, remote: RemoteClient) -> None:
        found = await remote.client.list(WORKLOADS, label_selector=f"{MULTIKUEUE_ORIGIN_LABEL}={remote.origin}")
        for workload in found.items:
            namespace, name = meta.namespace_of(workload), meta.name_of(workload)
            local = self._workloads.get(namespace, name)
            if local is not None and not meta.is_deleting(local):
                continue
            await self._collect_job(remote, workload)
            await remote.client.delete(WORKLOADS, name, namespace, missing_ok=True)

    async def _collect_job(self, remote: RemoteClient, workload: ReadOnlyTree) -> None:
        """Delete the job of a Workload on a worker, unless other Workloads of it are still wanted.
        """
        adapter, owner = self._clusters.adapters.of_workload(workload)
        if adapter is None or owner is None or group.is_replaced(workload):
            return
        job = Request(meta.namespace_of(workload), owner["name"])
        if isinstance(adapter, MultiWorkloadAdapter) and self._ctx.lister(adapter.resource).get(*job) is not None:
            return
        await adapters.delete_remote_object_if_owned(self._clusters.sides(remote, adapter), adapter, job)

"""What the controllers of Kueue share: caches, queues, counts. ``parts.py`` runs them.

It is made of nothing but the objects in the cluster: a restart makes a new ``Kueue``.
Upstream: cmd/kueue/main.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.context import Context
from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.cache.clusterqueue import Settings
from fakekube_controllers.kueue.configuration import EVICTION, Configuration
from fakekube_controllers.kueue.core.objects import Objects
from fakekube_controllers.kueue.metrics import KueueMetrics
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, COHORTS, RESOURCE_FLAVORS
from fakekube_controllers.kueue.queues.manager import Queues
from fakekube_controllers.kueue.scheduler.preemption.common.expectations import Store
from fakekube_controllers.kueue.topology.cache import TASCache
from fakekube_controllers.kueue.workload.info import Ordering, info_options

if TYPE_CHECKING:
    from fakekube.cache.lister import Lister
    from fakekube.client.recorder import Recorder


WAITED_FOR = (RESOURCE_FLAVORS, COHORTS, ADMISSION_CHECKS)
"""What decides about an admission besides what ``Objects`` looks up."""


class Kueue:
    """What the controllers of one run share."""

    def __init__(self, ctx: Context, configuration: Configuration) -> None:
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.configuration, self.features = configuration, configuration.features
        self.metrics, self.objects = KueueMetrics(ctx.metrics, counts_gates=self.features.PodGateMetrics), Objects(ctx)
        self.info_options = info_options(configuration)
        # by apiVersion and kind, those whose controllers have started
        self.jobs: dict[tuple[str, str], Lister] = {}
        self.ordering = _ordering(configuration)
        self.preemption_expectations = Store()
        self.tas_cache = TASCache(self.features)
        self.cache = Cache(Settings(self.info_options, _blocks_admission(configuration), self.tas_cache))
        self.queues = Queues(
            ctx.clock, self.objects, is_cluster_queue_active=self.cache.cluster_queue_active, options=self.info_options,
            ordering=self.ordering)
        ctx.on_close(self.queues.close)
        for resource in WAITED_FOR:
            ctx.informer(resource)
        ctx.tasks.spawn(self._open_queues(), "kueue: caches")

    async def _open_queues(self) -> None:
        """Let nothing be admitted before all that has quota is counted."""
        await self.ctx.wait_for_sync()
        self.queues.open()

    def should_expose_local_queue_metrics_for_workload(self, workload: ReadOnlyTree) -> bool:
        """Whether there are metrics of the LocalQueue of a Workload."""
        metrics = self.configuration.metrics
        if not metrics.local_queues or metrics.local_queue_selector is None:
            return metrics.local_queues and self.features.LocalQueueMetrics
        return self.should_expose_local_queue_metrics(self.objects.local_queue_of(workload))

    def should_expose_local_queue_metrics(self, local_queue: ReadOnlyTree | None) -> bool:
        """Whether there are metrics of a LocalQueue; None is one that is not there."""
        metrics = self.configuration.metrics
        if not metrics.local_queues or not self.features.LocalQueueMetrics:
            return False
        if metrics.local_queue_selector is None:
            return True
        return local_queue is not None and metrics.local_queue_selector.matches(meta.labels_of(local_queue))

    def recorder(self, component: str) -> "Recorder":
        """Records Events that come from ``component``, as ``kueue-workload-controller``."""
        return self.ctx.recorder(component)


def _ordering(configuration: Configuration) -> Ordering:
    waits = configuration.wait_for_pods_ready
    return Ordering(configuration.features, waits.requeuing_strategy.timestamp if waits is not None else EVICTION)


def _blocks_admission(configuration: Configuration) -> bool:
    return configuration.wait_for_pods_ready is not None and configuration.wait_for_pods_ready.block_admission

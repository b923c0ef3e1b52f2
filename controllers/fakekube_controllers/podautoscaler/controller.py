"""When an autoscaler is reconciled: once it is there or its spec has changed, and every 15 seconds.

The timers are daemons: that an autoscaler waits for its next reconcile never lets virtual time pass
by itself.
Upstream: pkg/controller/podautoscaler/horizontal.go (the queue, its rate limiter, the handlers).
"""

import logging

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import HORIZONTAL_POD_AUTOSCALERS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.podautoscaler.shared import Shared
from fakekube_controllers.podautoscaler.sync import Sync, SyncFailed

log = logging.getLogger(__name__)

SYNC_SECONDS = 15.0  # --horizontal-pod-autoscaler-sync-period
# the minor number of the release since which a new autoscaler does not wait for its first turn
AT_ONCE_SINCE = 37


class HorizontalReconciler:
    """Reconciles one autoscaler."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.shared = ctx, Shared(ctx)

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch autoscalers."""
        self.queue = queue
        self.ctx.add_handler(HORIZONTAL_POD_AUTOSCALERS, self._added, self._updated, self._deleted)

    def _added(self, autoscaler: Tree) -> None:
        key = meta.key_of(autoscaler)
        self.shared.selectors.setdefault(key, labels.NOTHING)
        if self.shared.minor >= AT_ONCE_SINCE:
            self.queue.add(key)
        else:
            self._later(key)

    def _updated(self, old: Tree, new: Tree) -> None:
        key = meta.key_of(new)
        if self.ctx.enabled("HPAGeneration") and meta.generation_of(old) != meta.generation_of(new):
            self.queue.add(key)
        else:
            self._later(key)

    def _deleted(self, autoscaler: Tree) -> None:
        key = meta.key_of(autoscaler)
        self.queue.withdraw(key)
        self.shared.selectors.pop(key, None)
        self.shared.histories.pop(key, None)

    def _later(self, key: Request) -> None:
        self.queue.add_after(key, SYNC_SECONDS, daemon=True)

    async def reconcile(self, request: Request) -> Result | None:
        """Scale as the metrics say; what fails is told in the status, and tried again as late as
        what went well.
        """
        autoscaler, own_writes = self.shared.autoscalers.get(*request), self.shared.own_writes
        if autoscaler is None:
            own_writes.forget(request)
            return None
        try:
            if own_writes.are_seen(request):
                await Sync(self.shared, autoscaler).run()
        except (SyncFailed, APIError) as error:
            log.info("horizontalpodautoscaler: %s: %s", request, error)
        return Result.after(SYNC_SECONDS, daemon=True)

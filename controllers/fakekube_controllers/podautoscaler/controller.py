"""When an autoscaler is looked at: once it is there or its spec has changed, and every 15 seconds.

The timers are daemons: that an autoscaler waits for its next look never lets virtual time pass by itself.
Upstream: pkg/controller/podautoscaler/horizontal.go (the queue, its rate limiter, the handlers).
"""

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import HORIZONTAL_POD_AUTOSCALERS, PODS
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.reconcile import Result
from fakekube_controllers.podautoscaler.round import Round, Unfinished
from fakekube_controllers.podautoscaler.sources import Sources
from fakekube_controllers.podautoscaler.specs import Specs

if TYPE_CHECKING:
    from fakekube.apimachinery.labels import Selector
    from fakekube_controllers.podautoscaler.behavior import Memory

log = logging.getLogger(__name__)

SYNC_SECONDS = 15.0  # --horizontal-pod-autoscaler-sync-period
AT_ONCE_SINCE = 37  # the minor number of the release since which a new autoscaler does not wait for its first turn


class HorizontalController:
    """A component for the manager."""

    name = "horizontalpodautoscaling"
    user_agent = "kube-controller-manager"
    user: UserInfo | None = None

    async def start(self, ctx: Context) -> None:
        """Watch pods and autoscalers, and begin."""
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.minor = int(ctx.version.partition(".")[2] or AT_ONCE_SINCE)
        self.autoscalers, self.pods = ctx.lister(HORIZONTAL_POD_AUTOSCALERS), ctx.lister(PODS)
        self.events = ctx.recorder("horizontal-pod-autoscaler")
        self.specs = Specs(
            Sources(ctx), self.pods, ctx.clock.time, pod_level=ctx.enabled("PodLevelResources"), minor=self.minor)
        self.selectors: dict[ObjectKey, Selector] = {}
        self.memories: dict[ObjectKey, Memory] = {}
        self.queue = ctx.queue("horizontalpodautoscaler")
        ctx.add_handler(HORIZONTAL_POD_AUTOSCALERS, self._added, self._updated, self._deleted)
        Worker(ctx, self.queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    def _added(self, autoscaler: Tree) -> None:
        key = meta.key_of(autoscaler)
        self.selectors.setdefault(key, labels.NOTHING)
        if self.minor >= AT_ONCE_SINCE:
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
        self.selectors.pop(key, None)
        self.memories.pop(key, None)

    def _later(self, key: ObjectKey) -> None:
        self.queue.add_after(key, SYNC_SECONDS, daemon=True)

    async def _sync(self, key: ObjectKey) -> Result | None:
        autoscaler = self.autoscalers.get(key.namespace, key.name)
        if autoscaler is None:
            return None
        try:
            await Round(self, autoscaler).run()
        except (Unfinished, APIError) as error:  # the next look is as far away as after any other
            log.info("horizontalpodautoscaler: %s: %s", key, error)
        return Result(requeue_after=timedelta(seconds=SYNC_SECONDS), daemon=True)

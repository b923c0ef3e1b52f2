"""Keeps the status of quotas: the limits that hold, and what is used of them.

A quota is counted when it is new or changed, when something that it counts is deleted or costs
less, and every now and then. Counting reads from the server, not from caches: admission charges a
quota in the same moment in which it lets an object in, so a quota and a list that is read after it
fit together, and a charge in between is a conflict. Upstream: resource_quota_controller.go and
resource_quota_monitor.go. Left out: the queue that new quotas skip ahead in.
"""

import functools
from collections.abc import Iterable

from fakekube.apimachinery import fields, meta, quotas
from fakekube.apimachinery.amounts import Amounts, add, count, pick, read, texts
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.pod_resources import RESIZE_GATE
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import (
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICATION_CONTROLLERS,
    RESOURCE_QUOTAS,
    SECRETS,
    SERVICES,
    Resource,
)
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue

NAMED = (PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS, CONFIG_MAPS, RESOURCE_QUOTAS, REPLICATION_CONTROLLERS, SECRETS)
"""What quotas have names for; everything else is counted as ``count/plural.group``."""
PREFIX = "count/"


class QuotaReconciler:
    """Counts for one quota. It watches quotas, and of the rest only what some quota counts."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self._resync_seconds = float(ctx.options.get("resource_quota_sync_period", 300.0))
        self._watched: set[Resource] = set()

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch quotas, and count all of them every now and then, as ``resource_quota_sync_period``
        says.
        """
        self.queue = queue
        self.ctx.add_handler(RESOURCE_QUOTAS, self._enqueue, self._quota_changed)
        self._resync_later()

    def _enqueue(self, quota: Tree) -> None:
        self.queue.add(Request(meta.namespace_of(quota), meta.name_of(quota)))

    def _quota_changed(self, old: Tree, new: Tree) -> None:
        if _hard(old) != _hard(new):
            self._enqueue(new)

    def _resync_later(self) -> None:
        """Lazy: a year without anything to count does not stop every five minutes."""
        self.ctx.clock.call_later(self._resync_seconds, self._resync, lazy=True)

    def _resync(self) -> None:
        if not self.queue.is_shut_down:
            for quota in self.ctx.lister(RESOURCE_QUOTAS).list():
                self._enqueue(quota)
            self._resync_later()

    async def _watch(self, resource: Resource) -> None:
        """Learn of what is given back from now on; what is new is charged by admission."""
        if resource not in self._watched:
            self._watched.add(resource)
            self.ctx.add_handler(
                resource, on_update=functools.partial(self._changed, resource),
                on_delete=functools.partial(self._gone, resource))
            await self.ctx.wait_for_sync()

    def _changed(self, resource: Resource, old: Tree, new: Tree) -> None:
        if quotas.has_moved(resource.group_resource, old, new, in_flight=self.ctx.enabled(RESIZE_GATE)):
            self._gone(resource, old)

    def _gone(self, resource: Resource, obj: Tree) -> None:
        for quota in self.ctx.lister(RESOURCE_QUOTAS).list(meta.namespace_of(obj)):
            if quotas.matching(resource.group_resource, _hard(quota)):
                self._enqueue(quota)

    async def reconcile(self, request: Request) -> None:
        """Write the status of a quota, if it says something new. Raises APIError."""
        # upstream's account may list quotas, not get one
        found = await self.client.list(
            RESOURCE_QUOTAS, request.namespace, field_selector=f"metadata.name={fields.escape(request.name)}")
        if not found.items:
            return
        quota = found.items[0]
        hard, before = _hard(quota), quota.get("status") or {}
        used = await self._count(quota, hard)
        status = {name: amounts for name, amounts in (("hard", hard), ("used", used)) if amounts}
        if status == {name: amounts for name, amounts in before.items() if amounts}:
            return
        try:
            await self.client.update_status(RESOURCE_QUOTAS, {**quota, "status": status})
        except APIError as error:
            if error.code not in (404, 409):
                raise
            self.queue.add(request)

    async def _count(self, quota: Tree, hard: dict[str, str]) -> dict[str, str]:
        used: Amounts = pick(read((quota.get("status") or {}).get("used")), hard)
        for resource in await self._counted_resources(hard):
            await self._watch(resource)
            names = quotas.matching(resource.group_resource, hard)
            total: Amounts = {}
            for obj in (await self.client.list(resource, meta.namespace_of(quota))).items:
                if quotas.counted(resource.group_resource, obj, quota, names):
                    cost = quotas.usage(resource.group_resource, obj, in_flight=self.ctx.enabled(RESIZE_GATE))
                    total = add(total, pick(cost, names))
            used.update({name: total.get(name, count(0)) for name in names})
        return texts(used)

    async def _counted_resources(self, names: Iterable[str]) -> list[Resource]:
        """The resources that count against any of these names.

        Names of what is not served count nothing.
        """
        found = [resource for resource in NAMED if quotas.matching(resource.group_resource, names)]
        for name in names:
            if not name.startswith(PREFIX):
                continue
            try:
                resource = await self.client.resource(name.removeprefix(PREFIX))
            except KeyError:
                continue
            if quotas.matching(resource.group_resource, [name]) and resource.namespaced and resource not in found:
                found.append(resource)
        return found


def _hard(quota: Tree) -> dict[str, str]:
    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    return hard

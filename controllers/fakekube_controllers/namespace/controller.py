"""Empties namespaces that are being deleted.

Pods are deleted first; while some are left, nothing else is touched. What stays (finalizers, grace
periods) is reported in conditions, and tried again later. Upstream:
pkg/controller/namespace/{namespace_controller.go,deletion}.
"""

from collections.abc import Sequence

import orjson

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NAMESPACES, PODS, Resource
from fakekube.client.transport import TransportError
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.namespace import conditions
from fakekube_controllers.namespace.conditions import Remaining

Failures = list[APIError | TransportError]
FINALIZER = "kubernetes"
# so that every API server has seen that the namespace is closed, as upstream has it
GRACE_SECONDS = 5.0
FINALIZER_ESTIMATE_SECONDS = 15


class NamespaceReconciler:
    """Empties one namespace."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch namespaces."""
        self.queue = queue
        self.ctx.add_handler(NAMESPACES, self._enqueue, lambda _, new: self._enqueue(new))

    def _enqueue(self, namespace: Tree) -> None:
        if meta.is_deleting(namespace) and _is_held(namespace):
            self.queue.add_after(Request("", meta.name_of(namespace)), GRACE_SECONDS)

    async def reconcile(self, request: Request) -> Result | None:
        """Delete what is in a namespace, and let it go once nothing is.

        Raises the first failure, after the rest was tried.
        """
        namespace = await self.client.get(NAMESPACES, request.name, missing_ok=True)
        if namespace is None or not meta.is_deleting(namespace) or not _is_held(namespace):
            return None
        remaining, failures, stale = await self._delete_content(request.name)
        await self._write_conditions(namespace, remaining, failures, stale)
        if failures:
            raise failures[0]
        if stale:
            raise APIError(503, "ServiceUnavailable", conditions.undiscovered(stale))
        if remaining.estimate_seconds:
            return Result.after(remaining.estimate_seconds // 2 + 1)
        await self._finalize(request.name)
        return None

    async def _delete_content(self, namespace: str) -> tuple[Remaining, Failures, Sequence[str]]:
        """What is left, what failed, and the group versions that nobody could tell about."""
        remaining, failures = Remaining(), Failures()
        await self._delete_all(PODS, namespace, remaining, failures)
        if remaining.counts:
            return remaining, failures, ()
        for resource in await self.client.resources(verbs=("delete", "list")):
            if resource.namespaced and resource.group_resource != PODS.group_resource:
                await self._delete_all(resource, namespace, remaining, failures)
        return remaining, failures, self.client.stale_versions

    async def _delete_all(self, resource: Resource, namespace: str, remaining: Remaining, failures: Failures) -> None:
        """Delete what there is of one resource and note what is left of it."""
        try:
            if not (await self.client.list(resource, namespace)).items:
                return
            await self._delete_collection(resource, namespace)
            left = (await self.client.list(resource, namespace)).items
        except (APIError, TransportError) as error:
            if not isinstance(error, APIError) or error.code not in (404, 405):
                failures.append(error)
            return
        if left:
            remaining.note(resource, left, self._estimate(resource, left))

    async def _delete_collection(self, resource: Resource, namespace: str) -> None:
        try:
            await self.client.delete_collection(resource, namespace, propagation_policy="Background")
        except APIError as error:
            if error.code != 405:
                raise
            for item in (await self.client.list(resource, namespace)).items:
                await self.client.delete(
                    resource, meta.name_of(item), namespace, propagation_policy="Background", missing_ok=True)

    def _estimate(self, resource: Resource, left: list[Tree]) -> int:
        """How many seconds until what is left may be gone: the longest grace of pods, else a guess
        about finalizers.
        """
        if resource.group_resource != PODS.group_resource or any(meta.finalizers_of(item) for item in left):
            return FINALIZER_ESTIMATE_SECONDS
        now = self.ctx.clock.time()
        ends = [times.parse_time(item["metadata"]["deletionTimestamp"]) for item in left if meta.is_deleting(item)]
        return max(1, int(max(ends, default=now) - now))

    async def _write_conditions(
        self, namespace: Tree, remaining: Remaining, failures: Failures, stale: Sequence[str],
    ) -> None:
        changed: Tree = orjson.loads(orjson.dumps(namespace))
        now = times.format_time(self.ctx.clock.time())
        texts = [str(error) for error in failures]
        if conditions.update(changed.setdefault("status", {}), remaining, texts, stale, now):
            try:
                await self.client.update_status(NAMESPACES, changed)
            except APIError as error:
                if error.code not in (404, 409):
                    raise

    async def _finalize(self, name: str) -> None:
        namespace = await self.client.get(NAMESPACES, name, missing_ok=True)
        if namespace is None:
            return
        kept = [finalizer for finalizer in namespace["spec"].get("finalizers") or () if finalizer != FINALIZER]
        namespace["spec"] = {**namespace["spec"], "finalizers": kept}
        try:
            await self.client.update(NAMESPACES, namespace, subresource="finalize")
        except APIError as error:
            if error.code != 404:
                raise


def _is_held(namespace: Tree) -> bool:
    return FINALIZER in ((namespace.get("spec") or {}).get("finalizers") or ())

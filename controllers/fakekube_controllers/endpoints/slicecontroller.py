"""Keeps the EndpointSlices of every Service with a selector.

Slices are read from the server when a Service is reconciled, so that what was written a moment ago
counts.
Upstream: pkg/controller/endpointslice/endpointslice_controller.go.
"""


from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS, SERVICES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube.workqueue.ratelimit import doubled_seconds
from fakekube_controllers.endpoints import MAX_RETRY_SECONDS, MIN_RETRY_SECONDS, backends
from fakekube_controllers.endpoints.slices import MANAGER, Changes, Planner, address_types
from fakekube_controllers.endpoints.slicetracker import SliceTracker

MAX_RETRIES = 15
SAME_TRAFFIC = "PreferSameTrafficDistribution"


class EndpointSliceReconciler:
    """Keeps the EndpointSlices of one Service."""

    slices: SliceTracker

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.services, self.pods, self.nodes = ctx.lister(SERVICES), ctx.lister(PODS), ctx.lister(NODES)
        self.events, self.times = ctx.recorder("endpoint-slice-controller"), backends.TriggerTimeTracker()
        self._tries: dict[Request, int] = {}

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods and slices."""
        self.slices = SliceTracker(self.ctx, queue, MANAGER)
        backends.enqueue_services_of_pods(self.ctx, self.services, queue)
        self.slices.listen()

    async def reconcile(self, key: Request) -> Result | None:
        """Write the slices of a Service; the result says when to reconcile it again because of
        missing nodes. Raises APIError.
        """
        service = self.services.get(key.namespace, key.name)
        if service is None:
            self.times.forget(key)
            self.slices.forget(key)
            self._tries.pop(key, None)
        if service is None or not backends.is_served(service):
            return None
        pods = backends.pods_of(service, self.pods)
        existing = [each for each in await self.slices.of(key) if not meta.is_deleting(each)]
        trigger = self.times.trigger(service, pods)
        planner = Planner(service, self.nodes, same_traffic=self.ctx.enabled(SAME_TRAFFIC))
        families = address_types(service)
        try:
            for family in families:
                changes = planner.plan(family, pods, [each for each in existing if each["addressType"] == family])
                await self._write(service, changes, trigger)
            others = [each for each in existing if each["addressType"] not in families]
            await self._write(service, Changes([], [], others), trigger)
        except APIError as error:
            if is_namespace_terminating(error):
                return None
            self._warn(service, str(error))
            raise
        return self._later(key, service, planner.lost)

    async def _write(self, service: Tree, changes: Changes, trigger: str) -> None:
        if not meta.is_deleting(service):
            for each in changes.create:
                await self.slices.create(_triggered(each, trigger))
        for each in changes.update:
            await self.slices.update(_triggered(each, trigger))
        for each in changes.delete:
            await self.slices.delete(each)

    def _later(self, key: Request, service: Tree, lost: list[Tree]) -> Result | None:
        """When to reconcile again because pods are left out, whose node does not exist; never after
        a few times.

        Virtual time does not wait for that.
        """
        if not lost:
            self._tries.pop(key, None)
            return None
        name = f"{key.namespace}/{key.name}"
        told = [f"skipping Pod {meta.name_of(pod)} for Service {name}: Node {_node(pod)} Not Found" for pod in lost]
        self._warn(service, told[0] if len(told) == 1 else f"[{', '.join(told)}]")
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        if tries > MAX_RETRIES:
            del self._tries[key]
            return None
        seconds = doubled_seconds(MIN_RETRY_SECONDS, tries - 1, MAX_RETRY_SECONDS)
        return Result.after(seconds, daemon=True)

    def _warn(self, service: Tree, text: str) -> None:
        name = f"{meta.namespace_of(service)}/{meta.name_of(service)}"
        told = f"Error updating Endpoint Slices for Service {name}: {text}"
        self.events.event(service, "Warning", "FailedToUpdateEndpointSlices", told)


def _node(pod: Tree) -> str:
    return str(pod["spec"].get("nodeName", ""))


def _triggered(each: Tree, trigger: str) -> Tree:
    metadata = each["metadata"]
    annotations = {key: value for key, value in meta.annotations_of(each).items() if key != backends.TRIGGER_TIME}
    if trigger:
        annotations[backends.TRIGGER_TIME] = trigger
    return {**each, "metadata": {**metadata, "annotations": annotations}}

"""Keeps the Endpoints of every Service with a selector, which older clients still read.

Upstream: pkg/controller/endpoint/endpoints_controller.go.
"""


from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import ENDPOINTS, PODS, SERVICES
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.endpoints import backends
from fakekube_controllers.endpoints.slices import address_types
from fakekube_controllers.endpoints.subsets import repack, truncate

MANAGED_BY, MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
LEADER = "control-plane.alpha.kubernetes.io/leader"


class EndpointsReconciler:
    """Keeps the Endpoints of one Service."""

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.services, self.pods, self.endpoints = ctx.lister(SERVICES), ctx.lister(PODS), ctx.lister(ENDPOINTS)
        self.events, self.times = ctx.recorder("endpoint-controller"), backends.TriggerTimeTracker()

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods, and the deletion of Endpoints.

        Endpoints that are left over from Services are removed first.
        """
        self.queue = queue
        backends.enqueue_services_of_pods(self.ctx, self.services, queue)
        self.ctx.add_handler(ENDPOINTS, None, None, self._enqueue)
        self.ctx.tasks.spawn(self._left_over(), "endpoints left over")

    async def _left_over(self) -> None:
        await self.ctx.wait_for_sync()
        for endpoints in self.endpoints.list():
            if LEADER not in meta.annotations_of(endpoints):
                self._enqueue(endpoints)

    def _enqueue(self, obj: Tree) -> None:
        self.queue.add(meta.key_of(obj))

    async def reconcile(self, key: Request) -> None:
        """Write or delete the Endpoints of a Service. Raises APIError."""
        service = self.services.get(key.namespace, key.name)
        if service is None:
            self.times.forget(key)
            await self.client.delete(ENDPOINTS, key.name, key.namespace, missing_ok=True)
            return
        if not backends.is_served(service):
            return
        selected = backends.pods_of(service, self.pods)
        trigger = self.times.trigger(service, selected)
        subsets = repack([subset for pod in selected for subset in _subsets(service, pod)])
        present = await self.client.get(ENDPOINTS, key.name, key.namespace, missing_ok=True)
        if present is not None and _is_right(present, service, subsets):
            return
        wanted = _endpoints(service, present, subsets, trigger)
        try:
            if present is None:
                await self.client.create(ENDPOINTS, wanted)
            else:
                await self.client.update(ENDPOINTS, wanted)
        except APIError as error:
            if present is None and is_namespace_terminating(error):
                return
            self._warn(wanted, created=present is None, error=error)
            raise

    def _warn(self, endpoints: Tree, *, created: bool, error: APIError) -> None:
        place = f"{meta.namespace_of(endpoints)}/{meta.name_of(endpoints)}"
        reason, text = (
            ("FailedToCreateEndpoint", f"Failed to create endpoint for service {place}: {error}") if created
            else ("FailedToUpdateEndpoint", f"Failed to update endpoint {place}: {error}"))
        self.events.event({"apiVersion": "v1", "kind": "Endpoints", **endpoints}, "Warning", reason, text)


def _subsets(service: Tree, pod: Tree) -> list[Tree]:
    """What one pod adds: a subset for each port, or one without ports for a headless Service that
    has none.
    """
    everybody = bool(service["spec"].get("publishNotReadyAddresses"))
    if not backends.belongs(pod, terminating=everybody):
        return []
    found = backends.addresses(pod, 6 if address_types(service)[0] == "IPv6" else 4)
    if not found:
        return []
    address: Tree = {"ip": found[0], "nodeName": pod["spec"].get("nodeName", ""), "targetRef": backends.target(pod)}
    if name := backends.hostname(pod, service):
        address["hostname"] = name
    where = "addresses" if everybody or pods.is_ready(pod) else "notReadyAddresses"
    if service["spec"].get("ports"):
        ports = [{key: value for key, value in port.items() if value} for port in backends.found_ports(pod, service)]
        return [{where: [address], "ports": [port]} for port in ports]
    return [{where: [address]}] if service["spec"].get("clusterIP") == "None" else []


def _is_right(present: Tree, service: Tree, subsets: list[Tree]) -> bool:
    carried = dict(meta.labels_of(present))
    carried.pop(backends.HEADLESS, None)
    managed = carried.pop(MANAGED_BY, "") == MANAGER
    wanted = {key: value for key, value in meta.labels_of(service).items() if key not in (backends.HEADLESS, MANAGED_BY)}
    overflow = OVER_CAPACITY in meta.annotations_of(present)
    return repack(present.get("subsets") or []) == subsets and managed and carried == wanted and not overflow


def _endpoints(service: Tree, present: Tree | None, subsets: list[Tree], trigger: str) -> Tree:
    kept, cut = truncate(subsets)
    metadata: Tree = dict((present or {}).get("metadata") or {
        "name": meta.name_of(service), "namespace": meta.namespace_of(service)})
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items()
        if key not in (backends.TRIGGER_TIME, OVER_CAPACITY)}
    annotations |= ({backends.TRIGGER_TIME: trigger} if trigger else {}) | ({OVER_CAPACITY: "truncated"} if cut else {})
    carried = {key: value for key, value in meta.labels_of(service).items() if key != backends.HEADLESS}
    headless = {} if backends.has_address(service) else {backends.HEADLESS: ""}
    metadata |= {"labels": carried | headless | {MANAGED_BY: MANAGER}, "annotations": annotations}
    return {**(present or {}), "metadata": metadata, "subsets": kept}

"""Copies Endpoints that somebody wrote by hand, for a Service without a selector, to
EndpointSlices.

Upstream: pkg/controller/endpointslicemirroring.
"""

import ipaddress
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import ENDPOINTS, SERVICES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.endpoints import backends
from fakekube_controllers.endpoints.endpointscontroller import LEADER
from fakekube_controllers.endpoints.hashes import slice_port_hash
from fakekube_controllers.endpoints.slices import MANAGED_BY, SERVICE_NAME, identity, port_key, same_state
from fakekube_controllers.endpoints.slicetracker import SliceTracker
from fakekube_controllers.endpoints.subsets import repack

MANAGER = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MAX_ADDRESSES = 1000

Group = tuple[str, tuple[Any, ...]]  # family and ports


class MirroringReconciler:
    """Keeps the slices that mirror one Endpoints object."""

    queue: WorkQueue[Request]
    slices: SliceTracker

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.services, self.endpoints = ctx.lister(SERVICES), ctx.lister(ENDPOINTS)
        self.events = ctx.recorder("endpoint-slice-mirroring-controller")

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch Services, Endpoints and slices."""
        self.queue, self.slices = queue, SliceTracker(self.ctx, queue, MANAGER)
        self.ctx.add_handler(SERVICES, self._service_changed, self._service_updated, self._service_changed)
        self.ctx.add_handler(ENDPOINTS, self._endpoints_changed, self._endpoints_updated, self._endpoints_changed)
        self.slices.listen()

    def _service_changed(self, service: Tree) -> None:
        if service["spec"].get("selector") is None:
            self.queue.add(meta.key_of(service))

    def _service_updated(self, old: Tree, new: Tree) -> None:
        if (old["spec"].get("selector") is None) != (new["spec"].get("selector") is None):
            self.queue.add(meta.key_of(new))

    def _endpoints_changed(self, endpoints: Tree) -> None:
        if _is_mirrored(endpoints):
            self.queue.add(meta.key_of(endpoints))

    def _endpoints_updated(self, old: Tree, new: Tree) -> None:
        if _is_mirrored(old) or _is_mirrored(new):
            self.queue.add(meta.key_of(new))

    async def reconcile(self, key: Request) -> None:
        """Write or delete the slices that mirror Endpoints. Raises APIError."""
        endpoints, service = self.endpoints.get(key.namespace, key.name), self.services.get(key.namespace, key.name)
        existing = await self.slices.of(key)
        if (
            endpoints is None or not _is_mirrored(endpoints) or service is None
            or service["spec"].get("selector") is not None
        ):
            for each in existing:
                await self.slices.delete(each)
            self.slices.forget(key)
            return
        try:
            await self._mirror(endpoints, existing)
        except APIError as error:
            if not is_namespace_terminating(error):
                raise

    async def _mirror(self, endpoints: Tree, existing: list[Tree]) -> None:
        wanted = self._wanted(endpoints)
        present: dict[Group, list[Tree]] = {}
        for each in existing:
            present.setdefault((each["addressType"], port_key(each.get("ports") or ())), []).append(each)
        create, spare = [], [each for group, slices in present.items() if group not in wanted for each in slices]
        for group, each in wanted.items():
            slices = present.get(group, [])
            spare += slices[1:]
            if not slices:
                create.append(each)
            elif not _is_like(slices[0], each):
                del each["metadata"]["generateName"]
                await self._replace(slices[0], each)
        for each in create:
            recycled = next((old for old in spare if old["addressType"] == each["addressType"]), None)
            if recycled is not None:
                spare.remove(recycled)
                await self._replace(recycled, each)
            elif not meta.is_deleting(endpoints):
                await self.slices.create(each)
        for each in spare:
            await self.slices.delete(each)

    async def _replace(self, old: Tree, new: Tree) -> None:
        await self.slices.update({**new, "metadata": {**new["metadata"], "name": meta.name_of(old)}})

    def _wanted(self, endpoints: Tree) -> dict[Group, Tree]:
        """The slices that mirror Endpoints, one for each family and each set of ports."""
        slices: dict[Group, Tree] = {}
        invalid = skipped = 0
        for subset in repack(endpoints.get("subsets") or []):
            ports = sorted(({"name": "", **port} for port in subset.get("ports") or ()), key=slice_port_hash)
            states = [(each, ready) for name, ready in (("addresses", True), ("notReadyAddresses", False))
                      for each in subset.get(name) or ()]
            added = 0
            for address, ready in states:
                if added == MAX_ADDRESSES:
                    break
                try:
                    ip = ipaddress.ip_address(address["ip"])
                except ValueError:
                    invalid += 1
                    continue
                family = f"IPv{ip.version}"
                each = slices.setdefault((family, port_key(ports)), _empty(endpoints, family, ports))
                each["endpoints"].append(_endpoint(address, str(ip), ready=ready))
                added += 1
            skipped += len(states) - added
        self._tell(endpoints, invalid, skipped)
        return slices

    def _tell(self, endpoints: Tree, invalid: int, skipped: int) -> None:
        if invalid:
            text = f"Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices"
            self.events.event(endpoints, "Warning", "InvalidIPAddress", text)
        if skipped > invalid:
            text = (
                f"A max of {MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints subset. "
                f"{skipped} addresses were skipped")
            self.events.event(endpoints, "Warning", "TooManyAddressesToMirror", text)


def _is_mirrored(endpoints: Tree) -> bool:
    return meta.labels_of(endpoints).get(SKIP) != "true" and LEADER not in meta.annotations_of(endpoints)


def _endpoint(address: Tree, ip: str, *, ready: bool) -> Tree:
    optional = {key: address[key] for key in ("targetRef", "nodeName", "hostname") if address.get(key)}
    return {"addresses": [ip], "conditions": {"ready": ready}, **optional}


def _empty(endpoints: Tree, family: str, ports: list[Tree]) -> Tree:
    carried = {**meta.labels_of(endpoints), SERVICE_NAME: meta.name_of(endpoints), MANAGED_BY: MANAGER}
    return {
        "metadata": {
            "generateName": f"{meta.name_of(endpoints)}-", "namespace": meta.namespace_of(endpoints), "labels": carried,
            "annotations": {
                key: value for key, value in meta.annotations_of(endpoints).items()
                if key not in (backends.TRIGGER_TIME, LAST_APPLIED)},
            "ownerReferences": [meta.controller_reference(endpoints)],
        },
        "addressType": family, "ports": ports, "endpoints": [],
    }


def _is_like(present: Tree, wanted: Tree) -> bool:
    """Whether a slice tells what it should: endpoints in any order, labels, annotations, and of
    which Endpoints it is.
    """
    found = {identity(endpoint): endpoint for endpoint in present.get("endpoints") or ()}
    desired = {identity(endpoint): endpoint for endpoint in wanted["endpoints"]}
    return (
        found.keys() == desired.keys() and all(same_state(found[key], endpoint) for key, endpoint in desired.items())
        and meta.labels_of(present) == meta.labels_of(wanted)
        and meta.annotations_of(present) == meta.annotations_of(wanted)
        and meta.owners_of(present) == meta.owners_of(wanted)
    )

"""Writes what was decided about claims: allocations, reservations, and their end.

Upstream: bindClaim, unreserve and deallocation of plugins/dynamicresources.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import PODS, RESOURCE_CLAIMS
from fakekube.util.clock import Clock
from fakekube_controllers.scheduler.devices import special
from fakekube_controllers.scheduler.devices.pod_claims import PodClaims
from fakekube_controllers.scheduler.devices.references import ClaimProblem, allocation_of, reservations_of
from fakekube_controllers.scheduler.devices.requests import claim_name
from fakekube_controllers.scheduler.devices.tracker import ClaimTracker

FINALIZER = "resource.kubernetes.io/delete-protection"
TRIES = 5
CONFLICT = 409


class ClaimWriter:
    """Writes for one profile. ``stamps``: allocations say when they were written."""

    def __init__(self, client: Client, clock: Clock, tracker: ClaimTracker, *, stamps: bool) -> None:
        self._client, self._clock, self._tracker, self._stamps = client, clock, tracker, stamps

    async def bind(self, pod: ReadOnlyTree, claims: PodClaims, place: int, consumer: Tree, node_name: str) -> None:
        """Reserve a claim for a pod or its group, and allocate it where that was decided.

        Raises ClaimProblem.
        """
        claim, allocation = claims.claims[place], claims.allocations.get(place)
        if place == claims.special:
            if allocation is None:
                return  # the node has the resources itself
            if not special.is_written(claim):
                claim = claims.claims[place] = await self._create(claims, node_name)
        written = await self._reserve(claim, allocation, consumer)
        claims.claims[place] = written
        self._tracker.assume(written)
        if place == claims.special:
            await self._tell_pod(pod, written, claims, node_name)

    async def _create(self, claims: PodClaims, node_name: str) -> Tree:
        made = claims.nodes[node_name].special
        assert made is not None, "it was allocated"
        metadata = {key: value for key, value in made["metadata"].items() if key not in ("name", "uid")}
        try:
            return await self._client.create(RESOURCE_CLAIMS, {"metadata": metadata, "spec": made["spec"]})
        except APIError as error:
            raise ClaimProblem(f"create claim for extended resources {claim_name(made)}: {error}") from None

    async def _reserve(self, claim: ReadOnlyTree, allocation: Tree | None, consumer: Tree) -> Tree:
        """Of several tries the first that meets no change by somebody else."""
        for number in range(TRIES):
            if number:
                try:
                    claim = await self._client.get(RESOURCE_CLAIMS, meta.name_of(claim), meta.namespace_of(claim))
                except APIError as error:
                    raise ClaimProblem(f"get updated claim {claim_name(claim)} after conflict: {error}") from None
            try:
                return await self._try_to_reserve(claim, allocation, consumer)
            except _Changed as changed:
                text = str(changed)
        raise ClaimProblem(text)

    async def _try_to_reserve(self, claim: ReadOnlyTree, allocation: Tree | None, consumer: Tree) -> Tree:
        name = claim_name(claim)
        if meta.is_deleting(claim):
            raise ClaimProblem(f"claim {name} got deleted in the meantime")
        if allocation is not None:
            if allocation_of(claim) is not None:
                raise ClaimProblem(f"claim {name} got allocated elsewhere in the meantime")
            if FINALIZER not in meta.finalizers_of(claim):
                claim = await self._update(meta.with_finalizer(claim, FINALIZER), f"add finalizer to claim {name}")
        found = allocation or allocation_of(claim)
        if self._stamps:
            if found is None:
                raise ClaimProblem(f"claim {name} got deallocated elsewhere in the meantime")
            found = {"allocationTimestamp": format_time(self._clock.time()), **found}
        status: Tree = {**(claim.get("status") or {}), "reservedFor": [*reservations_of(claim), consumer]}
        if found is not None:
            status["allocation"] = found
        what = "add allocation and reservation to claim" if allocation is not None else "add reservation to claim"
        return await self._update({**claim, "status": status}, f"{what} {name}", subresource="status")

    async def _update(self, claim: Tree, what: str, subresource: str = "") -> Tree:
        try:
            return await self._client.update(RESOURCE_CLAIMS, claim, subresource=subresource)
        except APIError as error:
            text = f"{what}: {error}"
            raise (_Changed if error.code == CONFLICT else ClaimProblem)(text) from None

    async def _tell_pod(self, pod: ReadOnlyTree, claim: ReadOnlyTree, claims: PodClaims, node_name: str) -> None:
        """The pod's status names the claim for its extended resources."""
        found = {"requestMappings": [*claims.nodes[node_name].mappings], "resourceClaimName": meta.name_of(claim)}
        try:
            await self._client.patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), {"status": {"extendedResourceClaimStatus": found}},
                type="strategic", subresource="status")
        except APIError as error:
            name = f"{meta.namespace_of(pod)}/{meta.name_of(pod)}"
            raise ClaimProblem(f"update pod {name} ExtendedResourceClaimStatus: {error}") from None

    async def free(self, claim: ReadOnlyTree) -> None:
        """Take its allocation and reservations off a claim. Raises APIError."""
        status = {key: value for key, value in claim["status"].items() if key not in ("reservedFor", "allocation", "devices")}
        await self._client.update_status(RESOURCE_CLAIMS, {**claim, "status": status})

    async def unreserve(self, claim: ReadOnlyTree, uid: str) -> bool:
        """Take one reservation off a claim. Whether that was possible."""
        body = {"metadata": {"uid": meta.uid_of(claim)}, "status": {"reservedFor": [{"$patch": "delete", "uid": uid}]}}
        try:
            await self._client.patch(
                RESOURCE_CLAIMS, meta.name_of(claim), meta.namespace_of(claim), body, type="strategic", subresource="status")
        except APIError:
            return False
        return True

    async def delete(self, claim: ReadOnlyTree) -> None:
        """Delete a special claim. Raises APIError."""
        name, namespace = meta.name_of(claim), meta.namespace_of(claim)
        for _ in range(TRIES):
            try:
                await self._client.update(RESOURCE_CLAIMS, meta.without_finalizer(claim, FINALIZER))
                break
            except APIError as error:
                if error.code != CONFLICT:
                    raise
            claim = await self._client.get(RESOURCE_CLAIMS, name, namespace)
        await self._client.delete(RESOURCE_CLAIMS, name, namespace, missing_ok=True)


class _Changed(ClaimProblem):
    """Somebody else has changed the claim."""

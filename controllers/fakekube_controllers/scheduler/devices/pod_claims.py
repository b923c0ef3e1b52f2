"""What a scheduling cycle of a pod knows of its claims.

Upstream: stateData, nodeAllocation, claimStore of plugins/dynamicresources.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fakekube.apimachinery import placement
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.scheduler.devices.allocator import Allocator
from fakekube_controllers.scheduler.devices.references import allocation_of, reservations_of
from fakekube_controllers.scheduler.devices.requests import asked_of
from fakekube_controllers.scheduler.framework.types import NodeInfo

MAX_ALTERNATIVES = 8
"""Of a request. Upstream: FirstAvailableDeviceRequestMaxSize."""


@dataclass(slots=True, eq=False)
class NodeAllocation:
    """What the claims of a pod would get on a node, by their places among them.

    ``special``: the claim for extended resources with the requests for this node; ``mappings``:
    which containers use which of these.
    """

    allocations: dict[int, Tree]
    special: Tree | None = None
    mappings: Sequence[Tree] = ()


@dataclass(slots=True, eq=False)
class PodClaims:
    """The claims of a pod, the special one (``special`` is its place) last.

    ``consumers``: for whom each is to be reserved. ``allocations``: what is to be written, where
    that is decided. ``unavailable``: places of claims whose allocation was of no use on some node.
    ``special_uid``: of the special claim before it was written.
    """

    claims: list[ReadOnlyTree]
    consumers: Sequence[Tree]
    special: int | None = None
    special_uid: str = ""
    allocations: dict[int, Tree] = field(default_factory=dict)
    unavailable: dict[int, None] = field(default_factory=dict)
    nodes: dict[str, NodeAllocation] = field(default_factory=dict)
    allocator: Allocator | None = None

    def to_allocate(self) -> Iterator[tuple[int, ReadOnlyTree]]:
        """The claims that have nothing yet, with their places."""
        return ((place, claim) for place, claim in enumerate(self.claims) if allocation_of(claim) is None)

    def uid_of(self, place: int) -> str:
        """The uid under which the allocation of a claim is known while it is under way."""
        return self.special_uid if place == self.special else str(self.claims[place]["metadata"]["uid"])

    def score(self, node_name: str) -> int:
        """More for alternatives that stand earlier in the lists of requests."""
        found, total = self.nodes.get(node_name), 0
        if found is None:
            return 0
        for place, claim in enumerate(self.claims):
            allocation = allocation_of(claim) or found.allocations.get(place)
            names = dict.fromkeys(each["request"] for each in results_of(allocation)) if allocation else {}
            for request in asked_of(claim).get("requests") or ():
                for number, each in enumerate(request.get("firstAvailable") or ()):
                    if f"{request['name']}/{each['name']}" in names:
                        total += MAX_ALTERNATIVES - number
        return total


def results_of(allocation: ReadOnlyTree) -> Sequence[ReadOnlyTree]:
    """The devices of an allocation."""
    return (allocation.get("devices") or {}).get("results") or ()


def is_available(allocation: ReadOnlyTree, node: NodeInfo) -> bool:
    """Whether the devices of an allocation can be used on a node."""
    selector = allocation.get("nodeSelector")
    if selector is None or node.node is None:
        return selector is None
    labels = node.node["metadata"].get("labels") or {}
    return any(placement.term_matches(term, node.name, labels) for term in selector["nodeSelectorTerms"])


def may_be_freed(claim: ReadOnlyTree, uid: str) -> bool:
    """Whether a claim is allocated, and reserved for nobody else than who has this uid."""
    reserved = reservations_of(claim)
    return allocation_of(claim) is not None and (not reserved or (len(reserved) == 1 and reserved[0]["uid"] == uid))


def bound_devices(claim: ReadOnlyTree) -> list[tuple[ReadOnlyTree, ReadOnlyTree | None]]:
    """The devices of a claim that must be made ready, each with its status as far as there is one.
    """
    allocation, status = allocation_of(claim), (claim.get("status") or {}).get("devices") or ()
    if allocation is None:
        return []
    return [
        (result, next((each for each in status if all(each[key] == result[key] for key in ("driver", "pool", "device"))), None))
        for result in results_of(allocation) if result.get("bindingConditions")]


def is_ready(claim: ReadOnlyTree) -> tuple[bool, str]:
    """Whether all devices are ready to be bound to, and why one will never be."""
    if allocation_of(claim) is None:
        return False, ""
    for result, status in bound_devices(claim):
        conditions = {each["type"]: each for each in (status or {}).get("conditions") or ()}
        if status is None:
            return False, ""
        for name in result.get("bindingFailureConditions") or ():
            failed = conditions.get(name)
            if failed is not None and failed["status"] == "True":
                return False, (f"device binding failed: claim={claim['metadata']['name']}, reason={failed.get('reason', '')}, "
                               f"message={go_quote(failed.get('message', ''))}")
        if any((conditions.get(name) or {}).get("status") != "True" for name in result["bindingConditions"]):
            return False, ""
    return True, ""

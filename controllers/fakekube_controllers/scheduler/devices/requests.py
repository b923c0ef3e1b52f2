"""What is asked for: every request of a claim, and of a prioritized list every alternative.

Upstream: validateDeviceRequest of the allocator.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.devices.model import MAX_RESULTS, AllocationError, Features

ALL = "All"
EXACT_COUNT = "ExactCount"
FindClass = Callable[[str], ReadOnlyTree | None]


@dataclass(slots=True, eq=False)
class Request:
    """One request, or one alternative of a request, whose name is then ``parent``.

    ``body`` has what is asked for, ``key`` tells it from others. ``count`` devices are needed;
    those of mode All are ``devices``, by their number among all of the node.
    """

    name: str
    parent: str
    body: ReadOnlyTree
    device_class: ReadOnlyTree
    key: int
    count: int = 0
    is_all: bool = False
    devices: list[int] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        """As results and configuration name it."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def has_admin_access(self) -> bool:
        """Whether devices are asked for whoever else has them."""
        return not self.parent and bool(self.body.get("adminAccess"))


@dataclass(slots=True, eq=False)
class ClaimRequests:
    """A claim with the alternatives of each of its requests."""

    claim: ReadOnlyTree
    requests: list[Sequence[Request]]

    @property
    def name(self) -> str:
        """Namespace and name."""
        return claim_name(self.claim)


def claim_name(claim: ReadOnlyTree) -> str:
    """Namespace and name of a claim, as upstream's messages have it."""
    return f"{meta.namespace_of(claim)}/{meta.name_of(claim)}"


def asked_of(claim: ReadOnlyTree) -> ReadOnlyTree:
    """What a claim says of devices."""
    return claim["spec"].get("devices") or {}


class RequestReader:
    """Reads the requests of several claims."""

    def __init__(self, features: Features, find_class: FindClass, find_all: Callable[[Request, str], list[int]]) -> None:
        """``find_all`` says which devices a request of mode All means, given its claim's name."""
        self._features, self._find_class, self._find_all = features, find_class, find_all
        self._count = 0

    def read(self, claim: ReadOnlyTree) -> ClaimRequests:
        """The requests of a claim. Raises AllocationError."""
        at, found, least = claim_name(claim), ClaimRequests(claim, []), 0
        for request in asked_of(claim).get("requests") or ():
            self._check_features(at, request)
            alternatives = self._alternatives(at, request)
            found.requests.append(alternatives)
            fewest = min(each.count for each in alternatives)
            if fewest > MAX_RESULTS - least:
                raise AllocationError(
                    f"claim {at}, request {request['name']}: adding {fewest} devices exceeds the claim limit of {MAX_RESULTS}, "
                    f"with {least} already accounted for")
            least += fewest
        return found

    def _check_features(self, at: str, request: ReadOnlyTree) -> None:
        listed = request.get("firstAvailable") or ()
        if listed and not self._features.prioritized_list:
            raise AllocationError(
                f"claim {at}, request {request['name']}: has subrequests, but the DRAPrioritizedList feature is disabled")
        if self._features.consumable_capacity:
            return
        named = [("request", request["name"], request.get("exactly") or {})]
        named += [("subrequest", each["name"], each) for each in listed]
        for kind, name, body in named:
            if body.get("capacity") is not None:
                raise AllocationError(
                    f"claim {at}, {kind} {name}: has capacity requests, but the DRAConsumableCapacity feature is disabled")

    def _alternatives(self, at: str, request: ReadOnlyTree) -> list[Request]:
        listed = request.get("firstAvailable")
        if not listed:
            return [self._read(at, request["name"], "", request.get("exactly") or {})]
        return [self._read(at, each["name"], request["name"], each) for each in listed]

    def _read(self, at: str, name: str, parent: str, body: ReadOnlyTree) -> Request:
        where = f"claim {at}, request {name}"
        for number, selector in enumerate(body.get("selectors") or ()):
            if selector.get("cel") is None:
                raise AllocationError(f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)")
        if body.get("derivedAttributes"):
            raise AllocationError(f"{where}: cannot handle request with derived attributes, the feature is disabled")
        if not parent and body.get("adminAccess") is not None and not self._features.admin_access:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        class_name = body.get("deviceClassName")
        if not class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self._find_class(class_name)
        if device_class is None:
            missing = f'deviceclass.resource.k8s.io "{class_name}" not found'
            raise AllocationError(f"{where}: could not retrieve device class {class_name}: {missing}")
        self._count += 1
        request = Request(name, parent, body, device_class, self._count)
        mode = body.get("allocationMode") or EXACT_COUNT
        if mode == ALL:
            request.is_all, request.devices = True, self._find_all(request, at)
            request.count = len(request.devices)
        elif mode == EXACT_COUNT:
            request.count = int(body.get("count") or 1)
        else:
            raise AllocationError(f"{where}: unsupported count mode {mode}")
        return request

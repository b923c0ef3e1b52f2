"""Finds devices for all claims of a pod on one node.

Claims, their requests and the devices of each request are gone through in order, and for each the
devices of the node; where it comes to nothing, the last choice is taken back. The first full
solution is taken. Devices of a request are tried in one order only, and one that is like another
that came to nothing is not tried: so like devices cost no more than one. The search ends after so
much work, where upstream's ends after ten seconds.

Upstream: allocator_incubating.go, which recurses; here generators on a list do (a pod can have more
claims than Python can nest calls).
"""

import enum
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery import placement
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util.rng import Rng
from fakekube_controllers.scheduler.devices import capacity
from fakekube_controllers.scheduler.devices.constraints import Constraint, constraints_of
from fakekube_controllers.scheduler.devices.counters import CountersLeft
from fakekube_controllers.scheduler.devices.model import (
    MAX_RESULTS,
    AllocationError,
    DeviceID,
    Features,
    NodeAllocationError,
    PoolID,
    TakesTooLong,
)
from fakekube_controllers.scheduler.devices.pools import (
    Counters,
    Pool,
    ResourceSlices,
    device_id,
    gather_pools,
    node_matches,
)
from fakekube_controllers.scheduler.devices.requests import ClaimRequests, FindClass, Request, RequestReader
from fakekube_controllers.scheduler.devices.results import Taken, allocation_of
from fakekube_controllers.scheduler.devices.usage import AllocatedDevices

MAX_WORK = 400_000
"""For one node: a device that is taken counts 1, one that is free FREE_WORK."""
FREE_WORK = 16
MAX_NODES = 5
"""Of nodes that take so much, for one pod."""
EFFECTS = ("NoSchedule", "NoExecute")

Match = Callable[[str, Sequence[ReadOnlyTree], ReadOnlyTree, ReadOnlyTree, str], bool]
"""Whether selectors take a device: see ``selectors.Selectors.match``."""


class _Outcome(enum.Enum):
    DONE = 0
    NO = 1
    TOO_MANY = 2  # devices for one claim: fewer may do


_Step = Generator["_Step", _Outcome, _Outcome]


class Candidate(NamedTuple):
    """A device of a pool that is usable."""

    id: DeviceID
    pool: Pool
    slice: ReadOnlyTree
    device: ReadOnlyTree
    is_multiple: bool  # several claims can have it

    def like(self) -> tuple[int, bytes]:
        """Equal for devices of a slice that differ in nothing but their names."""
        return id(self.slice), orjson.dumps({**self.device, "name": ""}, option=orjson.OPT_SORT_KEYS)


class Allocator:
    """Allocates for one pod, on one node after the other. Nothing may be allocated meanwhile."""

    def __init__(
        self, features: Features, allocated: AllocatedDevices, find_class: FindClass, slices: ResourceSlices, match: Match,
        ids: Rng, max_work: int = MAX_WORK,
    ) -> None:
        self.features, self.allocated, self.find_class, self.slices = features, allocated, find_class, slices
        self.match, self.ids, self.max_work = match, ids, max_work
        self.work_left = MAX_NODES * max_work
        self.counters: dict[PoolID, Counters] = {}  # that are left, by what is allocated

    def allocate(self, node_name: str, labels: Mapping[str, str], claims: Sequence[ReadOnlyTree]) -> list[Tree] | None:
        """An allocation for each of the claims; None where the node cannot have them.

        Raises AllocationError for a claim, class or selector that is wrong, NodeAllocationError for
        what is wrong with this node's pools alone, TakesTooLong.
        """
        return _Search(self, node_name, labels).run(claims)


class _Search:
    """One search, on one node. What it tries, it keeps count of here."""

    def __init__(self, allocator: Allocator, node_name: str, labels: Mapping[str, str]) -> None:
        self._of, self._features, self._node_name, self._labels = allocator, allocator.features, node_name, labels
        self._pools = gather_pools(allocator.slices, node_name, labels, allocator.features)
        multiple = self._features.consumable_capacity
        self._candidates = [
            Candidate(device_id(each, device), pool, each, device, multiple and bool(device.get("allowMultipleAllocations")))
            for pool in self._pools if pool.is_usable for each in pool.slices for device in each["spec"].get("devices") or ()]
        self._counters = CountersLeft(allocator.counters, allocator.allocated)
        self._selectable: dict[tuple[int, int], bool] = {}
        self._wanted: dict[tuple[int, int], dict[str, capacity.Amount] | None] = {}
        self._work_left = min(allocator.max_work, allocator.work_left)
        self._claims: list[ClaimRequests] = []
        self._constraints: list[list[Constraint]] = []
        self._whole: dict[DeviceID, dict[int, None]] = {}  # by device the claims that have it
        self._shares: dict[DeviceID, list[Mapping[str, int]]] = {}
        self._taken: list[list[Taken]] = []  # by claim

    def run(self, claims: Sequence[ReadOnlyTree]) -> list[Tree] | None:
        """See ``Allocator.allocate``."""
        reader = RequestReader(self._features, self._of.find_class, self._all_devices)
        for claim in claims:
            read = reader.read(claim)
            self._claims.append(read)
            self._constraints.append(constraints_of(claim, read.name, lists=self._features.list_type_attributes))
            self._taken.append([])
        if self._walk() is not _Outcome.DONE:
            if any(pool.invalid for pool in self._pools):
                raise NodeAllocationError("invalid resource pools were encountered")
            return None
        return [
            allocation_of(claim, taken, self._node_name, self._of.ids, self._features)
            for claim, taken in zip(self._claims, self._taken, strict=True)]

    def _walk(self) -> _Outcome:
        """Run the first step with all that it calls."""
        steps: list[_Step] = [self._request(0, 0)]
        outcome: _Outcome | None = None
        while steps:
            try:
                steps.append(steps[-1].send(outcome) if outcome is not None else next(steps[-1]))
                outcome = None
            except StopIteration as done:
                steps.pop()
                outcome = done.value
        assert outcome is not None, "the first step has one"
        return outcome

    # the steps

    def _request(self, at: int, number: int) -> _Step:
        """A request of a claim by one of its alternatives, and all that comes after it."""
        if at == len(self._claims):
            return _Outcome.DONE
        claim = self._claims[at]
        if number == len(claim.requests):
            outcome = yield self._request(at + 1, 0)
            # too many for a later claim: an alternative of this one may leave it others
            return _Outcome.NO if outcome is _Outcome.TOO_MANY else outcome
        alternatives = claim.requests[number]
        if not alternatives[0].parent:
            return (yield self._devices(at, number, alternatives[0], 0, 0))
        worst = _Outcome.TOO_MANY
        for request in alternatives:
            outcome = yield self._devices(at, number, request, 0, 0)
            if outcome is _Outcome.DONE:
                return outcome
            if outcome is _Outcome.NO:
                worst = outcome
        return worst

    def _devices(self, at: int, number: int, request: Request, found: int, start: int) -> _Step:
        """The devices of a request that are not ``found`` yet, of the candidates from ``start``."""
        if request.is_all and not request.devices:
            return _Outcome.NO
        if found >= request.count:
            return (yield self._request(at, number + 1))
        if request.count - found > MAX_RESULTS - len(self._taken[at]):
            return _Outcome.TOO_MANY
        if request.is_all:
            taken = self._take(at, request, self._candidates[request.devices[found]], must=True)
            if taken is None:
                return _Outcome.NO
            outcome = yield self._devices(at, number, request, found + 1, 0)
            if outcome is not _Outcome.DONE:
                self._give_back(at, request, taken)
            return outcome
        failed: dict[tuple[int, bytes], None] = {}
        for place in range(start, len(self._candidates)):
            candidate = self._candidates[place]
            is_free = self._is_free(at, request, candidate)
            self._spend(FREE_WORK if is_free else 1)
            if not is_free or not self._is_selectable(at, request, place):
                continue
            if failed and candidate.like() in failed:
                continue
            taken = self._take(at, request, candidate)
            if taken is None:
                continue
            outcome = yield self._devices(at, number, request, found + 1, place + 1)
            if outcome is _Outcome.DONE:
                return outcome
            self._give_back(at, request, taken)
            if outcome is _Outcome.TOO_MANY:
                return outcome
            if not candidate.is_multiple and not request.has_admin_access:
                failed[candidate.like()] = None
        return _Outcome.NO

    def _spend(self, work: int) -> None:
        self._work_left -= work
        self._of.work_left -= work
        if self._work_left < 0:
            raise TakesTooLong

    # one device

    def _all_devices(self, request: Request, at: str) -> list[int]:
        """The devices that a request of mode All means. Raises AllocationError when that cannot be
        known.
        """
        for pool in self._pools:
            if not pool.is_usable:
                state = "being updated" if pool.is_incomplete else "invalid"
                raise AllocationError(
                    f"claim {at}, request {request.name}: asks for all devices, but resource pool {pool.id} is currently {state}")
        return [
            place for place, candidate in enumerate(self._candidates)
            if self._selects(at, request, candidate) and self._has_capacity(at, request, candidate, in_use=False)]

    def _is_free(self, at: int, request: Request, candidate: Candidate) -> bool:
        if request.has_admin_access:
            return candidate.is_multiple or at not in self._whole.get(candidate.id, ())
        return not self._of.allocated.is_whole(candidate.id) and candidate.id not in self._whole

    def _is_selectable(self, at: int, request: Request, place: int) -> bool:
        key = request.key, place
        known = self._selectable.get(key)
        if known is None:
            known = self._selectable[key] = self._selects(self._claims[at].name, request, self._candidates[place])
        return known

    def _selects(self, claim_name: str, request: Request, candidate: Candidate) -> bool:
        """Whether class, request and node may have the device, whoever else has it."""
        of, device = candidate.slice, candidate.device
        if device.get("bindingConditions") and not self._features.device_binding_and_status:
            return False
        device_class, match = request.device_class, self._of.match
        where = f"class {device_class['metadata']['name']}"
        if not match(where, device_class["spec"].get("selectors") or (), of, device, str(candidate.id)):
            return False
        if not match(f"claim {claim_name}", request.body.get("selectors") or (), of, device, str(candidate.id)):
            return False
        return not of["spec"].get("perDeviceNodeSelection") or node_matches(device, self._node_name, self._labels)

    def _has_capacity(self, claim_name: str, request: Request, candidate: Candidate, *, in_use: bool = True) -> bool:
        """Whether the device has what the request asks of it; ``in_use``: what others leave."""
        if not self._features.consumable_capacity:
            return True
        wanted = self._consumed(claim_name, request, candidate)
        if wanted is None:
            return False
        taken: Sequence[Mapping[str, int]] = ()
        if in_use:
            taken = [self._of.allocated.consumed(candidate.id), *self._shares.get(candidate.id, ())]
        return capacity.fits(wanted, candidate.device.get("capacity") or {}, *taken)

    def _consumed(self, claim_name: str, request: Request, candidate: Candidate) -> dict[str, capacity.Amount] | None:
        key = request.key, id(candidate.device)
        if key not in self._wanted:
            try:
                self._wanted[key] = capacity.consumed(
                    request.body.get("capacity"), candidate.device.get("capacity") or {},
                    fractions=self._features.fractional_capacity_range)
            except AllocationError as refused:
                where = f"claim {claim_name}, request {request.name}"
                raise AllocationError(f"{where}: checking capacity for device {candidate.id}: {refused}") from None
        return self._wanted[key]

    def _take(self, at: int, request: Request, candidate: Candidate, *, must: bool = False) -> Taken | None:
        """Take a device that is selectable, where it is free and everything else allows it.

        ``must``: nothing else will do, so that a constraint against it is an error of the claim.
        """
        device, claim = candidate.device, self._claims[at]
        if not self._is_free(at, request, candidate) or not self._has_capacity(claim.name, request, candidate):
            return None
        if self._features.device_taints and _is_tainted(device, request):
            return None
        counted: Sequence[ReadOnlyTree] = ()
        if device.get("consumesCounters"):
            if not self._features.partitionable_devices:
                return None
            in_use = candidate.id in self._shares or self._of.allocated.is_shared(candidate.id)
            if not (candidate.is_multiple and in_use):
                counted = device["consumesCounters"]
        if counted and not self._counters.take(candidate.pool, counted):
            return None
        names = (request.parent, request.name) if request.parent else (request.name, "")
        for number, constraint in enumerate(self._constraints[at]):
            if constraint.add(*names, device, candidate.id):
                continue
            for added in reversed(self._constraints[at][:number]):
                added.remove(*names)
            self._counters.give_back(candidate.pool, counted)
            if must:
                raise AllocationError(
                    f"claim {claim.name}, request {request.name}: cannot add device {candidate.id} because a claim constraint "
                    "would not be satisfied")
            return None
        amounts: dict[str, capacity.Amount] = {}
        if candidate.is_multiple:
            amounts = self._consumed(claim.name, request, candidate) or {}
            self._shares.setdefault(candidate.id, []).append({name: amount.nano for name, amount in amounts.items()})
        else:
            self._whole.setdefault(candidate.id, {})[at] = None
        taken = Taken(candidate.id, candidate.slice, device, request, amounts, candidate.pool, counted, candidate.is_multiple)
        self._taken[at].append(taken)
        return taken

    def _give_back(self, at: int, request: Request, taken: Taken) -> None:
        """Undo the last ``_take`` for a claim."""
        self._taken[at].pop()
        if taken.is_share:
            shares = self._shares[taken.id]
            shares.pop()
            if not shares:
                del self._shares[taken.id]
        else:
            del self._whole[taken.id][at]
            if not self._whole[taken.id]:
                del self._whole[taken.id]
        names = (request.parent, request.name) if request.parent else (request.name, "")
        for constraint in reversed(self._constraints[at]):
            constraint.remove(*names)
        self._counters.give_back(taken.pool, taken.counted)


def _is_tainted(device: ReadOnlyTree, request: Request) -> bool:
    """Whether a taint keeps the request off the device."""
    tolerations = request.body.get("tolerations") or ()
    return placement.untolerated(device.get("taints") or (), tolerations, EFFECTS) is not None

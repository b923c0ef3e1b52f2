"""What a Workload lacks in the quotas of its ClusterQueue: by flavor and resource what it asks,
what is left and who holds the rest, and in a topology which domains have room for how many pods;
and the least that would be enough.

The least is found by trying (``trial.py``): quota and room are added on a snapshot until the
Workload is admitted, after all who are admitted before it, in its queue and in the others of its
cohort.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.runtime.why import Change, Changes, Place, Reason, names
from fakekube_controllers.kueue.cache import resource_node
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities, amount_quantity, resource_quantity
from fakekube_controllers.kueue.why import domains
from fakekube_controllers.kueue.why.domains import RoomNeed
from fakekube_controllers.kueue.why.shortfall import asked_of, mismatches_of
from fakekube_controllers.kueue.why.trial import Extra, TooMany, Trial
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.manager import Kueue

MAX_TRIES, MAX_HOLDERS = 32, 100
MAX_STEPS, MAX_TIMES = 6, 1 << 20


class Room:
    """Looks for room for one pending Workload in its ClusterQueue, which is active."""

    def __init__(self, kueue: "Kueue", info: Info) -> None:
        self._kueue, self._info, self._name = kueue, info, info.cluster_queue
        self._trial = Trial(kueue, info)
        self.place = self._trial.place

    def _snapshot(self) -> "tuple[Snapshot, ClusterQueueSnapshot]":
        snapshot = self._trial.snapshot()
        cq = snapshot.cluster_queue(self._name)
        assert cq is not None, "the queue is active"
        return snapshot, cq

    # what there is

    def places(self) -> tuple[Place, ...]:
        """Every flavor that could be used, and what speaks against it."""
        snapshot, cq = self._snapshot()
        asked = asked_of(self._info)
        failure = domains.failure_of(cq, self._info, self._trial.assign(snapshot, cq, self._info)) if cq.tas_flavors else None
        found = []
        for group in cq.resource_groups:
            wanted = [name for name in asked if name in group.covered_resources]
            for flavor in group.flavors if wanted else ():
                reasons = [Reason("Flavor", text) for text in mismatches_of(snapshot, cq, flavor, self._info)]
                reasons += [self._standing(cq, FlavorResource(flavor, name), asked[name]) for name in wanted]
                if failure is not None and failure.flavor == flavor:
                    reasons += domains.reasons_of(cq, failure)
                found.append(Place(f"flavor/{flavor}", tuple(reasons)))
        return tuple(found)

    def _standing(self, cq: "ClusterQueueSnapshot", fr: FlavorResource, asked: int) -> Reason:
        quota, used = cq.quota_for(fr), cq.resource_node.usage.get(fr, 0)
        left, own = max(0, resource_node.available(cq, fr)), max(0, quota.nominal - used)
        text = (
            f"asks {resource_quantity(fr.resource, asked)}, {amount_quantity(fr.resource, left)} is left: "
            f"{amount_quantity(fr.resource, used)} of {amount_quantity(fr.resource, quota.nominal)} is used")
        if cq.parent() is not None:
            text += f", {amount_quantity(fr.resource, max(0, left - own))} could be borrowed"
        if asked > left and (holders := [_holder(info, fr) for info in self._holders(cq, [fr])]):
            text += f"; held by {names(holders)}"
        return Reason(fr.resource, text)

    def _holders(self, cq: "ClusterQueueSnapshot", frs: Sequence[FlavorResource]) -> list[Info]:
        """Those who have some of it, here and in the cohort, the largest first."""
        cohort = cq.parent()
        queues = cohort.root().subtree_cluster_queues() if cohort is not None else [cq]
        found = [info for queue in queues for info in queue.workloads.values()]
        amounts = {info.key: sum(info.flavor_resource_usage().get(fr, 0) for fr in frs) for info in found}
        found = [info for info in found if amounts[info.key] > 0]
        return sorted(found, key=lambda info: (-amounts[info.key], info.key))[:MAX_HOLDERS]

    # what would do

    def changes(self) -> tuple[Changes, tuple[Changes, ...]] | None:
        """The least quota that would do, and the Workloads whose end would; empty where it fits
        already, None where neither is known.
        """
        _, cq = self._snapshot()
        uncovered = [name for name in asked_of(self._info) if cq.rg_by_resource(name) is None]
        if uncovered and self._kueue.configuration.resources.quota_check_strategy == "BlockUndeclared":
            return tuple(self._cover(name) for name in uncovered), ()
        try:
            self._trial.begin()
            needed = self._needed()
        except TooMany:
            needed = None
        if needed is None:
            return None
        changes = (*(self._add(fr, amount) for fr, amount in needed.quota.items()), *map(self._widen, needed.rooms))
        try:
            self._trial.begin()
            ends = self._ends(needed) if changes else ()
        except TooMany:
            ends = ()
        return changes, ((ends,) if ends else ())

    def _cover(self, name: str) -> Change:
        amount = resource_quantity(name, asked_of(self._info)[name])
        text = f"quota of {amount} for {name}, a resource that clusterqueue {self._name} does not cover"
        return Change("CoverResource", f"clusterqueue/{self._name}", text, {"resource": name, "amount": amount})

    def _add(self, fr: FlavorResource, amount: int) -> Change:
        shown = resource_quantity(fr.resource, amount)
        text = f"{shown} more {fr.resource} of nominal quota for flavor {fr.flavor} in clusterqueue {self._name}"
        details = {"flavor": fr.flavor, "resource": fr.resource, "amount": shown}
        return Change("AddQuota", f"clusterqueue/{self._name}", text, details)

    def _widen(self, room: RoomNeed) -> Change:
        _, cq = self._snapshot()
        return room.change(is_node=cq.tas_flavors[room.flavor].is_lowest_level_node)

    def _needed(self) -> Extra | None:
        """Quota and room that is enough; None where no amount is. Raises TooMany."""
        quota: FlavorResourceQuantities = {}
        rooms: dict[tuple[str, str, tuple[tuple[str, int], ...]], RoomNeed] = {}
        for tries in range(MAX_TRIES):
            extra = Extra(quota, [*rooms.values()])
            lack = self._trial.run(extra)
            if lack is None:
                return extra
            if tries >= MAX_STEPS and lack.quota and not rooms:
                return self._leaped(extra, lack.quota)
            if not lack.quota and lack.room is None:
                return None
            for fr, amount in lack.quota.items():
                quota[fr] = quota.get(fr, 0) + amount
            if lack.room is not None:
                key = lack.room.flavor, lack.room.domain, tuple(sorted(lack.room.single.items()))
                before = rooms.get(key)
                rooms[key] = lack.room._replace(pods=lack.room.pods + (before.pods if before is not None else 0))
        return None

    def _leaped(self, extra: Extra, unit: FlavorResourceQuantities) -> Extra | None:
        """The smallest multiple of a unit that is enough besides, where many are let in before it,
        each of which takes a step; None where none is. Raises TooMany.
        """
        def added(times: int) -> Extra:
            amounts = {fr: amount * times for fr, amount in unit.items()}
            return extra._replace(quota={fr: extra.quota.get(fr, 0) + amounts.get(fr, 0) for fr in {**extra.quota, **amounts}})

        too_few, enough = 0, 1
        while (lack := self._trial.run(added(enough))) is not None:
            if lack.room is not None or not lack.quota or enough > MAX_TIMES:
                return None
            too_few, enough = enough, 2 * enough
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._trial.run(added(middle)) is None:
                enough = middle
            else:
                too_few = middle
        return added(enough)

    def _ends(self, needed: Extra) -> Changes:
        """Workloads whose end would do, none of them in vain; empty where none is known. Raises
        TooMany.
        """
        _snapshot, cq = self._snapshot()
        flavors = {room.flavor for room in needed.rooms}
        frs = [*needed.quota, *(fr for fr in cq.resource_node.quotas if fr.flavor in flavors and fr not in needed.quota)]
        gone: list[Info] = []
        for info in self._holders(cq, frs):
            gone.append(info)
            if self._fits_without(gone):
                break
        else:
            return ()
        for info in [*gone]:
            fewer = [each for each in gone if each is not info]
            if fewer and self._fits_without(fewer):
                gone = fewer
        return tuple(_end(info) for info in gone)

    def _fits_without(self, gone: Sequence[Info]) -> bool:
        return self._trial.run(Extra({}, (), gone)) is None


def _holder(info: Info, fr: FlavorResource) -> str:
    amount = resource_quantity(fr.resource, info.flavor_resource_usage().get(fr, 0))
    return f"workload {info.key.namespace}/{info.key.name} ({amount})"


def _end(info: Info) -> Change:
    owner = next(iter(meta.owners_of(info.obj)), None)
    what = f"workload {info.key.namespace}/{info.key.name}" + (f" of {owner['kind'].lower()} {owner['name']}" if owner else "")
    return Change("Finish", f"workload/{info.key.namespace}/{info.key.name}", f"the end of {what}")

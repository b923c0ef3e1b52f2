"""What a Workload lacks in the quotas of its ClusterQueue: by flavor and resource what it asks,
what is left and who holds the rest; and the least that would be enough.

The least is found by trying: quota is added on a snapshot until the Workload fits after all who
wait before it in its queue. What waits in other queues of the cohort is not taken into account, so
more may be needed where they borrow.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.runtime.why import Change, Changes, Place, Reason, names
from fakekube_controllers.kueue.cache import resource_node
from fakekube_controllers.kueue.resources import FlavorResource, FlavorResourceQuantities, amount_quantity, resource_quantity
from fakekube_controllers.kueue.scheduler.flavorassigner import fitting
from fakekube_controllers.kueue.scheduler.flavorassigner.flavorassigner import FlavorAssigner
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from fakekube_controllers.kueue.cache.resource_node import HierarchicalNode
    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment

MAX_TRIES, MAX_AHEAD, MAX_HOLDERS = 32, 200, 100


class _NoPreemption:
    """What fits without victims is asked for."""

    def simulate_preemption(
        self, cq: "ClusterQueueSnapshot", info: Info, fr: FlavorResource, quantity: int,
    ) -> tuple[PreemptionPossibility, int]:
        """There are none."""
        return PreemptionPossibility.NO_CANDIDATES, 0


class Room:
    """Looks for room for one pending Workload in its ClusterQueue, which is active."""

    def __init__(self, kueue: "Kueue", info: Info) -> None:
        self._kueue, self._info, self._name = kueue, info, info.cluster_queue
        self._waiting = kueue.queues.pending_workloads_info(self._name)
        place = next((place for place, each in enumerate(self._waiting) if each.key == info.key), None)
        self.place = place
        ahead = self._waiting[:place] if place is not None else []
        self._ahead = [self._fresh(each) for each in ahead[:MAX_AHEAD]]
        self._is_all_ahead = len(ahead) <= MAX_AHEAD

    def _fresh(self, info: Info) -> Info:
        """The same Workload, with nothing of what was tried before."""
        made = Info(info.obj, self._kueue.info_options)
        made.cluster_queue = info.cluster_queue
        return made

    def _snapshot(self) -> "tuple[Snapshot, ClusterQueueSnapshot]":
        snapshot = self._kueue.cache.snapshot()
        cq = snapshot.cluster_queue(self._name)
        assert cq is not None, "the queue is active"
        return snapshot, cq

    # what there is

    def places(self) -> tuple[Place, ...]:
        """Every flavor that could be used, and what speaks against it."""
        snapshot, cq = self._snapshot()
        asked = asked_of(self._info)
        found = []
        for group in cq.resource_groups:
            wanted = [name for name in asked if name in group.covered_resources]
            for flavor in group.flavors if wanted else ():
                reasons = [Reason("Flavor", text) for text in mismatches_of(snapshot, flavor, self._info)]
                reasons += [self._standing(cq, FlavorResource(flavor, name), asked[name]) for name in wanted]
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
        if not self._is_all_ahead:
            return None
        needed = self._needed()
        if needed is None:
            return None
        quota = tuple(self._add(fr, amount) for fr, amount in needed.items())
        ends = self._ends([*needed]) if needed else ()
        return quota, ((ends,) if ends else ())

    def _cover(self, name: str) -> Change:
        amount = resource_quantity(name, asked_of(self._info)[name])
        text = f"quota of {amount} for {name}, a resource that clusterqueue {self._name} does not cover"
        return Change("CoverResource", f"clusterqueue/{self._name}", text, {"resource": name, "amount": amount})

    def _add(self, fr: FlavorResource, amount: int) -> Change:
        shown = resource_quantity(fr.resource, amount)
        text = f"{shown} more {fr.resource} of nominal quota for flavor {fr.flavor} in clusterqueue {self._name}"
        details = {"flavor": fr.flavor, "resource": fr.resource, "amount": shown}
        return Change("AddQuota", f"clusterqueue/{self._name}", text, details)

    def _needed(self) -> FlavorResourceQuantities | None:
        """Quota that is enough; None where no amount is."""
        extra: FlavorResourceQuantities = {}
        for _ in range(MAX_TRIES):
            snapshot, cq = self._snapshot()
            for fr, amount in extra.items():
                give(cq, fr, amount)
            lacking = self._lacking(snapshot, cq)
            if lacking is None:
                return None
            if not lacking:
                return extra
            for fr, amount in lacking.items():
                extra[fr] = extra.get(fr, 0) + amount
        return None

    def _lacking(self, snapshot: "Snapshot", cq: "ClusterQueueSnapshot") -> FlavorResourceQuantities | None:
        """What the Workload still lacks after those before it were let in as far as they fit; of a
        strict queue what the first lacks that does not fit. Empty where it fits.
        """
        queue = self._kueue.queues.cluster_queue(self._name)
        is_strict = queue is not None and not queue.is_best_effort
        for each in self._ahead:
            assignment = self._assign(snapshot, cq, each)
            if assignment.representative_mode() == FlavorAssignmentMode.FIT:
                cq.add_usage(assignment.usage)
            elif is_strict:
                return self._least(snapshot, cq, each)
        if self._assign(snapshot, cq, self._info).representative_mode() == FlavorAssignmentMode.FIT:
            return {}
        return self._least(snapshot, cq, self._info)

    def _assign(self, snapshot: "Snapshot", cq: "ClusterQueueSnapshot", info: Info) -> "Assignment":
        configuration = self._kueue.configuration
        assigner = FlavorAssigner(
            self._fresh(info), cq, snapshot.resource_flavors, configuration.fair_sharing is not None, _NoPreemption(), None,
            configuration.resources.quota_check_strategy, 0, configuration.features)
        return assigner.assign(None)

    def _least(self, snapshot: "Snapshot", cq: "ClusterQueueSnapshot", info: Info) -> FlavorResourceQuantities | None:
        """The least that one Workload lacks, with the flavor of each group that lacks least."""
        asked, found = asked_of(info), dict[FlavorResource, int]()
        for group in cq.resource_groups:
            wanted = {name: asked[name] for name in asked if name in group.covered_resources}
            usable = [flavor for flavor in group.flavors if not mismatches_of(snapshot, flavor, info)]
            if wanted and not usable:
                return None
            if wanted:
                offers = [_shortfall(cq, flavor, wanted) for flavor in usable]
                found |= _least_of(offers, asked)
        return found or None

    def _ends(self, frs: Sequence[FlavorResource]) -> Changes:
        """Workloads whose end would do, none of them in vain; empty where none is known."""
        _snapshot, cq = self._snapshot()
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
        snapshot, cq = self._snapshot()
        for info in gone:
            snapshot.remove_workload(info)
        return self._lacking(snapshot, cq) == {}


def asked_of(info: Info) -> dict[str, int]:
    """What all podsets of a Workload ask."""
    asked: dict[str, int] = {}
    for podset in info.total_requests:
        for name, amount in podset.requests.items():
            asked[name] = asked.get(name, 0) + amount
    return asked


def mismatches_of(snapshot: "Snapshot", flavor: str, info: Info) -> list[str]:
    """Why the nodes of a flavor do not take the pods of a Workload, once each."""
    tree = snapshot.resource_flavors.get(flavor)
    if tree is None:
        return [f"ResourceFlavor {flavor} is not there"]
    specs = [podset["template"].get("spec") or {} for podset in info.obj["spec"]["podSets"]]
    return list(dict.fromkeys(text for spec in specs if (text := fitting.mismatch(tree, spec))))


def _least_of(offers: Sequence[FlavorResourceQuantities], asked: Mapping[str, int]) -> FlavorResourceQuantities:
    """The one that lacks the fewest resources, and of what is asked the smallest part."""
    return min(offers, key=lambda offer: (len(offer), sum(amount / asked[fr.resource] for fr, amount in offer.items())))


def _shortfall(cq: "ClusterQueueSnapshot", flavor: str, wanted: dict[str, int]) -> FlavorResourceQuantities:
    lacks = {FlavorResource(flavor, name): amount for name, amount in wanted.items()}
    lacks = {fr: amount - resource_node.available(cq, fr) for fr, amount in lacks.items()}
    return {fr: amount for fr, amount in lacks.items() if amount > 0}


def give(cq: "ClusterQueueSnapshot", fr: FlavorResource, amount: int) -> None:
    """Add to the nominal quota of a ClusterQueue, and to what its cohorts have of it."""
    own = cq.resource_node
    quota = own.quotas.get(fr, resource_node.NO_QUOTA)
    own.quotas = {**own.quotas, fr: quota._replace(nominal=quota.nominal + amount)}
    node: HierarchicalNode | None = cq
    more = amount
    while node is not None:
        own = node.resource_node
        before = own.local_quota(fr)
        own.subtree_quota = {**own.subtree_quota, fr: own.subtree_quota.get(fr, 0) + more}
        more -= own.local_quota(fr) - before
        node = node.parent()


def _holder(info: Info, fr: FlavorResource) -> str:
    amount = resource_quantity(fr.resource, info.flavor_resource_usage().get(fr, 0))
    return f"workload {info.key.namespace}/{info.key.name} ({amount})"


def _end(info: Info) -> Change:
    owner = next(iter(meta.owners_of(info.obj)), None)
    what = f"workload {info.key.namespace}/{info.key.name}" + (f" of {owner['kind'].lower()} {owner['name']}" if owner else "")
    return Change("Finish", f"workload/{info.key.namespace}/{info.key.name}", f"the end of {what}")

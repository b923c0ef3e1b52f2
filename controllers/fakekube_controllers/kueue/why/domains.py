"""How much room the domains of a topology have for the pods of a Workload that has quota, and how
much more in one of them would be enough.

The least is found by trying: a lowest domain gets room for more pods until the podset has a place.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from fakekube.runtime.why import Change, Reason
from fakekube_controllers.kueue.resources import Requests, resource_quantity
from fakekube_controllers.kueue.topology import flavorassigner as tas
from fakekube_controllers.kueue.topology import parameters
from fakekube_controllers.kueue.topology.domains import Domain, plus
from fakekube_controllers.kueue.workload.info import Info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot, Snapshot
    from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment
    from fakekube_controllers.kueue.topology.snapshot import TASFlavorSnapshot, TASPodSetRequests

MAX_DOMAINS = 3  # of a level, in a text
MAX_TRIED, MAX_USABLE = 64, 4  # lowest domains that are tried, and that would do


class RoomNeed(NamedTuple):
    """Room for so many more pods in a lowest domain of a flavor's topology.

    ``values`` are those of the domain, ``level`` is the index of the level in one domain of which
    the pods must be together, None: they need not be. ``leader`` is what their leader asks besides.
    """

    flavor: str
    topology: str
    levels: tuple[str, ...]
    domain: str
    values: tuple[str, ...]
    level: int | None
    pods: int
    single: Requests
    leader: Requests

    def amounts(self) -> Requests:
        """What that is in resources."""
        return plus({name: amount * self.pods for name, amount in self.single.items()}, self.leader)

    def change(self, *, is_node: bool) -> Change:
        """As something that is to be done."""
        shown = {name: resource_quantity(name, amount) for name, amount in sorted(self.amounts().items())}
        asked = ", ".join(f"{name} {amount}" for name, amount in shown.items())
        lowest = self.values[-1]
        where = f"on node {lowest}" if is_node else f"in domain {lowest} of level {self.levels[-1]}"
        if self.level is not None and self.level < len(self.levels) - 1:
            where += f", in domain {self.values[self.level]} of level {self.levels[self.level]}"
        target = f"node/{lowest}" if is_node else f"topology/{self.topology}"
        details = {
            "flavor": self.flavor, "topology": self.topology, "pods": self.pods, "resources": shown,
            "domain": dict(zip(self.levels, self.values, strict=True))}
        pods = f"{self.pods} more pod{'s' if self.pods > 1 else ''}{' and their leader' if self.leader else ''}"
        return Change("AddRoom", target, f"room for {pods} ({asked}) {where}", details)


class Failure(NamedTuple):
    """A podset that has no place, and the podset of its group that leads it, if there is one."""

    flavor: str
    request: "TASPodSetRequests"
    leader: "TASPodSetRequests | None"


def give(snapshot: "Snapshot", room: RoomNeed) -> None:
    """Let there be more room in a domain."""
    snapshot.tas_flavors[room.flavor].add_room(room.domain, room.amounts())


def failure_of(cq: "ClusterQueueSnapshot", info: Info, assignment: "Assignment") -> Failure | None:
    """The first podset without a place; None where all have one, or none is asked for."""
    return _failure(cq, info, assignment.workloads_topology_requests(info, cq))


def _failure(cq: "ClusterQueueSnapshot", info: Info, requests: Mapping[str, "Sequence[TASPodSetRequests]"]) -> Failure | None:
    found = tas.find_topology_assignments_for_workload(cq.tas_flavors, requests, workload=info.obj).failure()
    if found is None:
        return None
    listed = requests[found.flavor]
    failed = next(each for each in listed if each.name == found.podset_name)
    group = [each for each in listed if each.podset_group_name is not None and each.podset_group_name == failed.podset_group_name]
    if len(group) < 2:
        return Failure(found.flavor, failed, None)
    leader, workers = sorted(group, key=lambda each: each.count)[:2]
    return Failure(found.flavor, workers, leader)


def reasons_of(cq: "ClusterQueueSnapshot", failure: Failure) -> Iterator[Reason]:
    """How many pods of a podset the domains of each level have room for."""
    snapshot, request = cq.tas_flavors[failure.flavor], failure.request
    together = _together(snapshot, request)
    for level, found in enumerate(snapshot.room_for(request)):
        ordered = _by_room(found)
        shown = ", ".join(f"{count} in {domain.level_values[-1]}" for domain, count in ordered[:MAX_DOMAINS])
        text = f"room for {shown or 'none: there are no domains'}"
        if len(ordered) > MAX_DOMAINS:
            text += f" and no more than {ordered[MAX_DOMAINS][1]} in each of {len(ordered) - MAX_DOMAINS} more"
        if level == together:
            text += f"; {request.count} pods must be in one"
        yield Reason(f"Topology {snapshot.tree.levels[level]}", text)


def needed(cq: "ClusterQueueSnapshot", info: Info, assignment: "Assignment") -> RoomNeed | None:
    """The least room that lets the first podset without a place have one; None where no room in one
    domain does, or all have a place.
    """
    requests = assignment.workloads_topology_requests(info, cq)
    failure = _failure(cq, info, requests)
    if failure is None:
        return None
    snapshot, request = cq.tas_flavors[failure.flavor], failure.request
    leader = {} if failure.leader is None else {
        name: amount * failure.leader.count for name, amount in plus(failure.leader.single_pod_requests, {"pods": 1}).items()}
    level = _together(snapshot, request)
    found: list[RoomNeed] = []
    for leaf in _leaves(snapshot, request, level)[:MAX_TRIED]:
        room = RoomNeed(
            failure.flavor, snapshot.topology_name, snapshot.tree.levels, leaf.id, leaf.level_values, level, request.count,
            plus(request.single_pod_requests, {"pods": 1}), leader)

        def is_enough(pods: int, room: RoomNeed = room) -> bool:
            revert = snapshot.add_room(room.domain, room._replace(pods=pods).amounts())
            still = _failure(cq, info, requests)
            revert()
            return still is None or still.request.name != request.name

        if is_enough(request.count):
            found.append(room._replace(pods=_least(request.count, is_enough)))
            if len(found) == MAX_USABLE:
                break
    return min(found, key=lambda room: room.pods, default=None)


def _least(enough: int, is_enough: Callable[[int], bool]) -> int:
    """The least number that is enough; it is above 0, and all above it are enough, too."""
    too_few = 0
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def _together(snapshot: "TASFlavorSnapshot", request: "TASPodSetRequests") -> int | None:
    """The index of the level in one domain of which all pods must be; None for any."""
    if not parameters.is_required(request.topology_request):
        return None
    key = parameters.level_key(request.topology_request, snapshot.tree.levels)
    return snapshot.tree.levels.index(key) if key in snapshot.tree.levels else None


def _leaves(snapshot: "TASFlavorSnapshot", request: "TASPodSetRequests", level: int | None) -> list[Domain]:
    """The lowest domains, those first whose domain of a level has most room, and of these those
    that have most themselves.
    """
    found = snapshot.room_for(request)
    room = {domain.id: count for domain, count in found[-1]}
    above = {domain.level_values: count for domain, count in found[level]} if level is not None else {}

    def key(leaf: Domain) -> tuple[int, int]:
        return -above.get(leaf.level_values[:(level or 0) + 1], 0), -room[leaf.id]

    return sorted(snapshot.tree.per_level[-1].values(), key=key)


def _by_room(found: list[tuple[Domain, int]]) -> list[tuple[Domain, int]]:
    return sorted(found, key=lambda each: -each[1])

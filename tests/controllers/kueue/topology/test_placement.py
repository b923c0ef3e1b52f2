"""Placements against one that tries everything, on small trees."""

from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from fakekube_controllers.kueue.topology.domains import DomainTree
from fakekube_controllers.kueue.topology.finding import find_topology_assignments_for_flavor
from fakekube_controllers.kueue.topology.snapshot import Matching, TASFlavorSnapshot, TASPodSetRequests
from fakekube_controllers.kueue.workload.info import TopologyDomainRequests

LEVELS = ("block", "rack", HOSTNAME)
Cluster = list[tuple[int, int, int]]
"""Nodes: block, rack, how many CPUs."""
CLUSTERS = some.lists(some.tuples(some.integers(0, 1), some.integers(0, 2), some.integers(0, 4)), min_size=1, max_size=8)
COUNTS = some.integers(1, 12)
LEVEL = some.integers(0, 2)


def name(place: int) -> str:
    return f"n{place}"


def snapshot_of(cluster: Cluster, features: Features = Features()) -> TASFlavorSnapshot:  # noqa: B008 - immutable
    nodes = [
        {"metadata": {"name": name(place), "labels": {"block": f"b{block}", "rack": f"r{rack}", HOSTNAME: name(place)}},
         "status": {"allocatable": {"cpu": str(cpus), "pods": "110"}}}
        for place, (block, rack, cpus) in enumerate(cluster)]
    tree = DomainTree(LEVELS, nodes)
    return TASFlavorSnapshot("t", (), Matching(tree), tree.capacity, {}, features)


def request(count: int, asked: dict[str, Any] | None, podset: str = "main") -> TASPodSetRequests:
    tree: dict[str, Any] = {"name": podset, "count": count, "template": {"spec": {}}, "topologyRequest": asked}
    return TASPodSetRequests(
        tree, {"cpu": 1000}, count, "f", implied=asked is None, podset_group_name=(asked or {}).get("podSetGroupName"))


def counts_of(snapshot: TASFlavorSnapshot, *requests: TASPodSetRequests) -> tuple[list[dict[str, int]], str]:
    """For each podset how many pods are on a node, or why there are none."""
    found = find_topology_assignments_for_flavor(snapshot, requests)
    failure = found.failure()
    if failure is not None:
        return [], failure.reason
    placed = [found[each.name].topology_assignment for each in requests]
    return [{domain.values[-1]: domain.count for domain in each.domains} for each in placed if each is not None], ""


def domains_at(cluster: Cluster, level: int) -> dict[tuple[object, ...], list[int]]:
    """The nodes of each domain of a level."""
    found: dict[tuple[object, ...], list[int]] = {}
    for place, (block, rack, _) in enumerate(cluster):
        found.setdefault((block, rack, place)[:level + 1], []).append(place)
    return found


@pytest.mark.spec("KUEUE-165")
@given(CLUSTERS, COUNTS, LEVEL)
def test_required_finds_the_tightest_domain(cluster: Cluster, count: int, level: int) -> None:
    """Given any cluster, when pods must be in one domain, then they are in one that leaves
    least, if one holds them; and on as few nodes as hold them there, no node with more than it has.
    """
    found, reason = counts_of(snapshot_of(cluster), request(count, {"required": LEVELS[level]}))
    room = {key: sum(cluster[place][2] for place in places) for key, places in domains_at(cluster, level).items()}
    holding = [free for free in room.values() if free >= count]
    assert bool(found) == bool(holding)
    if not found:
        most = max(room.values())
        assert reason.startswith(
            f'topology "t" allows to fit only {most} out of {count} pod(s)' if most
            else f'topology "t" doesn\'t allow to fit any of {count} pod(s)')
        return
    [placed] = found
    assert sum(placed.values()) == count
    assert all(taken <= cluster[int(node[1:])][2] for node, taken in placed.items())
    [domain] = [key for key, places in domains_at(cluster, level).items() if {*placed} <= {name(place) for place in places}]
    assert room[domain] == min(holding)


@pytest.mark.spec("KUEUE-165")
@given(CLUSTERS, COUNTS, LEVEL)
def test_preferred_goes_up_only_where_it_must(cluster: Cluster, count: int, level: int) -> None:
    """Given any cluster, when pods prefer a level, then they find places wherever all of them fit,
    in one domain of the lowest level, from that upwards, which holds them.
    """
    found, _ = counts_of(snapshot_of(cluster), request(count, {"preferred": LEVELS[level]}))
    assert bool(found) == (sum(cpus for *_, cpus in cluster) >= count)
    for above in range(level, -1, -1) if found else ():
        rooms = {key: sum(cluster[place][2] for place in places) for key, places in domains_at(cluster, above).items()}
        if max(rooms.values()) >= count:
            nodes = [int(node[1:]) for node in found[0]]
            assert len({(cluster[place][0], cluster[place][1], place)[:above + 1] for place in nodes}) == 1
            break


@pytest.mark.spec("KUEUE-166")
@given(CLUSTERS, COUNTS, some.booleans())
def test_unconstrained_takes_the_tightest_node(cluster: Cluster, count: int, implied: bool) -> None:
    """Given any cluster, when pods may be anywhere, then one node that just holds them has them,
    else those with the least room.
    """
    found, _ = counts_of(snapshot_of(cluster), request(count, None if implied else {"unconstrained": True}))
    rooms = [cpus for *_, cpus in cluster]
    assert bool(found) == (sum(rooms) >= count)
    if not found:
        return
    [placed] = found
    assert sum(placed.values()) == count
    single = [room for room in rooms if room >= count]
    if single:
        assert [rooms[int(node[1:])] for node in placed] == [min(single)]
    else:
        untouched = [room for place, room in enumerate(rooms) if room and name(place) not in placed]
        assert all(rooms[int(node[1:])] <= min(untouched, default=9) for node in placed)


@pytest.mark.spec("KUEUE-170")
@given(CLUSTERS, some.integers(1, 4), some.integers(1, 3), LEVEL, LEVEL)
def test_slices_are_within_a_domain(cluster: Cluster, slices: int, size: int, level: int, slice_level: int) -> None:
    """Given slices of a size, when they must be within domains of a level, then each domain of it
    has whole slices, and places are found wherever one domain above holds all of them.
    """
    asked = {"required": LEVELS[level], "podSetSliceRequiredTopology": LEVELS[slice_level], "podSetSliceSize": size}
    found, reason = counts_of(snapshot_of(cluster), request(slices * size, asked))
    if slice_level < level:
        assert reason == f"podset slice topology {LEVELS[slice_level]} is above the podset topology {LEVELS[level]}"
        return
    holding = [key for key in domains_at(cluster, level) if sum(
        sum(cluster[place][2] for place in places) // size
        for below, places in domains_at(cluster, slice_level).items() if below[:level + 1] == key) >= slices]
    assert bool(found) == bool(holding)
    for places in domains_at(cluster, slice_level).values() if found else ():
        assert sum(found[0].get(name(place), 0) for place in places) % size == 0


@pytest.mark.spec("KUEUE-169")
@given(CLUSTERS, some.integers(1, 8), LEVEL)
def test_leader_and_workers_share_a_domain(cluster: Cluster, count: int, level: int) -> None:
    """Given a leader and its workers, when they must be in one domain, then both are where one
    holds all of them.
    """
    asked = {"required": LEVELS[level], "podSetGroupName": "g"}
    found, _ = counts_of(snapshot_of(cluster), request(1, asked, "leader"), request(count, asked, "workers"))
    rooms = {key: sum(cluster[place][2] for place in places) for key, places in domains_at(cluster, level).items()}
    assert bool(found) == any(room > count for room in rooms.values())
    if found:
        leader, workers = found
        nodes = {*leader, *workers}
        assert any(nodes <= {name(place) for place in places} for places in domains_at(cluster, level).values())
        assert all(leader.get(node, 0) + workers.get(node, 0) <= cluster[int(node[1:])][2] for node in nodes)


@given(CLUSTERS, some.lists(COUNTS, min_size=2, max_size=4), some.booleans())
def test_podsets_do_not_take_the_same_room(cluster: Cluster, counts: list[int], balanced: bool) -> None:
    """Given several podsets, when all find places, then they take no more than there is."""
    features = Features(TASBalancedPlacement=balanced)
    requests = [request(count, {"preferred": "rack"}, f"p{place}") for place, count in enumerate(counts)]
    found, _ = counts_of(snapshot_of(cluster, features), *requests)
    assert [sum(each.values()) for each in found] in ([], counts)
    for place, (*_, cpus) in enumerate(cluster):
        assert sum(each.get(name(place), 0) for each in found) <= cpus


@given(CLUSTERS, some.lists(some.tuples(some.integers(0, 7), some.integers(1, 3)), max_size=4), COUNTS)
def test_usage_taken_back_leaves_what_was(cluster: Cluster, taken: list[tuple[int, int]], count: int) -> None:
    """Given a snapshot, when usage is added and taken away again, then the same is found, and what
    is found fits.
    """
    snapshot, wanted = snapshot_of(cluster), request(count, {"preferred": "rack"})
    before = counts_of(snapshot, wanted)
    usage = [TopologyDomainRequests((name(place),), {"cpu": 1000}, number) for place, number in taken]
    snapshot.add_usage(usage)
    between = find_topology_assignments_for_flavor(snapshot, [wanted])["main"].topology_assignment
    if between is not None:
        assert snapshot.fits(TopologyDomainRequests(each.values, {"cpu": 1000}, each.count) for each in between.domains)
    snapshot.remove_usage(usage)
    assert counts_of(snapshot, wanted) == before


@pytest.mark.spec("KUEUE-173")
@given(CLUSTERS, COUNTS, LEVEL, some.booleans(), some.data())
def test_node_that_fails_is_replaced(cluster: Cluster, count: int, level: int, required: bool, data: some.DataObject) -> None:
    """Given pods in their places, when a node fails, then the rest stays where it is, and the pods
    of the node go where there is room, in the required domain; or none is found.
    """
    asked = {"required" if required else "preferred": LEVELS[level]}
    before = find_topology_assignments_for_flavor(snapshot_of(cluster), [request(count, asked)])["main"].topology_assignment
    if before is None:
        return
    failed = data.draw(some.sampled_from([each.values[-1] for each in before.domains]))
    kept = {each.values[-1]: each.count for each in before.domains if each.values[-1] != failed}
    left = [(block, rack, 0 if name(place) == failed else cpus) for place, (block, rack, cpus) in enumerate(cluster)]
    snapshot = snapshot_of(left)
    snapshot.add_usage(TopologyDomainRequests((node,), {"cpu": 1000}, number) for node, number in kept.items())
    tree = {"levels": [HOSTNAME], "slices": [
        {"domainCount": 1, "valuesPerLevel": [{"universal": each.values[0]}], "podCounts": {"universal": each.count}}
        for each in before.domains]}
    workload = {"metadata": {}, "status": {
        "unhealthyNodes": [{"name": failed}],
        "admission": {"podSetAssignments": [{"name": "main", "topologyAssignment": tree}]}}}
    found = find_topology_assignments_for_flavor(snapshot, [request(count, asked)], workload=workload)["main"]
    if found.topology_assignment is None:
        assert found.failure_reason
        return
    after = {each.values[-1]: each.count for each in found.topology_assignment.domains}
    assert sum(after.values()) == count
    assert failed not in after
    assert all(after.get(node, 0) >= number for node, number in kept.items())
    assert all(number <= left[int(node[1:])][2] for node, number in after.items())
    if required and kept:
        assert any({*after} <= {name(place) for place in places} for places in domains_at(cluster, level).values())


@pytest.mark.spec("KUEUE-170")
def test_layers_that_do_not_fit_are_told() -> None:
    """Given slices within slices, when they do not fit, then the message counts each layer, and
    tells one that stands above another.
    """
    layers = [{"topology": "rack", "size": 4}, {"topology": HOSTNAME, "size": 2}]
    cluster = [(0, 0, 3), (0, 0, 3), (0, 1, 3)]
    _, reason = counts_of(
        snapshot_of(cluster), request(8, {"required": "block", "podsetSliceRequiredTopologyConstraints": layers}))
    assert reason == (
        f'topology "t" doesn\'t allow to fit; 1/2 slice(s) fit on level rack; 3/4 slice(s) fit on level {HOSTNAME}')
    _, reason = counts_of(
        snapshot_of(cluster), request(8, {"required": "block", "podsetSliceRequiredTopologyConstraints": layers[::-1]}))
    assert reason == f"additional slice layer topology rack must be at a lower level than {HOSTNAME}"


def test_domains_are_in_order() -> None:
    """Given pods on several nodes, when they are told, then in the order of the nodes' names."""
    cluster = [(block, rack, 1) for block, rack in product((1, 0), (1, 0))]
    found = find_topology_assignments_for_flavor(snapshot_of(cluster), [request(4, {"preferred": "block"})])
    assignment = found["main"].topology_assignment
    assert assignment is not None
    labels = [cluster[int(each.values[0][1:])] for each in assignment.domains]
    assert all(one <= other for one, other in pairwise(labels))
    assert assignments.count_pods(assignment) == 4

"""Placements that upstream's own code was asked for, and its answers.

``facts.json`` has a case a line: nodes as ``[name, "block rack sub zone", "cpu memory pods",
"key value effect" of taints...]``, usage of domains, podsets; ``wanted`` is what
FindTopologyAssignmentsForFlavor of Kueue 0.19.1 gave: by podset the domains with their counts, or
the reason for none.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import domain_id
from fakekube_controllers.kueue.topology.domains import DomainTree, plus
from fakekube_controllers.kueue.topology.finding import find_topology_assignments_for_flavor
from fakekube_controllers.kueue.topology.snapshot import Matching, TASFlavorSnapshot, TASPodSetRequests

FACTS = json.loads(Path(__file__).with_name("facts.json").read_text())


@pytest.mark.spec("KUEUE-165", "KUEUE-166", "KUEUE-168", "KUEUE-170", "KUEUE-172", "KUEUE-173")
@pytest.mark.parametrize("place", range(len(FACTS)))
def test_fact(place: int) -> None:
    """Given nodes, usage and podsets, when places are looked for, then they are upstream's."""
    fact = FACTS[place]
    tree = DomainTree(fact["levels"], [node(*each) for each in fact["nodes"]])
    usage: dict[str, dict[str, int]] = {}
    for values, amounts in fact["usage"]:
        usage[domain_id(values)] = plus(usage.get(domain_id(values)), amounts)
    snapshot = TASFlavorSnapshot(
        "topo", fact.get("tolerations", ()), Matching(tree), tree.capacity, usage, Features(**fact.get("gates", {})))
    workload = {"metadata": {}, "spec": {}, "status": fact["status"]} if "status" in fact else None
    found = find_topology_assignments_for_flavor(
        snapshot, [request(each) for each in fact["requests"]], simulate_empty="empty" in fact, workload=workload)
    told = {
        name: each.failure_reason or [[domain_id(domain.values), domain.count] for domain in each.topology_assignment.domains]
        for name, each in found.items() if each.topology_assignment is not None or each.failure_reason}
    assert told == fact["wanted"]


def node(name: str, labels: str, allocatable: str, *taints: str) -> dict[str, Any]:
    levels = dict(zip(("block", "rack", "sub", "zone"), labels.split(" "), strict=True))
    return {
        "metadata": {"name": name, "labels": {**levels, "kubernetes.io/hostname": name}},
        "spec": {"taints": [dict(zip(("key", "value", "effect"), each.split(" "), strict=True)) for each in taints]},
        "status": {"allocatable": dict(zip(("cpu", "memory", "pods"), allocatable.split(" "), strict=True))}}


def request(asked: dict[str, Any]) -> TASPodSetRequests:
    podset: dict[str, Any] = {"name": asked["name"], "count": asked["count"], "template": {"spec": asked.get("spec", {})}}
    if "request" in asked:
        podset["topologyRequest"] = asked["request"]
    return TASPodSetRequests(
        podset, asked["single"], asked["count"], "f", implied="implied" in asked,
        podset_group_name=asked.get("request", {}).get("podSetGroupName"), previous_assignment=asked.get("previous"))

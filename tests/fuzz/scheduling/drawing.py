"""Random clusters and what happens in them, drawn from one generator: one seed gives one scenario.

A scenario is the configuration of a scheduler, the feature gates, and steps: each is a few requests
that are sent one after the other. Scores never tie: a preference for nodes that every pod gets
from the configuration has a weight of its own for each name, and all other scores count a hundred
times as much.
"""

import random
from typing import Any, NamedTuple

from tests.fuzz.scheduling import groups, nodes, pods
from tests.fuzz.scheduling.requests import Ask

Tree = dict[str, Any]
WEIGHTS = {
    "TaintToleration": 3, "PodTopologySpread": 2, "InterPodAffinity": 2, "NodeResourcesFit": 1,
    "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1}
GATES = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy")
BACKOFF_SECONDS = 1
CLASSES = {"low": 10, "mid": 50, "high": 100, "polite": 100}


class Scenario(NamedTuple):
    """A configuration of the scheduler, the gates that are on, and the steps of what happens."""

    configuration: Tree
    gates: tuple[str, ...]
    steps: list[list[Ask]]


class Draw:
    """Draws one scenario. ``sort`` restricts what there is: ``pods``, ``groups``, or nothing."""

    def __init__(self, seed: int, sort: str = "") -> None:
        self.rnd = random.Random(f"{seed} {sort}")
        self.has_groups = sort == "groups" or (sort != "pods" and self.rnd.random() < 0.6)
        self.nodes: list[str] = []
        self.pods: list[tuple[str, str]] = []
        self.gated: list[tuple[str, str]] = []
        self.groups: dict[str, str] = {}  # with their priority classes
        self.numbers = 0

    def name(self, prefix: str) -> str:
        """A new name."""
        self.numbers += 1
        return f"{prefix}{self.numbers:02}"

    def scenario(self, length: int) -> Scenario:
        """So many steps, after those that make the first nodes."""
        steps = [self._beginning(), [nodes.new(self) for _ in range(self.rnd.randint(1, 6))]]
        for _ in range(length):
            steps += [step for step in self._steps() if step]
        gates = GATES if self.has_groups else ()
        return Scenario(configuration(self.rnd), gates, steps)

    def _beginning(self) -> list[Ask]:
        return [Ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
            "metadata": {"name": name}, "value": value,
            "preemptionPolicy": "Never" if name == "polite" else "PreemptLowerPriority"}) for name, value in CLASSES.items()]

    def _steps(self) -> list[list[Ask]]:
        rnd = self.rnd
        ways: list[tuple[Any, int]] = [
            (pods.new_one, 10), (pods.several, 2), (pods.delete, 3), (pods.finish_deleted, 3), (pods.relabel, 1),
            (pods.lift_gates, 1), (pods.end, 1), (pods.nominate, 1),
            (nodes.add, 2), (nodes.remove, 1), (nodes.change, 4), (pods.budget, 1)]
        if self.has_groups:
            ways += [
                (groups.new_one, 7), (groups.composite, 3), (groups.member, 3), (groups.change_minimum, 1), (groups.delete, 1)]
        way = rnd.choices([each for each, _ in ways], [weight for _, weight in ways])[0]
        found: list[Any] = way(self)
        return found if found and isinstance(found[0], list) else [found]


def configuration(rnd: random.Random) -> Tree:
    """A KubeSchedulerConfiguration in which no two nodes have the same score for a pod."""
    places = rnd.sample(range(1, 13), 12)
    preferred = [{"weight": weight, "preference": {"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": [f"n{number}"]}]}} for number, weight in enumerate(places)]
    fit: Tree = {"type": rnd.choice(("LeastAllocated", "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"))}
    if fit["type"] == "RequestedToCapacityRatio":
        shape = [{"utilization": 0, "score": rnd.randint(0, 10)}, {"utilization": 100, "score": 5}]
        fit["requestedToCapacityRatio"] = {"shape": shape}
    if rnd.random() < 0.3:
        fit["resources"] = [{"name": "cpu", "weight": 3}, {"name": "example.com/gpu", "weight": 2}]
    arguments: dict[str, Tree] = {
        "NodeAffinity": {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "NodeResourcesFit": {"scoringStrategy": fit},
        "InterPodAffinity": {
            "hardPodAffinityWeight": rnd.choice((1, 1, 10)), "ignorePreferredTermsOfExistingPods": rnd.random() < 0.1},
    }
    if rnd.random() < 0.2:
        arguments["PodTopologySpread"] = {"defaultingType": "List", "defaultConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]}
    weights = [{"name": name, "weight": 101 * weight} for name, weight in WEIGHTS.items()]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "podInitialBackoffSeconds": BACKOFF_SECONDS, "podMaxBackoffSeconds": BACKOFF_SECONDS,
        "profiles": [{
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [*weights, {"name": "NodeAffinity", "weight": 1}]}},
            "pluginConfig": [{"name": name, "args": tree} for name, tree in arguments.items()]}]}

"""Grouping nodes by their signatures gives what asking every node gives, in clusters made at
random.
"""

import random
from collections import Counter
from functools import partial

import pytest

from fakekube_controllers.scheduler import index
from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import FitError, counted
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.index import Best, Bound, NodeTree
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from tests.controllers.scheduler.contexts import algorithm

SHAPES = [
    {"cpu": "4", "memory": "8Gi", "pods": "8"}, {"cpu": "8", "memory": "8Gi", "pods": "20"},
    {"cpu": "3", "memory": "64Gi", "pods": "5", "example.com/gpu": "2"}, {"memory": "4Gi", "pods": "3"},
    {"cpu": "7", "memory": "13Gi", "pods": "10", "ephemeral-storage": "10Gi"},
]
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]


def some_node(rng, name):
    labels = {"kubernetes.io/hostname": name}
    for key in ("pool", "zone"):
        if rng.random() < 0.7:
            labels[key] = rng.choice("abc")
    if rng.random() < 0.2:
        labels["rank"] = str(rng.randrange(5))
    taints = [
        {"key": rng.choice("xy"), "value": rng.choice("12"), "effect": rng.choice(EFFECTS)}
        for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    spec = {"taints": taints} if taints else {}
    if rng.random() < 0.1:
        spec["unschedulable"] = True
    allocatable = dict(rng.choice(SHAPES))
    if rng.random() < 0.1:
        allocatable["memory"] = f"{rng.randrange(1, 20)}Gi"
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": {"allocatable": allocatable}}


def some_requirement(rng):
    operator = rng.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    requirement = {"key": rng.choice(["pool", "zone", "rank"]), "operator": operator}
    if operator in ("In", "NotIn"):
        requirement["values"] = rng.sample("abc01", rng.randrange(1, 3))
    elif operator in ("Gt", "Lt"):
        requirement |= {"key": "rank", "values": [str(rng.randrange(5))]}
    return requirement


def some_affinity(rng):
    affinity = {}
    if rng.random() < 0.5:
        terms = [
            {"matchExpressions": [some_requirement(rng) for _ in range(rng.randrange(1, 3))]} for _ in range(rng.randrange(1, 3))]
        if rng.random() < 0.3:
            operator = rng.choice(["In", "NotIn"])
            names = [f"n{rng.randrange(30):02}" for _ in range(3)]
            terms[0]["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": names}]
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if rng.random() < 0.5:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": rng.randrange(1, 100), "preference": {"matchExpressions": [some_requirement(rng)]}} for _ in range(2)]
    return {"nodeAffinity": affinity}


def some_pod(rng, name):
    containers = []
    for number in range(rng.choice([1, 1, 2])):
        requests = {}
        if rng.random() < 0.8:
            requests["cpu"] = f"{rng.randrange(0, 1500)}m"
        if rng.random() < 0.8:
            requests["memory"] = f"{rng.randrange(0, 3000)}Mi"
        if rng.random() < 0.1:
            requests["example.com/gpu"] = "1"
        if rng.random() < 0.05:
            requests = {"cpu": "20"}
        container = {"name": f"c{number}", "resources": {"requests": requests}}
        if rng.random() < 0.15:
            container["ports"] = [{"containerPort": 80, "hostPort": rng.choice([80, 81]), "protocol": rng.choice(["TCP", "UDP"])}]
        containers.append(container)
    spec = {"containers": containers, "priority": rng.choice([0, 0, 0, 5])}
    if rng.random() < 0.3:
        spec["nodeSelector"] = {rng.choice(["pool", "zone"]): rng.choice("abc")}
    if rng.random() < 0.3:
        spec["tolerations"] = [{"key": rng.choice("xy"), "operator": "Exists"}]
    if rng.random() < 0.1:
        spec["tolerations"] = [{"operator": "Exists"}]
    if rng.random() < 0.3:
        spec["affinity"] = some_affinity(rng)
    return {"metadata": {"name": name, "uid": name}, "spec": spec}


def some_term(rng):
    key = rng.choice(["zone", "pool", "kubernetes.io/hostname"])
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": rng.choice("ab")}}}


ACTIONS = ["DoNotSchedule", "ScheduleAnyway"]


def some_pod_with_others(rng, name):
    """A pod that looks at others: constraints, affinity and anti-affinity, or only their object."""
    tree = some_pod(rng, name)
    tree["metadata"] |= {"namespace": rng.choice(["n", "n", "m"]), "labels": {"app": rng.choice("abc")}}
    spec = tree["spec"]
    if rng.random() < 0.4:
        spec["topologySpreadConstraints"] = [
            {**some_term(rng), "maxSkew": rng.randrange(1, 4), "whenUnsatisfiable": rng.choice(ACTIONS)}
            for _ in range(rng.randrange(1, 3))]
    affinity = dict(spec.get("affinity") or {})
    for kind in ("podAffinity", "podAntiAffinity"):
        if rng.random() < 0.2:
            affinity[kind] = {
                "requiredDuringSchedulingIgnoredDuringExecution": [some_term(rng) for _ in range(rng.randrange(2))],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": rng.randrange(1, 5), "podAffinityTerm": some_term(rng)} for _ in range(rng.randrange(2))]}
    if affinity:
        spec["affinity"] = affinity
    return tree


def outcome(framework, info, snapshot):
    """Everything that can be told from a cycle."""
    try:
        return framework.schedule(CycleState(), info, snapshot)
    except FitError as error:
        return str(error), error.statuses, counts_of(error.statuses), sorted(error.plugins)


def counts_of(statuses):
    several = Counter()
    for status, number in counted(statuses):
        several[status] += number
    return several


class World:
    """A cluster that changes at random, and two schedulers that look at it."""

    def __init__(self, seed, nodes):
        self.rng = random.Random(seed)
        self.cache = Cache()
        self.nodes, self.placed = {}, []
        self.grouping = algorithm()
        self.asking = algorithm(groups_nodes=False)
        for number in range(nodes):
            self.set_node(f"n{number:02}")

    def set_node(self, name):
        self.nodes[name] = some_node(self.rng, name)
        self.cache.set_node(self.nodes[name])

    def change(self):
        """A pod goes, or a node comes, changes or goes."""
        rng = self.rng
        if self.placed and rng.random() < 0.4:
            self.cache.remove_pod(self.placed.pop(rng.randrange(len(self.placed))))
        if rng.random() < 0.1:
            self.set_node(f"n{rng.randrange(40):02}")
        if self.nodes and rng.random() < 0.03:
            name = rng.choice(sorted(self.nodes))
            del self.nodes[name]
            self.cache.remove_node(name)

    def schedule(self, name, make=some_pod):
        """One pod, by both; what came of it."""
        info = pod_info(make(self.rng, name))
        snapshot = self.cache.snapshot()
        before = repr(list(snapshot.all_nodes.infos()))
        shared, asked = (outcome(each, info, snapshot) for each in (self.grouping, self.asking))
        assert shared == asked
        assert repr(list(snapshot.all_nodes.infos())) == before, "a cycle changes no node"
        if isinstance(shared, str):
            self.cache.assume_pod(info, shared)
            self.placed.append(name)
        return shared


@pytest.mark.parametrize("seed", [*range(12), 147, 152, 163])
def test_grouping_nodes_decides_as_asking_each(seed):
    """Given nodes and pods at random, some of which fit nowhere / when nodes and pods come, change
    and go / then each pod gets the node, or the words, that it gets when every node is asked.
    """
    world = World(seed, nodes=(1, 5, 30, 30)[seed % 4])
    found = []
    for number in range(250):
        found.append(isinstance(world.schedule(f"p{number}"), str))
        world.change()
    assert any(found)
    assert not all(found)


@pytest.mark.parametrize("seed", range(8))
def test_grouping_nodes_decides_as_asking_each_for_pods_that_look_at_others(seed):
    """Given pods with topology spread constraints and affinity to each other / then each gets the
    node, or the words, that it gets when every node is asked; also where nodes share a hostname.
    """
    world = World(seed, nodes=(1, 6, 25, 25)[seed % 4])
    found = []
    for number in range(150):
        found.append(isinstance(world.schedule(f"p{number}", some_pod_with_others), str))
        world.change()
        if number == 75 and seed % 2:
            twin = some_node(world.rng, "twin")
            twin["metadata"]["labels"]["kubernetes.io/hostname"] = "n00"
            world.nodes["twin"] = twin
            world.cache.set_node(twin)
    assert any(found)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_kept_between_cycles_decides_as_what_is_made_anew(seed):
    """Given nodes, pods and nominations that change at random / then each pod gets the node, or the
    words, that a scheduler gives it that has just begun, keeps nothing and asks about each node.
    """
    rng, cache, keeping = random.Random(1000 + seed), Cache(), algorithm()
    nodes, placed, nominated, bound = {}, {}, {}, 0

    def made_anew():
        fresh, asking = Cache(), algorithm(groups_nodes=False)
        for tree in nodes.values():
            fresh.set_node(tree)
        for tree, node_name in placed.values():
            fresh.add_pod(tree, node_name)
        for info, node_name in nominated.values():
            asking.framework.nominator.add_nominated_pod(info, NominatingInfo(node_name))
        return asking, fresh.snapshot()

    for number in range(120):
        if rng.random() < 0.3 or len(nodes) < 5:
            name = f"n{rng.randrange(20):02}"
            nodes.pop(name, None)  # what comes back is the last again
            cache.remove_node(name)
            if rng.random() < 0.8:
                nodes[name] = some_node(rng, name)
                cache.set_node(nodes[name])
        if placed and rng.random() < 0.3:
            gone = rng.choice(sorted(placed))
            del placed[gone]
            cache.remove_pod(gone)
        if rng.random() < 0.2 and nodes:
            info = pod_info(some_pod(rng, f"nominated{number % 4}"))
            nominated[info.uid] = info, rng.choice(sorted(nodes))
            keeping.framework.nominator.add_nominated_pod(info, NominatingInfo(nominated[info.uid][1]))
        tree = some_pod_with_others(rng, f"p{number}")
        info = pod_info(tree)
        asking, fresh = made_anew()
        decision = outcome(keeping, info, cache.snapshot())
        assert decision == outcome(asking, info, fresh)
        if isinstance(decision, str):
            bound += 1
            cache.assume_pod(info, decision)
            placed[info.uid] = tree, decision
            if rng.random() < 0.5:
                cache.add_pod({**tree, "spec": {**tree["spec"], "nodeName": decision}}, decision)
    assert 0 < bound < 120


def test_a_node_that_has_shrunk_below_what_its_pods_take_still_scores():
    """Given a node with less cpu than its pods request, and one with a little less memory / when a
    pod comes that requests no cpu / then the first is the better one, as it is when every node is
    asked.
    """
    world = World(0, nodes=0)
    for name, cpu, taken in (("n1", "2", {"cpu": "3"}), ("n2", "2", {"cpu": "1900m", "memory": "1536Mi"})):
        world.cache.set_node({
            "metadata": {"name": name}, "spec": {}, "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "9"}}})
        world.cache.add_pod({
            "metadata": {"name": name, "uid": name},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"memory": "0"} | taken}}]}}, name)
    info = pod_info({
        "metadata": {"name": "p", "uid": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"memory": "1Gi"}}}]}})
    snapshot = world.cache.snapshot()
    found = [outcome(framework, info, snapshot) for framework in (world.grouping, world.asking)]
    assert found == ["n1", "n1"]


def test_pods_that_depend_on_more_node_fields_than_there_are_views(monkeypatch):
    """Given pods that mention ever other labels / then each gets what asking every node gives."""
    monkeypatch.setattr(index, "VIEWED_NODES", 0)
    world = World(99, nodes=20)
    for number in range(60):
        tree = some_pod(world.rng, f"p{number}")
        key = f"label-{number % 20}"
        term = {"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}
        tree["spec"]["affinity"] = {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
        info = pod_info(tree)
        snapshot = world.cache.snapshot()
        assert outcome(world.grouping, info, snapshot) == outcome(world.asking, info, snapshot)
        if number % 3 == 0:
            world.set_node(f"n{number % 20:02}")


def test_nodes_that_come_and_go_for_ever_are_forgotten():
    """Given nodes that come and go under new names / then the snapshot does not remember them all,
    and pods still fit.
    """
    world = World(7, nodes=3)
    for number in range(2_100):
        name = f"x{number}"
        world.cache.set_node(some_node(world.rng, name))
        snapshot = world.cache.snapshot()
        world.cache.remove_node(name)
        snapshot = world.cache.snapshot()
        if number % 50 == 0:
            info = pod_info(some_pod(world.rng, f"p{number}"))
            assert outcome(world.grouping, info, snapshot) == outcome(world.asking, info, snapshot)
    assert len(snapshot.all_nodes) == 3


def best_of(tree, bound, refused, other=None, *, emptier_first=False):
    """The best of a tree, of the nodes that have places and of those that came late."""
    def accepts(name):
        return name != refused

    by, best = Bound(bound, bound, emptier_first=emptier_first), None
    bounds = tree.bounds(bound)
    for find in (tree.best_late, *(partial(tree.best, most=most, zone=zone) for most, zone in bounds)):
        best = find(by, accepts, other=best or other) or best
    return best


@pytest.mark.parametrize("emptier_first", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_tree_finds_the_best_and_of_several_the_first(seed, emptier_first):
    """Given names with usages that change, some of which came late / then the tree's best is the
    largest score, of several the one with the least share, where that has a say, and then the
    first name's.
    """
    rng, tree, usages = random.Random(seed), NodeTree(), {}
    for _ in range(400):
        name = f"n{rng.randrange(30)}"
        usage = (rng.randrange(8), rng.randrange(8)) if rng.random() < 0.8 else None
        tree.set(name, usage)
        usages[name] = usage
        limit, refused = rng.randrange(8), f"n{rng.randrange(30)}"

        def bound(usage, limit=limit):
            return -1 if usage[0] > limit else 14 - sum(usage)

        fitting = [(-bound(usage), usage[0] * emptier_first, name) for name, usage in usages.items()
                   if usage is not None and bound(usage) >= 0 and name != refused]
        if not tree:
            continue
        best = best_of(tree, bound, refused, emptier_first=emptier_first)
        assert (best and (-best.score, best.share, best.name)) == min(fitting, default=None)
        other = Best(rng.randrange(14), rng.randrange(8) * emptier_first, f"n{rng.randrange(30)}")
        best = best_of(tree, bound, refused, other, emptier_first=emptier_first)
        better = [each for each in fitting if each < (-other.score, other.share, other.name)]
        assert (best and (-best.score, best.share, best.name)) == min(better, default=None)
        groups = {}
        for name, each in usages.items():
            if each is not None:
                groups.setdefault(each, set()).add(name)
        assert {each: set(names) for each, names in tree.by_usage().items()} == groups


LARGE = {"cpu": "64", "memory": "256000Mi", "pods": "110"}


def small_pod(name, priority=0):
    """A pod that is too small to change a score of a large node."""
    requests = {"cpu": "64m", "memory": "256Mi"}
    return pod_info({"metadata": {"name": name, "uid": name}, "spec": {
        "containers": [{"name": "c", "resources": {"requests": requests}}], "priority": priority}})


class Packing(NodeResourcesFit):
    """Fills nodes, rather than to spread pods."""

    def __init__(self, args, handle):
        super().__init__({**args, "scoringStrategy": {"type": "MostAllocated"}}, handle)


@pytest.mark.parametrize("groups_nodes", [True, False])
@pytest.mark.parametrize(("fit", "expected"), [(NodeResourcesFit, "n1 n2 n3 n1 n2 n3"), (Packing, "n1 n1 n1 n1 n1 n1")])
def test_of_nodes_with_the_same_score_the_emptier_is_taken(fit, expected, groups_nodes):
    """Given three large nodes and pods that are too small to change a score / when these are placed
    one after the other / then they go round, but where full nodes are wanted.
    """
    cache, found = Cache(), []
    scheduler = algorithm(fit, groups_nodes=groups_nodes)
    for name in ("n3", "n2", "n1"):
        cache.set_node({"metadata": {"name": name}, "spec": {}, "status": {"allocatable": LARGE}})
    for number in range(6):
        info = small_pod(f"p{number}")
        found.append(outcome(scheduler, info, cache.snapshot()))
        cache.assume_pod(info, found[-1])
    assert found == expected.split()


@pytest.mark.parametrize("groups_nodes", [True, False])
@pytest.mark.parametrize(("fit", "expected"), [(NodeResourcesFit, "n2"), (Packing, "n1")])
def test_the_emptier_is_taken_where_pods_are_nominated(fit, expected, groups_nodes):
    """Given two large nodes of the same score, of which the first has a pod and is nominated for
    another / when a pod comes / then it goes to the second, but where full nodes are wanted.
    """
    cache, scheduler = Cache(), algorithm(fit, groups_nodes=groups_nodes)
    for name in ("n1", "n2"):
        cache.set_node({"metadata": {"name": name}, "spec": {}, "status": {"allocatable": LARGE}})
    cache.assume_pod(small_pod("there"), "n1")
    scheduler.framework.nominator.add_nominated_pod(small_pod("soon", priority=1), NominatingInfo("n1"))
    assert outcome(scheduler, small_pod("p"), cache.snapshot()) == expected

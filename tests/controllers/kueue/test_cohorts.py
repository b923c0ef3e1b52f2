"""The arithmetic of cohorts, compared with one that counts everything anew for every question."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.cache.clusterqueue import Settings
from fakekube_controllers.kueue.resources import FlavorResource
from fakekube_controllers.kueue.workload.info import Info, InfoOptions, Usage
from tests.controllers.kueue import trees

CPU = FlavorResource("f", "cpu")
COHORTS, QUEUES = ("a", "b", "c", "d"), ("p", "q", "r")
LIMIT = st.none() | st.integers(0, 6)


@dataclass
class Node:
    """A node of the model: whole CPUs; ``own_use`` is that of a ClusterQueue's Workloads."""

    nominal: int
    borrowing_limit: int | None
    lending_limit: int | None
    parent: str
    own_use: int = 0
    children: list["Node"] = field(default_factory=list)
    up: "Node | None" = None

    def subtree_quota(self):
        return self.nominal + sum(child.subtree_quota() - child.local_quota() for child in self.children)

    def local_quota(self):
        return 0 if self.lending_limit is None else max(0, self.subtree_quota() - self.lending_limit)

    def usage(self):
        return self.own_use + sum(max(0, child.usage() - child.local_quota()) for child in self.children)

    def available(self):
        if self.up is None:
            return self.subtree_quota() - self.usage()
        above = self.up.available()
        if self.borrowing_limit is not None:
            used = max(0, self.usage() - self.local_quota())
            above = min(above, self.subtree_quota() - self.local_quota() - used + self.borrowing_limit)
        return max(0, self.local_quota() - self.usage()) + above

    def potential_available(self):
        if self.up is None:
            return self.subtree_quota()
        most = self.local_quota() + self.up.potential_available()
        return most if self.borrowing_limit is None else min(most, self.subtree_quota() + self.borrowing_limit)


@st.composite
def nodes(draw, above):
    """A node below one of ``above``, or below none."""
    parent = draw(st.sampled_from(("", *above)))
    limits = (draw(LIMIT), draw(LIMIT)) if parent else (None, None)
    return Node(draw(st.integers(0, 8)), *limits, parent)


@st.composite
def trees_of_nodes(draw):
    """Cohorts, each below one that stands before it, and ClusterQueues below any of them."""
    cohorts = {name: draw(nodes(COHORTS[:place])) for place, name in enumerate(COHORTS)}
    return cohorts, {name: draw(nodes(COHORTS)) for name in QUEUES}


def linked(cohorts, queues):
    """The model with its edges."""
    for node in (*cohorts.values(), *queues.values()):
        node.children, node.up = [], None
    for node in (*cohorts.values(), *queues.values()):
        if node.parent:
            node.up = cohorts[node.parent]
            node.up.children.append(node)
    return queues


def quota(node):
    return {"f": {"cpu": (node.nominal, node.borrowing_limit, node.lending_limit)}}


def fill(cache, cohorts, queues):
    for name, node in cohorts.items():
        cache.add_or_update_cohort(trees.cohort(name, quota(node), parent=node.parent))
    for name, node in queues.items():
        cache.add_cluster_queue(trees.cluster_queue(name, quota(node), cohort=node.parent))


def assert_same(snapshot, queues):
    """The snapshot says of every queue what the model does."""
    for name, node in queues.items():
        found = snapshot.cluster_queue(name)
        assert found.available(CPU) == 1000 * max(0, node.available()), name
        assert found.potential_available(CPU) == 1000 * node.potential_available(), name
        assert found.resource_node.usage.get(CPU, 0) == 1000 * node.usage(), name
        for cohort, above in zip(found.path_parent_to_root(), ancestors(node), strict=True):
            assert cohort.resource_node.usage.get(CPU, 0) == 1000 * above.usage(), (name, cohort.name)
            assert cohort.resource_node.subtree_quota.get(CPU, 0) == 1000 * above.subtree_quota(), (name, cohort.name)


def ancestors(node):
    while node.up is not None:
        node = node.up
        yield node


def using(name, queue, amount):
    return trees.admitted(trees.workload(name, trees.podset(cpu=amount)), queue, {"cpu": ("f", amount)})


@settings(deadline=None)
@given(trees_of_nodes(), st.data())
def test_what_is_available_follows_every_change(tree, data):
    """Given a tree, when Workloads come and go and quotas and edges change, then what is used, left
    and to be had at most is what the rules of the tree say, and old snapshots stay as they were.
    """
    cohorts, queues = tree
    cache = Cache(Settings(InfoOptions()))
    cache.add_or_update_resource_flavor(trees.flavor("f"))
    fill(cache, cohorts, queues)
    uses = {}
    taken = []
    for _ in range(data.draw(st.integers(1, 8))):
        kind = data.draw(st.sampled_from(("use", "leave", "queue", "cohort")))
        name = data.draw(st.sampled_from("uvwxyz"))
        if kind == "use":
            queue, amount = data.draw(st.sampled_from(QUEUES)), data.draw(st.integers(0, 9))
            uses[name] = queue, amount
            assert cache.add_or_update_workload(using(name, queue, amount))
        elif kind == "leave":
            uses.pop(name, None)
            cache.delete_workload(("ns", name))
        elif kind == "queue":
            queue = data.draw(st.sampled_from(QUEUES))
            queues[queue] = data.draw(nodes(COHORTS))
            cache.update_cluster_queue(trees.cluster_queue(queue, quota(queues[queue]), cohort=queues[queue].parent))
        else:
            place = data.draw(st.sampled_from(range(len(COHORTS))))
            cohorts[COHORTS[place]] = node = data.draw(nodes(COHORTS[:place]))
            cache.add_or_update_cohort(trees.cohort(COHORTS[place], quota(node), parent=node.parent))
        for queue, node in linked(cohorts, queues).items():
            node.own_use = sum(amount for of, amount in uses.values() if of == queue)
        snapshot = cache.snapshot()
        assert_same(snapshot, queues)
        taken.append((snapshot, [figures(snapshot, queue) for queue in QUEUES]))
    for snapshot, before in taken:
        assert [figures(snapshot, queue) for queue in QUEUES] == before


def figures(snapshot, name):
    found = snapshot.cluster_queue(name)
    return found.available(CPU), dict(found.resource_node.usage), sorted(found.workloads), found.allocatable_resource_generation


@settings(deadline=None)
@given(trees_of_nodes(), st.lists(st.tuples(st.sampled_from(QUEUES), st.integers(0, 9)), max_size=6), st.data())
def test_a_snapshot_changes_for_itself_and_back(tree, uses, data):
    """Given a snapshot, when usage is added, removed and put back in it, then it is as before, and
    neither the cache nor another snapshot saw anything.
    """
    cohorts, queues = tree
    cache = Cache(Settings(InfoOptions()))
    cache.add_or_update_resource_flavor(trees.flavor("f"))
    fill(cache, cohorts, queues)
    for number, (queue, amount) in enumerate(uses):
        cache.add_or_update_workload(using(f"w{number}", queue, amount))
        queues[queue].own_use += amount
    linked(cohorts, queues)
    snapshot, other = cache.snapshot(), cache.snapshot()
    before = [figures(cache.snapshot(), queue) for queue in QUEUES]
    undo = []
    for _ in range(data.draw(st.integers(0, 5))):
        queue, amount = data.draw(st.sampled_from(QUEUES)), data.draw(st.integers(0, 9))
        undo.append((queue, amount, snapshot.cluster_queue(queue).simulate_usage_addition(Usage({CPU: 1000 * amount}))))
        queues[queue].own_use += amount
        assert_same(snapshot, queues)
    everyone = [info for queue in QUEUES for info in snapshot.cluster_queue(queue).workloads.values()]
    some = data.draw(st.lists(st.sampled_from(everyone), unique_by=id)) if everyone else []
    back = snapshot.simulate_workload_removal(some)
    for info in some:
        queues[info.cluster_queue].own_use -= info.total_requests[0].requests["cpu"] // 1000
        assert info.key not in snapshot.cluster_queue(info.cluster_queue).workloads
    assert_same(snapshot, queues)
    for unchanged in (other, cache.snapshot()):
        assert [figures(unchanged, queue) for queue in QUEUES] == before
    back()
    for info in some:
        queues[info.cluster_queue].own_use += info.total_requests[0].requests["cpu"] // 1000
    for queue, amount, revert in reversed(undo):
        revert()
        queues[queue].own_use -= amount
    assert_same(snapshot, queues)
    assert_same(other, queues)
    assert_same(cache.snapshot(), queues)


@pytest.mark.spec("KUEUE-061")
def test_capacity_two_levels_up_is_reached_and_capped():
    """Given three levels, when the cohorts between have limits, then these decide what is left."""
    def left(**limits):
        cache = trees.cache_of(
            trees.flavor("f"), trees.cohort("root", {"f": {"cpu": 20}}),
            trees.cohort("mid", {"f": {"cpu": (0, limits.get("borrowing"), limits.get("lending"))}}, parent="root"),
            trees.cluster_queue("p", {"f": {"cpu": 0}}, cohort="mid"), trees.cluster_queue("q", {"f": {"cpu": 4}}, cohort="mid"),
            trees.cluster_queue("r", {"f": {"cpu": 0}}, cohort="root"))
        snapshot = cache.snapshot()
        return [snapshot.cluster_queue(name).available(CPU) // 1000 for name in ("p", "q", "r")]

    assert left() == [24, 24, 24]
    assert left(borrowing=3) == [7, 7, 24]
    assert left(lending=1) == [24, 24, 21]


@pytest.mark.spec("KUEUE-060")
def test_a_queue_that_moves_takes_its_quota_along():
    """Given a queue with quota and use, when it names another cohort, then both cohorts have what
    is in them now.
    """
    cache = trees.cache_of(
        trees.flavor("f"), trees.cluster_queue("p", {"f": {"cpu": 3}}, cohort="a"),
        trees.cluster_queue("q", {"f": {"cpu": 1}}, cohort="a"), trees.cluster_queue("r", {"f": {"cpu": 1}}, cohort="b"))
    cache.add_or_update_workload(using("w", "p", 2))
    cache.update_cluster_queue(trees.cluster_queue("p", {"f": {"cpu": 3}}, cohort="b"))
    snapshot = cache.snapshot()
    assert [snapshot.cluster_queue(name).available(CPU) for name in "pqr"] == [2000, 1000, 2000]
    cache.update_cluster_queue(trees.cluster_queue("p", {"f": {"cpu": 3}}))
    snapshot = cache.snapshot()
    assert [snapshot.cluster_queue(name).available(CPU) for name in "pqr"] == [1000, 1000, 1000]


@pytest.mark.spec("KUEUE-062")
def test_a_quota_that_is_gone_cannot_be_borrowed():
    """Given a lender and a child cohort with quota, when both go, then it is gone at once."""
    cache = trees.cache_of(
        trees.flavor("f"), trees.cohort("root"), trees.cohort("child", {"f": {"cpu": 3}}, parent="root"),
        trees.cluster_queue("p", {"f": {"cpu": 1}}, cohort="root"), trees.cluster_queue("q", {"f": {"cpu": 5}}, cohort="root"))
    assert cache.snapshot().cluster_queue("p").available(CPU) == 9000
    cache.delete_cluster_queue("q")
    assert cache.snapshot().cluster_queue("p").available(CPU) == 4000
    cache.delete_cohort("child")
    assert cache.snapshot().cluster_queue("p").available(CPU) == 1000
    assert list(cache.hm.cohorts) == ["root"]


@pytest.mark.spec("KUEUE-063")
def test_nothing_is_admitted_in_a_cycle_and_the_cache_goes_on():
    """Given cohorts that name each other, when queues and Workloads change, then nothing of it
    is in a snapshot; once it is broken everything is counted again.
    """
    cache = trees.cache_of(
        trees.flavor("f"), trees.cohort("a", {"f": {"cpu": 1}}), trees.cohort("b", parent="a"),
        trees.cluster_queue("p", {"f": {"cpu": 2}}, cohort="b"))
    cache.add_or_update_workload(using("before", "p", 2))
    cache.add_or_update_cohort(trees.cohort("a", {"f": {"cpu": 1}}, parent="b"))
    cache.add_cluster_queue(trees.cluster_queue("q", {"f": {"cpu": 4}}, cohort="a"))
    cache.add_or_update_workload(using("within", "p", 1))
    cache.delete_workload(("ns", "before"))
    snapshot = cache.snapshot()
    assert (snapshot.cluster_queue("p"), snapshot.cohort("a")) == (None, None)
    assert list(snapshot.inactive_cluster_queue_sets) == ["p", "q"]
    assert cache.cluster_queue_ancestors(trees.cluster_queue("p", cohort="b")) == []
    assert cache.cluster_queue_share("p").is_zero()
    assert cache.cohort_share("a").is_zero()
    assert cache.matching_cluster_queues({}) == ["p", "q"]
    cache.add_or_update_cohort(trees.cohort("b", parent=""))
    found = cache.snapshot().cluster_queue("p")
    assert (found.available(CPU), found.resource_node.usage[CPU]) == (6000, 1000)
    assert cache.cluster_queue_ancestors(trees.cluster_queue("p", cohort="a")) == ["a"]


def test_a_cohort_may_name_itself():
    """Given a cohort whose parent is itself, when it is taken, then it is a cycle of one."""
    queue = trees.cluster_queue("p", {"f": {"cpu": 2}}, cohort="a")
    cache = trees.cache_of(trees.flavor("f"), trees.cohort("a", parent="a"), queue)
    assert cache.snapshot().cluster_queue("p") is None
    cache.delete_cohort("a")
    assert cache.snapshot().cluster_queue("p").available(CPU) == 2000


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(COHORTS), st.sampled_from(("", *COHORTS)), st.booleans()), max_size=12))
def test_any_edges_end(edges):
    """Given cohorts that name any others and come and go, when a snapshot is taken, then it has
    the queues that are in no cycle.
    """
    cache = trees.cache_of(trees.flavor("f"), *(trees.cluster_queue(each, {"f": {"cpu": 1}}, cohort=each) for each in COHORTS))
    parents = {}
    for name, parent, stays in edges:
        if stays:
            parents[name] = parent
            cache.add_or_update_cohort(trees.cohort(name, parent=parent))
        else:
            parents.pop(name, None)
            cache.delete_cohort(name)
        snapshot = cache.snapshot()
        for queue in COHORTS:
            above = [queue]
            while (parent := parents.get(above[-1], "")) and parent not in above:
                above.append(parent)
            found = snapshot.cluster_queue(queue)
            assert (found is None) == bool(parent), queue
            if found is not None:
                assert [cohort.name for cohort in found.path_parent_to_root()] == above


@pytest.mark.spec("KUEUE-065")
def test_a_quota_cut_below_use_leaves_nothing():
    """Given use above a quota that was cut, when it is asked what is left, then nothing is."""
    cache = trees.cache_of(trees.flavor("f"), trees.cluster_queue("p", {"f": {"cpu": 5}}))
    cache.add_or_update_workload(using("w", "p", 4))
    cache.update_cluster_queue(trees.cluster_queue("p", {"f": {"cpu": 2}}))
    found = cache.snapshot().cluster_queue("p")
    assert (found.available(CPU), found.borrowing(CPU)) == (0, True)
    info = Info(using("w", "p", 4), InfoOptions())
    assert found.fits(info.usage()).value == "NoQuota"

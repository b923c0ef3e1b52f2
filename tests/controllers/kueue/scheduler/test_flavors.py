"""The search for flavors, by rows: quotas, use and a Workload, and what is found and said."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube_controllers.kueue.cache.spec import FlavorFungibility
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import FlavorResource
from fakekube_controllers.kueue.scheduler.flavorassigner import attempts, granular
from fakekube_controllers.kueue.scheduler.flavorassigner.flavorassigner import FlavorAssigner
from fakekube_controllers.kueue.scheduler.flavorassigner.granular import GranularMode, PreemptionMode
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.flavorassigner.podset_reducer import PodSetReducer
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, InfoOptions
from tests.controllers.kueue import trees
from tests.controllers.kueue.trees import podset

NO_FIT, PREEMPT, FIT = FlavorAssignmentMode.NO_FIT, FlavorAssignmentMode.PREEMPT, FlavorAssignmentMode.FIT
MAY_STOP = {"flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}}
TRY_NEXT = {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}}
TAINT = {"key": "instance", "value": "spot", "effect": "NoSchedule"}


class Oracle(NamedTuple):
    """Answers by the flavor and resource; PREEMPT without borrowing for all else."""

    answers: dict = {}  # noqa: RUF012 - never changed

    def simulate_preemption(self, _cq, _info, fr, _quantity):
        return self.answers.get(fr, (PreemptionPossibility.PREEMPT, 0))


def assign(cache, obj, queue="cq", *, counts=None, oracle=None, features=None, last=None, fair=False, replaced=None, strategy=""):
    """An assignment, as one cycle finds it."""
    features, snapshot = features or Features(), cache.snapshot()
    info = Info(obj, InfoOptions(features))
    info.cluster_queue, info.last_assignment = queue, last
    return FlavorAssigner(
        info, snapshot.cluster_queue(queue), snapshot.resource_flavors, fair, oracle or Oracle(), replaced, strategy, 1, features,
    ).assign(counts)


def flavors_of(assignment):
    """By podset: by resource the flavor and its mode."""
    return {each.name: {name: (found.name, found.mode) for name, found in each.flavors.items()} for each in assignment.pod_sets}


def cache_with(*groups, used=(), flavors=("one", "two"), others=(), **spec):
    """A ClusterQueue ``cq`` of these resource groups; ``used`` has flavor, resource and amount."""
    cache = trees.cache_of(*(trees.flavor(each) for each in flavors), trees.cluster_queue("cq", *groups, **spec), *others)
    for number, (queue, flavor, resource, amount) in enumerate(used):
        obj = trees.workload(f"used-{number}", podset(**{resource: amount}))
        assert cache.add_or_update_workload(trees.admitted(obj, queue, {resource: (flavor, amount)}))
    return cache


def test_one_flavor_fits():
    """Given enough quota, when flavors are searched, then all resources get the flavor, and the
    admission says what all pods take.
    """
    found = assign(cache_with({"one": {"cpu": 4, "memory": "4Gi"}}), trees.workload("w", podset(count=2, cpu=1, memory="1Mi")))
    assert flavors_of(found) == {"main": {"cpu": ("one", FIT), "memory": ("one", FIT)}}
    assert (found.representative_mode(), found.borrows(), found.message()) == (FIT, 0, "")
    assert found.usage.quota == {FlavorResource("one", "cpu"): 2000, FlavorResource("one", "memory"): 2 * 2**20}
    assert found.to_api() == [{
        "name": "main", "flavors": {"cpu": "one", "memory": "one"}, "resourceUsage": {"cpu": "2", "memory": "2Mi"}, "count": 2}]
    assert found.last_state.last_tried_flavor_idx == [{"cpu": -1, "memory": -1}]


@pytest.mark.spec("KUEUE-036", "KUEUE-037")
@pytest.mark.parametrize(("asked", "used", "mode", "message"), [
    (5, 0, FIT, ""),
    (2, 4, PREEMPT, "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor one, 1 more needed"),
    (8, 0, NO_FIT, (
        "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor one, previously considered podsets "
        "requests (0) + current podset request (8) > maximum capacity (5)")),
])
def test_what_is_missing_is_told(asked, used, mode, message):
    """Given a quota of 5, when more than is left or than there ever is are asked for, then it is
    told how much.
    """
    cache = cache_with({"one": {"cpu": 5}}, used=[("cq", "one", "cpu", used)])
    found = assign(cache, trees.workload("w", podset(cpu=asked)))
    assert (found.representative_mode(), found.message()) == (mode, message)


@pytest.mark.spec("KUEUE-037")
def test_podsets_before_count():
    """Given two podsets, when the second does not fit beside the first, then both amounts are told,
    and each podset that cannot be had tells for itself.
    """
    found = assign(cache_with({"one": {"cpu": 5}}), trees.workload("w", podset("a", cpu=3), podset("b", 3, cpu=1)))
    assert found.message() == (
        "couldn't assign flavors to pod set b: insufficient quota for cpu in flavor one, previously considered podsets "
        "requests (3) + current podset request (3) > maximum capacity (5)")
    assert (found.representative_mode(), flavors_of(found)["b"]) == (NO_FIT, {})
    both = cache_with({"one": {"cpu": 5}}, used=[("cq", "one", "cpu", 4)])
    assert assign(both, trees.workload("w", podset("a", cpu=2), podset("b", cpu=1))).message() == (
        "couldn't assign flavors to pod set a: insufficient unused quota for cpu in flavor one, 1 more needed; "
        "couldn't assign flavors to pod set b: insufficient unused quota for cpu in flavor one, 2 more needed")


@pytest.mark.spec("KUEUE-044")
@pytest.mark.parametrize(("flavor_spec", "pod_spec", "flavor"), [
    ({}, {}, "two"), ({"tolerations": [{"key": "instance", "operator": "Exists"}]}, {}, "one"),
    ({}, {"tolerations": [{"key": "instance", "value": "spot", "effect": "NoSchedule"}]}, "one"),
])
def test_a_flavor_with_a_taint(flavor_spec, pod_spec, flavor):
    """Given a tainted flavor, when nothing tolerates the taint, then the next is tried."""
    cache = trees.cache_of(
        trees.flavor("one", taints=[TAINT], **flavor_spec), trees.flavor("two"),
        trees.cluster_queue("cq", {"one": {"cpu": 4}, "two": {"cpu": 4}}))
    found = assign(cache, trees.workload("w", podset(spec=pod_spec, cpu=1)))
    assert flavors_of(found) == {"main": {"cpu": (flavor, FIT)}}


def in_one_of(*terms):
    listed = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]} for key, values in terms]
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": listed}}}}


@pytest.mark.spec("KUEUE-045")
@pytest.mark.parametrize(("pod_spec", "flavor"), [
    ({"nodeSelector": {"type": "two"}}, "two"), ({"nodeSelector": {"zone": "x"}}, "one"),
    (in_one_of(("type", ["two"])), "two"), (in_one_of(("type", ["two"]), ("zone", ["x"])), "one"),
    (in_one_of(("zone", ["x"])), "one"),
])
def test_labels_of_flavors_decide_and_no_others(pod_spec, flavor):
    """Given a node selector or affinity, when it speaks of a flavor's labels, then it must match.
    """
    cache = trees.cache_of(
        trees.flavor("one", {"type": "one"}), trees.flavor("two", {"type": "two"}),
        trees.cluster_queue("cq", {"one": {"cpu": 4}, "two": {"cpu": 4}}))
    assert flavors_of(assign(cache, trees.workload("w", podset(spec=pod_spec, cpu=1)))) == {"main": {"cpu": (flavor, FIT)}}


@pytest.mark.spec("KUEUE-044", "KUEUE-045")
def test_why_no_flavor_serves_is_told_by_its_text():
    """Given flavors that are tainted, of other labels and missing, when none is left, then each
    says why, in the order of the texts.
    """
    cache = trees.cache_of(
        trees.flavor("one", taints=[TAINT]), trees.flavor("two", {"type": "two"}), trees.flavor("three"),
        trees.cluster_queue("cq", {"one": {"cpu": 4}, "two": {"cpu": 4}, "three": {"cpu": 4}}))
    snapshot = cache.snapshot()
    snapshot.resource_flavors = {name: tree for name, tree in snapshot.resource_flavors.items() if name != "three"}
    info = Info(trees.workload("w", podset(spec={"nodeSelector": {"type": "x"}}, cpu=1)), InfoOptions())
    found = FlavorAssigner(
        info, snapshot.cluster_queue("cq"), snapshot.resource_flavors, False, Oracle(), None, "", 1, Features()).assign()
    assert found.message() == (
        "couldn't assign flavors to pod set main: flavor three not found, flavor two doesn't match node affinity, "
        "untolerated taint {instance spot NoSchedule <nil>} in flavor one")


@pytest.mark.spec("KUEUE-043")
def test_resources_that_the_queue_does_not_have():
    """Given a resource that no group covers, when nothing of it is asked for, then it does not
    matter; else it is unavailable, unless the configuration ignores it.
    """
    cache = cache_with({"one": {"cpu": 4}})
    assert assign(cache, trees.workload("w", podset(cpu=1, **{"a.b/gpu": 0}))).representative_mode() == FIT
    more = trees.workload("w", podset(cpu=1, **{"a.b/gpu": 1}))
    assert assign(cache, more).message() == (
        "couldn't assign flavors to pod set main: resource a.b/gpu unavailable in ClusterQueue")
    found = assign(cache, more, strategy="IgnoreUndeclared")
    assert flavors_of(found) == {"main": {"cpu": ("one", FIT)}}
    assert found.total_requests_for(Info(more, InfoOptions())) == {FlavorResource("one", "cpu"): 1000}
    assert assign(cache, more, strategy="IgnoreUndeclared", features=Features(QuotaCheckStrategy=False)).message()


@pytest.mark.spec("KUEUE-042")
def test_a_quota_of_pods():
    """Given a quota of pods, when a Workload is assigned flavors, then its pods are counted."""
    cache = cache_with({"one": {"cpu": 10, "pods": 3}})
    assert assign(cache, trees.workload("w", podset(count=3, cpu=1))).to_api()[0]["resourceUsage"] == {"cpu": "3", "pods": "3"}
    assert "previously considered podsets requests (0) + current podset request (4) > maximum capacity (3)" in assign(
        cache, trees.workload("w", podset(count=4, cpu=1))).message()


def test_several_groups_get_flavors_of_their_own():
    """Given two resource groups, when a flavor of the second does not fit, then its next is taken.
    """
    cache = cache_with({"one": {"cpu": 4}, "two": {"cpu": 9}}, {"three": {"a.b/gpu": 1}, "four": {"a.b/gpu": 4}},
                       flavors=("one", "two", "three", "four"))
    found = assign(cache, trees.workload("w", podset(cpu=3, **{"a.b/gpu": 2})))
    assert flavors_of(found) == {"main": {"cpu": ("one", FIT), "a.b/gpu": ("four", FIT)}}
    assert found.last_state.last_tried_flavor_idx == [{"cpu": 0, "a.b/gpu": -1}]
    assert found.last_state.pending_flavors()


LENDER = [trees.cluster_queue("lender", {"one": {"cpu": 10}, "two": {"cpu": 0}}, cohort="c")]


@pytest.mark.spec("KUEUE-050")
@pytest.mark.parametrize(("fungibility", "flavor", "borrows"), [(MAY_STOP, "one", 1), (TRY_NEXT, "two", 0)])
def test_borrowing_or_the_next_flavor(fungibility, flavor, borrows):
    """Given a first flavor that fits by borrowing, when the next may be tried, then it is, and the
    one that borrows less is taken.
    """
    cache = cache_with({"one": {"cpu": 2}, "two": {"cpu": 4}}, cohort="c", others=LENDER, **fungibility)
    found = assign(cache, trees.workload("w", podset(cpu=3)))
    assert (flavors_of(found), found.borrows()) == ({"main": {"cpu": (flavor, FIT)}}, borrows)


def test_what_fits_without_borrowing_ends_the_search():
    """Given a first flavor that fits, when the next may be tried where this one borrows or
    preempts, then it is not, and the next attempt would begin with it.
    """
    cache = cache_with({"one": {"cpu": 4}, "two": {"cpu": 4}}, cohort="c", **TRY_NEXT)
    found = assign(cache, trees.workload("w", podset(cpu=3)))
    assert (flavors_of(found), found.last_state.last_tried_flavor_idx) == ({"main": {"cpu": ("one", FIT)}}, [{"cpu": 0}])


def test_the_height_of_what_lends_is_that_of_the_resource_that_needs_it_most():
    """Given one resource that is borrowed and one that is not, when both fit, then the assignment
    borrows.
    """
    cache = cache_with({"one": {"memory": "9Gi", "cpu": 2}}, cohort="c", others=[
        trees.cluster_queue("lender", {"one": {"memory": 0, "cpu": 9}}, cohort="c")])
    assert assign(cache, trees.workload("w", podset(cpu=3, memory="1Gi"))).borrows() == 1
    cache = cache_with({"one": {"memory": "1Gi", "cpu": 5}}, cohort="c", others=[
        trees.cluster_queue("lender", {"one": {"memory": "9Gi", "cpu": 0}}, cohort="c")])
    assert assign(cache, trees.workload("w", podset(cpu=3, memory="2Gi"))).borrows() == 1


def test_of_flavors_that_stand_for_each_other_the_least_bad_reason_counts():
    """Given a flavor that does not serve and one that is too small, when nothing fits, then the
    reason is that of the second; of two groups that of the worse.
    """
    gate = Features(UnadmittedWorkloadsObservability=True)
    flavors = (trees.flavor("one", taints=[TAINT]), trees.flavor("two"), trees.flavor("three", taints=[TAINT]))
    cache = trees.cache_of(*flavors, trees.cluster_queue("cq", {"one": {"cpu": 2}, "two": {"cpu": 2}}))
    assert assign(cache, trees.workload("w", podset(cpu=3)), features=gate).no_fit_reason == "ExceedsMaxQuota"
    groups = ({"one": {"cpu": 9}, "two": {"cpu": 9}}, {"three": {"memory": "2Gi"}})
    cache = trees.cache_of(*flavors, trees.cluster_queue("cq", *groups))
    assert assign(cache, trees.workload("w", podset(cpu=3, memory="1Gi")), features=gate).no_fit_reason == "NoMatchingFlavor"


@pytest.mark.spec("KUEUE-051")
@pytest.mark.parametrize(("fungibility", "flavor", "mode", "tried"), [
    (MAY_STOP, "one", PREEMPT, 0), (TRY_NEXT, "two", FIT, -1)])
def test_preemption_or_the_next_flavor(fungibility, flavor, mode, tried):
    """Given a first flavor that asks for preemption, when the next may be tried, then one that fits
    is taken, and the state says where the search goes on.
    """
    cache = cache_with({"one": {"cpu": 4}, "two": {"cpu": 4}}, used=[("cq", "one", "cpu", 3)], **fungibility)
    found = assign(cache, trees.workload("w", podset(cpu=3)))
    assert flavors_of(found) == {"main": {"cpu": (flavor, mode)}}
    assert found.last_state.last_tried_flavor_idx == [{"cpu": tried}]


def test_the_search_goes_on_after_the_last_flavor_that_was_tried():
    """Given what the last attempt got to, when the next begins, then flavors before are left out.
    """
    cache = cache_with({"one": {"cpu": 4}, "two": {"cpu": 4}})
    last = AssignmentClusterQueueState([{"cpu": 0}])
    obj, off = trees.workload("w", podset(cpu=3)), Features(FlavorFungibility=False)
    assert flavors_of(assign(cache, obj, last=last)) == {"main": {"cpu": ("two", FIT)}}
    assert flavors_of(assign(cache, obj, last=last, features=off)) == {"main": {"cpu": ("one", FIT)}}


def test_no_candidates_are_worse_than_anything_that_can_be_had():
    """Given flavors that all ask for preemption, when one has no victims, then another is chosen,
    even when the search may stop.
    """
    cache = cache_with(
        {"one": {"cpu": 4}, "two": {"cpu": 4}}, used=[("cq", "one", "cpu", 3), ("cq", "two", "cpu", 3)], **MAY_STOP)
    oracle = Oracle({FlavorResource("one", "cpu"): (PreemptionPossibility.NO_CANDIDATES, 0)})
    found = assign(cache, trees.workload("w", podset(cpu=3)), oracle=oracle)
    assert flavors_of(found) == {"main": {"cpu": ("two", PREEMPT)}}
    assert attempts.format_flavor_assignment_attempts_for_events(found) == (
        "main: one(preemptionMode=NoCandidates;insufficient unused quota for cpu in flavor one, 2 more needed), "
        "two(preemptionMode=Preempt;insufficient unused quota for cpu in flavor two, 2 more needed)")


@pytest.mark.spec("KUEUE-056", "KUEUE-057")
@pytest.mark.parametrize(("limit", "mode", "text"), [
    (None, FIT, ""), (3, FIT, ""), (1, NO_FIT, "current podset request (8) > maximum capacity (6)")])
def test_what_may_be_borrowed(limit, mode, text):
    """Given 5 and 5 in a cohort, when 8 are asked for, then the borrowing limit decides."""
    cache = cache_with(
        {"one": {"cpu": (5, limit)}}, cohort="c", others=[trees.cluster_queue("lender", {"one": {"cpu": 5}}, cohort="c")])
    found = assign(cache, trees.workload("w", podset(cpu=8)))
    assert found.representative_mode() == mode
    assert text in found.message()


@pytest.mark.spec("KUEUE-058")
def test_what_is_lent():
    """Given a lending limit of 2, when 8 are asked for beside 5, then 7 is the most there is."""
    cache = cache_with(
        {"one": {"cpu": 5}}, cohort="c", others=[trees.cluster_queue("lender", {"one": {"cpu": (5, None, 2)}}, cohort="c")])
    assert assign(cache, trees.workload("w", podset(cpu=7))).representative_mode() == FIT
    assert "> maximum capacity (7)" in assign(cache, trees.workload("w", podset(cpu=8))).message()


@pytest.mark.parametrize(("reclaim", "mode"), [("Any", PREEMPT), ("Never", NO_FIT)])
def test_with_fair_sharing_who_reclaims_may_preempt_while_borrowing(reclaim, mode):
    """Given shares, when more than the own quota is asked for and is in use, then preemption is
    looked for where the queue reclaims.
    """
    cache = cache_with(
        {"one": {"cpu": 2}}, cohort="c", others=LENDER, used=[("lender", "one", "cpu", 10)],
        preemption={"reclaimWithinCohort": reclaim})
    assert assign(cache, trees.workload("w", podset(cpu=4)), fair=True).representative_mode() == mode
    assert assign(cache, trees.workload("w", podset(cpu=4))).representative_mode() == NO_FIT


def test_a_slice_keeps_its_flavor_and_asks_for_the_rest():
    """Given a slice of 2 pods that is replaced by one of 5, when flavors are searched, then it is
    the same flavor, 3 pods are asked for, and the largest amount is compared with these alone.
    """
    cache = cache_with({"one": {"cpu": 9}, "two": {"cpu": 4}}, used=[("cq", "two", "cpu", 2)])
    old = Info(trees.admitted(trees.workload("old", podset(count=2, cpu=1)), "cq", {"cpu": ("two", 2)}), InfoOptions())
    found = assign(cache, trees.workload("w", podset(count=5, cpu=1)), replaced=old)
    assert flavors_of(found) == {"main": {"cpu": ("two", PREEMPT)}}
    assert found.message() == (
        "couldn't assign flavors to pod set main: could not assign one flavor since the original workload is assigned: two, "
        "insufficient unused quota for cpu in flavor two, 1 more needed")
    assert found.usage.quota == {FlavorResource("two", "cpu"): 3000}
    assert found.total_requests_for(Info(trees.workload("w", podset(count=5, cpu=1)), InfoOptions())) == found.usage.quota


@pytest.mark.parametrize(("request_", "flavors", "reason"), [
    ({"cpu": 9}, {}, "ExceedsMaxQuota"), ({"cpu": 3}, {}, "WaitingForQuota"),
    ({"cpu": 3}, {"taints": [TAINT]}, "NoMatchingFlavor"),
])
def test_the_precise_reason(request_, flavors, reason):
    """Given the gate for it, when nothing fits, then the reason is that of the flavor."""
    cache = trees.cache_of(
        trees.flavor("one", **flavors), trees.cluster_queue("cq", {"one": {"cpu": 2}}, cohort="c"),
        trees.cluster_queue("lender", {"one": {"cpu": 2}}, cohort="c"))
    cache.add_or_update_workload(trees.admitted(trees.workload("u", podset(cpu=2)), "lender", {"cpu": ("one", 2)}))
    found = assign(cache, trees.workload("w", podset(**request_)), features=Features(UnadmittedWorkloadsObservability=True))
    assert found.no_fit_reason == reason
    assert assign(cache, trees.workload("w", podset(**request_))).no_fit_reason == ""


@pytest.mark.spec("KUEUE-054")
def test_fewer_pods_fit():
    """Given 10 pods of which 4 are enough and a quota of 6, when counts are tried, then 6 fit."""
    cache, obj = cache_with({"one": {"cpu": 6}}), trees.workload("w", podset(count=10, min_count=4, cpu=1))

    def fits(counts):
        found = assign(cache, obj, counts=counts)
        return found if found.representative_mode() == FIT else None

    found = PodSetReducer(obj["spec"]["podSets"], fits).search()
    assert (found.pod_sets[0].count, found.to_api()[0]["resourceUsage"]) == (6, {"cpu": "6"})


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=3), st.integers(0, 30))
def test_the_search_finds_the_largest_counts_on_its_way(sizes, quota):
    """Given podsets with minima, when counts are searched, then they are the first of the way down
    that fit, or none do.
    """
    podsets = [podset(str(place), count, min_count=min(least, count)) for place, (count, least) in enumerate(sizes)]
    found = PodSetReducer(podsets, lambda counts: counts if sum(counts) <= quota else None).search()
    deltas = [each["count"] - each["minCount"] for each in podsets]
    total = sum(deltas)
    way = [[each["count"] - delta * step // total for each, delta in zip(podsets, deltas, strict=True)]
           for step in range(total + 1)] if total else []
    assert found == next((counts for counts in way if sum(counts) <= quota), None)


MODES = st.builds(GranularMode, st.sampled_from(PreemptionMode), st.integers(0, 3))
POLICIES = st.builds(
    FlavorFungibility, st.just("MayStopSearch"), st.just("TryNextFlavor"),
    st.sampled_from(("BorrowingOverPreemption", "PreemptionOverBorrowing")))


@given(MODES, MODES, MODES, POLICIES)
def test_preference_is_an_order(one, other, third, policy):
    """Given modes, when they are compared, then none is before itself, and who is before another is
    before all that the other is before; what cannot be had is last.
    """
    def before(left, right):
        return granular.is_preferred(left, right, policy)

    if one.preemption_mode != PreemptionMode.NO_FIT:
        assert not before(one, one)
        assert not (before(one, other) and before(other, one))
    if before(one, other) and before(other, third):
        assert before(one, third)
    if PreemptionMode.NO_FIT not in (one.preemption_mode, other.preemption_mode):
        possible = [each.preemption_mode > PreemptionMode.NO_PREEMPTION_CANDIDATES for each in (one, other)]
        if possible[0] != possible[1]:
            assert before(one, other) == possible[0]
    if before(one, other):
        assert one.preemption_mode != PreemptionMode.NO_FIT


class _Flavor(NamedTuple):
    """Quotas and use of one flavor, of the queue and of all others in its cohort; in whole CPUs."""

    nominal: int
    used: int
    lent: int
    used_by_others: int
    possibility: PreemptionPossibility
    is_tainted: bool

    def mode(self, asked, policy):
        """What becomes of it, as the rules say; None for a flavor that does not serve."""
        if self.is_tainted or asked > self.nominal + self.lent:
            return None
        borrows = int(asked + self.used > self.nominal)
        if asked <= max(0, self.nominal + self.lent - self.used - self.used_by_others):
            return (True, PreemptionMode.FIT, borrows)
        # the tree has one level, so nothing is reclaimed beyond the own quota
        if asked > self.nominal and not policy:
            return None
        mode = granular.OF_POSSIBILITY[self.possibility]
        return (mode > PreemptionMode.NO_PREEMPTION_CANDIDATES, mode, 0)


FLAVORS = st.builds(
    _Flavor, st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5),
    st.sampled_from(PreemptionPossibility), st.booleans())


@settings(deadline=None)
@given(
    st.lists(FLAVORS, min_size=1, max_size=4), st.integers(1, 8), st.booleans(),
    st.sampled_from(("MayStopSearch", "TryNextFlavor")), st.sampled_from(("MayStopSearch", "TryNextFlavor")),
    st.sampled_from(("BorrowingOverPreemption", "PreemptionOverBorrowing")))
def test_the_flavor_is_the_first_that_is_enough_or_the_best(found, asked, may_borrow, can_borrow, can_preempt, preference):
    """Given flavors with use, when one is searched, then it is the first after which the policy
    wants no other, else the best of all, and the mode is what the quotas say.
    """
    names = [f"f{place}" for place in range(len(found))]
    policy = {"flavorFungibility": {"whenCanBorrow": can_borrow, "whenCanPreempt": can_preempt, "preference": preference}}
    preemption = {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}} if may_borrow else {}
    cache = trees.cache_of(
        *(trees.flavor(name, taints=[TAINT] if each.is_tainted else []) for name, each in zip(names, found, strict=True)),
        trees.cluster_queue(
            "cq", {name: {"cpu": each.nominal} for name, each in zip(names, found, strict=True)}, cohort="c",
            preemption=preemption, **policy),
        trees.cluster_queue("other", {name: {"cpu": each.lent} for name, each in zip(names, found, strict=True)}, cohort="c"))
    for name, each in zip(names, found, strict=True):
        for queue, amount in (("cq", each.used), ("other", each.used_by_others)):
            obj = trees.workload(f"{queue}-{name}", podset(cpu=amount))
            cache.add_or_update_workload(trees.admitted(obj, queue, {"cpu": (name, amount)}))
    oracle = Oracle({FlavorResource(name, "cpu"): (each.possibility, 0) for name, each in zip(names, found, strict=True)})
    assignment = assign(cache, trees.workload("w", podset(cpu=asked)), oracle=oracle)
    modes = [(mode, name) for each, name in zip(found, names, strict=True) if (mode := each.mode(asked, may_borrow)) is not None]

    def is_enough(mode):
        can_be_had, kind, borrows = mode
        if kind != PreemptionMode.FIT and can_preempt == "TryNextFlavor":
            return False
        return can_be_had and not (borrows and can_borrow == "TryNextFlavor")

    def worth(mode):
        can_be_had, kind, borrows = mode
        return (can_be_had, kind, -borrows) if preference == "BorrowingOverPreemption" else (can_be_had, -borrows, kind)

    if not modes:
        assert (assignment.representative_mode(), flavors_of(assignment)) == (NO_FIT, {"main": {}})
        return
    chosen = next((entry for entry in modes if is_enough(entry[0])), None) or max(modes, key=lambda entry: worth(entry[0]))
    assert flavors_of(assignment) == {"main": {"cpu": (chosen[1], chosen[0][1].flavor_assignment_mode)}}

"""Which slices of a job are left, whatever slices it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.slices import chains, replacement
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.info import Info, InfoOptions


def slice_of(name, *, count=1, replaces="", reserved=False, evicted=False, at=0, namespace="ns", podset="main"):
    annotations = {names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION: replaces} if replaces else {}
    conditions = [
        {"type": type_, "status": "True", "reason": type_, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for type_, is_set in (("QuotaReserved", reserved), ("Evicted", evicted)) if is_set]
    return {
        "metadata": {
            "name": name, "namespace": namespace, "uid": name, "annotations": annotations,
            "creationTimestamp": f"2026-01-01T00:00:{at:02}Z"},
        "spec": {"podSets": [{"name": podset, "count": count, "template": {"spec": {"containers": []}}}]},
        "status": {"conditions": conditions}}


def finished(plan):
    return {each.workload["metadata"]["name"]: each.reason for each in plan.to_finish}


def name_of(plan):
    return plan.workload and plan.workload["metadata"]["name"]


PODSETS = [{"name": "main", "count": 3}]


@pytest.mark.spec("KUEUE-125")
def test_of_three_slices_one_has_quota_and_one_waits():
    """Given a chain of three slices, and a fourth that claims a place in it When it is normalized
    Then the newest with quota and its replacement are left: who was replaced is finished so, the
    other one is out of sync."""
    plan = chains.plan([
        slice_of("a", reserved=True, at=1), slice_of("b", replaces="ns/a", reserved=True, at=2),
        slice_of("c", count=3, replaces="ns/b", at=3), slice_of("d", replaces="ns/z", at=4)], PODSETS)
    assert name_of(plan) == "c"
    assert finished(plan) == {"a": "WorkloadSliceReplaced", "d": "OutOfSync"}


@pytest.mark.spec("KUEUE-125")
def test_an_evicted_slice_is_finished_though_it_has_quota():
    """Given a slice that is evicted, and its replacement that waits When they are normalized Then
    the evicted one is finished, and the job goes on with the other."""
    plan = chains.plan(
        [slice_of("a", reserved=True, evicted=True, at=1), slice_of("b", count=3, replaces="ns/a", at=2)], PODSETS)
    assert name_of(plan) == "b"
    assert finished(plan) == {"a": "WorkloadSliceReplaced"}


def test_of_two_that_claim_one_place_that_with_quota_has_it():
    """Given two slices that replace the same When one has quota Then the other is out of sync."""
    plan = chains.plan([
        slice_of("a", reserved=True, at=1), slice_of("b", replaces="ns/a", at=2),
        slice_of("c", count=3, replaces="ns/a", reserved=True, at=3)], PODSETS)
    assert name_of(plan) == "c"
    assert finished(plan) == {"a": "WorkloadSliceReplaced", "b": "OutOfSync"}


def test_other_podsets_are_no_slice():
    """Given a slice with another podset When the job is looked at Then its Workloads are those of
    any job."""
    assert not chains.plan([slice_of("a", podset="other")], PODSETS).compatible


@pytest.mark.parametrize(("present", "wanted", "expected"), [
    ({"head": 1, "workers": 2}, {"head": 1, "workers": 1}, "changed"),
    ({"head": 1, "workers": 2}, {"head": 1, "workers": 3}, "new"),
    ({"head": 2, "workers": 2}, {"head": 1, "workers": 3}, "new"),
    ({"head": 1, "workers": 2}, {"head": 1, "workers": 2}, "kept")])
def test_a_slice_with_quota_only_shrinks(present, wanted, expected):
    """Given a slice with quota When one podset grows, even if another shrinks Then a new slice is
    made; when one shrinks and none grows Then it is changed."""
    workload = slice_of("a", reserved=True)
    workload["spec"]["podSets"] = [{"name": name, "count": count} for name, count in present.items()]
    plan = chains.plan([workload], [{"name": name, "count": count} for name, count in wanted.items()])
    assert (name_of(plan), plan.counts) == {"changed": ("a", wanted), "new": (None, None), "kept": ("a", None)}[expected]


@pytest.mark.parametrize(("wanted", "expected"), [(3, (None, None)), (2, ("a", {"main": 2})), (1, ("a", {"main": 1}))])
def test_what_was_admitted_counts(wanted, expected):
    """Given a slice that became larger just as it was admitted with its former size When the job is
    looked at Then it needs another slice for the larger size, and this one is cut for a smaller."""
    workload = slice_of("a", count=3, reserved=True)
    workload["status"]["admission"] = {"clusterQueue": "q", "podSetAssignments": [{"name": "main", "count": 2}]}
    plan = chains.plan([workload], [{"name": "main", "count": wanted}])
    assert (name_of(plan), plan.counts) == expected


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.booleans(), st.integers(0, 3)), max_size=7), st.integers(1, 3))
def test_at_most_one_has_quota_and_one_waits(drawn, count):
    """Given any slices, replacing any others, with quota and evicted or not When the plan is
    carried out Then at most one with quota and one without are left of two and more, and doing it
    again changes nothing."""
    found = [
        slice_of(f"s{number}", count=size, replaces=f"ns/s{other}", reserved=reserved, evicted=evicted, at=number)
        for number, (other, reserved, evicted, size) in enumerate(drawn)]
    podsets = [{"name": "main", "count": count}]
    plan = chains.plan(found, podsets)
    gone = finished(plan)
    left = [each for each in found if each["metadata"]["name"] not in gone]
    if len(found) > 1:
        assert sum(states.has_quota_reservation(each) for each in left) <= 1
        assert sum(not states.has_quota_reservation(each) for each in left) <= 1
        assert not any(states.is_evicted(each) for each in left)
    assert plan.workload is None or plan.workload in left
    assert chains.plan(left, podsets).to_finish in ((), [])


def info(workload):
    return Info(workload, InfoOptions(Features()))


@pytest.mark.spec("KUEUE-124")
def test_only_a_slice_of_the_same_namespace_and_queue_is_replaced():
    """Given a slice that is to replace another When that is in the same ClusterQueue and namespace
    Then it is found; when it is in another of them Then it is not."""
    old = info(slice_of("old"))
    workloads = {old.key: old}
    new = info(slice_of("new", replaces="ns/old"))
    assert replacement.replaced_workload_slice(new, workloads, Features()) is old
    assert replacement.replaced_workload_slice(new, {}, Features()) is None
    foreign = info(slice_of("new", replaces="ns/old", namespace="other"))
    assert replacement.replaced_workload_slice(foreign, workloads, Features()) is None
    assert replacement.replaced_workload_slice(new, workloads, Features(ElasticJobsViaWorkloadSlices=False)) is None

"""From metrics to replicas: the rules for pods of which little is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.times import format_time
from fakekube_controllers.podautoscaler import replicas
from fakekube_controllers.podautoscaler.replicas import Proposal, Tolerances
from fakekube_controllers.podautoscaler.sources import MetricError, Sample

NOW = 1_000_000.0
TENTH = Tolerances(0.1, 0.1)


def pod(name, *, phase="Running", ready=True, started=-1000.0, changed=-900.0, request="1", deleted=False):
    """A pod; times in seconds from now."""
    conditions = [] if ready is None else [
        {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": format_time(NOW + changed)}]
    return {
        "metadata": {"name": name, **({"deletionTimestamp": "x"} if deleted else {})},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": request}}}]},
        "status": {"phase": phase, "conditions": conditions, "startTime": format_time(NOW + started)}}


def samples(*values, at=0.0):
    return {f"p{number}": Sample(value, NOW + at, 60.0) for number, value in enumerate(values) if value is not None}


def by_utilization(pods, found, target, *, current=None, resource="cpu"):
    return replicas.by_utilization(
        pods, found, lambda: replicas.requests_of(pods, "", resource, pod_level=True), target,
        len(pods) if current is None else current, TENTH, resource, NOW)


def pods_of(*options):
    return [pod(f"p{number}", **each) for number, each in enumerate(options)]


@pytest.mark.parametrize(("values", "target", "expected"), [
    ((300, 500, 700), 30, Proposal(5, 500, 50)),  # up
    ((100, 300, 500, 250, 250), 50, Proposal(3, 280, 28)),  # down
    ((1010, 1030, 1020), 100, Proposal(3, 1020, 102)),  # within the tolerance
    ((0, 0), 50, Proposal(0, 0, 0)),
])
def test_the_ratio_decides(values, target, expected):
    """Given ready pods with metrics / then there are as many as the ratio asks for, rounded up,
    unless it is nearly one.
    """
    assert by_utilization(pods_of(*({} for _ in values)), samples(*values), target) == expected


@pytest.mark.parametrize(("options", "values", "target", "replicas_expected"), [
    # up: unready counts as idle
    (({}, {}, {"ready": False, "changed": -1000}), (500, 700, 300), 30, 4),
    # down: unready counts for nothing
    (({}, {}, {"ready": False, "changed": -1000}), (100, 100, 900), 50, 1),
    # up, hardly: unready hold it
    (({}, {"phase": "Pending"}, {"phase": "Pending"}), (400, 500, 700), 30, 3),
    (({}, {"phase": "Failed"}), (500, 700), 30, 2),  # failed is no pod at all
    (({}, {"deleted": True}), (500, 700), 30, 2),
])
def test_pods_that_are_not_ready(options, values, target, replicas_expected):
    """Given pods that are unready, pending, failed or terminating / then they count as idle when
    there should be more pods, or not at all.
    """
    assert by_utilization(pods_of(*options), samples(*values), target).replicas == replicas_expected


@pytest.mark.parametrize(("values", "target", "replicas_expected"), [
    ((1000, None), 50, 2),  # up: what is missing counts as idle
    ((1000, 1000, None), 30, 7),
    ((100, None), 50, 2),  # down: it counts as busy, which turns the ratio round
    ((100, 100, 100, None), 50, 3),
    ((100, 100, 100, None), 200, 2),  # and as on target where the target is more than all
])
def test_pods_without_metrics(values, target, replicas_expected):
    """Given pods without metrics / then they count against the change."""
    assert by_utilization(pods_of(*({} for _ in values)), samples(*values), target).replicas == replicas_expected


@pytest.mark.parametrize(("options", "at", "counts"), [
    ({"started": -100, "changed": -70}, 0, True),  # young, and ready for a window
    ({"started": -100, "changed": -50}, 0, False),  # young, and ready for less
    ({"started": -100, "changed": -70, "ready": False}, 0, False),
    ({"started": -400, "changed": -395, "ready": False}, 0, False),  # old, and never ready
    ({"started": -400, "changed": -10, "ready": False}, 0, True),  # old, and was ready once
    ({"started": -400, "changed": -10}, 0, True),
    ({"ready": None}, 0, False),
])
def test_what_a_young_pod_uses_says_little(options, at, counts):
    """Given pods of some age and readiness / then their CPU counts, or not; memory always does."""
    pods, found = pods_of(options), samples(900, at=at)
    if counts:
        assert by_utilization(pods, found, 50).utilization == 90
    else:
        with pytest.raises(MetricError, match="did not receive metrics for targeted pods"):
            by_utilization(pods, found, 50)
    assert replicas.by_value(pods, found, 100, 1, TENTH, "memory", NOW) == Proposal(9, 900)


def test_no_pods_and_no_requests():
    """Given no pods, or pods that request nothing / then upstream's errors."""
    with pytest.raises(MetricError, match="no pods returned by selector while calculating replica count"):
        by_utilization([], samples(1), 50)
    with pytest.raises(MetricError, match="missing request for memory in container c of Pod p0"):
        by_utilization(pods_of({}), samples(1), 50, resource="memory")
    with pytest.raises(MetricError, match="unable to calculate ready pods: no pods returned"):
        replicas.by_total([], 10, 1, 1, TENTH)


def test_requests_of_pods_containers_and_sidecars():
    """Given a pod with a sidecar, and one with requests of its own / then these are summed, or the
    pod's own taken, unless one container is meant or the gate is off.
    """
    one, other = pod("a", request="500m"), pod("b", request="500m")
    one["spec"]["initContainers"] = [
        {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}}}, {"name": "i"}]
    other["spec"]["resources"] = {"requests": {"cpu": "2"}}
    assert replicas.requests_of([one, other], "", "cpu", pod_level=True) == {"a": 750, "b": 2000}
    assert replicas.requests_of([one, other], "", "cpu", pod_level=False) == {"a": 750, "b": 500}
    assert replicas.requests_of([one, other], "c", "cpu", pod_level=True) == {"a": 500, "b": 500}
    with pytest.raises(MetricError, match="container s not found in Pod b"):
        replicas.requests_of([one, other], "s", "cpu", pod_level=True)
    with pytest.raises(MetricError, match="missing pod-level request for memory in Pod b"):
        replicas.requests_of([other], "", "memory", pod_level=True)


@pytest.mark.parametrize(("total", "target", "current", "expected"), [
    (25, 10, 2, Proposal(3, 13)), (21, 10, 2, Proposal(2, 11)), (0, 10, 2, Proposal(0, 0)), (25, 10, 0, Proposal(3, 25)),
    (0, 10, 0, Proposal(0, 0)),
])
def test_shares_of_one_number(total, target, current, expected):
    """Given a number that pods share / then each has its part, rounded up; without pods the whole
    is told.
    """
    assert replicas.by_share(total, target, current, TENTH) == expected


@given(
    values=st.lists(st.none() | st.integers(0, 5000), min_size=1, max_size=8), target=st.integers(1, 300),
    phases=st.lists(st.sampled_from(["Running", "Pending", "Failed"]), min_size=8, max_size=8))
def test_little_knowledge_never_turns_the_direction(values, target, phases):
    """Given any pods / then those without metrics or readiness make the change smaller than the
    ready ones alone would, and never the opposite.
    """
    pods = [pod(f"p{number}", phase=phases[number]) for number in range(len(values))]
    found = samples(*values)
    try:
        proposal = by_utilization(pods, found, target)
    except MetricError:
        return
    if proposal.utilization > target:
        assert proposal.replicas >= min(len(pods), sum(phase == "Running" for phase in phases[: len(pods)]))
    elif proposal.utilization < target:
        assert proposal.replicas <= len(pods)

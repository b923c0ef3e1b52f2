"""Infos: what a Workload requests and uses, its age and priority, and whom it is equivalent to."""

import pytest

from fakekube.apimachinery import labels
from fakekube_controllers.kueue.configuration import Configuration, Resources, ResourceTransformation
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import FlavorResource
from fakekube_controllers.kueue.workload import admissibility, info
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Info, InfoOptions, Ordering

OPTIONS = InfoOptions()


def container(**resources):
    return {"name": "c", "resources": resources}


def podset(name="main", count=1, spec=None, **more):
    spec = spec or {"containers": [container(requests={"cpu": "1", "memory": "1Gi"})]}
    return {"name": name, "count": count, "template": {"spec": spec}, **more}


def workload(*podsets, status=None, **spec):
    return {
        "metadata": {"name": "w", "namespace": "ns", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"podSets": list(podsets) or [podset()], "queueName": "q", **spec},
        "status": status or {},
    }


def admission(*assigned):
    return {"admission": {"clusterQueue": "cq", "podSetAssignments": list(assigned)}}


def test_a_pending_workload_requests_what_its_pods_do():
    """Given two podsets, when nothing is admitted, then each requests for all of its pods."""
    found = Info(workload(podset("driver"), podset("workers", 3)), OPTIONS)
    assert [(each.name, each.count, each.requests) for each in found.total_requests] == [
        ("driver", 1, {"cpu": 1000, "memory": 2**30}), ("workers", 3, {"cpu": 3000, "memory": 3 * 2**30})]
    assert found.flavor_resource_usage() == {FlavorResource("", "cpu"): 4000, FlavorResource("", "memory"): 4 * 2**30}
    assert (found.cluster_queue, str(found.key)) == ("", "ns/w")


def test_init_containers_sidecars_overhead_and_the_pod_as_a_whole():
    """Given a pod with all of them, when it is counted, then as the scheduler of pods does."""
    spec = {
        "initContainers": [
            {**container(requests={"cpu": "1"}), "restartPolicy": "Always"}, container(requests={"cpu": "4"})],
        "containers": [container(requests={"cpu": "2"})], "overhead": {"cpu": "100m"},
    }
    assert Info(workload(podset(spec=spec)), OPTIONS).total_requests[0].requests == {"cpu": 5100}
    spec["resources"] = {"requests": {"cpu": "7"}}
    assert Info(workload(podset(spec=spec)), OPTIONS).total_requests[0].requests == {"cpu": 7100}


@pytest.mark.spec("KUEUE-049")
def test_pods_that_are_no_longer_needed_do_not_count():
    """Given reclaimable pods, when usage is read, then it is that of the rest; with the gate off of
    all.
    """
    pending = workload(podset(count=5), status={"reclaimablePods": [{"name": "main", "count": 2}, {"name": "x", "count": 1}]})
    assert Info(pending, OPTIONS).total_requests[0].count == 3
    assigned = {"name": "main", "count": 5, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "5"}}
    admitted = {**pending, "status": {**pending["status"], **admission(assigned)}}
    assert Info(admitted, OPTIONS).usage().quota == {FlavorResource("f", "cpu"): 3000}
    off = InfoOptions(Features(ReclaimablePods=False))
    assert Info(admitted, off).usage().quota == {FlavorResource("f", "cpu"): 5000}


def test_a_partial_admission_keeps_its_count():
    """Given fewer pods admitted than asked for, when usage is read, then the admission says it."""
    assigned = {"name": "main", "count": 3, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "3"}}
    found = Info(workload(podset(count=5), status=admission(assigned)), OPTIONS)
    assert (found.cluster_queue, found.total_requests[0].count) == ("cq", 3)
    assert found.usage().quota == {FlavorResource("f", "cpu"): 3000}
    assert found.total_requests[0].single_pod_requests() == {"cpu": 1000}
    assert found.total_requests[0].scaled_to(2).requests == {"cpu": 2000}


def test_more_reclaimable_pods_than_pods_free_no_more_than_all():
    """Given a reclaimable count above the podset's, when it is read, then usage is nothing."""
    found = Info(workload(podset(count=2), status={"reclaimablePods": [{"name": "main", "count": 3}]}), OPTIONS)
    assert found.total_requests[0].requests == {"cpu": 0, "memory": 0}


def test_excluded_and_transformed_resources():
    """Given prefixes and transformations, when requests are read, then quotas see the outcome."""
    spec = {"containers": [container(requests={"cpu": "1", "example.com/mig": "2", "networking.io/x": "1"})]}
    options = InfoOptions(excluded_resource_prefixes=("networking.io/",), resource_transformations={
        "example.com/mig": ResourceTransformation("example.com/mig", "Replace", "", {"example.com/mem": "5Gi", "cpu": "500m"})})
    assert Info(workload(podset(spec=spec, count=2)), options).total_requests[0].requests == {
        "cpu": 4000, "example.com/mem": 20 * 2**30}
    by_cpu = ResourceTransformation("example.com/mig", "Retain", "cpu", {"example.com/mem": "3"})
    times = info.info_options(Configuration(resources=Resources(transformations=(by_cpu,))))
    assert Info(workload(podset(spec=spec)), times).total_requests[0].requests == {
        "cpu": 1000, "example.com/mig": 2, "networking.io/x": 1, "example.com/mem": 6}


def test_a_negative_output_takes_away_from_outputs_alone():
    """Given an output below nothing, when it is summed up, then no request becomes less."""
    spec = {"containers": [container(requests={"cpu": "1", "a.b/c": "1"})]}
    options = InfoOptions(resource_transformations={"a.b/c": ResourceTransformation("a.b/c", "Replace", "", {"cpu": "-5"})})
    assert Info(workload(podset(spec=spec)), options).total_requests[0].requests == {"cpu": 1000}


def test_workloads_of_one_shape_are_equivalent():
    """Given two Workloads, when their hashes are compared, then names do not matter, and shape and
    priority do.
    """
    one, other = workload(), {**workload(), "metadata": {**workload()["metadata"], "name": "v"}}
    assert Info(one, OPTIONS).scheduling_hash == Info(other, OPTIONS).scheduling_hash
    for changed in (workload(priority=5), workload(podset(count=2)), workload(podset(minCount=1, count=1))):
        assert Info(changed, OPTIONS).scheduling_hash != Info(one, OPTIONS).scheduling_hash
    assert Info(one, InfoOptions(Features(SchedulingEquivalenceHashing=False))).scheduling_hash == "unknown"


def test_where_the_search_goes_on():
    """Given what the last attempt tried, when the next begins, then with the flavor after that."""
    state = AssignmentClusterQueueState([{"cpu": 0, "memory": -1}], scheduling_hash="a")
    assert [state.next_flavor_to_try(0, name) for name in ("cpu", "memory", "pods")] == [1, 0, 0]
    assert state.next_flavor_to_try(3, "cpu") == 0
    assert state.pending_flavors()
    assert not AssignmentClusterQueueState([{"cpu": -1}]).pending_flavors()
    assert (state.matches_scheduling_shape("a"), state.matches_scheduling_shape("b")) == (True, False)
    assert state.matches_scheduling_shape("unknown")


def evicted(kind, reason, at="2026-01-01T01:00:00Z"):
    return {"conditions": [{"type": kind, "status": "True", "reason": reason, "lastTransitionTime": at}]}


@pytest.mark.parametrize(("status", "ordering", "seconds"), [
    ({}, Ordering(), 0), (evicted("Evicted", "PodsReadyTimeout"), Ordering(), 3600),
    (evicted("Evicted", "PodsReadyTimeout"), Ordering(pods_ready_requeuing_timestamp="Creation"), 0),
    (evicted("Evicted", "AdmissionCheck"), Ordering(pods_ready_requeuing_timestamp="Creation"), 3600),
    (evicted("Evicted", "Preempted"), Ordering(), 0),
    (evicted("Preempted", "InCohortReclaimWhileBorrowing"), Ordering(), 0),
    (evicted("Preempted", "InCohortReclaimWhileBorrowing"), Ordering(Features(PrioritySortingWithinCohort=False)), 3600.001),
])
def test_since_when_a_workload_waits(status, ordering, seconds):
    """Given an eviction, when the order of the queue is asked for, then some of them begin anew."""
    obj = workload(status=status)
    assert ordering.queue_order_timestamp(obj) == pytest.approx(ordering.queue_order_timestamp(workload()) + seconds)


def test_priorities():
    """Given none, a priority and a boost, when they are read, then the boost asks for its gate."""
    boosted = workload(priority=7)
    boosted["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": "5"}
    assert info.priority(workload()) == 0
    assert info.effective_priority(boosted, Features()) == 7
    assert info.effective_priority(boosted, Features(PriorityBoost=True)) == 12
    boosted["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": "x"}
    assert info.effective_priority(boosted, Features(PriorityBoost=True)) == 7


LIMIT_RANGE = {"spec": {"limits": [
    {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "500m"},
     "max": {"cpu": "3"}, "min": {"cpu": "100m"}},
    {"type": "Pod", "max": {"cpu": "4"}},
]}}


@pytest.mark.spec("KUEUE-048")
def test_requests_are_filled_in_as_they_would_be_for_pods():
    """Given limits alone, a LimitRange and a RuntimeClass, when requests are adjusted, then the
    pods' own come first, the LimitRange's next, limits last.
    """
    obj = workload(podset(spec={"containers": [container(limits={"memory": "1Gi"})], "runtimeClassName": "kata"}))
    adjusted = admissibility.adjust_resources(obj, [LIMIT_RANGE], {"kata": {"overhead": {"podFixed": {"cpu": "10m"}}}}.get)
    assert Info(adjusted, OPTIONS).total_requests[0].requests == {"cpu": 510, "memory": 2**30}
    assert "requests" not in obj["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]
    plain = workload()
    assert admissibility.adjust_resources(plain, [], {}.get) is plain


@pytest.mark.spec("KUEUE-048")
@pytest.mark.parametrize(("own", "limit_ranges", "said"), [
    ({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, [LIMIT_RANGE], ""),
    ({"requests": {"cpu": "2", "memory": "2"}, "limits": {"cpu": "1", "memory": "1"}}, [],
     ("resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: "
      '["cpu","memory"]: requests must not exceed its limits')),
    ({"requests": {"cpu": "5"}}, [LIMIT_RANGE],
     ("resources didn't satisfy LimitRange constraints: "
      '[spec.podSets[0].template.spec.containers[0]: Invalid value: ["cpu"]: requests must not be above the limitRange max, '
      'spec.podSets[0].template.spec: Invalid value: ["cpu"]: requests must not be above the limitRange max]')),
    ({"requests": {"cpu": "50m"}}, [LIMIT_RANGE],
     ("resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0]: Invalid value: "
      '["cpu"]: requests must not be below the limitRange min')),
])
def test_what_may_not_be_admitted(own, limit_ranges, said):
    """Given requests, when they are above limits or outside of a LimitRange, then it says where."""
    found = Info(workload(podset(spec={"containers": [container(**own)]})), OPTIONS)
    namespace = {"metadata": {"name": "ns", "labels": {"a": "b"}}}
    assert admissibility.validate_admissibility(found, namespace, labels.EVERYTHING, limit_ranges) == said


@pytest.mark.spec("KUEUE-041")
def test_a_namespace_that_the_queue_does_not_select():
    """Given a namespace selector, when it does not match or is of none, then it is said."""
    found, namespace = Info(workload(), OPTIONS), {"metadata": {"name": "ns", "labels": {"a": "b"}}}
    selector = labels.from_label_selector({"matchLabels": {"a": "c"}})
    assert admissibility.validate_admissibility(found, namespace, selector, []) == (
        "workload namespace doesn't match ClusterQueue selector")
    assert "does not exist" in admissibility.validate_admissibility(found, None, selector, [])


def test_several_limit_ranges_are_one():
    """Given two of them, when they are one, then the strictest bounds count, and first defaults."""
    other = {"spec": {"limits": [{"type": "Container", "default": {"cpu": "9"}, "max": {"cpu": "1"}, "min": {"cpu": "200m"}}]}}
    found = admissibility.summarize([LIMIT_RANGE, other])["Container"]
    assert (found["max"], found["min"], found["default"]) == ({"cpu": "1"}, {"cpu": "200m"}, {"cpu": "2"})

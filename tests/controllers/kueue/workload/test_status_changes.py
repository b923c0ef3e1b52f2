"""What is written into the status of a Workload that is evicted, waits for nodes, or may not
preempt.
"""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.workload import admissibility, evict, reservation, scheduling_hash
from fakekube_controllers.kueue.workload.info import Info
from tests.controllers.kueue import test_info

OPTIONS = test_info.OPTIONS
workload: Any = test_info.workload
podset: Any = test_info.podset
NOW, AT = 1767225600.0, "2026-01-01T00:00:00Z"
OLD = "2025-01-01T00:00:00Z"


def of(**status: object) -> Tree:
    """A Workload with a status."""
    return {"metadata": {"name": "w", "namespace": "n", "generation": 3}, "spec": {}, "status": status}


def told(type_: str, status: str, reason: str, message: str = "", at: str = AT) -> Tree:
    """A condition."""
    return {
        "type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": at,
        "observedGeneration": 3}


def test_an_eviction_resets_what_the_next_admission_decides() -> None:
    """Given a Workload with checks, gates of preemption and worker clusters, when it is evicted,
    then checks are to be made again, gates are closed, and the rest is gone.
    """
    checks = [
        {"name": "waits", "state": "Pending", "message": "m", "lastTransitionTime": OLD},
        {"name": "ready", "state": "Ready", "message": "m", "lastTransitionTime": OLD, "podSetUpdates": [{"name": "p"}]},
        {"name": "again", "state": "Retry", "message": "m", "lastTransitionTime": OLD, "requeueAfterSeconds": 5,
         "retryCount": 2}]
    found = of(
        conditions=[told("BlockedOnPreemptionGates", "True", "Gated", "g", OLD)], admissionChecks=checks, clusterName="c",
        nominatedClusterNames=["c"], unhealthyNodes=[{"name": "x"}],
        preemptionGates=[{"name": "g", "position": "Open", "lastTransitionTime": OLD}])
    evict.prepare_for_eviction(found, "Preempted", "for another", now=NOW)
    assert found["status"] == {
        "conditions": [
            told("BlockedOnPreemptionGates", "False", "Preempted", "for another"),
            told("Evicted", "True", "Preempted", "for another")],
        "admissionChecks": [
            checks[0],
            {"name": "ready", "state": "Pending", "lastTransitionTime": AT,
             "message": "Reset to Pending after eviction. Previously: Ready"},
            {"name": "again", "state": "Pending", "lastTransitionTime": AT, "requeueAfterSeconds": 5, "retryCount": 3,
             "message": "Reset to Pending after eviction. Previously: Retry"}],
        "preemptionGates": [{"name": "g", "position": "Closed", "lastTransitionTime": AT}]}


def test_gates_that_do_not_block_are_not_told() -> None:
    """Given a Workload that no gate blocks, when it is evicted, then nothing is said of gates."""
    found = of()
    evict.prepare_for_eviction(found, "Preempted", "for another", now=NOW)
    assert found["status"] == {"conditions": [told("Evicted", "True", "Preempted", "for another")]}


def test_a_workload_that_may_not_preempt_says_so_once() -> None:
    """Given a Workload whose gate is closed, when it would have to preempt, then a condition says
    so, and the second time nothing changes.
    """
    found = of()
    assert reservation.set_blocked_on_preemption_gates_condition(found, "Gated", "it's gated", now=NOW) is True
    assert found["status"]["conditions"] == [told("BlockedOnPreemptionGates", "True", "Gated", "it's gated")]
    assert reservation.set_blocked_on_preemption_gates_condition(found, "Gated", "it's gated", now=NOW + 5) is False


@pytest.mark.parametrize(("checks", "pending", "wanted"), [
    ([], "", ("True", "Admitted", "The workload is admitted")),
    ([{"name": "c", "state": "Pending"}], "Pending", ("False", "UnsatisfiedChecks", "The workload has not all checks ready")),
    ([{"name": "c", "state": "Ready"}], "Pending", (
        "False", "PendingDelayedTopologyRequests", "There are pending delayed topology requests")),
    ([], "Ready", ("True", "Admitted", "The workload is admitted")),
])
def test_a_workload_is_admitted_once_its_nodes_are_found(checks: list[Tree], pending: str, wanted: tuple[str, str, str]) -> None:
    """Given a Workload with quota, when its checks are ready, then it is admitted, unless the
    nodes for its pods are still to be found.
    """
    assigned: Tree = {"name": "main", "delayedTopologyRequest": pending} if pending else {"name": "main"}
    found = of(
        conditions=[told("QuotaReserved", "True", "QuotaReserved")], admissionChecks=checks,
        admission={"clusterQueue": "cq", "podSetAssignments": [assigned]})
    assert reservation._admitted_condition(found, Features()) == wanted


def test_the_flavors_that_are_allowed_make_another_shape() -> None:
    """Given two Workloads that differ in the flavors they are allowed, when that counts, then they
    have other hashes, and else the same.
    """
    plain, allowed = workload(podset("main", 1)), workload(podset("main", 1))
    allowed["metadata"]["annotations"] = {"kueue.x-k8s.io/workload-allowed-resource-flavors": "a"}
    for gate in (False, True):
        features = Features(ConcurrentAdmission=gate)
        one, other = (scheduling_hash.scheduling_hash(each, [], 0, features) for each in (plain, allowed))
        assert (one == other) is not gate


@pytest.mark.parametrize(("own", "wanted"), [
    ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "2Gi"}}),
    ({"limits": {"memory": "1Gi"}}, {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "4", "memory": "1Gi"}}),
])
def test_resources_of_a_whole_pod_have_defaults(own: Tree, wanted: Tree) -> None:
    """Given a pod with resources of its own, when a LimitRange has defaults for pods, then it gets
    those that it lacks; a pod without any gets none.
    """
    limits: Tree = {"Pod": {"default": {"cpu": "4", "memory": "2Gi"}, "defaultRequest": {"cpu": "3"}}}
    assert admissibility._adjusted({"containers": [], "resources": own}, limits, lambda _: None) == {
        "containers": [], "resources": wanted}
    assert admissibility._adjusted({"containers": []}, limits, lambda _: None) == {"containers": []}


def test_a_pod_asks_for_no_more_than_its_limit() -> None:
    """Given a pod with resources of its own beside a container, when either asks for more than its
    limit, then the place of each is told.
    """
    found = workload(podset("main", 1))
    spec = found["spec"]["podSets"][0]["template"]["spec"]
    spec["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]
    spec["resources"] = {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}
    paths = [each.field for each in admissibility.validate_resources(Info(found, OPTIONS))]
    assert paths == [
        "spec.podSets[0].template.spec.containers[0]", "spec.podSets[0].template.spec.resources"]


def test_an_info_shows_whose_it_is() -> None:
    """Given a Workload in a queue, when it is shown to who debugs, then by its name and queue."""
    info = Info(workload(podset("main", 1)), OPTIONS)
    info.cluster_queue = "cq"
    assert repr(info) == f"Info({info.key}, 'cq')"

"""Quota is reserved and taken back: the conditions that follow, their texts and times."""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.workload import admissionchecks, evict, podsetcounts, requeue, reservation, states

FEATURES = Features()
ADMISSION = {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "flavors": {"cpu": "f"}, "count": 1}]}


def workload(**status: object) -> Tree:
    return {
        "metadata": {"name": "w", "namespace": "ns", "generation": 3, "creationTimestamp": "1970-01-01T00:00:00Z"},
        "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 4}]}, "status": {**status}}


def shown(obj: Tree, type_: str) -> tuple[str, str, str] | None:
    found = meta.find_condition(obj, type_)
    return (found["status"], found["reason"], found["message"]) if found is not None else None


def test_a_reservation_waits_for_checks_and_is_admitted_when_they_are_ready() -> None:
    """Given a Workload with a pending check, when quota is reserved, then it is not admitted, and
    has no Admitted condition; when the check is Ready, then it is.
    """
    obj = workload(admissionChecks=[{"name": "c", "state": "Pending"}])
    assert reservation.set_quota_reservation(obj, ADMISSION, now=10)
    assert not reservation.sync_admitted_condition(obj, now=10, features=FEATURES)
    assert shown(obj, "QuotaReserved") == ("True", "QuotaReserved", "Quota reserved in ClusterQueue cq")
    assert shown(obj, "Admitted") is None
    obj["status"]["admissionChecks"][0]["state"] = "Ready"
    assert reservation.sync_admitted_condition(obj, now=12, features=FEATURES)
    assert shown(obj, "Admitted") == ("True", "Admitted", "The workload is admitted")


def test_what_is_taken_back_says_why_and_adds_up_the_time_of_admission() -> None:
    """Given a Workload admitted for 25 s, when its quota is taken back, then both conditions are
    false and the time is added to what there was.
    """
    obj = workload(accumulatedPastExecutionTimeSeconds=5)
    reservation.set_quota_reservation(obj, ADMISSION, now=100)
    reservation.sync_admitted_condition(obj, now=100, features=FEATURES)
    assert reservation.unset_quota_reservation_with_condition(obj, "Pending", "why", now=125.5, features=FEATURES)
    assert "admission" not in obj["status"]
    assert obj["status"]["accumulatedPastExecutionTimeSeconds"] == 30
    assert shown(obj, "QuotaReserved") == ("False", "Pending", "why")
    assert shown(obj, "Admitted") == ("False", "NoReservation", "The workload has no reservation")
    assert not reservation.unset_quota_reservation_with_condition(obj, "Pending", "why", now=130, features=FEATURES)


@pytest.mark.parametrize(("precise", "reason", "message"), [
    (False, "NoReservationUnsatisfiedChecks", "The workload has no reservation and not all checks ready"),
    (True, "NoReservation", "The workload has no reservation"),
])
def test_neither_quota_nor_checks(precise: bool, reason: str, message: str) -> None:
    """Given an admitted Workload, when it loses its quota and its check, then the reason is the one
    of the gate.
    """
    features = FEATURES._replace(UnadmittedWorkloadsObservability=precise)
    obj = workload(admissionChecks=[{"name": "c", "state": "Ready"}])
    reservation.set_quota_reservation(obj, ADMISSION, now=1)
    reservation.sync_admitted_condition(obj, now=1, features=features)
    obj["status"]["admissionChecks"][0]["state"] = "Rejected"
    reservation.unset_quota_reservation_with_condition(obj, "Pending", "why", now=2, features=features)
    assert shown(obj, "Admitted") == ("False", reason, message)


def test_a_new_reservation_ends_the_conditions_of_the_eviction_before() -> None:
    """Given a preempted Workload, when quota is reserved again, then Evicted and Preempted are
    false, and keep what they said.
    """
    obj = workload()
    evict.prepare_for_eviction(obj, "Preempted", "for another", now=1)
    reservation.set_preempted_condition(obj, "InClusterQueue", "for another", now=1)
    reservation.set_quota_reservation(obj, ADMISSION, now=5)
    for type_ in ("Evicted", "Preempted"):
        assert shown(obj, type_) == ("False", "QuotaReserved", "Previously: for another")
    assert obj["status"]["conditions"][0]["observedGeneration"] == 3


def test_an_eviction_resets_checks_and_counts_those_that_asked_for_another_try() -> None:
    """Given checks in every state, when the Workload is evicted, then all are pending; only the one
    in Retry has one try more, and one that was pending keeps its message.
    """
    checks = [
        {"name": "p", "state": "Pending", "message": "m"}, {"name": "r", "state": "Retry", "retryCount": 2},
        {"name": "ok", "state": "Ready", "podSetUpdates": [{"name": "main"}]}]
    obj = workload(admissionChecks=checks, clusterName="w1", nominatedClusterNames=["w1"])
    evict.prepare_for_eviction(obj, "AdmissionCheck", "m", now=7)
    pending, retry, ready = obj["status"]["admissionChecks"]
    assert pending == {"name": "p", "state": "Pending", "message": "m"}
    assert (retry["state"], retry["retryCount"]) == ("Pending", 3)
    assert ready == {
        "name": "ok", "state": "Pending", "message": "Reset to Pending after eviction. Previously: Ready",
        "lastTransitionTime": "1970-01-01T00:00:07Z"}
    assert "clusterName" not in obj["status"]


def test_requeuing_waits_longer_each_time_up_to_the_most() -> None:
    """Given no state, when it is requeued thrice with base 60 and most 200, then it waits 60, 120,
    200.
    """
    obj = workload()
    for count, wait in ((1, 60), (2, 120), (3, 200), (4, 200)):
        obj["status"].get("requeueState", {}).pop("requeueAt", None)
        requeue.update_requeue_state(obj, 60, 200, now=0)
        minutes, seconds = divmod(wait, 60)
        assert obj["status"]["requeueState"] == {"count": count, "requeueAt": f"1970-01-01T00:{minutes:02d}:{seconds:02d}Z"}


def test_a_later_time_to_be_requeued_is_never_made_earlier() -> None:
    """Given a time, when an earlier one is set, then nothing changes."""
    obj = workload()
    assert requeue.set_requeue_state(obj, 50, increment_count=False)
    assert not requeue.set_requeue_state(obj, 40, increment_count=False)
    assert obj["status"]["requeueState"] == {"requeueAt": "1970-01-01T00:00:50Z"}


def test_checks_are_those_of_the_admitted_flavors() -> None:
    """Given a check for one flavor and one for all, when a Workload has no admission, then it needs
    the second; with an admission in the flavor it needs both.
    """
    queue = {"spec": {
        "resourceGroups": [{"flavors": [{"name": "f"}, {"name": "g"}]}],
        "admissionChecksStrategy": {"admissionChecks": [{"name": "one", "onFlavors": ["f"]}, {"name": "all"}]}}}
    assert admissionchecks.admission_checks_for_workload(workload(), queue) == ["all"]
    assert admissionchecks.admission_checks_for_workload(workload(admission=ADMISSION), queue) == ["one", "all"]


def test_states_of_checks_follow_the_queue() -> None:
    """Given one check, when the queue has two, then both are there by name; without any there is
    none.
    """
    present = [{"name": "z", "state": "Ready"}]
    synced = admissionchecks.sync_admission_check_conditions(present, ["z", "a"], now=0)
    assert synced is not None
    assert [(check["name"], check["state"]) for check in synced] == [("a", "Pending"), ("z", "Ready")]
    assert admissionchecks.sync_admission_check_conditions(synced, ["a", "z"], now=0) is None
    assert admissionchecks.sync_admission_check_conditions(present, [], now=0) == []
    assert admissionchecks.sync_admission_check_conditions([], [], now=0) is None


def test_counts_of_podsets() -> None:
    """Given counts, when one is smaller and none larger, then it was scaled down."""
    assert podsetcounts.scaled_down({"a": 2, "b": 1}, {"a": 1, "b": 1})
    assert not podsetcounts.scaled_down({"a": 2, "b": 1}, {"a": 1, "b": 2})
    assert podsetcounts.limit_reclaimable_pods_to_pod_set_sizes(workload(), [{"name": "main", "count": 9}]) == [
        {"name": "main", "count": 4}]


def test_who_is_admissible() -> None:
    """Given Workloads that are gated, inactive, on hold or reserved, then none may be queued."""
    assert states.is_admissible(workload(), FEATURES)
    inactive = workload()
    inactive["spec"]["active"] = False
    gated = workload()
    gated["metadata"]["annotations"] = {"kueue.x-k8s.io/admission-gated-by": "x"}
    held = workload()
    reservation.unset_quota_reservation_with_condition(held, "OnHold", "m", now=0, features=FEATURES)
    assert not any(states.is_admissible(each, FEATURES) for each in (inactive, gated, held))
    assert states.is_admissible(gated, FEATURES._replace(AdmissionGatedBy=False))

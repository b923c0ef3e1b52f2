"""What becomes of a Workload outside of the scheduling cycle: queues that come late, checks, stops,
gates, times that run out.
"""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import LIMIT_RANGES, RUNTIME_CLASSES
from fakekube_controllers.kueue.configuration import (
    Configuration,
    RequeuingStrategy,
    WaitForPodsReady,
    WorkloadRetentionPolicy,
)
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import (
    ADMISSION_CHECKS,
    ADMISSION_GATED_BY_ANNOTATION,
    CLUSTER_QUEUES,
    JOB_UID_LABEL,
    LOCAL_QUEUES,
    RESOURCE_FLAVORS,
    WORKLOAD_PRIORITY_CLASSES,
    WORKLOADS,
)
from tests.controllers.kueue.core.world import NAMESPACE, World, cluster_queue, world

ADMITTED = ("True", "Admitted", "The workload is admitted")


async def usage(of: World) -> tuple[str, str, int, int, int]:
    """What a ClusterQueue says is reserved and used, and how many reserve, are admitted, wait."""
    await of.cluster.advance("2s")
    status = (await of.get(CLUSTER_QUEUES, "cq"))["status"]
    reserved, used = (status[field][0]["resources"][0]["total"] for field in ("flavorsReservation", "flavorsUsage"))
    return reserved, used, status["reservingWorkloads"], status["admittedWorkloads"], status["pendingWorkloads"]


async def condition(of: World, type_: str, name: str = "w", *, after: str = "0s") -> tuple[str, str, str] | None:
    await of.cluster.advance(after)
    return await of.condition(WORKLOADS, name, type_)


async def status_of(of: World, name: str = "w") -> Tree:
    found: Tree = (await of.get(WORKLOADS, name)).get("status", {})
    return found


async def set_status(of: World, status: Tree, name: str = "w") -> None:
    await of.client.patch(WORKLOADS, name, NAMESPACE, {"status": status}, subresource="status")
    await of.cluster.settle()


async def set_check(of: World, state: str, name: str = "c", **more: object) -> None:
    check = {"name": name, "state": state, "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z", **more}
    await set_status(of, {"admissionChecks": [check]})


async def release(of: World, name: str = "w") -> None:
    """Do what the controller of a job does once its pods are gone."""
    obj = await of.get(WORKLOADS, name)
    del obj["status"]["admission"]
    for each in obj["status"]["conditions"]:
        if each["type"] in ("QuotaReserved", "Admitted"):
            each.update(status="False", reason="Pending", message="m")
        if each["type"] == "Evicted":
            requeued = {**each, "type": "Requeued", "status": "False"}
    obj["status"]["conditions"].append(requeued)
    await of.client.update_status(WORKLOADS, obj)
    await of.cluster.settle()


async def checked(of: World, **spec: object) -> None:
    """Queues with an active check, and a Workload that has quota of them."""
    await of.create(ADMISSION_CHECKS, "c", {"controllerName": "example.com/c"})
    active = {
        "type": "Active", "status": "True", "reason": "Active", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await of.client.patch(ADMISSION_CHECKS, "c", body={"status": {"conditions": [active]}}, subresource="status")
    await of.queues(admissionChecksStrategy={"admissionChecks": [{"name": "c"}]})
    await of.workload("w", **spec)
    await of.cluster.settle()


@pytest.mark.spec("KUEUE-030", "KUEUE-032")
async def test_a_cluster_queue_shows_what_is_used_and_who_waits() -> None:
    """Given a queue for 5, when 3, 2 and 1 ask, then it shows 5 and one that waits; when that one
    is deleted, and the others have finished, then zeros.
    """
    async with world() as of:
        await of.queues()
        for name, cpu in (("a", "3"), ("b", "2"), ("c", "1")):
            await of.workload(name, cpu)
            await of.cluster.advance("1s")
        assert await usage(of) == ("5", "5", 2, 2, 1)
        await of.client.delete(WORKLOADS, "c", NAMESPACE)
        assert await usage(of) == ("5", "5", 2, 2, 0)
        finished = {
            "type": "Finished", "status": "True", "reason": "Succeeded", "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for name in "ab":
            present = (await status_of(of, name))["conditions"]
            await set_status(of, {"conditions": [*present, finished]}, name)
        assert await usage(of) == ("0", "0", 0, 0, 0)
        assert of.cluster.metrics.value("kueue_finished_workloads_total", cluster_queue="cq") == 2


@pytest.mark.spec("KUEUE-031")
async def test_what_waits_for_a_check_is_reserved_and_not_used() -> None:
    """Given a check, when quota is reserved, then it is not used until the check is Ready."""
    async with world() as of:
        await checked(of)
        assert await usage(of) == ("1", "0", 1, 0, 0)
        assert await condition(of, "Admitted") is None
        assert [(each["name"], each["state"]) for each in (await status_of(of))["admissionChecks"]] == [("c", "Pending")]
        await set_check(of, "Ready")
        assert await condition(of, "Admitted") == ADMITTED
        assert await usage(of) == ("1", "1", 1, 1, 0)
        assert ("Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 2s") in await of.events("w")


@pytest.mark.spec("KUEUE-033", "KUEUE-049")
@pytest.mark.parametrize("enabled", [True, False])
async def test_pods_that_are_done_give_their_quota_back(enabled: bool) -> None:
    """Given a Workload of 5 pods in a queue for 5, when 2 of them are reclaimable, then 3 are used,
    and one that waits for 2 is admitted; without the gate not.
    """
    async with world(Configuration(features=Features(ReclaimablePods=enabled))) as of:
        await of.queues()
        await of.workload("w", count=5)
        await of.workload("next", "2")
        assert await usage(of) == ("5", "5", 1, 1, 1)
        await set_status(of, {"reclaimablePods": [{"name": "main", "count": 2}]})
        await of.cluster.advance("2s")
        assert await usage(of) == (("5", "5", 2, 2, 0) if enabled else ("5", "5", 1, 1, 1))


@pytest.mark.spec("KUEUE-035")
async def test_a_queue_that_is_deleted_stays_while_it_is_used() -> None:
    """Given a ClusterQueue with an admitted Workload, when it is deleted, then it is terminating
    and counts on; when the Workload is gone, then so is the queue.
    """
    async with world() as of:
        await of.queues()
        await of.workload("w")
        await of.cluster.settle()
        await of.client.delete(CLUSTER_QUEUES, "cq")
        assert await usage(of) == ("1", "1", 1, 1, 0)
        message = "Can't admit new workloads; clusterQueue is terminating"
        assert await of.condition(CLUSTER_QUEUES, "cq", "Active") == ("False", "Terminating", message)
        await of.client.delete(WORKLOADS, "w", NAMESPACE)
        await of.cluster.advance("2s")
        with pytest.raises(APIError, match="not found"):
            await of.get(CLUSTER_QUEUES, "cq")


@pytest.mark.spec("KUEUE-035")
async def test_a_queue_that_only_reserved_quota_goes_at_once() -> None:
    """Given a Workload that waits for its check, when the ClusterQueue is deleted, then its quota
    is taken back, and the queue is gone.
    """
    async with world() as of:
        await checked(of)
        await of.client.delete(CLUSTER_QUEUES, "cq")
        await of.cluster.advance("3s")
        assert await condition(of, "QuotaReserved") == ("False", "Inadmissible", "ClusterQueue cq doesn't exist")
        with pytest.raises(APIError, match="not found"):
            await of.get(CLUSTER_QUEUES, "cq")


@pytest.mark.spec("KUEUE-046", "KUEUE-047")
async def test_queues_may_come_after_their_workloads() -> None:
    """Given a Workload, when LocalQueue, ClusterQueue and flavor come one after the other, then it
    says what it waits for each time, and is admitted.
    """
    async with world() as of:
        await of.workload("w")
        assert await condition(of, "QuotaReserved") == ("False", "Inadmissible", "LocalQueue q doesn't exist")
        await of.create(LOCAL_QUEUES, "q", {"clusterQueue": "cq"})
        assert await condition(of, "QuotaReserved") == ("False", "Inadmissible", "ClusterQueue cq doesn't exist")
        await of.create(CLUSTER_QUEUES, "cq", cluster_queue({"f": "1"}))
        assert await condition(of, "QuotaReserved", after="2s") == ("False", "Inadmissible", "ClusterQueue cq is inactive")
        await of.create(RESOURCE_FLAVORS, "f", {})
        assert await condition(of, "Admitted", after="2s") == ADMITTED


@pytest.mark.spec("KUEUE-048")
async def test_requests_are_those_that_pods_would_have() -> None:
    """Given limits alone, defaults of a LimitRange and an overhead, then all of them count;
    requests above limits, or above what a LimitRange allows, are told.
    """
    async with world() as of:
        await of.queues()
        await of.client.create(RUNTIME_CLASSES, {
            "metadata": {"name": "heavy"}, "handler": "h", "overhead": {"podFixed": {"cpu": "500m"}}})

        async def usage_of(name: str, container: Tree, **spec: object) -> str:
            template = {"spec": {"containers": [{"name": "c", "image": "i", **container}], "restartPolicy": "Never", **spec}}
            await of.create(WORKLOADS, name, {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]})
            await of.cluster.settle()
            status = await status_of(of, name)
            if "admission" not in status:
                return str(status["conditions"][0]["message"])
            return str(status["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"])

        assert await usage_of("limits", {"resources": {"limits": {"cpu": "1"}}}) == "1"
        assert await usage_of("overhead", {"resources": {"requests": {"cpu": "1"}}}, runtimeClassName="heavy") == "1500m"
        above = await usage_of("above", {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})
        assert above.startswith("resources validation failed: ")
        await of.create(LIMIT_RANGES, "l", {"limits": [{
            "type": "Container", "default": {"cpu": "700m"}, "defaultRequest": {"cpu": "700m"}, "max": {"cpu": "1"}}]})
        await of.cluster.settle()
        assert await usage_of("default", {}) == "700m"
        outside = await usage_of("outside", {"resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": "1500m"}}})
        assert outside.startswith("resources didn't satisfy LimitRange constraints: ")


@pytest.mark.spec("KUEUE-055")
async def test_others_may_gate_a_workload() -> None:
    """Given a Workload with gates, then it waits and says for what; without them it is admitted."""
    async with world() as of:
        await of.queues()
        template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
        spec, gates = {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]}, "a.io/a,b.io/b"
        await of.create(WORKLOADS, "w", spec, annotations={ADMISSION_GATED_BY_ANNOTATION: gates})
        assert await condition(of, "QuotaReserved", after="2s") == ("False", "AdmissionGated", f"Admission is gated by: {gates}")
        assert await of.events("w") == [("AdmissionGated", f"Workload admission is gated by: {gates}")]
        await of.client.patch(WORKLOADS, "w", NAMESPACE, {"metadata": {"annotations": {ADMISSION_GATED_BY_ANNOTATION: None}}})
        assert await condition(of, "Admitted", after="2s") == ADMITTED
        assert ("AdmissionGateCleared", "Admission gate cleared, workload is now admissible") in await of.events("w")


@pytest.mark.spec("KUEUE-077")
async def test_workloads_follow_their_priority_class() -> None:
    """Given Workloads of a class, when its value changes, or it comes again, then so do theirs."""
    async with world() as of:
        async def priority_class(value: int) -> None:
            await of.client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": "p"}, "value": value})

        await of.queues()
        await priority_class(100)
        ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "p"}
        for name in ("w", "v"):
            await of.workload(name, "3", priority=100, priorityClassRef=ref)
        await of.client.patch(WORKLOAD_PRIORITY_CLASSES, "p", body={"value": 7})
        await of.cluster.settle()
        assert [(await of.get(WORKLOADS, name))["spec"]["priority"] for name in ("w", "v")] == [7, 7]
        await of.client.delete(WORKLOAD_PRIORITY_CLASSES, "p")
        await priority_class(8)
        await of.cluster.settle()
        assert (await of.get(WORKLOADS, "v"))["spec"]["priority"] == 8


@pytest.mark.spec("KUEUE-078")
@pytest.mark.parametrize(("resource", "name", "called"), [
    (CLUSTER_QUEUES, "cq", "ClusterQueue"), (LOCAL_QUEUES, "q", "LocalQueue")])
async def test_a_queue_is_held_and_drained(resource: object, name: str, called: str) -> None:
    """Given an admitted Workload and one that waits for its check, when the queue is held, then the
    second alone loses its quota; when it is drained, the first is evicted; when it goes on, both
    may be queued again.
    """
    assert resource in (CLUSTER_QUEUES, LOCAL_QUEUES)
    of_resource = CLUSTER_QUEUES if resource == CLUSTER_QUEUES else LOCAL_QUEUES
    async with world() as of:
        await checked(of)
        await set_check(of, "Ready")
        await of.workload("waiting")
        await of.cluster.settle()
        await of.patch(of_resource, name, {"stopPolicy": "Hold"})
        lost = await condition(of, "QuotaReserved", "waiting", after="2s")
        assert lost == ("False", "Inadmissible", f"{called} {name} is inactive")
        assert await condition(of, "Admitted") == ADMITTED
        await of.patch(of_resource, name, {"stopPolicy": "HoldAndDrain"})
        assert await condition(of, "Evicted", after="2s") == ("True", f"{called}Stopped", f"The {called} is stopped")
        assert (f"EvictedDueTo{called}Stopped", f"The {called} is stopped") in await of.events("w")
        await release(of)
        await of.patch(of_resource, name, {"stopPolicy": "None"})
        message = f"The {called} was restarted after being stopped"
        assert await condition(of, "Requeued", after="3s") == ("True", f"{called}Restarted", message)
        assert (await condition(of, "QuotaReserved"), await condition(of, "QuotaReserved", "waiting")) == (
            ("True", "QuotaReserved", "Quota reserved in ClusterQueue cq"),) * 2


@pytest.mark.spec("KUEUE-079")
async def test_a_workload_is_deactivated_and_activated_again() -> None:
    """Given an admitted Workload, when it is deactivated, then it is evicted and not queued; when
    it is active again, then it is admitted.
    """
    async with world() as of:
        await of.queues()
        await of.workload("w")
        await set_status(of, {"requeueState": {"count": 1}})
        await of.patch(WORKLOADS, "w", {"active": False})
        assert await condition(of, "Evicted", after="1s") == ("True", "Deactivated", "The workload is deactivated")
        assert "requeueState" not in await status_of(of) or (await status_of(of))["requeueState"] == {"count": 1}
        await release(of)
        assert await usage(of) == ("0", "0", 0, 0, 0)
        await of.patch(WORKLOADS, "w", {"active": True})
        assert await condition(of, "Requeued", after="2s") == ("True", "Reactivated", "The workload was reactivated")
        assert await condition(of, "Admitted") == ADMITTED


@pytest.mark.spec("KUEUE-080")
async def test_time_to_execute_runs_out_over_several_runs() -> None:
    """Given 10 s to execute, when it ran 6 s before, then it is deactivated 4 s after its
    admission.
    """
    async with world() as of:
        await of.queues()
        await of.workload("w", maximumExecutionTimeSeconds=10)
        await set_status(of, {"accumulatedPastExecutionTimeSeconds": 6})
        assert await condition(of, "Evicted", after="3500ms") is None
        message = "The workload is deactivated due to exceeding the maximum execution time"
        assert await condition(of, "Evicted", after="1s") == ("True", "DeactivatedDueToMaximumExecutionTimeExceeded", message)
        assert (await of.get(WORKLOADS, "w"))["spec"]["active"] is False
        assert ("MaximumExecutionTimeExceeded", "The maximum execution time (10s) exceeded") in await of.events("w")


@pytest.mark.spec("KUEUE-081")
async def test_a_check_asks_for_another_try() -> None:
    """Given a check in Retry, then the Workload is evicted, and queued again once its pods are
    gone; the check is pending again, and has one try behind it.
    """
    async with world() as of:
        await checked(of)
        await set_check(of, "Retry")
        text = 'Evicted due to AdmissionCheck in Retry state: "c" (m)'
        assert await condition(of, "Evicted") == ("True", "AdmissionCheck", text)
        status = await status_of(of)
        [check] = status["admissionChecks"]
        assert (check["state"], check["retryCount"], check["message"]) == (
            "Pending", 1, "Reset to Pending after eviction. Previously: Retry")
        await release(of)
        assert await condition(of, "Requeued", after="2s") == ("True", "BackoffFinished", "The workload backoff was finished")
        assert (await condition(of, "QuotaReserved", after="2s") or ("",))[0] == "True"


async def test_a_check_may_name_a_time() -> None:
    """Given a check in Retry with a time, then the Workload waits for it before it is evicted."""
    async with world() as of:
        await checked(of)
        await set_check(of, "Retry", requeueAfterSeconds=60)
        assert await condition(of, "Evicted", after="50s") is None
        assert (await status_of(of))["requeueState"] == {"requeueAt": "2026-01-01T00:01:00Z"}
        assert (await condition(of, "Evicted", after="10s") or ("", ""))[1] == "AdmissionCheck"


@pytest.mark.spec("KUEUE-081", "KUEUE-179")
async def test_a_check_rejects() -> None:
    """Given a check that rejects, then the Workload is deactivated, with a warning."""
    async with world() as of:
        await checked(of)
        await set_check(of, "Rejected")
        text = 'AdmissionCheck in Rejected state: "c" (m)'
        assert await condition(of, "Evicted") == (
            "True", "DeactivatedDueToAdmissionCheck", f"The workload is deactivated due to {text}")
        assert await condition(of, "DeactivationTarget") is None
        assert (await of.get(WORKLOADS, "w"))["spec"]["active"] is False
        assert ("AdmissionCheckRejected", f"Deactivated due to {text}") in await of.events("w")


@pytest.mark.spec("KUEUE-179")
async def test_checks_come_and_go_with_the_queue() -> None:
    """Given a Workload that waits for a check, when the queue does not have it any more, then the
    Workload is admitted; when it has it again, then it is pending, and the Workload runs on.
    """
    async with world() as of:
        await checked(of)
        await of.patch(CLUSTER_QUEUES, "cq", {"admissionChecksStrategy": None})
        assert await condition(of, "Admitted", after="1s") == ADMITTED
        assert "admissionChecks" not in await status_of(of)
        await of.patch(CLUSTER_QUEUES, "cq", {"admissionChecksStrategy": {"admissionChecks": [{"name": "c"}]}})
        await of.cluster.advance("1s")
        assert [each["state"] for each in (await status_of(of))["admissionChecks"]] == ["Pending"]
        assert await condition(of, "Admitted") == ADMITTED


WAITS = WaitForPodsReady(8, 5, requeuing_strategy=RequeuingStrategy(
    backoff_limit_count=1, backoff_base_seconds=2, backoff_max_seconds=10))


@pytest.mark.spec("KUEUE-083", "KUEUE-180")
async def test_pods_that_are_not_ready_in_time() -> None:
    """Given 8 s to be ready, then the Workload is evicted and tried again after 2 s; the second
    time it is deactivated.
    """
    async with world(Configuration(wait_for_pods_ready=WAITS)) as of:
        await of.queues()
        await of.workload("w")
        assert await condition(of, "Evicted", after="7s") is None
        message = f"Exceeded the PodsReady timeout {NAMESPACE}/w"
        assert await condition(of, "Evicted", after="1s") == ("True", "PodsReadyTimeout", message)
        assert (await status_of(of))["requeueState"] == {"count": 1, "requeueAt": "2026-01-01T00:00:12Z"}
        await release(of)
        assert (await condition(of, "QuotaReserved", after="1s") or ("",))[0] == "False"
        assert await condition(of, "Admitted", after="2s") == ADMITTED
        message = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
        assert await condition(of, "Evicted", after="9s") == ("True", "DeactivatedDueToRequeuingLimitExceeded", message)
        assert "requeueState" not in await status_of(of)


@pytest.mark.spec("KUEUE-180")
async def test_pods_that_do_not_recover_in_time() -> None:
    """Given pods that were ready, when one fails, then the Workload is evicted after 5 s."""
    async with world(Configuration(wait_for_pods_ready=WAITS)) as of:
        await of.queues()
        await of.workload("w")
        await of.cluster.settle()
        present = (await status_of(of))["conditions"]
        failed = {
            "type": "PodsReady", "status": "False", "reason": "WaitForRecovery", "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:02Z"}
        await set_status(of, {"conditions": [*present, failed]})
        assert await condition(of, "Evicted", after="4s") is None
        assert (await condition(of, "Evicted", after="1s") or ("", ""))[1] == "PodsReadyTimeout"


@pytest.mark.spec("KUEUE-098")
@pytest.mark.parametrize("kept_seconds", [None, 10.0])
async def test_finished_workloads_are_kept_for_a_while(kept_seconds: float | None) -> None:
    """Given 10 s, then a finished Workload is deleted after them, with an Event; else it is kept.
    """
    async with world(Configuration(workload_retention=WorkloadRetentionPolicy(kept_seconds))) as of:
        await of.queues()
        await of.workload("w")
        finished = {
            "type": "Finished", "status": "True", "reason": "Succeeded", "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:02Z"}
        await set_status(of, {"conditions": [finished]})
        await of.cluster.advance("9s")
        assert await status_of(of)
        await of.cluster.advance("2s")
        if kept_seconds is None:
            assert await status_of(of)
            return
        with pytest.raises(APIError, match="not found"):
            await of.get(WORKLOADS, "w")
        assert ("Deleted", "Deleted finished workload due to elapsed retention") in await of.events("w")


async def test_a_workload_whose_owner_is_gone_is_finished() -> None:
    """Given a Workload that was made for a job and has no owner, then it is finished."""
    async with world() as of:
        template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
        spec = {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]}
        await of.create(WORKLOADS, "w", spec, labels={JOB_UID_LABEL: "u"})
        message = "The workload's owner no longer exists"
        assert await condition(of, "Finished", after="1s") == ("True", "OwnerNotFound", message)


async def test_devices_by_name_are_not_for_quotas() -> None:
    """Given a pod with a claim of its own, then the Workload is never queued, and says why."""
    async with world() as of:
        await of.queues()
        claims = [{"name": "d", "resourceClaimName": "x"}]
        template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never", "resourceClaims": claims}}
        await of.create(WORKLOADS, "w", {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]})
        message = "KueueDRAIntegration feature does not support use of resource claims"
        assert await condition(of, "QuotaReserved", after="2s") == ("False", "Inadmissible", message)

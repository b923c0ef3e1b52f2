"""When Workloads are queued again, how long their pods are waited for, and what is just gone."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import LIMIT_RANGES
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import multikueue
from fakekube_controllers.kueue.cache.clusterqueue import PENDING, ClusterQueue, Settings
from fakekube_controllers.kueue.configuration import Configuration, WaitForPodsReady
from fakekube_controllers.kueue.core import workload_conditions
from fakekube_controllers.kueue.core.cluster_queue import ClusterQueueReconciler
from fakekube_controllers.kueue.core.workload_eviction import WorkloadEviction
from fakekube_controllers.kueue.core.workload_priority_class import WorkloadPriorityClassReconciler
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import LOCAL_QUEUES, WORKLOADS
from fakekube_controllers.kueue.workload import states
from tests.controllers.kueue.core.world import NAMESPACE, world

NOW, AT, LATER = 1767225600.0, "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
PODS_READY, CHECK = "PodsReadyTimeout", "AdmissionCheck"


def told(type_: str, status: str, reason: str, at: str = AT, message: str = "") -> Tree:
    """A condition."""
    return {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def workload(*conditions: Tree, **status: Any) -> Tree:
    """A Workload with conditions."""
    return {
        "metadata": {"name": "w", "namespace": "n", "generation": 1}, "spec": {"queueName": "q"},
        "status": {"conditions": [*conditions], **status}}


@pytest.mark.parametrize(("status", "reason", "state", "wanted", "left"), [
    ("False", PODS_READY, {"count": 1, "requeueAt": LATER}, None, {"count": 1, "requeueAt": LATER}),
    ("False", PODS_READY, {"count": 1, "requeueAt": AT}, ("BackoffFinished", "The workload backoff was finished"), {"count": 1}),
    ("False", CHECK, {"count": 1}, ("BackoffFinished", "The workload backoff was finished"), {"count": 1}),
    ("False", CHECK, None, ("BackoffFinished", "The workload backoff was finished"), None),
    ("False", "Deactivated", {"count": 1, "requeueAt": LATER}, ("Reactivated", "The workload was reactivated"),
     {"count": 1, "requeueAt": LATER}),
    ("False", "Preempted", None, None, None),
    ("True", PODS_READY, None, None, None),
])
def test_when_a_workload_is_queued_again(
    status: str, reason: str, state: Tree | None, wanted: tuple[str, str] | None, left: Tree | None,
) -> None:
    """Given a Workload that was evicted, when its time has come or it is active again, then it may
    be queued, and only how often that was stays.
    """
    requeued = told("Requeued", status, reason)
    found = workload(requeued, **({} if state is None else {"requeueState": dict(state)}))
    assert workload_conditions.set_requeued(found, now=NOW) is (wanted is not None)
    assert found["status"].get("requeueState") == left
    if wanted is None:
        assert found["status"]["conditions"] == [requeued]
    else:
        now = {**told("Requeued", "True", wanted[0], AT, wanted[1]), "observedGeneration": 1}
        assert found["status"]["conditions"] == [now]


@pytest.mark.parametrize(("ready", "recovery", "wanted"), [
    (None, 5, ("WaitForStart", 10.0)),
    (told("PodsReady", "False", "WaitForStart"), 5, ("WaitForStart", 10.0)),
    (told("PodsReady", "False", "PodsReady"), None, ("WaitForStart", 10.0)),
    (told("PodsReady", "False", "WaitForRecovery", LATER), 5, ("WaitForRecovery", 6.0)),
    (told("PodsReady", "False", "WaitForRecovery", LATER), None, ("", 0.0)),
    (told("PodsReady", "False", "Other"), 5, ("", 0.0)),
    (told("PodsReady", "True", "Started"), 5, ("", 0.0)),
])
def test_how_long_pods_are_waited_for(ready: Tree | None, recovery: int | None, wanted: tuple[str, float]) -> None:
    """Given an admitted Workload whose pods are not ready, when it is asked how long they may take,
    then as long as they may begin, or recover where that has an end.
    """
    waits = WaitForPodsReady(timeout_seconds=10, recovery_timeout_seconds=recovery)

    def asked(*conditions: Tree, waits: WaitForPodsReady | None = waits, now: float = NOW) -> tuple[str, float]:
        kueue: Any = SimpleNamespace(
            clock=SimpleNamespace(time=lambda: now), configuration=Configuration(wait_for_pods_ready=waits))
        unused: Any = None
        return WorkloadEviction(kueue, unused, unused)._admitted_not_ready(workload(*conditions))

    also = () if ready is None else (ready,)
    assert asked(told("Admitted", "True", "Admitted"), *also) == wanted
    assert asked(told("Admitted", "True", "Admitted"), *also, now=NOW + 60) == (wanted[0], 0.0)
    assert asked(told("Admitted", "False", "NoReservation"), *also) == ("", 0.0)
    assert asked(told("Admitted", "True", "Admitted"), *also, waits=None) == ("", 0.0)
    assert asked(*also) == ("", 0.0)


@pytest.mark.parametrize(("conditions", "active", "wanted"), [
    ((), False, ("Deactivated", "The workload is deactivated")),
    ((), True, None),
    ((told("QuotaReserved", "False", "OnHold"),), True, None),
    ((told("QuotaReserved", "False", "WaitingForQuota"),), True, None),
    ((told("QuotaReserved", "False", "Suspended"),), True,
     ("PendingEvaluation", "Workload is pending evaluation in the scheduling queue")),
])
def test_why_a_workload_without_quota_has_none(
    conditions: tuple[Tree, ...], active: bool, wanted: tuple[str, str] | None,
) -> None:
    """Given a Workload whose queue is in order, when it is asked why it has no quota, then that it
    is not active or is about to be tried; nothing where the scheduler has said why.
    """
    queues = SimpleNamespace(
        cluster_queue_for_workload=lambda _: ("cq", True), cluster_queue=lambda _: None, get_no_fit_reason=lambda _: None)
    features = Features(UnadmittedWorkloadsObservability=True, UnadmittedWorkloadsExplicitStatus=False)
    kueue: Any = SimpleNamespace(
        features=features, queues=queues, cache=SimpleNamespace(cluster_queue_active=lambda _: True),
        objects=SimpleNamespace(local_queue_of=lambda _: {"spec": {}}))
    found = workload(*conditions)
    found["spec"]["active"] = active
    assert workload_conditions.quota_reserved_condition(found, kueue) == wanted


@pytest.mark.parametrize(("status", "reason", "wanted"), [
    ("True", "DeactivatedDueToRequeuingLimitExceeded", True), ("True", "Deactivated", False), ("True", "Preempted", False),
    ("False", "DeactivatedDueToRequeuingLimitExceeded", False)])
def test_who_deactivated_a_workload(status: str, reason: str, wanted: bool) -> None:
    """Given a Workload that was evicted, when it is asked whether Kueue deactivated it, then where
    the eviction says due to what.
    """
    assert states.is_evicted_due_to_deactivation_by_kueue(workload(told("Evicted", status, reason))) is wanted
    assert states.is_evicted_due_to_deactivation_by_kueue(workload()) is False


def test_a_cluster_queue_that_has_no_reason() -> None:
    """Given a ClusterQueue without a problem, when it is asked why it admits nothing, then it does,
    or nobody knows.
    """
    found = ClusterQueue("cq", Settings(), {})
    assert found.inactive_reason() == ("Ready", "Can admit new workloads")
    found.status = PENDING
    assert found.inactive_reason() == ("Unknown", "Can't admit new workloads.")


async def test_what_is_just_gone() -> None:
    """Given queues and classes that are gone from one cache already, when they are looked at, then
    nothing is done.
    """
    ctx: Any = SimpleNamespace(lister=lambda _: SimpleNamespace(get=lambda *_: None))
    kueue: Any = SimpleNamespace(queues=SimpleNamespace(pending=lambda _: None), cache=SimpleNamespace(
        hm=SimpleNamespace(cluster_queues={})), ctx=ctx, client=None, features=Features(MultiKueue=False))
    watchers: Any = SimpleNamespace(of_workloads=[], of_flavors=[], of_admission_checks=[], of_topologies=[])
    reconciler = ClusterQueueReconciler(kueue, watchers, ctx)
    await reconciler._write_status({"metadata": {"name": "cq"}})
    assert await WorkloadPriorityClassReconciler(kueue, watchers, ctx).reconcile(Request("", "p")) is None
    [changed] = watchers.of_topologies
    changed({"metadata": {"name": "t"}}, {"metadata": {"name": "t"}})
    assert [*multikueue.controllers(kueue)] == []


async def test_a_workload_that_goes_to_another_queue() -> None:
    """Given two LocalQueues and a Workload that waits in one, when it names the other, then both
    say who waits in them.
    """
    async with world() as of:
        await of.queues("0")
        await of.create(LOCAL_QUEUES, "r", {"clusterQueue": "cq"})
        await of.workload("w")

        async def waiting() -> list[int]:
            await of.cluster.advance("3s")
            return [(await of.get(LOCAL_QUEUES, name))["status"]["pendingWorkloads"] for name in ("q", "r")]

        assert await waiting() == [1, 0]
        await of.patch(WORKLOADS, "w", {"queueName": "r"})
        assert await waiting() == [0, 1]


async def test_limits_of_a_namespace_that_change() -> None:
    """Given a Workload that asks for what its namespace has as default, when the default is another
    one, then it asks for that.
    """
    async with world() as of:
        await of.queues("0")
        template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
        await of.create(LIMIT_RANGES, "l", {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]})
        await of.create(WORKLOADS, "w", {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]})

        async def asked() -> str:
            await of.cluster.advance("3s")
            found = await of.client.get(WORKLOADS, "w", NAMESPACE)
            return str(found["status"]["resourceRequests"][0]["resources"]["cpu"])

        assert await asked() == "1"
        await of.patch(LIMIT_RANGES, "l", {"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}}]})
        assert await asked() == "2"

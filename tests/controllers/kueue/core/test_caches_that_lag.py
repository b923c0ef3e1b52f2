"""What is done while caches do not show all of what is there, and where gates are off."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.admissionchecks import provisioning
from fakekube_controllers.kueue.core import local_queue as local_queues
from fakekube_controllers.kueue.core import workload_controller
from fakekube_controllers.kueue.core.finalizers import FinalizerReconciler
from fakekube_controllers.kueue.core.local_queue import LocalQueueReconciler
from fakekube_controllers.kueue.core.workload_controller import DONE, WorkloadReconciler
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import construction, ensuring
from fakekube_controllers.kueue.jobframework.job import UnretryableError
from fakekube_controllers.kueue.jobs.pod.driven import PodOrGroupWithSets
from fakekube_controllers.kueue.multikueue import adapters
from fakekube_controllers.kueue.multikueue import workloads as of_multikueue
from fakekube_controllers.kueue.multikueue.clusters import ClusterReconciler
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.why.trial import Trial
from fakekube_controllers.kueue.workload import finish

REQUEST = Request("n", "w")
GONE: Any = SimpleNamespace(get=lambda *_: None)
FAILED, EXPIRED, ACCEPTED = "Failed", "BookingExpired", "Accepted"


def workload(*conditions: Tree, **metadata: Any) -> Tree:
    """A Workload."""
    return {"metadata": {"name": "w", "namespace": "n", "uid": "u", **metadata}, "spec": {"queueName": "q", "podSets": []},
            "status": {"conditions": [*conditions]}}


async def test_what_is_gone_from_the_cache() -> None:
    """Given objects that are gone from the cache, when they are looked at, then nothing is done."""
    provisions: Any = provisioning._Workloads.__new__(provisioning._Workloads)
    provisions._workloads = GONE
    assert await provisions.reconcile(REQUEST) is None

    class Users(FinalizerReconciler):
        def users_of(self, name: str) -> list[str]:
            raise AssertionError(name)

    users: Any = Users.__new__(Users)
    users._objects = GONE
    assert await users.reconcile(Request("", "f")) is None


async def test_a_local_queue_that_queues_do_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a LocalQueue that is there, when the queues do not know it, then no status is written.
    """
    monkeypatch.setattr(local_queues, "local_queue_usage", lambda *_: None)
    found = {"metadata": {"name": "q", "namespace": "n"}, "spec": {"clusterQueue": "cq"}}
    reconciler: Any = LocalQueueReconciler.__new__(LocalQueueReconciler)
    reconciler.kueue = SimpleNamespace(
        objects=SimpleNamespace(local_queues=SimpleNamespace(get=lambda *_: found), cluster_queues=GONE), cache=None,
        queues=SimpleNamespace(pending_workloads=lambda _: None), client=None)
    assert await reconciler.reconcile(Request("n", "q")) is None


@pytest.mark.parametrize(("gate", "deleting", "looked"), [
    (True, False, True), (True, True, False), (False, False, False), (False, True, False)])
async def test_a_workload_that_nobody_owns(gate: bool, deleting: bool, looked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a Workload whose owners are gone, when it is finalized, then it is looked at further
    only if it was finished by that.
    """
    async def finalize(_: object, found: Tree, **__: object) -> Tree:
        return {**found, "status": {"conditions": [{"type": "Finished", "status": "True"}]}}

    told: list[Tree] = []

    async def retain(found: Tree) -> None:
        told.append(found)

    monkeypatch.setattr(finish, "finalize_orphaned_workload", finalize)
    monkeypatch.setattr(workload_controller, "_is_orphaned", lambda _, finishes: finishes is gate)
    reconciler: Any = WorkloadReconciler.__new__(WorkloadReconciler)
    reconciler.kueue = SimpleNamespace(
        client=None, features=Features(FinishOrphanedWorkloads=gate), clock=SimpleNamespace(time=lambda: 0.0))
    reconciler._see_to_retention = retain
    found = workload(**({"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}))
    assert await reconciler._reconcile(found) is None
    assert len(told) == looked


async def test_gates_that_nobody_looks_at() -> None:
    """Given a Workload that others gate, when there is no such feature, then nothing is said of it;
    one whose ClusterQueue the cache does not show waits for that.
    """
    reconciler: Any = WorkloadReconciler.__new__(WorkloadReconciler)
    queues = SimpleNamespace(cluster_queue_for_workload=lambda _: ("cq", True))
    reconciler.kueue = SimpleNamespace(
        features=Features(AdmissionGatedBy=False), queues=queues, objects=SimpleNamespace(cluster_queues=GONE))
    gated = workload(annotations={"kueue.x-k8s.io/admission-gated-by": "a.b/c"})
    assert await reconciler._gate(gated) is None
    assert await reconciler._check(gated) is DONE
    queues.cluster_queue_for_workload = lambda _: ("cq", False)
    assert await reconciler._check(gated) is None


@pytest.mark.parametrize(("conditions", "state", "tries"), [
    ((FAILED,), "Pending", [3]), ((EXPIRED,), "Pending", [3]), ((EXPIRED, "Admitted"), "Pending", []), ((FAILED,), "Retry", []),
    ((ACCEPTED,), "Pending", []), ((), "Pending", []), ((FAILED,), "Ready", None)])
async def test_nodes_are_asked_for_again(conditions: tuple[str, ...], state: str, tries: list[int] | None) -> None:
    """Given a second request for nodes that has ended, when its check still waits, then a third one
    is made; one that goes on is kept, and a check that is ready needs none.
    """
    made: list[int] = []
    kept: list[str] = []

    async def create(*each: Any) -> Tree:
        made.append(each[-1])
        return {"metadata": {"name": "new"}}

    async def hand_over(_: object, request: Tree) -> None:
        kept.append(request["metadata"]["name"])

    provisions: Any = provisioning._Workloads.__new__(provisioning._Workloads)
    provisions._create, provisions._hand_over_templates = create, hand_over
    found = workload(*({"type": each, "status": "True"} for each in conditions if each == "Admitted"))
    found["status"]["admissionChecks"] = [{"name": "c", "state": state}]
    request = {"metadata": {"name": "w-c-2"}, "status": {
        "conditions": [{"type": each, "status": "True", "message": ""} for each in conditions if each != "Admitted"]}}
    await provisions._ask(found, "c", {}, request)
    assert made == (tries or [])
    assert kept == ([] if tries is None else ["new"] if tries else ["w-c-2"])


@pytest.mark.parametrize(("is_there", "wanted"), [(True, []), (False, ["w"])])
async def test_a_job_with_other_parts_stays_on_its_worker(
    is_there: bool, wanted: list[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a Workload that was left on a worker, when it is one part of a job that is there, then
    the job there stays.
    """
    deleted: list[str] = []

    async def delete(_sides: object, _adapter: object, job: Request) -> None:
        deleted.append(job.name)

    monkeypatch.setattr(adapters, "delete_remote_object_if_owned", delete)
    adapter: Any = SimpleNamespace(resource=WORKLOADS, expected_workload_count=len, workload_index=len)
    reconciler: Any = ClusterReconciler.__new__(ClusterReconciler)
    reconciler._clusters = SimpleNamespace(
        adapters=SimpleNamespace(of_workload=lambda _: (adapter, {"name": "w"})), sides=lambda *_: None)
    reconciler._ctx = SimpleNamespace(lister=lambda _: SimpleNamespace(get=lambda *_: {} if is_there else None))
    await reconciler._collect_job(None, workload())
    assert deleted == wanted


async def test_jobs_that_are_not_listed_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a Workload to be sent to workers, when the jobs of its kind are not listed yet, then it
    is looked at in a second.
    """
    monkeypatch.setattr(of_multikueue.checks, "multikueue_check", lambda *_: {"state": "Pending"})  # type: ignore[attr-defined]
    reconciler: Any = of_multikueue.WorkloadReconciler.__new__(of_multikueue.WorkloadReconciler)
    reconciler._workloads = SimpleNamespace(get=lambda *_: workload())
    reconciler._ctx = SimpleNamespace(informer=lambda _: SimpleNamespace(has_synced=False))
    adapter = SimpleNamespace(resource=WORKLOADS)
    reconciler._clusters = SimpleNamespace(adapters=SimpleNamespace(of_workload=lambda _: (adapter, {"name": "j"})))
    assert await reconciler.reconcile(REQUEST) == Result.after(1.0)


@pytest.mark.parametrize(("error", "raised"), [
    (errors.already_exists(WORKLOADS.group_resource, "w"), None),
    (errors.bad_request("bad"), UnretryableError), (errors.internal("x"), errors.APIError)])
async def test_what_the_server_says_of_a_groups_workload(error: errors.APIError, raised: type[Exception] | None) -> None:
    """Given the Workload of a driver's sets, when the server is asked about it, then that it is
    there is no objection; what it never takes is told, and anything else is tried again.
    """
    async def create(*_: object, **__: object) -> None:
        raise error

    told: list[object] = []
    framework: Any = SimpleNamespace(client=SimpleNamespace(create=create), event=lambda *each: told.append(each[-1]))
    group = PodOrGroupWithSets(Features(), {"metadata": {"name": "p"}})
    if raised is None:
        await group._try(framework, {})
    else:
        with pytest.raises(raised):
            await group._try(framework, {})
    assert told == (["bad"] if raised is UnretryableError else [])


async def test_slices_of_another_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an elastic job whose slices have other podsets, when they are looked at, then nothing
    else is written of them.
    """
    async def pod_sets(*_: object) -> list[Tree]:
        return []

    plan = chains.Plan(None, [], compatible=False)
    monkeypatch.setattr(construction, "job_pod_sets", pod_sets)
    monkeypatch.setattr(chains, "plan", lambda *_: plan)
    framework: Any = SimpleNamespace(client=None, workloads_of=lambda *_: [])

    async def annotations(*_: object) -> Tree:
        return {}

    job: Any = SimpleNamespace(
        obj={"metadata": {}}, key=ObjectKey("n", "w"), resource=WORKLOADS, custom_annotations=annotations)
    assert await ensuring._slices(framework, job) is plan


@pytest.mark.parametrize(("waiting", "place", "counted"), [
    (["a", "w", "b"], 1, ["a", "w"]), (["w"], 0, ["w"]), (["a", "b"], None, ["w"]), ([], None, ["w"])])
def test_who_is_before_a_workload(waiting: list[str], place: int | None, counted: list[str]) -> None:
    """Given a queue, when a Workload in it is tried, then after those before it; one that the queue
    does not have is tried alone.
    """
    def info(name: str) -> Any:
        return SimpleNamespace(key=ObjectKey("n", name), cluster_queue="cq")

    cq = SimpleNamespace(parent=lambda: None)
    settings = SimpleNamespace(quota_check_strategy="BlockUndeclared")
    kueue: Any = SimpleNamespace(
        configuration=SimpleNamespace(fair_sharing=None, features=Features(), resources=settings), ordering=None,
        queues=SimpleNamespace(pending_workloads_info=lambda _: [info(name) for name in waiting]),
        cache=SimpleNamespace(snapshot=lambda: SimpleNamespace(cluster_queue=lambda _: cq)))
    trial = Trial(kueue, info("w"))
    assert trial.place == place
    assert [each.key.name for each in trial._waiting["cq"]] == counted

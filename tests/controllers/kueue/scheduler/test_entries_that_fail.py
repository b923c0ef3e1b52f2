"""Entries of a cycle that are not admitted, and what is kept of what they would have got."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.client.transport import TransportError
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import FlavorResource
from fakekube_controllers.kueue.scheduler import admitting, scheduler
from fakekube_controllers.kueue.scheduler.admitting import Admitter
from fakekube_controllers.kueue.scheduler.assignments import Assigner
from fakekube_controllers.kueue.scheduler.cycle import Cycle, quota_resources_to_reserve
from fakekube_controllers.kueue.scheduler.entry import Entry, EntryStatus
from fakekube_controllers.kueue.scheduler.flavorassigner.assignment import Assignment, PodSetAssignment, Status
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.fairsharing.ordering import TargetClusterQueueOrdering
from fakekube_controllers.kueue.scheduler.scheduler import Scheduler
from fakekube_controllers.kueue.topology.assignments import TopologyAssignment, TopologyDomainAssignment
from fakekube_controllers.kueue.topology.snapshot import PodSetAssignmentResult, TASAssignmentsResult
from fakekube_controllers.kueue.workload.info import AssignmentClusterQueueState, Usage

AT = "2026-01-01T00:00:00Z"
GONE, BROKEN = errors.not_found(PODS.group_resource, "w"), errors.internal("x")
PLACES = TopologyAssignment(("host",), (TopologyDomainAssignment(("n",), 2),))


def info(**of: Any) -> Any:
    """A head."""
    obj: Tree = {"metadata": {"name": "w", "namespace": "n"}, "spec": {"podSets": []}, "status": {}}
    found: dict[str, Any] = {
        "obj": obj, "cluster_queue": "cq", "key": "n/w", "second_pass_iteration": 1, "last_assignment": None,
        "scheduling_hash": "h", **of}
    return SimpleNamespace(**found)


def assignment(*podsets: PodSetAssignment) -> Assignment:
    """What a head would get."""
    found = Assignment(Features(), "BlockUndeclared", AssignmentClusterQueueState([]), None)
    found.pod_sets = [*podsets]
    return found


def test_what_an_assignment_says() -> None:
    """Given an assignment that came to an error, or that waits for its nodes, when it is told or
    written, then the error alone, and that the places are not there yet until they are.
    """
    failed = assignment(
        PodSetAssignment("a", {}, {}, 1, Status(["too small"])), PodSetAssignment("b", {}, {}, 1, Status(["x"], "broken")))
    assert failed.message() == "failed to assign flavors to pod set b: broken"
    waits = assignment(
        PodSetAssignment("main", {}, {}, 2, delayed_topology_request="Pending"),
        PodSetAssignment("other", {}, {}, 1, delayed_topology_request="Pending"))
    pending = {"name": "main", "count": 2, "delayedTopologyRequest": "Pending"}
    assert waits.to_api() == [pending, {"name": "other", "count": 1, "delayedTopologyRequest": "Pending"}]
    cq: Any = SimpleNamespace(tas_flavors={})
    found = TASAssignmentsResult(
        main=PodSetAssignmentResult(PLACES), other=PodSetAssignmentResult(), absent=PodSetAssignmentResult(PLACES))
    podsets: list[Tree] = [{"name": name, "template": {"spec": {}}} for name in ("main", "other")]
    waits.update_for_tas_result(cq, info(obj={"metadata": {}, "spec": {"podSets": podsets}}), found)
    assert [(each.topology_assignment, each.delayed_topology_request) for each in waits.pod_sets] == [
        (PLACES, "Ready"), (None, "Pending")]
    assert waits.usage == Usage({}, {})


@pytest.mark.parametrize(("mode", "kept"), [(FlavorAssignmentMode.NO_FIT, 9), (FlavorAssignmentMode.PREEMPT, 2)])
def test_what_is_kept_for_who_waits(mode: FlavorAssignmentMode, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a head that waits for quota, when some is kept for it, then no more than its queue has
    left where others are to go first.
    """
    cpu = FlavorResource("f", "cpu")
    found = assignment()
    found.usage = Usage({cpu: 9})
    monkeypatch.setattr(found, "representative_mode", lambda: mode)
    cq: Any = SimpleNamespace(
        quota_for=lambda _: SimpleNamespace(nominal=5, borrowing_limit=None), resource_node=SimpleNamespace(usage={cpu: 3}))
    assert quota_resources_to_reserve(Entry(info(), "cq", cq, found), cq) == {cpu: kept}


def checked(state: str) -> Tree:
    """A Workload with a check."""
    check = {"name": "c", "state": state, "message": "", "lastTransitionTime": AT}
    return {"metadata": {"name": "w"}, "spec": {}, "status": {"admissionChecks": [check]}}


@pytest.mark.parametrize(("obj", "inactive", "message", "reason"), [
    (checked("Retry"), {}, "The workload has failed admission checks", "PendingEvaluation"),
    (checked("Rejected"), {"cq": None}, "The workload has failed admission checks", "PendingEvaluation"),
    (checked("Pending"), {"cq": None}, "ClusterQueue cq is inactive", "Suspended"),
    (checked("Ready"), {}, "ClusterQueue cq not found", "Misconfigured"),
])
def test_heads_that_are_not_nominated(obj: Tree, inactive: dict[str, None], message: str, reason: str) -> None:
    """Given heads with failed checks, or of a queue that is inactive or gone, when they are to be
    nominated, then they are told so.
    """
    settings: Any = None
    snapshot: Any = SimpleNamespace(cluster_queue=lambda _: None, inactive_cluster_queue_sets=inactive)
    nominated, others = Cycle(settings, snapshot, 1, 0.0).nominate(
        [info(obj=obj)], is_added=lambda _: False, validate=lambda *_: "")
    assert nominated == []
    assert [(each.inadmissible_msg, each.quota_reserved_reason) for each in others] == [(message, reason)]


def test_what_the_cache_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a head whose queue the cache does not know any more, when it is admitted, then it is
    not, and nothing is written.
    """
    monkeypatch.setattr(Admitter, "_prepare", lambda *_: None)
    monkeypatch.setattr(admitting, "format_flavor_assignment_attempts_for_events", lambda _: "")
    kueue: Any = SimpleNamespace(cache=SimpleNamespace(add_or_update_workload=lambda _: False))
    unused: Any = None
    entry = Entry(info(key=ObjectKey("n", "w")), "cq", None, assignment(), EntryStatus.NOMINATED)
    Admitter(kueue, unused, unused, unused).admit(entry, None)
    assert (entry.status, entry.inadmissible_msg) == (
        EntryStatus.NOMINATED, "Failed to admit workload: workload n/w could not be added to the cache")


def of_scheduler(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> tuple[Any, list[tuple[object, ...]]]:
    """A scheduler whose writes fail, and what it tells."""
    async def write(*_: object, **__: object) -> None:
        if error is not None:
            raise error

    monkeypatch.setattr(scheduler, "evict", write)
    monkeypatch.setattr(scheduler, "patch_admission_status", write)
    made: Any = Scheduler.__new__(Scheduler)
    told: list[tuple[object, ...]] = []
    made._recorder = SimpleNamespace(report=lambda *each: told.append(each))
    made._kueue = SimpleNamespace(
        client=None, features=Features(), metrics=None, should_expose_local_queue_metrics_for_workload=lambda _: False,
        queues=SimpleNamespace(queue_second_pass_if_needed=lambda _, iteration: iteration == 1))
    made._ctx, made._has_failed = SimpleNamespace(clock=SimpleNamespace(time=lambda: 0.0)), False
    return made, told


@pytest.mark.parametrize(("error", "status", "failed"), [
    (None, EntryStatus.EVICTED, False), (GONE, EntryStatus.EVICTED, False), (BROKEN, EntryStatus.NOMINATED, True),
    (TransportError("gone"), EntryStatus.NOMINATED, True)])
async def test_an_eviction_that_cannot_be_written(
    error: Exception | None, status: EntryStatus, failed: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a head without other nodes, when it is evicted, then it is if it is gone; another
    error lets it be tried again.
    """
    made, _ = of_scheduler(monkeypatch, error)
    entry = Entry(info(), "cq", status=EntryStatus.NOMINATED)
    await made._evict_after_failed_tas_replacement(entry)
    assert (entry.status, made._has_failed) == (status, failed)


@pytest.mark.parametrize(("error", "wanted"), [(None, False), (GONE, False), (BROKEN, False), (TransportError("x"), False)])
async def test_what_is_not_news(error: Exception | None, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a head that is told why it waits, when that cannot be written, then it is no news."""
    made, _ = of_scheduler(monkeypatch, error)
    assert await made._unset_quota_reservation(Entry(info(), "cq"), "r", "f", "m", shows_requests=False) is wanted


async def test_a_second_pass_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a head that has quota and no places, when it fails again, then an Event tells of it,
    shortened, and it is not put into its queue.
    """
    made, told = of_scheduler(monkeypatch, None)
    head = info()
    await made._requeue_and_update(Entry(head, "cq", status=EntryStatus.SKIPPED, inadmissible_msg="m" * 2000))
    [(about, *event, message)] = told
    assert (about, event) == (head.obj, ["Warning", "SecondPassFailed", "SecondPassFailed"])
    assert message == "m" * 1020 + " ..."


@pytest.mark.parametrize(("gate", "hash_", "cycle", "generation", "wanted"), [
    (True, "other", 2, 1, True), (True, "h", 2, 2, False), (True, "h", 3, 2, True), (True, "h", 3, 1, False),
    (False, "other", 2, 1, False), (False, "h", 2, 2, True)])
def test_when_what_was_tried_is_forgotten(gate: bool, hash_: str, cycle: int, generation: int, wanted: bool) -> None:
    """Given flavors that were tried in the first cycle, when the head is another, or there may be
    more room since then and this is not the next cycle, then they are tried anew.
    """
    settings: Any = SimpleNamespace(features=Features(FlavorFungibilityPreserveScanProgress=gate))
    unused: Any = None
    last = AssignmentClusterQueueState([], cluster_queue_generation=1, scheduling_cycle=1, scheduling_hash=hash_)
    cq: Any = SimpleNamespace(allocatable_resource_generation=generation)
    assert Assigner(settings, unused, cycle, 0.0)._is_outdated(last, cq, info()) is wanted


@pytest.mark.parametrize("keeps", [True, False])
def test_who_is_skipped(keeps: bool) -> None:
    """Given a head that another one was before, when it is skipped, then it begins anew, unless
    there is more for it to try.
    """
    last = AssignmentClusterQueueState([])
    entry = Entry(info(last_assignment=last), "cq")
    entry.mark_skipped("m", keeps_progress=keeps)
    assert (entry.status, entry.inadmissible_msg) == (EntryStatus.SKIPPED, "m")
    assert entry.info.last_assignment is (last if keeps else None)


@pytest.mark.parametrize("drops", [True, False])
def test_victims_of_a_queue_without_a_cohort(drops: bool) -> None:
    """Given a queue without a cohort, when victims are looked for, then they are its own, in their
    order, until there is none or the queue is dropped.
    """
    cq: Any = SimpleNamespace(name="cq", has_parent=lambda: False, path_parent_to_root=list)
    heads = [info(cluster_queue="cq", key=name) for name in "ab"]
    ordering = TargetClusterQueueOrdering(cq, heads, lambda _: ())  # type: ignore[arg-type, return-value]
    found: list[object] = []
    for target in ordering:
        found.append(target.pop_workload().key)
        if drops:
            ordering.drop_queue(target)
    assert found == (["a"] if drops else ["a", "b"])

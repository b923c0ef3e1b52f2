"""The slices of one job: at most one that has quota, and one that waits to take its place.

Upstream: EnsureWorkloadSlices and normalizeActiveSlices in pkg/workloadslicing,
prepareWorkloadSlice in pkg/controller/jobframework/reconciler.go.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import ExpectedError
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.workload import podsetcounts, reasons, states
from fakekube_controllers.kueue.workload.podsetcounts import PodSetsCounts

REPLACED = "Replaced to accommodate a new workload slice"
OUT_OF_SYNC = "The workload slice is out of sync with its parent job"


class SliceError(ExpectedError):
    """A job has more slices than it may; it is looked at again."""


class ToFinish(NamedTuple):
    """A slice that is of no use any more, and what is to be said of it."""

    workload: ReadOnlyTree
    reason: str
    message: str


class Plan(NamedTuple):
    """What becomes of the slices of a job.

    ``to_finish`` are finished first. ``workload`` is the job's Workload; None: one is to be made.
    ``counts``: it is to have these sizes; None: it has them. ``compatible`` False: these are not
    the podsets of the job, and its Workloads are those of any job.
    """

    workload: ReadOnlyTree | None
    to_finish: Sequence[ToFinish] = ()
    counts: PodSetsCounts | None = None
    compatible: bool = True


def replacement_for_key(workload: ReadOnlyTree) -> str | None:
    """The Workload, as ``namespace/name``, that a slice is to replace; None for the first one.

    Upstream: ReplacementForKey.
    """
    return meta.annotations_of(workload).get(names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION)


def slice_name(workload: ReadOnlyTree) -> str:
    """The first Workload of the chain of slices that one is in: itself, if it is the first.

    Upstream: SliceName.
    """
    return meta.annotations_of(workload).get(names.WORKLOAD_SLICE_NAME_ANNOTATION, meta.name_of(workload))


def not_finished(workloads: Iterable[Tree]) -> list[Tree]:
    """Those that have not finished, oldest first. Upstream: FindNotFinishedWorkloads."""
    left = [each for each in workloads if not states.is_finished(each)]
    return sorted(left, key=lambda each: (each["metadata"]["creationTimestamp"], meta.uid_of(each)))


def latest_active(workloads: Iterable[Tree]) -> ReadOnlyTree | None:
    """The newest of a job's Workloads that holds quota and is not on its way out: what it was
    granted. Upstream: FindLatestActiveWorkload.
    """
    for workload in reversed(not_finished(workloads)):
        if states.has_quota_reservation(workload) and not states.is_evicted(workload):
            return workload
    return None


def beyond_history(workloads: Iterable[Tree], owner_uid: str, limit: int) -> list[Tree]:
    """The finished slices of a job besides the newest ``limit``: those that others took the place
    of.

    KEP-77 proposes it as PreemptedWorkloadSliceHistory; upstream keeps all.
    """
    finished = [
        each for each in workloads
        if (owner := meta.controller_of(each)) is not None and owner["uid"] == owner_uid and _is_superseded(each)]
    finished.sort(key=lambda each: (each["metadata"]["creationTimestamp"], meta.name_of(each)), reverse=True)
    return finished[limit:]


def _is_superseded(workload: ReadOnlyTree) -> bool:
    finished = states.condition(workload, reasons.FINISHED)
    return finished is not None and finished["status"] == "True" and finished["reason"] in (
        reasons.SLICE_REPLACED, reasons.OUT_OF_SYNC)


def granted_counts(workload: ReadOnlyTree) -> PodSetsCounts:
    """How many pods of each podset a slice stands for: its own, and no more than were admitted.

    The scheduler may admit what it has seen while the job makes its slice larger; upstream lets all
    of them run then.
    """
    counts = podsetcounts.extract_pod_set_counts_from_workload(workload)
    assignments = (states.admission(workload) or meta.EMPTY).get("podSetAssignments") or ()
    admitted = {each["name"]: each["count"] for each in assignments if each.get("count") is not None}
    return {name: min(count, admitted.get(name, count)) for name, count in counts.items()}


def plan(workloads: Iterable[Tree], pod_sets: Iterable[ReadOnlyTree]) -> Plan:
    """What becomes of the Workloads of a job that has these podsets now. Upstream:
    EnsureWorkloadSlices.
    """
    unfinished = not_finished(workloads)
    if not unfinished:
        return Plan(None)
    selected, to_finish = (unfinished[0], []) if len(unfinished) == 1 else _normalized(unfinished)
    if selected is None:
        return Plan(None, to_finish)
    wanted = podsetcounts.extract_pod_set_counts(pod_sets)
    present = granted_counts(selected)
    if not podsetcounts.has_same_pod_set_keys(wanted, present):
        return Plan(None, to_finish, compatible=False)
    if wanted == podsetcounts.extract_pod_set_counts_from_workload(selected) == present:
        return Plan(selected, to_finish)
    if wanted == present or not states.has_quota_reservation(selected) or podsetcounts.scaled_down(present, wanted):
        return Plan(selected, to_finish, wanted)
    return Plan(None, to_finish)


def _normalized(unfinished: Sequence[Tree]) -> tuple[Tree | None, list[ToFinish]]:
    """The slice that the job goes on with, and those that are of no use. Upstream:
    normalizeActiveSlices.
    """
    replacements = _replacements(unfinished)
    newest: Tree | None = None
    reserved: Tree | None = None
    for workload in unfinished:
        if states.is_evicted(workload):
            continue
        newest = workload
        replacement = replacements.get(_key(workload))
        if states.has_quota_reservation(workload) and not (
            replacement is not None and states.has_quota_reservation(replacement)
        ):
            reserved = workload
    pending = None if reserved is None else replacements.get(_key(reserved))
    selected = pending or reserved or newest
    to_finish = [
        ToFinish(workload, reasons.SLICE_REPLACED, REPLACED) if _key(workload) in replacements
        else ToFinish(workload, reasons.OUT_OF_SYNC, OUT_OF_SYNC)
        for workload in unfinished if workload is not selected and workload is not reserved]
    return selected, to_finish


def superseded(workload: ReadOnlyTree, workloads: Iterable[Tree]) -> list[Tree]:
    """Those of a job's Workloads that one which has quota took the place of, and that have not
    finished: the one that it replaces, the one that this replaced, and so on.
    """
    if not states.has_quota_reservation(workload) or states.is_evicted(workload):
        return []
    by_key, found, seen = {_key(each): each for each in workloads}, list[Tree](), {_key(workload)}
    key = replacement_for_key(workload)
    while key is not None and key in by_key and key not in seen:
        seen.add(key)
        if not states.is_finished(by_key[key]):
            found.append(by_key[key])
        key = replacement_for_key(by_key[key])
    return found


def _replacements(unfinished: Sequence[Tree]) -> dict[str, Tree]:
    """By the slice that they replace; where two claim one, the one that has quota."""
    found: dict[str, Tree] = {}
    for workload in unfinished:
        key = replacement_for_key(workload)
        if key is None or states.is_evicted(workload):
            continue
        other = found.get(key)
        if other is None or (states.has_quota_reservation(workload) and not states.has_quota_reservation(other)):
            found[key] = workload
    return found


def _key(workload: ReadOnlyTree) -> str:
    return str(meta.key_of(workload))


def scaled(workload: ReadOnlyTree, counts: PodSetsCounts) -> Tree:
    """A copy of a Workload with other sizes."""
    changed = deepcopy(dict(workload))
    podsetcounts.apply_pod_set_counts(changed, counts)
    return changed


def put_into_chain(workload: Tree, unfinished: Sequence[ReadOnlyTree]) -> None:
    """Say of a new slice, which is the caller's own, which one it replaces. SliceError."""
    annotations = {**meta.annotations_of(workload), names.ELASTIC_JOB_ANNOTATION: "true"}
    if len(unfinished) > 1:
        raise SliceError(f"unexpected workload-slices count: {len(unfinished)}")
    if unfinished:
        annotations[names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION] = _key(unfinished[0])
        annotations[names.WORKLOAD_SLICE_NAME_ANNOTATION] = slice_name(unfinished[0])
    else:
        annotations.setdefault(names.WORKLOAD_SLICE_NAME_ANNOTATION, meta.name_of(workload))
    workload["metadata"]["annotations"] = annotations

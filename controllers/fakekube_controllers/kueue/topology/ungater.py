"""Lets the pods of a Workload go to the domains that it was assigned: each gets the labels of its
domain as node selector, and loses its gate.

Upstream: pkg/controller/tas/topology_ungater.go. Upstream retries with errors while the caches do
not show all pods that it let go; here the events of these pods do the same.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, strconv, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.expectations import Expectations
from fakekube.client.resources import PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue import names, patches, pods
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.topology.indexes import TASObjects, is_admitted_by_tas
from fakekube_controllers.kueue.topology.ranks import PodDomain, assign_gated_pods
from fakekube_controllers.kueue.topology.requests import is_tas
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.manager import Kueue


class BadOffset(ValueError):
    """An offset of indices that is no number."""


class TopologyUngater:
    """Reconciles one Workload."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", ctx: "Context") -> None:
        self.kueue, self.ctx = kueue, ctx
        self._objects, self._expectations = TASObjects(ctx), Expectations(ctx.clock)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow Workloads, and pods in batches."""
        self.queue = queue
        self.ctx.add_handler(WORKLOADS, self._workload, lambda _, new: self._workload(new))
        self.ctx.add_handler(
            PODS, lambda pod: self._pod(pod, gone=False), lambda _, new: self._pod(new, gone=False),
            lambda pod: self._pod(pod, gone=True))

    def _workload(self, workload: ReadOnlyTree) -> None:
        if is_admitted_by_tas(workload):
            self.queue.add(Request(*meta.key_of(workload)))

    def _pod(self, pod: ReadOnlyTree, *, gone: bool) -> None:
        name = meta.annotations_of(pod).get(names.WORKLOAD_ANNOTATION)
        if name is None or not is_tas(pod):
            return
        request = Request(meta.namespace_of(pod), name)
        if gone or not pods.has_gate(pod, names.TOPOLOGY_GATE):
            self._expectations.deletion_observed(request, meta.uid_of(pod))
        self.queue.add_after(request, names.UPDATES_BATCH_PERIOD_SECONDS)

    async def reconcile(self, request: Request) -> None:
        """Let go the pods that have their domains. Raises APIError, BadOffset."""
        workload = self._objects.workloads.get(*request)
        if workload is None or not self._expectations.satisfied(request) or not is_admitted_by_tas(workload):
            return
        found = self._to_ungate(workload)
        self._expectations.expect_deletions_of(request, [meta.uid_of(pod) for pod, _, _ in found])
        failed: APIError | None = None
        for pod, levels, values in found:
            try:
                await self._ungate(workload, pod, dict(zip(levels, values, strict=True)))
            except APIError as error:
                self._expectations.deletion_observed(request, meta.uid_of(pod))
                failed = failed or error
        if failed is not None:
            raise failed

    async def _ungate(self, workload: ReadOnlyTree, pod: ReadOnlyTree, selector: dict[str, str]) -> None:
        def update(changed: Tree) -> bool:
            changed["spec"]["nodeSelector"] = {**(changed["spec"].get("nodeSelector") or {}), **selector}
            return pods.ungate(changed, names.TOPOLOGY_GATE)

        await patches.patch(self.kueue.client, PODS, pod, update)
        admitted, admission = states.condition(workload, "Admitted"), states.admission(workload)
        if admitted is not None and admission is not None:
            seconds = self.kueue.clock.time() - times.parse_time(admitted["lastTransitionTime"])
            is_group = bool(pods.pod_group_name(pod, self.kueue.features))
            self.kueue.metrics.observe(
                "pod_scheduling_gate_removal_seconds", seconds, names.TOPOLOGY_GATE, admission["clusterQueue"],
                str(is_group).lower())

    # which

    def _to_ungate(self, workload: ReadOnlyTree) -> list[tuple[ReadOnlyTree, Sequence[str], Sequence[str]]]:
        """The pods with the levels and the values of their domains."""
        admission = states.admission(workload) or meta.EMPTY
        requests = {each["name"]: each.get("topologyRequest") for each in workload["spec"]["podSets"]}
        offsets, unhealthy = _rank_offsets(admission["podSetAssignments"], requests), states.unhealthy_node_names(workload)
        result: list[tuple[ReadOnlyTree, Sequence[str], Sequence[str]]] = []
        alive = [pod for pod in self._objects.pods_of(workload) if not pods.is_terminated(pod)]
        for each in admission["podSetAssignments"]:
            assignment = assignments.internal_from(each.get("topologyAssignment"))
            if assignment is None:
                continue
            own = [pod for pod in alive if meta.labels_of(pod).get(names.PODSET_LABEL) == each["name"]]
            offset, max_rank = offsets[each["name"]]
            more = _offset_of(own)
            placed = assign_gated_pods(
                assignment, _count(each), own, requests.get(each["name"]), offset=offset + more, max_rank=max_rank + more)
            if assignments.is_lowest_level_hostname(assignment.levels):
                placed = _without(placed, unhealthy)
            result += [(pod, assignment.levels, values) for pod, values in placed]
        return result


def _without(placed: list[PodDomain], unhealthy: Sequence[str]) -> list[PodDomain]:
    """Pods whose node has failed wait for another one: on that they would be ended at once."""
    return [(pod, values) for pod, values in placed if values[-1] not in unhealthy]


def _offset_of(found: Sequence[ReadOnlyTree]) -> int:
    """What the indices of pods begin with, as the first tells. Raises BadOffset."""
    text = meta.annotations_of(found[0]).get(names.POD_INDEX_OFFSET_ANNOTATION) if found else None
    if text is None:
        return 0
    try:
        return strconv.parse_int(text)
    except strconv.NumberError as error:
        raise BadOffset(f"{error}\nfailed to parse offset annotation") from None


def _rank_offsets(
    assigned: Sequence[ReadOnlyTree], requests: dict[str, ReadOnlyTree | None],
) -> dict[str, tuple[int, int]]:
    """For each podset the first rank and the one beyond the last: in a group those of the workers
    begin after the leader's.
    """
    groups: dict[str, list[ReadOnlyTree]] = {}
    for place, each in enumerate(assigned):
        group = (requests.get(each["name"]) or meta.EMPTY).get("podSetGroupName")
        groups.setdefault(str(place) if group is None else group, []).append(each)
    result: dict[str, tuple[int, int]] = {}
    for members in groups.values():
        first = 0
        for each in sorted(members, key=_count):
            result[each["name"]] = first, first + _count(each)
            first += _count(each)
    return result


def _count(assigned: ReadOnlyTree) -> int:
    return assigned.get("count") or 0

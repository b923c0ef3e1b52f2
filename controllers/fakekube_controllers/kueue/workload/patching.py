"""The one way in which Kueue writes the status of a Workload.

It is a server-side apply in the name of one of Kueue's field managers, or, with the gate
WorkloadRequestUseMergePatch, a merge patch. ``patch_admission_status`` writes what the scheduler
and the controllers share, as one manager: what one of them leaves out goes away. ``patch_status``
writes only what its caller sets. Upstream: pkg/workload/patching.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.conditions import Status as ConditionStatus
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import names, patches
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.patches import Update
from fakekube_controllers.kueue.workload import reasons, reservation, states

ADMISSION_CONDITIONS = (
    reasons.QUOTA_RESERVED, reasons.BLOCKED_ON_PREEMPTION_GATES, reasons.EVICTED, reasons.ADMITTED, reasons.PREEMPTED,
    reasons.REQUEUED, reasons.DEACTIVATION_TARGET, reasons.FINISHED, reasons.PODS_READY,
)
"""Those that ``kueue-admission`` manages, in the order in which it writes them."""
ADMISSION_FIELDS = (
    "admission", "admissionChecks", "accumulatedPastExecutionTimeSeconds", "clusterName", "nominatedClusterNames",
    "unhealthyNodes", "preemptionGates",
)


class How(NamedTuple):
    """How a status is written.

    ``strict``: only if the Workload has not changed since it was read. ``retry_on_conflict`` is
    about merge patches, ``force_apply`` takes none of them.
    """

    strict: bool = True
    retry_on_conflict: bool = False
    force_apply: bool = False


STRICT = How()
LOOSE = How(strict=False, retry_on_conflict=True)
"""How the scheduler writes: what it decided stands, whatever happened meanwhile."""


def _base(workload: ReadOnlyTree, how: How) -> Tree:
    """What an apply begins with: who the Workload is, and its version where that matters."""
    metadata = workload["metadata"]
    copied = ("uid", "name", "namespace", "generation", "annotations", "labels")
    kept = {field: metadata[field] for field in copied if metadata.get(field)}
    if how.strict:
        kept["resourceVersion"] = metadata["resourceVersion"]
    return {"apiVersion": WORKLOADS.api_version, "kind": WORKLOADS.kind, "metadata": kept, "status": {}}


def _admission_status(workload: ReadOnlyTree) -> Tree:
    """The part of the status that ``kueue-admission`` manages."""
    present = workload.get("status") or meta.EMPTY
    status: Tree = {field: present[field] for field in ADMISSION_FIELDS if present.get(field) not in (None, [])}
    found = [conditions.find(present.get("conditions"), type_) for type_ in ADMISSION_CONDITIONS]
    status["conditions"] = [condition for condition in found if condition is not None]
    if present.get("requeueState"):
        status["requeueState"] = present["requeueState"]
    if present.get("admission") is None and present.get("resourceRequests"):
        status["resourceRequests"] = present["resourceRequests"]
    if present.get("schedulingStats") is not None:
        status["schedulingStats"] = present["schedulingStats"]
    return status


async def _apply(client: Client, workload: ReadOnlyTree, body: Tree, manager: str) -> Tree:
    name, namespace = meta.name_of(workload), meta.namespace_of(workload)
    return await client.patch(
        WORKLOADS, name, namespace, body, type="apply", subresource="status", field_manager=manager, force=True,
        shared=True)


async def patch_admission_status(
    client: Client, workload: ReadOnlyTree, update: Update, *, features: Features, how: How = STRICT,
) -> Tree | None:
    """Write what ``update`` changes in a copy of a Workload.

    Returns the Workload as the server has it then, read-only, or None if ``update`` says that there
    is nothing to write.

    Raises APIError: 409 if the Workload has changed since it was read, unless ``how`` is loose.
    """
    if features.WorkloadRequestUseMergePatch and not how.force_apply:
        return await patches.patch_status(
            client, WORKLOADS, workload, update, retry_on_conflict=how.retry_on_conflict)
    changed = states.with_own_status(workload)
    if not update(changed):
        return None
    body = _base(changed, how)
    body["status"] = _admission_status(changed)
    return await _apply(client, workload, body, names.ADMISSION_NAME)


async def patch_status(
    client: Client, workload: ReadOnlyTree, manager: str, update: Update, *, features: Features, how: How = STRICT,
) -> Tree | None:
    """Write, as a field manager of its own, what ``update`` sets in a Workload without a status.

    With merge patches it gets a Workload with its status. Returns and raises as
    ``patch_admission_status``.
    """
    if features.WorkloadRequestUseMergePatch and not how.force_apply:
        return await patches.patch_status(
            client, WORKLOADS, workload, update, retry_on_conflict=how.retry_on_conflict)
    body = _base(workload, how)
    if not update(body):
        return None
    return await _apply(client, workload, body, manager)


async def set_condition_and_update(
    client: Client, workload: ReadOnlyTree, type_: str, status: ConditionStatus, reason: str, message: str, *,
    manager_prefix: str, now: float, features: Features,
) -> Tree | None:
    """Write one condition, as the field manager ``<prefix>-<type>``."""
    def update(changed: Tree) -> bool:
        return reservation.set_condition(changed, type_, status, reason, message, now=now)

    return await patch_status(client, workload, f"{manager_prefix}-{type_}", update, features=features)


async def update_reclaimable_pods(
    client: Client, workload: ReadOnlyTree, reclaimable_pods: Sequence[Tree], *, features: Features,
) -> Tree | None:
    """Write how many pods of each podset need no quota any more."""
    def update(changed: Tree) -> bool:
        changed.setdefault("status", {})["reclaimablePods"] = [*reclaimable_pods]
        return True

    return await patch_status(client, workload, names.RECLAIMABLE_PODS_MANAGER, update, features=features)

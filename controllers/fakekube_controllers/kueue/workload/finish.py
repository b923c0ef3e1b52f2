"""A Workload ends: it is finished, finalized or deleted.

Upstream: pkg/workload/finish, FinalizeOrphanedWorkload, RemoveFinalizer and Delete in
pkg/workload/workload.go.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.workload import patching, reasons, reservation, states


async def finish(
    client: Client, workload: ReadOnlyTree, reason: str, message: str, *, now: float, features: Features,
) -> Tree | None:
    """Finish a Workload; the Workload then, or None if it was already. Raises APIError."""
    if states.is_finished(workload):
        return None

    def update(changed: Tree) -> bool:
        return reservation.set_condition(changed, reasons.FINISHED, "True", reason, message, now=now)

    return await patching.patch_admission_status(client, workload, update, features=features)


async def remove_finalizer(client: Client, workload: ReadOnlyTree) -> Tree | None:
    """Take Kueue's finalizer away; the Workload then, or None if it has none. Raises APIError."""
    if names.RESOURCE_IN_USE_FINALIZER not in meta.finalizers_of(workload):
        return None
    return await client.update(WORKLOADS, meta.without_finalizer(workload, names.RESOURCE_IN_USE_FINALIZER), shared=True)


async def delete(client: Client, workload: ReadOnlyTree) -> bool:
    """Take the finalizer away and delete a Workload; whether its deletion was asked for here.

    Raises APIError.
    """
    await remove_finalizer(client, workload)
    if meta.is_deleting(workload):
        return False
    await client.delete(WORKLOADS, meta.name_of(workload), meta.namespace_of(workload))
    return True


async def finalize_orphaned_workload(
    client: Client, workload: ReadOnlyTree, *, can_finish: bool, now: float, features: Features,
) -> ReadOnlyTree:
    """Finish a Workload whose owners are gone, and take its finalizer away; the Workload then.

    One that is gone is no error. Raises APIError.
    """
    try:
        if features.FinishOrphanedWorkloads and not meta.is_deleting(workload) and can_finish:
            workload = await finish(
                client, workload, reasons.OWNER_NOT_FOUND, "The workload's owner no longer exists", now=now,
                features=features) or workload
        return await remove_finalizer(client, workload) or workload
    except APIError as error:
        if error.code != 404:
            raise
        return workload

"""The condition Active of AdmissionChecks and MultiKueueClusters."""

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import Resource
from fakekube.runtime.context import Context
from fakekube_controllers.kueue import patches


async def write_active(
    ctx: Context, resource: Resource, obj: ReadOnlyTree, status: str, reason: str, message: str,
) -> None:
    """Write the condition, unless it says so already. Raises APIError."""

    def update(changed: Tree) -> bool:
        found = changed.setdefault("status", {}).setdefault("conditions", [])
        before = conditions.find(found, "Active")
        if before is not None and (before["status"], before["reason"], before["message"]) == (status, reason, message):
            return False
        return conditions.set_condition(
            found, "Active", "True" if status == "True" else "False", now=times.format_time(ctx.clock.time()),
            reason=reason, message=message, observed_generation=meta.generation_of(obj))

    await patches.patch_status(ctx.client, resource, obj, update)

"""What tests do in place of the controllers of jobs."""

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.names import WORKLOADS
from tests.controllers.kueue.core.world import World


def _true(type_: str, reason: str) -> Tree:
    return {"type": type_, "status": "True", "reason": reason, "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}


async def finish(of: World, name: str) -> None:
    """The job has ended."""
    found = await of.get(WORKLOADS, name)
    conditions = [*found["status"]["conditions"], _true("Finished", "Succeeded")]
    await of.client.update_status(WORKLOADS, {**found, "status": {**found["status"], "conditions": conditions}})


async def release(of: World, name: str) -> None:
    """The pods of an evicted job are gone: its quota is given back, and it is queued again."""
    found = await of.get(WORKLOADS, name)
    status = {field: value for field, value in found["status"].items() if field != "admission"}
    conditions = [dict(each) for each in status["conditions"] if each["type"] != "Requeued"]
    for each in conditions:
        if each["type"] in ("QuotaReserved", "Admitted"):
            each.update(status="False", reason="Pending", message="evicted")
    conditions.append(_true("Requeued", "Preempted"))
    await of.client.update_status(WORKLOADS, {**found, "status": {**status, "conditions": conditions}})

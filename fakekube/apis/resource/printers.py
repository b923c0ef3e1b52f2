"""How the kinds of resource.k8s.io print, from their newest form."""

from fakekube.apimachinery.ages import since
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import AGE, NAME, NONE, column, columns, dig, table, timed
from fakekube.registry.kind import Printer

COUNTS = ("totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices")


def _claim_state(obj: Tree) -> str:
    deleted = bool(dig(obj, "metadata", "deletionTimestamp"))
    states = ["deleted"] if deleted else []
    if dig(obj, "status", "allocation") is None:
        states += [] if deleted else ["pending"]
    else:
        states += ["allocated", "reserved"] if dig(obj, "status", "reservedFor") else ["allocated"]
    return ",".join(states)


def _time_added(obj: Tree, now: float) -> str:
    added = dig(obj, "spec", "taint", "timeAdded")
    return since(added, now) if added else ""


def _pool_status(obj: Tree, now: float) -> list[Json]:
    """One row of a ResourcePoolStatusRequest."""
    name, driver = dig(obj, "metadata", "name"), dig(obj, "spec", "driver") or ""
    status = obj.get("status")
    if status is None:
        return [name, driver, "-", "-", "-", "-", "-", 0, "Pending", NONE]
    outcome: Tree = next(
        (
            each
            for each in status.get("conditions") or ()
            if each.get("type") in ("Complete", "Failed") and each.get("status") == "True"
        ),
        {},
    )
    word, pools, pool_count = outcome.get("type", "Pending"), status.get("pools") or [], status.get("poolCount", 0)
    completed = since(outcome.get("lastTransitionTime"), now) if word == "Complete" else NONE
    counts = ["-"] * 5
    if word != "Failed":
        counts = [str(sum(pool.get(field, 0) for pool in pools)) for field in COUNTS]
        counts.append(str(sum("validationError" in pool for pool in pools)))
    if word == "Complete" and pool_count > len(pools):
        word = f"Complete ({len(pools)}/{pool_count} pools)"
    return [name, driver, *counts, pool_count, word, completed]


RESOURCE_CLAIM = table(NAME, column("State", _claim_state), AGE)
DEVICE_TAINT_RULE = table(
    NAME,
    column("Key", "spec.taint.key"),
    column("Value", "spec.taint.value"),
    column("Effect", "spec.taint.effect"),
    timed("TimeAdded", _time_added),
    AGE,
)
RESOURCE_POOL_STATUS_REQUEST = Printer(
    columns(
        "Name", "Driver", "Total", "Available", "Allocated", "Unavailable", "Errors", "Pools:integer", "Status",
        "Completed",
    ),
    _pool_status,
)  # fmt: skip

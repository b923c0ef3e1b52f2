"""The taints that stand for what a node's conditions say.

Upstream: pkg/controller/nodelifecycle, pkg/util/taints.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube.client.client import Client
from fakekube.client.resources import NODES

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
BY_CONDITION: Mapping[tuple[str, str], str] = {
    ("Ready", "False"): NOT_READY, ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
OURS = (*BY_CONDITION.values(), UNSCHEDULABLE)

Taint = tuple[str, str]  # key and effect


def of(node: Mapping[str, Any], effect: str) -> list[str]:
    """The keys of a node's taints with an effect."""
    return [taint["key"] for taint in node["spec"].get("taints") or () if taint["effect"] == effect]


def wanted_no_schedule(node: Mapping[str, Any]) -> list[str]:
    """The keys of the NoSchedule taints that its conditions call for."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    keys = [key for c in conditions if (key := BY_CONDITION.get((c["type"], c["status"])))]
    return [*keys, UNSCHEDULABLE] if node["spec"].get("unschedulable") else keys


def no_schedule_change(node: Mapping[str, Any]) -> tuple[list[Taint], list[Taint]]:
    """The NoSchedule taints that a node lacks, and those that it has without a cause."""
    wanted, present = wanted_no_schedule(node), of(node, "NoSchedule")
    add = [(key, "NoSchedule") for key in wanted if key not in present]
    return add, [(key, "NoSchedule") for key in present if key in OURS and key not in wanted]


async def change(client: Client, name: str, now: float, *, add: Sequence[Taint] = (), remove: Iterable[Taint] = ()) -> bool:
    """Change a node's taints, as it is now; whether there is such a node. Raises APIError."""
    node = await client.get(NODES, name, missing_ok=True)
    if node is None:
        return False
    gone = list(remove)
    present = node["spec"].get("taints") or []
    kept = [taint for taint in present if (taint["key"], taint["effect"]) not in gone]
    have = [(taint["key"], taint["effect"]) for taint in kept]
    since = times.format_time(now)
    new = [{"key": key, "effect": effect, "timeAdded": since} for key, effect in add if (key, effect) not in have]
    if new or len(kept) != len(present):
        version = meta.resource_version_of(node)
        await client.patch(NODES, name, body={
            "metadata": {"resourceVersion": version}, "spec": {"taints": [*kept, *new] or None}})
    return True

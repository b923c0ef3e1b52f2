"""The status of a LeaderWorkerSet. Upstream: updateStatus, updateConditions and setCondition in
pkg/controllers/leaderworkerset_controller.go.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.leaderworkerset import names, rollout, sets

AVAILABLE, PROGRESSING, UPDATE_IN_PROGRESS = "Available", "Progressing", "UpdateInProgress"
TEXTS = {
    AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    UPDATE_IN_PROGRESS: ("GroupsUpdating", "Rolling Upgrade is in progress"),
    PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
}
OPTIONAL = ("readyReplicas", "updatedReplicas", "replicas", "observedGeneration")


class Outcome(NamedTuple):
    """The status to write; whether it differs; what to tell, as reason and text; whether all groups
    are updated and ready.
    """

    status: Tree
    is_changed: bool
    told: tuple[str, str] | None
    is_done: bool


class _Counts:
    """What was counted of the groups."""

    ready = updated = ready_of_wanted = 0
    of_partition = updated_of_partition = done_of_partition = 0


def of(
    lws: ReadOnlyTree, leader_set: ReadOnlyTree, leaders: Sequence[Tree], workers: Mapping[str, Tree], key: str, now: str,
) -> Outcome:
    """The status of a LeaderWorkerSet; ``workers`` are StatefulSets by name, ``key`` the newest
    revision's.
    """
    before = lws.get("status") or {}
    status: Tree = orjson.loads(orjson.dumps(before))
    counts = _counted(lws, leaders, workers, key)
    name = meta.name_of(lws)
    status |= {
        "replicas": (leader_set.get("status") or meta.EMPTY).get("replicas", 0), "observedGeneration": meta.generation_of(lws),
        "readyReplicas": counts.ready, "updatedReplicas": counts.updated}
    status.setdefault("hpaPodSelector", f"{names.NAME}={name},{names.WORKER_INDEX}=0")
    partition, wanted = sets.rolling_update(lws).get("partition", 0), names.replicas_of(lws)
    if counts.updated_of_partition < counts.of_partition:
        kinds = [UPDATE_IN_PROGRESS, PROGRESSING]
    elif counts.ready_of_wanted == wanted and counts.done_of_partition == counts.of_partition:
        kinds = [AVAILABLE]
    else:
        kinds = [PROGRESSING]
    told = None
    if _set_conditions(status.setdefault("conditions", []), kinds, meta.generation_of(lws), now):
        reason, text = TEXTS[kinds[0]]
        told = reason, f"{text}, with {counts.ready} groups ready of total {wanted} groups"
    status = {field: value for field, value in status.items() if value or field not in OPTIONAL}
    return Outcome(status, status != before, told, partition == 0 and counts.done_of_partition == wanted)


def _counted(lws: ReadOnlyTree, leaders: Sequence[Tree], workers: Mapping[str, Tree], key: str) -> _Counts:
    counts, wanted, has_workers = _Counts(), names.replicas_of(lws), names.size_of(lws) != 1
    partition = sets.rolling_update(lws).get("partition", 0)
    for pod in leaders:
        index, own = names.index_of(pod), workers.get(meta.name_of(pod))
        if index is None or (has_workers and own is None):
            continue
        ready, updated = rollout.is_pod_ready(pod), names.revision_key(pod) == key
        if has_workers and own is not None:
            ready, updated = ready and rollout.is_set_ready(own), updated and names.revision_key(own) == key
        is_wanted = index < wanted  # surge groups do not say whether an update is over
        counts.ready += ready
        counts.updated += updated
        counts.ready_of_wanted += ready and is_wanted
        if is_wanted and index >= partition:
            counts.of_partition += 1
            counts.updated_of_partition += updated
            counts.done_of_partition += ready and updated
    return counts


def _set_conditions(present: list[Tree], kinds: Sequence[str], generation: int, now: str) -> bool:
    """Set conditions to true, in place; whether anything changed.

    As upstream: once one has changed, those after it are left for the next time.
    """
    changed = False
    for kind in kinds:
        changed = changed or _set_condition(present, kind, generation, now)
    for condition in present:
        if condition.get("observedGeneration", 0) != generation:
            condition["observedGeneration"] = generation
            changed = True
    return changed


def _set_condition(present: list[Tree], kind: str, generation: int, now: str) -> bool:
    changed = False
    reason, text = TEXTS[kind]
    found = conditions.find(present, kind)
    for other in present:
        if other["type"] != kind and AVAILABLE in (other["type"], kind) and other["status"] == "True":
            other |= {"status": "False", "lastTransitionTime": now, "observedGeneration": generation}
            changed = True
    if found is None or found["status"] != "True" or found.get("observedGeneration", 0) != generation:
        conditions.put(present, {
            "type": kind, "status": "True", "lastTransitionTime": now, "observedGeneration": generation, "reason": reason,
            "message": text})
        changed = True
    return changed

"""What a draft Workload says of its groups, and which group a pod is in.

A pod names its group by annotations: its kind is upstream's, which has no field for it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.draft.definition import GROUP, OFF, REPLICATED, SINGLE

WORKLOAD, POD_GROUP, REPLICA = f"{GROUP}/workload", f"{GROUP}/pod-group", f"{GROUP}/pod-group-replica"
"""Annotations in place of the draft's ``spec.workload`` {name, podGroup, podGroupReplica}."""
TIMEOUT_SECONDS = 300.0  # 1.35's
KEY_START, KEY_END = "metadata.labels['", "']"


class Reference(NamedTuple):
    """The group that a pod is in; empty: not said."""

    workload: str
    group: str = ""
    replica: str = ""


def reference_of(pod: ReadOnlyTree) -> Reference | None:
    """What a pod's annotations say; None: nothing."""
    annotations = meta.annotations_of(pod)
    name = annotations.get(WORKLOAD)
    return Reference(name, annotations.get(POD_GROUP) or "", annotations.get(REPLICA) or "") if name else None


def groups_of(workload: ReadOnlyTree) -> Sequence[ReadOnlyTree]:
    """The groups of a Workload."""
    found: Sequence[ReadOnlyTree] = workload["spec"].get("podGroups") or ()
    return found


def group_named(workload: ReadOnlyTree, name: str) -> ReadOnlyTree | None:
    """The group of this name; without a name the only one."""
    groups = groups_of(workload)
    if not name:
        return groups[0] if len(groups) == 1 else None
    return next((group for group in groups if group["name"] == name), None)


def mode_of(group: ReadOnlyTree) -> str:
    """Single, Off or Replicated."""
    return str(group.get("gangMode") or SINGLE)


def is_gang(group: ReadOnlyTree) -> bool:
    """Whether its pods go together."""
    return mode_of(group) != OFF


def number(group: ReadOnlyTree, field: str) -> int | None:
    """MinCount or schedulingTimeoutSeconds, flat or in the policy."""
    value = group.get(field)
    if value is None:
        value = (group.get("gangSchedulingPolicy") or {}).get(field)
    return int(value) if value is not None else None


def selector_of(group: ReadOnlyTree) -> dict[str, str]:
    """The labels of the pods of a group; empty: it selects none."""
    selector = group.get("podGroupSelector") or {}
    labels = selector.get("matchLabels", selector) or {}
    return {str(key): str(value) for key, value in labels.items()}


def replica_label_of(group: ReadOnlyTree) -> str:
    """KEY of ``metadata.labels['KEY']``; empty where the text is another one."""
    text = str(group.get("replicatedGangKey") or "")
    if not text.startswith(KEY_START) or not text.endswith(KEY_END):
        return ""
    return text[len(KEY_START):-len(KEY_END)]


def resolved(pod: ReadOnlyTree, workloads: Iterable[ReadOnlyTree]) -> Reference | None:
    """The group of a new pod: the one that it names, else the first that selects it; None: none.

    What a pod leaves out is filled in: the only group, or the one that selects it, and the replica
    by its label.
    """
    named = reference_of(pod)
    for workload in workloads:
        name = meta.name_of(workload)
        if named is not None and named.workload != name:
            continue
        group = group_named(workload, named.group) if named is not None and named.group else _selecting(workload, pod)
        if group is None and named is not None and not named.group:
            group = group_named(workload, "")
        if group is not None:
            replica = named.replica if named is not None else ""
            if not replica and mode_of(group) == REPLICATED:
                replica = meta.labels_of(pod).get(replica_label_of(group), "")
            return Reference(name, group["name"], replica)
    return named


def _selecting(workload: ReadOnlyTree, pod: ReadOnlyTree) -> ReadOnlyTree | None:
    labels = meta.labels_of(pod)
    for group in groups_of(workload):
        selector = selector_of(group)
        if selector and all(labels.get(key) == value for key, value in selector.items()):
            return group
    return None

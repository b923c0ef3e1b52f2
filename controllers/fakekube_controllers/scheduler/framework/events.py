"""Events of the cluster that may make a pod schedulable.

Upstream: kube-scheduler/framework (ClusterEvent, ActionType, QueueingHint),
pkg/scheduler/framework/events.go (NodeSchedulingPropertiesChange).
"""

from collections.abc import Mapping
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.types import allocatable_of


class ClusterEvent(NamedTuple):
    """A node that was added (``old`` is None) or updated, a pod of a node that is gone or needs
    less (``pod``), or a claim, a volume or a StorageClass that has changed (``storage``).
    """

    node: ReadOnlyTree | None = None
    old: ReadOnlyTree | None = None
    pod: ReadOnlyTree | None = None
    storage: ReadOnlyTree | None = None


def node_scheduling_properties_changed(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
    """Whether a node changed in something that scheduling depends on."""
    before, now = old["spec"], new["spec"]
    return bool(
        before.get("taints") != now.get("taints") or before.get("unschedulable") != now.get("unschedulable")
        or meta.labels_of(old) != meta.labels_of(new) or meta.annotations_of(old) != meta.annotations_of(new)
        or (old.get("status") or {}).get("allocatable") != (new.get("status") or {}).get("allocatable")
        or _conditions(old) != _conditions(new))


def _conditions(node: ReadOnlyTree) -> dict[str, str]:
    return {each["type"]: each["status"] for each in (node.get("status") or {}).get("conditions") or ()}


def allocatable_has_grown(old: ReadOnlyTree, new: ReadOnlyTree, names: Mapping[str, int]) -> bool:
    """Whether a node has more than before of any of these resources, or of pods."""
    before, now = allocatable_of(old), allocatable_of(new)
    return any(now.get(name, 0) > before.get(name, 0) for name in ("pods", *names))

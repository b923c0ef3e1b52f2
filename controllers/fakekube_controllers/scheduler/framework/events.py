"""What happens in the cluster that may let a pod fit that did not.

Upstream: kube-scheduler/framework (ClusterEvent, ActionType, QueueingHint), pkg/scheduler/framework/events.go
(NodeSchedulingPropertiesChange).
"""

from collections.abc import Mapping
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.types import allocatable_of


class Event(NamedTuple):
    """A node that came (``old`` is None) or changed, or a pod of a node that went or needs less (``pod``)."""

    node: ReadOnlyTree | None = None
    old: ReadOnlyTree | None = None
    pod: ReadOnlyTree | None = None


def matters(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
    """Whether a node changed in something that pods are scheduled by."""
    before, now = old["spec"], new["spec"]
    return bool(
        before.get("taints") != now.get("taints") or before.get("unschedulable") != now.get("unschedulable")
        or meta.labels_of(old) != meta.labels_of(new) or meta.annotations_of(old) != meta.annotations_of(new)
        or (old.get("status") or {}).get("allocatable") != (new.get("status") or {}).get("allocatable")
        or _conditions(old) != _conditions(new))


def _conditions(node: ReadOnlyTree) -> dict[str, str]:
    return {each["type"]: each["status"] for each in (node.get("status") or {}).get("conditions") or ()}


def has_grown(old: ReadOnlyTree, new: ReadOnlyTree, names: Mapping[str, int]) -> bool:
    """Whether a node may give more than before of any of these resources, or take more pods."""
    before, now = allocatable_of(old), allocatable_of(new)
    return any(now.get(name, 0) > before.get(name, 0) for name in ("pods", *names))

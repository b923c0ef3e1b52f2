"""Pod groups and composite pod groups: their keys, and what their specs say.

Upstream: EntityKey and PodGroupInfo of pkg/scheduler/framework/types.go.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.interface import QueuedPodInfo

GroupKind = Literal["PodGroup", "CompositePodGroup"]


class EntityKey(NamedTuple):
    """Which group."""

    kind: GroupKind
    namespace: str
    name: str


def group_key_of(pod: ReadOnlyTree) -> EntityKey | None:
    """The PodGroup that a pod names; None when it names none."""
    group = pod["spec"].get("schedulingGroup")
    if not group:
        return None
    return EntityKey("PodGroup", pod["metadata"].get("namespace") or "", group.get("podGroupName") or "")


def parent_key_of(group: ReadOnlyTree) -> EntityKey | None:
    """The CompositePodGroup that a group of either kind names as its parent."""
    parent = group["spec"].get("parentCompositePodGroupName")
    return EntityKey("CompositePodGroup", group["metadata"].get("namespace") or "", parent) if parent else None


def minimum_of(group: ReadOnlyTree) -> int:
    """How many pods of a PodGroup, or children of a CompositePodGroup, go together.

    One for a basic policy.
    """
    gang = (group["spec"].get("schedulingPolicy") or {}).get("gang")
    if gang is None:
        return 1
    return int(gang.get("minCount") or gang.get("minGroupCount") or 1)


def is_gang(group: ReadOnlyTree) -> bool:
    """Whether its policy is gang, rather than basic."""
    return (group["spec"].get("schedulingPolicy") or {}).get("gang") is not None


def topology_key_of(group: ReadOnlyTree) -> str | None:
    """The label of nodes that all pods of the group share; there is one constraint at most."""
    topology = (group["spec"].get("schedulingConstraints") or {}).get("topology")
    return str(topology[0]["key"]) if topology else None


@dataclass(slots=True)
class PodGroupInfo:
    """A group with its subtree, and the pods of each leaf that one cycle tries, in their order."""

    key: EntityKey
    group: ReadOnlyTree
    children: list["PodGroupInfo"] = field(default_factory=list)
    pods: list[QueuedPodInfo] = field(default_factory=list)

    @property
    def is_composite(self) -> bool:
        """Whether it has groups in place of pods."""
        return self.key.kind == "CompositePodGroup"

    @property
    def priority(self) -> int:
        """Of the group; that of its root counts."""
        return int(self.group["spec"].get("priority") or 0)

    def leaves(self) -> Iterator["PodGroupInfo"]:
        """The PodGroups of the subtree, in the order of their parents' children."""
        if not self.is_composite:
            yield self
        for child in self.children:
            yield from child.leaves()

    def all_pods(self) -> Iterator[QueuedPodInfo]:
        """The pods of all leaves."""
        for leaf in self.leaves():
            yield from leaf.pods

"""What waits in the scheduling queue: entities, each a pod or the root of a tree of groups.

Upstream: kube-scheduler/framework/types.go (QueuedEntityInfo, EntityKey, PodGroupInfo),
pkg/scheduler/framework/types.go (QueueingParams, QueuedPodInfo, QueuedPodGroupInfo).
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.types import PodInfo


class EntityType(enum.StrEnum):
    """The types of entities."""

    POD = "pod"
    POD_GROUP = "podgroup"
    COMPOSITE_POD_GROUP = "compositepodgroup"


class EntityKey(NamedTuple):
    """Names a pod or a group."""

    type: EntityType
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.type.value}/{self.namespace}/{self.name}"


def pod_key(pod: ReadOnlyTree) -> EntityKey:
    """The key of a pod."""
    return EntityKey(EntityType.POD, meta.namespace_of(pod), meta.name_of(pod))


def pod_group_key(namespace: str, name: str) -> EntityKey:
    """The key of a pod group."""
    return EntityKey(EntityType.POD_GROUP, namespace, name)


def composite_pod_group_key(namespace: str, name: str) -> EntityKey:
    """The key of a composite pod group."""
    return EntityKey(EntityType.COMPOSITE_POD_GROUP, namespace, name)


@dataclass(slots=True, eq=False, kw_only=True)
class QueuedEntityInfo(ABC):
    """How it stands with an entity in the queue. Times are Unix seconds.

    ``timestamp``: when it was added or tried last; ``sequence`` orders those of one instant.
    ``attempts`` counts cycles, ``unschedulable_count`` those in which a plugin rejected it,
    ``consecutive_errors_count`` the errors since then: the two give the back-off.
    ``unschedulable_plugins`` and ``pending_plugins`` rejected it last; empty after an error.
    ``gating_plugin`` holds it before the queue, because of ``gating_pod``, until one of
    ``gating_plugin_events``.
    ``rejecting_plugins`` are those of its pods, while it is unschedulable; None: not asked for yet.
    ``tries_in_second`` counts cycles in the one second that ``tried_in`` is, ``calmed_count`` how
    often they were too many.
    """

    timestamp: float
    sequence: int
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    backoff_expiration: float | None = None  # computed when it is asked for
    was_flushed_from_unschedulable: bool = False
    flush_timestamp: float = 0.0
    initial_attempt_timestamp: float | None = None
    unschedulable_plugins: dict[str, None] = field(default_factory=dict)
    pending_plugins: dict[str, None] = field(default_factory=dict)
    gating_plugin: str = ""
    gating_plugin_events: Sequence[ClusterEvent] = ()
    gating_pod: "QueuedPodInfo | None" = None
    rejecting_plugins: frozenset[str] | None = None
    tried_in: int = 0
    tries_in_second: int = 0
    calmed_count: int = 0

    @property
    @abstractmethod
    def key(self) -> EntityKey:
        """Its key in the queue."""

    @property
    @abstractmethod
    def priority(self) -> int:
        """The higher goes first."""

    @abstractmethod
    def pods(self) -> Iterator["QueuedPodInfo"]:
        """Its pods."""

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin holds it."""
        return bool(self.gating_plugin)


@dataclass(slots=True, eq=False)
class QueuedPodInfo(QueuedEntityInfo):
    """A pod in the scheduling queue, on its own or as a member of a group there."""

    info: PodInfo

    @property
    def key(self) -> EntityKey:
        """Its key in the queue."""
        return pod_key(self.info.pod)

    @property
    def priority(self) -> int:
        """The pod's priority."""
        return self.info.priority

    def pods(self) -> Iterator["QueuedPodInfo"]:
        """Itself."""
        yield self


@dataclass(slots=True, eq=False)
class PodGroupInfo:
    """A group with what waits of it: of a leaf its pods, of a composite group its children.

    ``group`` is the PodGroup or CompositePodGroup. Upstream: PodGroupInfo.
    """

    key: EntityKey
    group: ReadOnlyTree
    children: list["PodGroupInfo"] = field(default_factory=list)
    unscheduled_pods: list[QueuedPodInfo] = field(default_factory=list)

    def leaves(self) -> Iterator["PodGroupInfo"]:
        """The pod groups of the tree, in the order of the children."""
        if self.key.type is EntityType.POD_GROUP:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass(slots=True, eq=False)
class QueuedPodGroupInfo(QueuedEntityInfo):
    """A root group in the scheduling queue: a pod group without a parent, or the root of a tree.

    ``tried_after``: how many events the queue had been told of when it was tried, and how many of
    them changed the room on the nodes.
    """

    root: PodGroupInfo
    tried_after: tuple[int, int] = field(default=(0, 0), kw_only=True)

    @property
    def rests(self) -> bool:
        """Whether it was rejected, and backs off: no PreEnqueue plugin holds it."""
        return bool(self.unschedulable_count) and not self.consecutive_errors_count and not self.is_gated

    @property
    def key(self) -> EntityKey:
        """The root's key."""
        return self.root.key

    @property
    def priority(self) -> int:
        """The root's spec.priority."""
        return int(self.root.group["spec"].get("priority") or 0)

    def pods(self) -> Iterator[QueuedPodInfo]:
        """The pods of all its pod groups that wait."""
        for leaf in self.root.leaves():
            yield from leaf.unscheduled_pods

"""What the scheduler knows of every group: the object, its children, and its pods.

Enqueueing asks for the quorum of a whole tree with every pod that comes, so pods are counted as
they come and go. A group is known by its key before its object was seen: pods may come first.

Upstream: pkg/scheduler/backend/cache/podgroupstate.go, backend/queue/workload_forest.go.
"""

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import EntityKey, EntityType, PodGroupInfo
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.groups.entities import group_key_of, minimum_of, parent_key_of

MAX_LEVELS = 32  # of a tree; Workloads have four at most, groups made by hand as many as somebody makes


class Placed(NamedTuple):
    """A pod on a node; assumed until the informer shows it there."""

    info: PodInfo
    node_name: str
    assumed: bool = False


class GroupStates:
    """Groups by key. Pods that are finished or gone are not there.

    ``key_of`` says of a pod which group it is in.
    """

    def __init__(self, key_of: Callable[[ReadOnlyTree], EntityKey | None] = group_key_of) -> None:
        self.key_of = key_of
        self._groups: dict[EntityKey, ReadOnlyTree] = {}
        self._children: dict[EntityKey, dict[EntityKey, None]] = {}
        self._waiting: dict[EntityKey, dict[str, PodInfo]] = {}  # pods without a node, by uid
        self._placed: dict[EntityKey, dict[str, Placed]] = {}  # by uid
        self._group_of: dict[str, EntityKey] = {}  # by the uid of a pod

    # groups

    def set_group(self, key: EntityKey, group: ReadOnlyTree) -> None:
        """A group was added or updated."""
        self.remove_group(key)
        self._groups[key] = group
        parent = parent_key_of(group)
        if parent is not None:
            self._children.setdefault(parent, {})[key] = None

    def remove_group(self, key: EntityKey) -> None:
        """A group is gone; its pods stay known."""
        group = self._groups.pop(key, None)
        parent = parent_key_of(group) if group is not None else None
        if parent is not None:
            siblings = self._children[parent]
            del siblings[key]
            if not siblings:
                del self._children[parent]

    def group(self, key: EntityKey) -> ReadOnlyTree | None:
        """The object; None: it was not seen, or is gone."""
        return self._groups.get(key)

    def children(self, key: EntityKey) -> list[EntityKey]:
        """The groups that name this one as their parent, the oldest first, those of one second by
        name; none below MAX_LEVELS.
        """
        return sorted(self._children_of(key), key=self._age)

    def _children_of(self, key: EntityKey) -> Collection[EntityKey]:
        children = self._children.get(key)
        return children if children and self._level(key) < MAX_LEVELS else ()

    def _level(self, key: EntityKey) -> int:
        """One for a group without a parent; at most MAX_LEVELS."""
        level, parent = 1, self._parent_of(key)
        while parent is not None and level < MAX_LEVELS:
            level, parent = level + 1, self._parent_of(parent)
        return level

    def _parent_of(self, key: EntityKey) -> EntityKey | None:
        group = self._groups.get(key)
        return parent_key_of(group) if group is not None else None

    def _age(self, key: EntityKey) -> tuple[str, str]:
        return str(self._groups[key]["metadata"].get("creationTimestamp") or ""), key.name

    def root_of(self, key: EntityKey) -> EntityKey | None:
        """The root of the tree that a group is in.

        None where that is not known: an ancestor, or the group itself, was not seen, or the
        parents are a cycle, or more than MAX_LEVELS.
        """
        for _ in range(MAX_LEVELS):
            group = self._groups.get(key)
            if group is None:
                return None
            parent = parent_key_of(group)
            if parent is None:
                return key
            key = parent
        return None

    def nearest_known(self, key: EntityKey) -> EntityKey:
        """The highest ancestor that is named, seen or not."""
        seen: dict[EntityKey, None] = {}
        while key not in seen:
            seen[key] = None
            group = self._groups.get(key)
            parent = parent_key_of(group) if group is not None else None
            if parent is None:
                break
            key = parent
        return key

    def tree(self, root: EntityKey) -> PodGroupInfo | None:
        """The tree below a root, without pods to try; None when the root was not seen."""
        group = self._groups.get(root)
        if group is None:
            return None
        children = [child for key in self.children(root) if (child := self.tree(key)) is not None]
        return PodGroupInfo(root, group, children)

    # pods

    def set_pod(self, key: EntityKey, info: PodInfo, node_name: str = "", *, assumed: bool = False) -> None:
        """A pod of a group: on a node, or, without ``node_name``, waiting for one."""
        self.remove_pod(info.uid)
        self._group_of[info.uid] = key
        if node_name:
            self._placed.setdefault(key, {})[info.uid] = Placed(info, node_name, assumed)
        else:
            self._waiting.setdefault(key, {})[info.uid] = info

    def remove_pod(self, uid: str) -> None:
        """A pod is finished or gone; harmless when it is in no group."""
        key = self._group_of.pop(uid, None)
        if key is None:
            return
        for pods in (self._waiting, self._placed):
            members = pods.get(key)
            if members is not None and members.pop(uid, None) is not None and not members:
                del pods[key]

    def remove_waiting_pod(self, uid: str) -> None:
        """A pod does not wait for a node any more; one that has a node stays."""
        key = self._group_of.get(uid)
        if key is not None and uid in self._waiting.get(key, {}):
            self.remove_pod(uid)

    def all_count(self, key: EntityKey) -> int:
        """The pods of a PodGroup, on nodes and waiting."""
        return len(self._waiting.get(key, ())) + len(self._placed.get(key, ()))

    def waiting(self, key: EntityKey) -> list[PodInfo]:
        """The pods of a PodGroup that wait for a node, in the order in which they came."""
        return list(self._waiting.get(key, {}).values())

    def placed(self, key: EntityKey) -> Collection[Placed]:
        """The pods of a PodGroup that are on nodes, assumed ones included."""
        return self._placed.get(key, {}).values()

    def all_placed(self, key: EntityKey) -> Iterator[Placed]:
        """The same of all leaves below a group."""
        if key.type is EntityType.POD_GROUP:
            yield from self.placed(key)
        for child in self.children(key):
            yield from self.all_placed(child)

    # quorum

    def is_ready(self, key: EntityKey) -> bool:
        """Whether there are as many pods, or ready children, as the group's policy asks for."""
        group = self._groups.get(key)
        if group is None:
            return False
        minimum = minimum_of(group)
        if key.type is EntityType.POD_GROUP:
            return self.all_count(key) >= minimum
        ready = 0
        for child in self._children_of(key):
            ready += self.is_ready(child)
            if ready >= minimum:
                return True
        return False

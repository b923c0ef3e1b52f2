"""The extension points, as Protocols.

A plugin is any object with a name and the methods of the points it extends.

Upstream: k8s.io/kube-scheduler/framework/interface.go. A method that has nothing to object returns
None; what it does object to is a Status. ``CycleState`` holds what plugins keep for one cycle,
under keys of their own.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.events import ClusterEvent
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

CycleState = dict[str, Any]
MAX_NODE_SCORE = 100


class QueuedPodInfo(NamedTuple):
    """A pod in the scheduling queue; ``since``: when it was added (Unix seconds)."""

    info: PodInfo
    since: float
    sequence: int


class Snapshot(Protocol):
    """The cluster at the start of a cycle."""

    @property
    def nodes(self) -> Mapping[str, NodeInfo]:
        """Nodes by name."""


class Plugin(Protocol):
    """What every plugin has."""

    name: str


# The next three let NodeSearch ask plugins about many nodes at once. A plugin with a filter or a
# score has the methods of one of them; with any plugin that has not, every plugin is asked about
# every node.


class SignPlugin(Plugin, Protocol):
    """Depends on the node itself, not on the pods there.

    Upstream: SignPlugin of opportunistic batching, which signs pods.

    Its filter, pre_score and score read only what is signed here. Its normalize_score depends on
    which scores there are, not on how many nodes have each. Its filter never returns an error.
    """

    def sign_pod(self, pod: PodInfo) -> Hashable:
        """Everything of a pod that this plugin's answers depend on."""

    def node_fields(self, pod: PodInfo) -> Hashable:
        """Which fields of nodes the answers for this pod depend on, such as label keys.

        Many pods should share them.
        """

    def sign_node(self, node_fields: Any, node: NodeInfo) -> Hashable:
        """All of ``node.node`` that the answers for pods with these node fields depend on."""


class ResourcePlugin(Plugin, Protocol):
    """Compares a node's usage with its capacity: with more usage a node never fits where it did
    not, nor scores more.

    Its normalize_score changes nothing, it has no pre_score, and its filter never returns an error.
    """

    def capacity(self, node: NodeInfo) -> Hashable:
        """The capacity of a node. Usages of nodes of the same capacity can be compared."""

    def usage(self, node: NodeInfo) -> tuple[int, ...]:
        """The usage of a node, in numbers: the same count of them for all nodes of a capacity."""

    def score_bound(self, pod: PodInfo, capacity: Any) -> Callable[[tuple[int, ...]], int] | None:
        """A function from usage to the pod's score on a node of that capacity, -1 where it does not
        fit; None: it never fits.

        For the least of several usages, number by number, it returns no less than the best of their
        scores.
        """


class DeferredFilterPlugin(Plugin, Protocol):
    """A filter without a score, asked only about nodes that are the best by all other plugins.

    It reads only the pod and the node, and never returns an error.
    """

    deferred: bool


class QueueingHint(Plugin, Protocol):
    """Tells which events may make a pod schedulable that this plugin rejected; without it all may.

    Upstream: QueueingHintFn.
    """

    def is_schedulable_after(self, pod: PodInfo, event: ClusterEvent) -> bool:
        """Whether the pod should be queued again."""


class PreEnqueuePlugin(Plugin, Protocol):
    """Called before a pod enters the active queue."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Why the pod must not be tried yet, or None."""


class QueueSortPlugin(Plugin, Protocol):
    """Orders the active queue; exactly one plugin does."""

    def sort_key(self, pod: QueuedPodInfo) -> Any:
        """Pods with smaller keys go first."""


class PreFilterPlugin(Plugin, Protocol):
    """Called once a cycle, before the nodes are filtered."""

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """A rejection, SKIP (of this plugin's filter), the names of the only nodes to look at, or
        None.
        """


class FilterPlugin(Plugin, Protocol):
    """Says whether a pod fits a node."""

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why it does not fit, or None. Must not change the node."""


class PostFilterPlugin(Plugin, Protocol):
    """Called when no node fits."""

    def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[str, str]:
        """A nominated node's name, or nothing, and a text for the pod's condition."""


class PreScorePlugin(Plugin, Protocol):
    """Called once a cycle with the nodes that fit, before they are scored."""

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP (of this plugin's score), or None."""


class ScorePlugin(Plugin, Protocol):
    """Ranks the nodes that fit. ``weight`` multiplies the normalised score."""

    weight: int

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """Higher is better."""

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """Bring the scores of all nodes between 0 and 100, in place."""


class ReservePlugin(Plugin, Protocol):
    """Reserves what a pod takes once its node is chosen."""

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Reserve it; why that is impossible, or None."""

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo the reservation; harmless when there was none."""


class PermitPlugin(Plugin, Protocol):
    """Called last before the binding."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Why not, WAIT, or None."""


class PreBindPlugin(Plugin, Protocol):
    """Prepares the binding (binds a volume, say)."""

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Why it cannot be bound, WAIT to be asked again after the next event, or None."""


class BindPlugin(Plugin, Protocol):
    """Binds; plugins after the first that does not return SKIP are not called."""

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None when it is bound, SKIP to leave it to the next."""


class PostBindPlugin(Plugin, Protocol):
    """Called after a pod was bound."""

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """The pod is on its node."""

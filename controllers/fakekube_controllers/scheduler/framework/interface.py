"""The extension points, as Protocols. A plugin is any object with a name and the methods of the points it extends.

Upstream: k8s.io/kube-scheduler/framework/interface.go. A method that has nothing to object returns None; what it does
object to is a Status. ``State`` is one cycle's scratch paper, keyed by plugin.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.events import Event
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

State = dict[str, Any]
MAX_NODE_SCORE = 100


class QueuedPod(NamedTuple):
    """A pod that waits, and since when (Unix seconds)."""

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


# What a plugin with a filter or a score says of what it looks at, so that nodes which look the same to a pod are asked once.
# It has the methods of one of the next three; a plugin that has none of them is asked of every node for every pod.


class Sign(Plugin, Protocol):
    """Looks at nodes themselves, not at the pods on them. Upstream: SignPlugin of opportunistic batching, for pods.

    Its filter, pre_score and score read nothing but what is signed here, and its normalize_score goes by which scores there
    are, not by how many nodes have each. Its filter never fails with an error.
    """

    def sign(self, pod: PodInfo) -> Hashable:
        """All of a pod that decides what this plugin says of a node."""

    def aspect(self, pod: PodInfo) -> Hashable:
        """What of nodes this pod is about, such as the keys of the labels that it mentions. Many pods should share one."""

    def sign_node(self, aspect: Any, node: NodeInfo) -> Hashable:
        """All of ``node.node`` that decides, for pods of this aspect, what this plugin says of it."""


class Load(Plugin, Protocol):
    """Counts what is on a node against what it has: with more on it a node never fits better, nor scores more.

    Its normalize_score changes nothing, it has no pre_score, and its filter never fails with an error.
    """

    def shape(self, node: NodeInfo) -> Hashable:
        """What a node has. Loads of nodes of one shape can be compared."""

    def load(self, node: NodeInfo) -> tuple[int, ...]:
        """What is on a node, in numbers: as many for each node of a shape."""

    def bound(self, pod: PodInfo, shape: Any) -> Callable[[tuple[int, ...]], int] | None:
        """What tells, from a load, the pod's score on a node of that shape, and -1 where it does not fit; None: it fits none.

        Of the least of several loads, number by number, it tells at least the best score among their nodes.
        """


class AskedLast(Plugin, Protocol):
    """A filter, without a score, of which only those nodes are asked that are best by everything else.

    It reads nothing but the pod and the node, and never fails with an error.
    """

    asked_last: bool


class Hint(Plugin, Protocol):
    """Says which events may help a pod that this plugin rejected; without it every event may. Upstream: QueueingHintFn."""

    def may_help(self, pod: PodInfo, event: Event) -> bool:
        """Whether the pod should be tried again."""


class PreEnqueue(Plugin, Protocol):
    """Keeps a pod out of the active queue."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Why the pod must not be tried yet, or None."""


class QueueSort(Plugin, Protocol):
    """Orders the active queue; exactly one plugin does."""

    def sort_key(self, pod: QueuedPod) -> Any:
        """Pods with smaller keys go first."""


class PreFilter(Plugin, Protocol):
    """Looks at the pod once, before the nodes."""

    def pre_filter(self, state: State, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """A rejection, SKIP (leave my filter out), the names of the only nodes that can do, or None."""


class Filter(Plugin, Protocol):
    """Says whether a pod fits a node."""

    def filter(self, state: State, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why it does not fit, or None. Must not change the node."""


class PostFilter(Plugin, Protocol):
    """Asked when no node fits."""

    def post_filter(
        self, state: State, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[str, str]:
        """A nominated node's name, or nothing, and a text for the pod's condition."""


class PreScore(Plugin, Protocol):
    """Looks at the nodes that fit once, before they are scored."""

    def pre_score(self, state: State, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP to leave my score out, or None."""


class Score(Plugin, Protocol):
    """Ranks the nodes that fit. ``weight`` multiplies the normalised score."""

    weight: int

    def score(self, state: State, pod: PodInfo, node: NodeInfo) -> int:
        """Higher is better."""

    def normalize_score(self, state: State, pod: PodInfo, scores: dict[str, int]) -> None:
        """Bring the scores of all nodes between 0 and 100, in place."""


class Reserve(Plugin, Protocol):
    """Books what a pod takes once its node is chosen."""

    def reserve(self, state: State, pod: PodInfo, node_name: str) -> Status | None:
        """Book it, or say why not."""

    def unreserve(self, state: State, pod: PodInfo, node_name: str) -> None:
        """Take it back; harmless when nothing was booked."""


class Permit(Plugin, Protocol):
    """The last word before the binding."""

    def permit(self, state: State, pod: PodInfo, node_name: str) -> Status | None:
        """Why not, WAIT, or None."""


class PreBind(Plugin, Protocol):
    """Prepares the binding (mounts a volume, say)."""

    async def pre_bind(self, state: State, pod: PodInfo, node_name: str) -> Status | None:
        """Why it cannot be bound, or None."""


class Bind(Plugin, Protocol):
    """Binds; the first plugin that does not skip has done it."""

    async def bind(self, state: State, pod: PodInfo, node_name: str) -> Status | None:
        """None when it is bound, SKIP to leave it to the next."""


class PostBind(Plugin, Protocol):
    """Told of what was bound."""

    def post_bind(self, state: State, pod: PodInfo, node_name: str) -> None:
        """Nothing can be objected any more."""

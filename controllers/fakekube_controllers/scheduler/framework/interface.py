"""The extension points, as Protocols.

A plugin is any object with a name and the methods of the points it extends. It is made by a factory
from the registry, with its arguments and a ``Handle``; ``search.py`` beside this file has what lets
the scheduler ask it once about many nodes, ``placements.py`` the points of groups, ``changes.py``
how a plugin says what it lacks.

Upstream: k8s.io/kube-scheduler/framework/interface.go. A method that has nothing to object returns
None; what it does object to is a Status. A method that raises is an error of the plugin: the pod is
tried again later.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.events import ClusterEventWithHint
from fakekube_controllers.scheduler.framework.handle import Handle, NominatingInfo
from fakekube_controllers.scheduler.framework.queued import QueuedEntityInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

MAX_NODE_SCORE = 100


class Plugin(Protocol):
    """What every plugin has."""

    name: str


PluginFactory = Callable[[Mapping[str, Any], Handle], Plugin]
"""Makes a plugin of its arguments, which are the tree of ``pluginConfig`` as the user wrote it, and
a handle; a class with such an ``__init__`` is one. Raises ValueError for arguments that are wrong.
"""


class EnqueueExtensions(Plugin, Protocol):
    """Tells which events may make a pod schedulable that this plugin rejected.

    Without it, every event may.
    """

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """The events, with hints. Asked once."""


class PreEnqueuePlugin(Plugin, Protocol):
    """Called before a pod enters the active queue.

    A pod that is held is asked about again when it changes, and after each event that the plugin
    registers.
    """

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Why the pod must not be tried yet, or None."""


class QueueSortPlugin(Plugin, Protocol):
    """Orders the active queue; all profiles have the same one."""

    def sort_key(self, entity: QueuedEntityInfo) -> Any:
        """Entities with smaller keys go first. May depend on priority, timestamp and sequence."""


class PreFilterPlugin(Plugin, Protocol):
    """Called once a cycle, before the nodes are filtered."""

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | Sequence[str] | None:
        """A rejection, SKIP (of this plugin's filter), the names of the only nodes to look at, or
        None.
        """


class PreFilterExtensions(PreFilterPlugin, Protocol):
    """Keeps what ``pre_filter`` has computed up to date in what-if questions.

    Called with a clone of the state, for a plugin whose filter is not skipped. The node is
    read-only.
    """

    def add_pod(self, state: CycleState, pod: PodInfo, pod_to_add: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is on the node now. An error, or None."""

    def remove_pod(self, state: CycleState, pod: PodInfo, pod_to_remove: PodInfo, node: NodeInfo) -> Status | None:
        """Another pod is on the node no more. An error, or None."""


class FilterPlugin(Plugin, Protocol):
    """Says whether a pod fits a node."""

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why it does not fit, or None. Must not change the node."""


class PostFilterResult(NamedTuple):
    """What a PostFilter plugin has arranged for the pod."""

    nominating_info: NominatingInfo | None = None


class PostFilterPlugin(Plugin, Protocol):
    """Called when no node fits."""

    async def post_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, statuses: Mapping[str, Status],
    ) -> tuple[PostFilterResult | None, Status | None]:
        """A result, and None (or SUCCESS with a text) where the pod can be made schedulable: no
        more plugins are asked then.

        Else a Status, whose message is added to that of the pod's condition: UNSCHEDULABLE to have
        the next plugin asked, UNSCHEDULABLE_AND_UNRESOLVABLE or an error to have none.
        ``statuses``: why each node was rejected, by its name; a node without one is out of the
        question.
        """


class PreScorePlugin(Plugin, Protocol):
    """Called once a cycle with the nodes that fit, before they are scored."""

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP (of this plugin's score), an error, or None."""


class ScorePlugin(Plugin, Protocol):
    """Ranks the nodes that fit; the profile has the weight of the normalized score."""

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """Higher is better."""


class ScoreExtensions(ScorePlugin, Protocol):
    """A score that is not between 0 and 100 by itself."""

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: dict[str, int]) -> None:
        """Bring the scores of all nodes between 0 and 100, in place."""


class ReservePlugin(Plugin, Protocol):
    """Reserves what a pod takes once its node is chosen."""

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Reserve it; why that is impossible, or None."""

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo the reservation; harmless when there was none."""


class PermitPlugin(Plugin, Protocol):
    """Called last in the scheduling cycle."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status | None, float]:
        """Why not, WAIT with the most seconds to wait, or None; the seconds are 0 but for WAIT.

        A pod that waits keeps its node until every plugin that said WAIT has allowed it
        (``Handle.get_waiting_pod``), one rejects it, or the time is over.
        """


class PreBindPlugin(Plugin, Protocol):
    """Prepares the binding (binds a volume, say)."""

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """SKIP where ``pre_bind`` has nothing to do, an error, or None. Does nothing yet."""

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Why it cannot be bound, or None. May take its time: see ``Handle.wait_for``."""


class BindPlugin(Plugin, Protocol):
    """Binds; plugins after the first that does not return SKIP are not called."""

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None when it is bound, SKIP to leave it to the next."""


class PostBindPlugin(Plugin, Protocol):
    """Called after a pod was bound."""

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """The pod is on its node."""

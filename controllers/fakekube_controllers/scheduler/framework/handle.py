"""What a plugin can ask of the scheduler, and what it can tell it.

Upstream: kube-scheduler/framework/interface.go (Handle, WaitingPod, PodNominator, PluginsRunner).
"""

import enum
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from fakekube.cache.lister import Lister
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, Usage

if TYPE_CHECKING:
    from fakekube.client.recorder import Recorder
    from fakekube_controllers.scheduler.framework.extender import Extender
    from fakekube_controllers.scheduler.groups.states import GroupStates

T = TypeVar("T")


class NominatingMode(enum.IntEnum):
    """Whether a nomination says something."""

    NOOP = 0
    OVERRIDE = 1


class NominatingInfo(NamedTuple):
    """What becomes of a pod's status.nominatedNodeName."""

    nominated_node_name: str = ""
    mode: NominatingMode = NominatingMode.OVERRIDE


CLEAR_NOMINATED_NODE = NominatingInfo()


class WaitingPod(Protocol):
    """A pod that has a node and waits for Permit plugins."""

    @property
    def pod(self) -> PodInfo:
        """The pod."""

    @property
    def node_name(self) -> str:
        """The node that is kept for it."""

    @property
    def pending_plugins(self) -> Sequence[str]:
        """The plugins that have not allowed it yet."""

    def allow(self, plugin: str) -> None:
        """One plugin allows it; once all have, it is bound."""

    def reject(self, plugin: str, message: str) -> bool:
        """Let it wait no more: it is unschedulable. False when that comes too late."""

    def preempt(self, plugin: str, message: str) -> bool:
        """Let it wait no more, in favour of another pod. False when that comes too late."""


class PodNominator(Protocol):
    """Which pods wait for room on which nodes: they count there for pods of no more priority."""

    def add_nominated_pod(self, pod: PodInfo, info: NominatingInfo | None = None) -> None:
        """Nominate a pod for the node of ``info``, or for that of its status."""

    def delete_nominated_pod_if_exists(self, uid: str) -> None:
        """Forget a nomination."""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        """The pods that are nominated for a node."""


class Handle(Protocol):
    """One profile's view of the scheduler.

    ``snapshot`` is the cluster of the current cycle: of no use in hints, PreEnqueue and after the
    cycle; ask the listers there.
    """

    profile_name: str
    client: Client
    clock: Clock
    rng: Rng
    version: str  # of Kubernetes: 1.37
    common: dict[str, Any]  # what the plugins of all profiles share, by a name that they agree on

    @property
    def nominator(self) -> PodNominator:
        """Pods that wait for room on nodes."""

    @property
    def recorder(self) -> "Recorder":
        """Records Events as the profile."""

    @property
    def snapshot(self) -> Snapshot:
        """The cluster as the current cycle sees it."""

    @property
    def extenders(self) -> Sequence["Extender"]:
        """The extenders."""

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""

    def lister(self, resource: Resource) -> Lister:
        """Reads the shared cache of a resource."""

    def add_handler(
        self, resource: Resource, on_add: Callable[[Any], object] | None = None,
        on_update: Callable[[Any, Any], object] | None = None, on_delete: Callable[[Any], object] | None = None,
    ) -> None:
        """Tell these of every change of a resource, before the queue is told."""

    # pods that wait

    def waiting_pods(self) -> Iterator[WaitingPod]:
        """The pods that wait for Permit plugins of any profile, in the order in which they came."""

    def get_waiting_pod(self, uid: str) -> WaitingPod | None:
        """One of them."""

    def reject_waiting_pod(self, uid: str) -> bool:
        """Reject one of them. Whether it was waiting."""

    def cancel_pod_in_pre_bind(self, uid: str, message: str) -> bool:
        """End the binding of a pod whose PreBind plugins still run. Whether it was there."""

    def activate(self, uids: Iterable[str]) -> None:
        """Try these unscheduled pods now, whatever they wait for; the pods of a group all together.
        """

    # plugins of the profile

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The first rejection of a node, or None."""

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The same, also with the pods on it that are nominated there and have no less priority."""

    def filter_signer(self, state: CycleState, pod: PodInfo) -> Callable[[NodeInfo], Hashable] | None:
        """A function that gives all of a node that the filters for a pod depend on, nominated pods
        apart.

        It stays the same for nodes that are the same to them whatever pods come and go there, if
        these have the same requests. None where that is not known.
        """

    def usage_filter(self, state: CycleState, pod: PodInfo, allocatable: dict[str, int]) -> Callable[[Usage], bool]:
        """Whether a pod fits nodes with these allocatable resources by what is used of them.

        The other filters may reject it all the same.
        """

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod: PodInfo, pod_to_add: PodInfo, node: NodeInfo,
    ) -> Status | None:
        """Tell PreFilter plugins that another pod is on a node. An error, or None."""

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod: PodInfo, pod_to_remove: PodInfo, node: NodeInfo,
    ) -> Status | None:
        """Tell PreFilter plugins that another pod is gone from a node. An error, or None."""

    def total_scores(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """The sum of the plugins' normalized and weighted scores, by name of the node."""

    # groups

    @property
    def groups(self) -> "GroupStates | None":
        """What is known of groups and their pods now; None where there are no groups."""

    # work beside the cycle

    def spawn(self, coro: Coroutine[Any, Any, object], name: str) -> None:
        """Run something beside the cycles (the evictions of a preemption, say); it counts as
        activity, and ends with the scheduler.
        """

    async def wait_for(self, check: Callable[[], T | None], timeout_seconds: float) -> T:
        """In PreBind: what ``check`` returns once that is not None. It is asked now, and after
        every event that some plugin registers. Raises TimeoutError.
        """

"""What lets the scheduler ask a plugin once about many nodes, rather than about each.

A plugin with a filter or a score is one of these, or it is asked about every node where it has a
say. ``is_inactive`` makes that rare: while every plugin without one of the other kinds is inactive
for a pod, the index of nodes is used.

Upstream has only SignPlugin, of opportunistic batching (KEP-5598), which signs pods.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.interface import Plugin
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, Usage

FEASIBLE = "number of feasible nodes by the one that is asked about"
"""In the state, for ``pre_score`` of a CountingPlugin: how many nodes each of those stands for."""


class SignPlugin(Plugin, Protocol):
    """Depends on the node itself, not on the pods there.

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


class CountingPlugin(SignPlugin, Protocol):
    """A SignPlugin that depends on pods, too, where its node fields for a pod are not empty.

    ``node_fields`` is asked after ``pre_filter`` of the cycle. ``sign_node`` may read the pods of
    the node, and no others. Nodes with the same signature get the same answers in one cycle, which
    depend on what ``pre_filter`` and ``pre_score`` have counted, and are not kept for another.
    """

    counts_pods: bool


class ResourceScore(NamedTuple):
    """Functions of usage, for a pod and nodes of one capacity; -1: the pod does not fit.

    ``score``: what the plugin's filter and score say of a node with that usage. ``bound``: for the
    least of several usages, number by number, no less than the best of their scores, and -1 only
    where none of them fits; for a single usage it may be more than the score.
    """

    score: Callable[[Usage], int]
    bound: Callable[[Usage], int]


class ResourcePlugin(Plugin, Protocol):
    """Depends on a node's allocatable resources and its usage, and on nothing else of it.

    Its normalize_score changes nothing, and its filter never returns an error. With ``filter`` and
    no ``score`` its scores are 0.
    """

    def resource_score(self, pod: PodInfo, allocatable: dict[str, int]) -> ResourceScore | None:
        """The functions for nodes with these allocatable resources; None: the pod fits none."""


class DeferredFilterPlugin(Plugin, Protocol):
    """A filter without a score, asked only about nodes that are the best by all other plugins.

    It reads only the pod and the node, and never returns an error. For filters that few pods have.
    """

    deferred: bool


class ConditionalPlugin(Plugin, Protocol):
    """Has nothing to say about most pods (spreading, affinity between pods)."""

    def is_inactive(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> bool:
        """After ``pre_filter``, of which it may use the state: whether its filter would let the pod
        pass everywhere, and its score be the same for all nodes.
        """

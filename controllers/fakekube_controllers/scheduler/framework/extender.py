"""A process outside the scheduler that filters, ranks, preempts and binds with it.

Upstream: kube-scheduler/framework/extender.go, kube-scheduler/extender/v1.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

EXTENDER_NAME = "Extender"  # stands for any extender among the plugins that rejected a pod


class ExtenderError(Exception):
    """An extender could not be asked, or answered with an error."""


class FilterResult(NamedTuple):
    """The nodes that an extender lets pass, and why it rejects others, by their names;
    ``unresolvable`` are those where preemption cannot help.
    """

    nodes: Sequence[NodeInfo]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class Extender(Protocol):
    """Any of its calls raises ExtenderError."""

    name: str
    weight: int
    is_ignorable: bool  # whether the scheduler goes on without it where it cannot be asked
    is_filter: bool
    is_prioritizer: bool
    is_binder: bool
    supports_preemption: bool

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether the pod requests a resource that it manages; without any it manages all pods."""

    async def filter(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> FilterResult:
        """Which nodes the pod fits."""

    async def prioritize(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Mapping[str, int]:
        """Scores from 0 to 10 by the node's name, without the weight."""

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """Bind the pod."""

    async def process_preemption(
        self, pod: PodInfo, victims: Mapping[str, Sequence[PodInfo]], violations: Mapping[str, int],
    ) -> Mapping[str, Sequence[PodInfo]]:
        """The candidates for preemption that remain: victims by the node's name.

        ``violations``: how many disruption budgets each candidate violates.
        """

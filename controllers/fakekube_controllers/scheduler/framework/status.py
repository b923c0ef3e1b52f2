"""What a plugin says. Upstream: kube-scheduler/framework/interface.go (Code, Status)."""

import enum
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


class Code(enum.IntEnum):
    """Upstream's codes, in upstream's order."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2  # another state of the node might do: preemption may help
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3  # nothing that preemption can do would help
    WAIT = 4
    SKIP = 5
    PENDING = 6


@dataclass(frozen=True, slots=True)
class Status:
    """A code, why, and who says so. None stands for success wherever a Status is returned."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def is_rejection(self) -> bool:
        """Whether the pod does not fit, rather than something having gone wrong."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)

    @property
    def message(self) -> str:
        """The reasons in one text."""
        return ", ".join(self.reasons)


def unschedulable(*reasons: str) -> Status:
    """The pod does not fit as things are."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """The pod does not fit, and evicting others would not change that."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


SKIP = Status(Code.SKIP)


class FitError(Exception):
    """No node fits. ``statuses`` holds what was said of each node, by name; the text counts the reasons.

    ``plugins`` are the names of those that rejected the pod; none of them when there is no node.
    """

    def __init__(
        self, statuses: dict[str, Status], nodes: int, early: Status | None = None, post_filter: str = "",
        plugins: tuple[str, ...] = (),
    ) -> None:
        self.statuses, self.nodes, self.early, self.post_filter, self.plugins = statuses, nodes, early, post_filter, plugins
        super().__init__(self.text())

    def text(self) -> str:
        """``0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.``, and what preemption says."""
        head = f"0/{self.nodes} nodes are available"
        if self.early is not None:
            text = f"{head}: {self.early.message}."
        elif self.statuses:
            text = f"{head}: {histogram(list(self.statuses.values()))}."
        elif self.nodes == 0:
            text = "no nodes available to schedule pods"
        else:
            text = f"{head}."
        return f"{text} {self.post_filter}" if self.post_filter else text


def histogram(statuses: Sequence[Status]) -> str:
    """How many nodes gave each reason, sorted by their texts."""
    several = {id(status): status for status in statuses}  # nodes that look the same share theirs
    counts: dict[str, int] = {}
    for number, times in Counter(map(id, statuses)).items():
        for reason in several[number].reasons:
            counts[reason] = counts.get(reason, 0) + times
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))

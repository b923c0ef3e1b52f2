"""What a plugin answers. Upstream: kube-scheduler/framework/interface.go (Code, Status)."""

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


class Code(enum.IntEnum):
    """Upstream's codes, in upstream's order."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2  # preemption may help
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3  # preemption cannot help
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def text(self) -> str:
        """Upstream's name of it: UnschedulableAndUnresolvable."""
        return self.name.title().replace("_", "")


@dataclass(frozen=True, slots=True)
class Status:
    """A code, its reasons, and the plugin. Where a Status is returned, None is success.

    ``error``: what went wrong as a whole, told before the reasons.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    error: str = ""

    @property
    def is_rejection(self) -> bool:
        """Whether the pod does not fit; else there was an error."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)

    def of_plugin(self, plugin: str) -> "Status":
        """The same from a plugin; from the one that it names, if it names one."""
        return self if self.plugin else Status(self.code, self.reasons, plugin)

    @property
    def message(self) -> str:
        """The error and the reasons in one text."""
        return ", ".join((self.error, *self.reasons) if self.error else self.reasons)


def unschedulable(*reasons: str) -> Status:
    """The pod does not fit now."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """The pod does not fit, and evicting others would not change that."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """Something went wrong; the pod is tried again after its back-off."""
    return Status(Code.ERROR, reasons)


SKIP = Status(Code.SKIP)
WAIT = Status(Code.WAIT)


class NodeStatuses(Mapping[str, Status]):
    """Statuses by name of the node, of which it is known how many nodes have each."""

    counts: Sequence[tuple[Status, int]]


def counted(statuses: Mapping[str, Status]) -> Sequence[tuple[Status, int]]:
    """The statuses, each with the number of its nodes; equal ones may be there more than once."""
    return statuses.counts if isinstance(statuses, NodeStatuses) else _counted(list(statuses.values()))


def _counted(statuses: Sequence[Status]) -> Sequence[tuple[Status, int]]:
    several = dict(zip(map(id, statuses), statuses, strict=True))  # many nodes share one
    return [(several[number], count) for number, count in Counter(map(id, statuses)).items()]


class FitError(Exception):
    """No node fits. ``statuses``: why, by name of the node; the text counts the reasons.

    ``pre_filter_status``: the rejection by a PreFilter plugin, before any node was looked at.
    ``post_filter_message``: what PostFilter plugins add. ``plugins``: the names of those that
    rejected the pod; empty when there is no node. ``pending_plugins``: of those the ones that wait
    for something that is under way.
    """

    def __init__(
        self, statuses: Mapping[str, Status], num_all_nodes: int, pre_filter_status: Status | None = None,
        post_filter_message: str = "", plugins: tuple[str, ...] = (), pending_plugins: tuple[str, ...] = (),
    ) -> None:
        self.statuses, self.num_all_nodes, self.plugins = statuses, num_all_nodes, plugins
        self.pre_filter_status, self.post_filter_message = pre_filter_status, post_filter_message
        self.pending_plugins = pending_plugins
        super().__init__(self.text())

    def also(self, plugins: Iterable[str]) -> "FitError":
        """The same, rejected by these plugins too."""
        names = tuple(dict.fromkeys((*self.plugins, *plugins)))
        return self if names == self.plugins else FitError(
            self.statuses, self.num_all_nodes, self.pre_filter_status, self.post_filter_message, names, self.pending_plugins)

    def text(self) -> str:
        """``0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.``, and the
        post-filter message.
        """
        head = f"0/{self.num_all_nodes} nodes are available"
        if self.pre_filter_status is not None:
            text = f"{head}: {self.pre_filter_status.message}."
        elif self.statuses:
            text = f"{head}: {_histogram(counted(self.statuses))}."
        elif self.num_all_nodes == 0:
            text = "no nodes available to schedule pods"
        else:
            text = f"{head}."
        return f"{text} {self.post_filter_message}" if self.post_filter_message else text


def histogram(statuses: Sequence[Status]) -> str:
    """How many nodes gave each reason, sorted by their texts."""
    return _histogram(_counted(statuses))


def _histogram(statuses: Sequence[tuple[Status, int]]) -> str:
    counts: dict[str, int] = {}
    for status, times in statuses:
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + times
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))

"""What ends otherwise than undisturbed, and why that is right."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Known(NamedTuple):
    """Part of the name of a fault, and which ends are right with it."""

    fault: str
    is_right: Callable[[Any], bool]
    reason: str


KNOWN = {
    ("daemon-set", "slow-deliveries"): Known(
        "daemonset hears of nodes 5 s late", lambda _: True,
        "a pod that no node has taken yet stands in no index of nodes, so a taint that is heard of after it was made does not"
        " bring its DaemonSet back, in upstream's syncNodeUpdate as here; the next change of the DaemonSet does"),
    ("replaced-worker", "intermediate-states"): Known(
        "manager/kueue dies", lambda end: end is not None and end[-1] == [0, 1, 0] and end[1][0][0] == [("j", False, 1)],
        "a worker counts as lost since it was first tried, in upstream's newRemoteClient as here, so a manager that dies during"
        " the wait begins another, in which the worker comes back, and the Job goes on and ends where it was"),
}
"""By play and strategy: the faults that it takes, how it may end then, and the reason."""


def unknown(points, play, strategies):
    """What ended otherwise, as text, without what is known to."""
    known = [one for (name, strategy), one in KNOWN.items() if name == play.name and strategy in strategies]
    return [
        str(point) for point in points.differing
        if not any(one.fault in point.where and point.error is None and one.is_right(point.end) for one in known)]

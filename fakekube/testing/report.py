"""What the report of a failed test says about its cluster."""

from concurrent.futures import TimeoutError as TooLong
from typing import TYPE_CHECKING

from fakekube.testing import explain
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.history import History

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster

PATIENCE_SECONDS = 5.0


def of_failure(where: "Cluster | BackgroundCluster", test: str, told: str = "") -> str:
    """Why pods and Jobs are as they are, the last Events and writes, the time, the seed, and how to
    run the test again.

    ``told`` is the text of the failure: what stands there is not said again.
    """
    try:
        taken = where.snapshot(PATIENCE_SECONDS) if isinstance(where, BackgroundCluster) else where.snapshot()
    except TooLong:
        return f"the cluster is busy, and told nothing within {PATIENCE_SECONDS:g} s"
    history = History(taken)
    lines = [f"it is {explain.offset(history, history.now)}", *explain.explanation(history, told=told), f"pytest '{test}'"]
    return "\n".join(lines)

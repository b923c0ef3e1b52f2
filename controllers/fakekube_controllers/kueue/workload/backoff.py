"""How long a Workload waits before its next try.

Upstream: pkg/util/wait/backoff.go, over apimachinery/pkg/util/wait.
"""

FACTOR = 2
JITTER = 0.0001
"""At most this part of a wait is added to it."""


def wait_time_seconds(iteration: int, initial_seconds: float, cap_seconds: float, *, jitter: float = 0.0) -> float:
    """The wait before try ``iteration``, which counts from 1. ``jitter``: a draw from 0 to 1.

    A cap of 0 is none; what is added at random may exceed it.
    """
    wait = initial_seconds
    for _ in range(1, iteration):
        wait *= FACTOR
        if 0 < cap_seconds < wait:
            wait = cap_seconds
            break
    return wait + wait * JITTER * jitter

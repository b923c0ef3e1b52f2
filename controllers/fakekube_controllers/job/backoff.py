"""How long a Job waits before it replaces a pod that failed.

The delay doubles with every failure since the last success and counts from when the last pod
failed. Records live in memory only: a controller that restarts has forgotten them. Upstream:
pkg/controller/job/backoff_utils.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fakekube.workqueue.ratelimit import doubled_seconds
from fakekube_controllers.job import pods

BASE_SECONDS = 10.0
MAX_SECONDS = 600.0


class Backoff(NamedTuple):
    """Failures since the last success, and when the latest of them was (Unix seconds; None after a
    success).
    """

    failures: int = 0
    last_failure: float | None = None

    def after(self, succeeded: Sequence[pods.Pod], failed: Sequence[pods.Pod]) -> "Backoff":
        """The record once these newly finished pods are taken in."""
        if not failed:
            return Backoff() if succeeded else self
        ends = sorted(pods.finish_time(pod) for pod in failed)
        if not succeeded:
            return Backoff(self.failures + len(ends), ends[-1])
        last_success = max(pods.finish_time(pod) for pod in succeeded)
        later = [end for end in ends if end > last_success]
        return Backoff(len(later), later[-1]) if later else Backoff()

    def remaining_seconds(self, now: float) -> float:
        """How long to wait yet; 0 when nothing is in the way."""
        if not self.failures or self.last_failure is None:
            return 0.0
        return remaining_seconds(self.failures, self.last_failure, now)


def remaining_seconds(failures: int, last_failure: float, now: float) -> float:
    """What is left at ``now`` of the delay after so many failures, the last of them at
    ``last_failure`` (Unix seconds).
    """
    delay = doubled_seconds(BASE_SECONDS, failures - 1, MAX_SECONDS)
    return max(0.0, last_failure + delay - now)

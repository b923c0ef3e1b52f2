"""The switches of LeaderWorkerSet, off by default.

``WorkloadAwareScheduling`` is none of upstream's: with it each group is a gang, by a PodGroup of
``scheduling.k8s.io``.
"""

from typing import NamedTuple


class Features(NamedTuple):
    """Which are on."""

    WorkloadAwareScheduling: bool = False

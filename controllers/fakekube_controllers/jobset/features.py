"""The switches of JobSet, all off by default. Upstream: pkg/features.

The last two are none of upstream's: they stand for KEP-6089, which no release of JobSet has.
``WorkloadAwareScheduling`` is for all of it; with ``DelegatedPodGroups`` the controller of Jobs
makes the PodGroups, else that of JobSets.
"""

from typing import NamedTuple


class Features(NamedTuple):
    """Which are on."""

    InPlaceRestart: bool = False
    RestartJob: bool = False
    ElasticJobSet: bool = False
    WorkloadAwareScheduling: bool = False
    DelegatedPodGroups: bool = False

"""The switches of JobSet, all off by default. Upstream: pkg/features.

``WorkloadAwareScheduling`` is none of upstream's: it stands for the options of KEP-6089, which no
release of JobSet has.
"""

from typing import NamedTuple


class Features(NamedTuple):
    """Which are on."""

    InPlaceRestart: bool = False
    RestartJob: bool = False
    ElasticJobSet: bool = False

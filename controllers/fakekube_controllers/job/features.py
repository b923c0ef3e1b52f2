"""What of a Job depends on feature gates.

In the newest release none of it can be switched off any more.

A gate that is switched off makes the controller blind for its fields, whoever wrote them: a Job
that was made while the gate was on goes on as one without them. Upstream: the uses of pkg/features
in pkg/controller/job, releases 1.30 to 1.37.
"""

from collections.abc import Mapping
from typing import NamedTuple

INTERIM_CONDITIONS_SINCE = 31  # the minor number of the release in which every end is announced


class Features(NamedTuple):
    """Which features are on."""

    failure_policy: bool = True
    per_index: bool = True
    success_policy: bool = True
    replacement_policy: bool = True  # status.terminating too
    managed_by: bool = True
    # a Job ends only when no pod of it is terminating, and announces that
    interim_conditions: bool = True
    forgets_start: bool = True  # a Job that is suspended has no startTime

    @classmethod
    def of(cls, gates: Mapping[str, bool], version: str) -> "Features":
        """Those of a cluster. A gate that nobody tells of is on, no version is the newest."""
        minor = int(version.split(".")[1]) if version else INTERIM_CONDITIONS_SINCE
        replacement, managed = gates.get("JobPodReplacementPolicy", True), gates.get("JobManagedBy", True)
        return cls(
            failure_policy=gates.get("JobPodFailurePolicy", True),
            per_index=gates.get("JobBackoffLimitPerIndex", True),
            success_policy=gates.get("JobSuccessPolicy", True),
            replacement_policy=replacement,
            managed_by=managed,
            interim_conditions=minor >= INTERIM_CONDITIONS_SINCE and (replacement or managed),
            forgets_start=gates.get("MutableSchedulingDirectivesForSuspendedJobs", True),
        )


ALL = Features()

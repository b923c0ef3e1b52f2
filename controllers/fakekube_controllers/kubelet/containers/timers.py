"""What is to happen to a container by itself."""

from enum import StrEnum


class Timer(StrEnum):
    """What is to happen to a container besides its end, its readiness and its restart."""

    PULL = "pull"  # the end of a pull, or the next try
    PULL_BACK_OFF = "pull-backoff"
    STARTUP = "started"
    STARTUP_FAILURE = "not-started"  # the next failure of a probe, these three
    READINESS_FAILURE = "unready"
    LIVENESS_FAILURE = "unhealthy"

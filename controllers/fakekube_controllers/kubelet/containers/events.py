"""What happens to a container. Upstream: pkg/kubelet/events, which names the Events that follow."""

from enum import StrEnum


class ContainerEvent(StrEnum):
    """What happened at one instant."""

    PULLING = "pulling"
    PULL_FAILED = "pull-failed"
    PULL_BACK_OFF = "pull-back-off"
    NEVER_PULLED = "never-pulled"
    INVALID_IMAGE_NAME = "invalid-image-name"
    CONFIG_ERROR = "config-error"
    START_ERROR = "start-error"
    STARTED = "started"
    STARTUP_SUCCEEDED = "startup-succeeded"
    STARTUP_FAILED = "startup-failed"
    READY = "ready"
    UNREADY = "unready"  # without a probe that says so
    READINESS_FAILED = "readiness-failed"
    LIVENESS_FAILED = "liveness-failed"
    KILLED_BY_PROBE = "killed-by-probe"
    KILLING = "killing"
    ENDED = "ended"
    BACK_OFF = "back-off"

"""How far an assignment is from being had. Upstream: FlavorAssignmentMode of flavorassigner.go."""

from enum import IntEnum


class FlavorAssignmentMode(IntEnum):
    """The more, the better; a whole has the least of its parts."""

    NO_FIT = 0
    PREEMPT = 1
    """It may fit once others are evicted, or one day."""
    DEFERRED_FIT = 2
    """It fits once those are gone that are evicted for another."""
    FIT = 3

    def __str__(self) -> str:
        return ("NoFit", "Preempt", "DeferredFit", "Fit")[self]

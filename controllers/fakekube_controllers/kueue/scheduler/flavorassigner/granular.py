"""Which of two flavors is preferred, and whether to try yet another.

Upstream: granularMode, isPreferred, shouldTryNextFlavor of
pkg/scheduler/flavorassigner/flavorassigner.go.
"""

import sys
from enum import IntEnum
from typing import NamedTuple

from fakekube_controllers.kueue.cache.spec import PREEMPTION_OVER_BORROWING, TRY_NEXT_FLAVOR, FlavorFungibility
from fakekube_controllers.kueue.scheduler.flavorassigner.modes import FlavorAssignmentMode
from fakekube_controllers.kueue.scheduler.preemption.common.types import PreemptionPossibility


class PreemptionMode(IntEnum):
    """Whether preemption is needed, and possible; the more, the better."""

    NO_FIT = 0
    NO_PREEMPTION_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    """All victims are of other ClusterQueues."""
    FIT = 4

    @property
    def flavor_assignment_mode(self) -> FlavorAssignmentMode:
        """The mode that others see."""
        if self in (PreemptionMode.NO_FIT, PreemptionMode.FIT):
            return FlavorAssignmentMode.FIT if self else FlavorAssignmentMode.NO_FIT
        return FlavorAssignmentMode.PREEMPT

    @property
    def preemption_possibility(self) -> PreemptionPossibility | None:
        """What a simulated preemption came to; None where none is needed, or nothing would help."""
        return _POSSIBILITIES.get(self)


_POSSIBILITIES = {
    PreemptionMode.NO_PREEMPTION_CANDIDATES: PreemptionPossibility.NO_CANDIDATES,
    PreemptionMode.PREEMPT: PreemptionPossibility.PREEMPT, PreemptionMode.RECLAIM: PreemptionPossibility.RECLAIM,
}
OF_POSSIBILITY = {possibility: mode for mode, possibility in _POSSIBILITIES.items()}


class GranularMode(NamedTuple):
    """A mode, and from how high up in the tree quota is borrowed (0: none is)."""

    preemption_mode: PreemptionMode
    borrowing_level: int


WORST, BEST = GranularMode(PreemptionMode.NO_FIT, sys.maxsize), GranularMode(PreemptionMode.FIT, 0)


def is_preferred(one: GranularMode, other: GranularMode, fungibility: FlavorFungibility) -> bool:
    """Whether one is better than the other, by the policy of the ClusterQueue.

    A flavor without candidates for a needed preemption is worse than all that can be had.
    """
    if PreemptionMode.NO_FIT in (one.preemption_mode, other.preemption_mode):
        return one.preemption_mode != PreemptionMode.NO_FIT
    one_has_none = one.preemption_mode == PreemptionMode.NO_PREEMPTION_CANDIDATES
    other_has_none = other.preemption_mode == PreemptionMode.NO_PREEMPTION_CANDIDATES
    if one_has_none != other_has_none:
        return other_has_none
    if fungibility.preference == PREEMPTION_OVER_BORROWING:
        return (-one.borrowing_level, one.preemption_mode) > (-other.borrowing_level, other.preemption_mode)
    return (one.preemption_mode, -one.borrowing_level) > (other.preemption_mode, -other.borrowing_level)


def should_try_next_flavor(mode: GranularMode, fungibility: FlavorFungibility) -> bool:
    """Whether a flavor is not good enough to end the search."""
    if mode.preemption_mode in (PreemptionMode.NO_FIT, PreemptionMode.NO_PREEMPTION_CANDIDATES):
        return True
    if mode.preemption_mode != PreemptionMode.FIT and fungibility.when_can_preempt == TRY_NEXT_FLAVOR:
        return True
    return mode.borrowing_level != 0 and fungibility.when_can_borrow == TRY_NEXT_FLAVOR

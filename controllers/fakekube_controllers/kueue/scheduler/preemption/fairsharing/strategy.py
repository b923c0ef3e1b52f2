"""When a share makes a preemption fair. Upstream: preemption/fairsharing/strategy.go."""

from collections.abc import Callable

from fakekube_controllers.kueue.cache.fair_sharing import DRS, compare_drs

Strategy = Callable[[DRS, DRS, DRS | None], bool]
"""Of the preemptor's new share, the target's old one, and the target's new one."""


def less_than_or_equal_to_final_share(preemptor_new: DRS, _target_old: DRS, target_new: DRS | None) -> bool:
    """Rule S2-a: the preemptor with its Workload has no more than who lost one is left with."""
    assert target_new is not None
    return compare_drs(preemptor_new, target_new) <= 0


def less_than_initial_share(preemptor_new: DRS, target_old: DRS, _target_new: DRS | None) -> bool:
    """Rule S2-b: the preemptor with its Workload has less than who loses one had."""
    return compare_drs(preemptor_new, target_old) < 0


STRATEGIES: dict[str, Strategy] = {
    "LessThanOrEqualToFinalShare": less_than_or_equal_to_final_share,
    "LessThanInitialShare": less_than_initial_share,
}

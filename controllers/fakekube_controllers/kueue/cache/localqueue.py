"""What the Workloads of a LocalQueue use. Upstream: pkg/cache/scheduler/localqueue.go."""

from fakekube_controllers.kueue.resources import FlavorResourceQuantities, add

LocalQueueReference = tuple[str, str]
"""Namespace and name."""


class LocalQueue:
    """Counts and amounts of those with quota, and of those of them that are admitted."""

    __slots__ = ("admitted_usage", "admitted_workloads", "reserving_workloads", "total_reserved")

    def __init__(self) -> None:
        self.reserving_workloads = self.admitted_workloads = 0
        self.total_reserved: FlavorResourceQuantities = {}
        self.admitted_usage: FlavorResourceQuantities = {}

    def update_usage(self, usage: FlavorResourceQuantities, sign: int, *, is_admitted: bool) -> None:
        """Count a Workload, or with -1 count it no longer."""
        update_flavor_usage(self.total_reserved, usage, sign)
        self.reserving_workloads += sign
        if is_admitted:
            update_flavor_usage(self.admitted_usage, usage, sign)
            self.admitted_workloads += sign


def update_flavor_usage(total: FlavorResourceQuantities, usage: FlavorResourceQuantities, sign: int) -> None:
    """Add to amounts, or with -1 take away."""
    for fr, amount in usage.items():
        total[fr] = add(total.get(fr, 0), sign * amount)

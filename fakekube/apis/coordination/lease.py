"""Lease: who holds what, and for how long.

Upstream: pkg/apis/coordination/validation, pkg/registry/coordination/lease. Left out:
LeaseCandidate.
"""

from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative
from fakekube.registry.strategy import Strategy, WriteContext


class LeaseStrategy(Strategy):
    """What is particular to Leases."""

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Fields of coordinated leader election are for clusters that have it."""
        if not ctx.cluster.gate("CoordinatedLeaderElection"):
            for name in ("strategy", "preferredHolder"):
                obj.get("spec", {}).pop(name, None)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Durations are positive, counts not negative."""
        spec = obj.get("spec") or {}
        found: list[FieldError] = []
        if "leaseDurationSeconds" in spec and spec["leaseDurationSeconds"] <= 0:
            found.append(invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0"))
        if "leaseTransitions" in spec:
            found += nonnegative("spec.leaseTransitions", spec["leaseTransitions"])
        if spec.get("preferredHolder") and not spec.get("strategy"):
            found.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
        return found


STRATEGY = LeaseStrategy()

"""Lease: who holds what, and for how long.

Upstream: pkg/apis/coordination/validation, pkg/registry/coordination/lease. Left out:
LeaseCandidate.
"""

from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative
from fakekube.apis.base import drop_disabled
from fakekube.registry.strategy import Strategy, WriteContext

COORDINATED = dict.fromkeys(("strategy", "preferredHolder"), "CoordinatedLeaderElection")


class LeaseStrategy(Strategy):
    """What is particular to Leases."""

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Fields of coordinated leader election are for clusters that have it."""
        drop_disabled(obj.get("spec") or {}, None, COORDINATED, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """They stay where they were."""
        drop_disabled(obj.get("spec") or {}, old.get("spec"), COORDINATED, ctx)

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

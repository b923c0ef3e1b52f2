"""Lease: who holds what, and for how long.

Upstream: pkg/apis/coordination/validation, pkg/registry/coordination/lease. Left out:
LeaseCandidate.
"""

from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative
from fakekube.registry.strategy import Strategy, WriteContext

COORDINATED = ("strategy", "preferredHolder")


class LeaseStrategy(Strategy):
    """What is particular to Leases."""

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Fields of coordinated leader election are for clusters that have it."""
        _drop_disabled(obj, {}, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """They stay where they were."""
        _drop_disabled(obj, old.get("spec") or {}, ctx)

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


def _drop_disabled(obj: Tree, before: Tree, ctx: WriteContext) -> None:
    if not ctx.cluster.gate("CoordinatedLeaderElection"):
        gone = [name for name in COORDINATED if name in obj.get("spec", ()) and name not in before]
        if gone:
            obj["spec"] = {name: value for name, value in obj["spec"].items() if name not in gone}


STRATEGY = LeaseStrategy()

"""PodGroups: pods that are scheduled together.

Upstream: pkg/registry/scheduling/podgroup/strategy.go.
"""

from abc import ABC, abstractmethod

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis import base
from fakekube.apis.scheduling import groups
from fakekube.registry.strategy import Strategy, WriteContext

GATES = {**groups.GROUP_GATES, "parentCompositePodGroupName": "CompositePodGroup"}
NEEDS_WORKLOAD = "must be set when parentCompositePodGroupName is set"


class GroupStrategy(Strategy, ABC):
    """What groups of pods and groups of groups do alike: a spec that hardly changes, and a status
    for the scheduler.
    """

    gates = GATES

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("disruptionMode", {"single": {}})
        if ctx.cluster.gate("PodGroupPreemptionPolicy"):
            spec.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        obj["status"] = {}
        base.drop_disabled(obj["spec"], None, self.gates, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        obj["status"] = old.get("status", {})
        base.drop_disabled(obj["spec"], old["spec"], self.gates, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return self.validate_spec(obj["spec"], None, "spec")

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return self.validate_spec(obj["spec"], old["spec"], "spec")

    @abstractmethod
    def validate_spec(self, spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
        """What is wrong with a group's spec; ``old`` is None for a new one."""

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        obj["spec"] = old["spec"]

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return groups.validate_status(obj.get("status", {}), obj["spec"], "status")


class PodGroupStrategy(GroupStrategy):
    """Pods that are scheduled together, or at least treated alike."""

    def validate_spec(self, spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
        found: list[FieldError] = []
        if old is None and "parentCompositePodGroupName" in spec and spec.get("workloadRef") is None:
            found.append(field_errors.required(f"{path}.workloadRef", NEEDS_WORKLOAD))
        found += groups.settled(spec, old, path, "parentCompositePodGroupName", groups.long_name, pointer=True)
        found += groups.settled(spec, old, path, "workloadRef", groups.validate_workload_reference)
        return found + groups.validate_group(spec, old, path)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_status_update(obj, old, ctx)
        if not ctx.cluster.gate("DRAWorkloadResourceClaims") and not old["spec"].get("resourceClaims"):
            obj.get("status", {}).pop("resourceClaimStatuses", None)


STRATEGY = PodGroupStrategy()

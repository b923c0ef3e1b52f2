"""CompositePodGroups: groups of groups.

Upstream: pkg/registry/scheduling/compositepodgroup/strategy.go.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.scheduling import blocks, groups
from fakekube.apis.scheduling.podgroup import GroupStrategy


class CompositePodGroupStrategy(GroupStrategy):
    """A node of a tree whose leaves are PodGroups."""

    gates = groups.PREEMPTION_GATE

    def validate_spec(self, spec: Tree, old: Tree | None, path: str) -> list[FieldError]:
        found = groups.settled(spec, old, path, "parentCompositePodGroupName", groups.long_name, pointer=True)
        if old is None and spec.get("workloadRef") is None:
            found.append(field_errors.required(f"{path}.workloadRef"))
        found += groups.settled(spec, old, path, "workloadRef", groups.validate_workload_reference)
        if old is not None and not same(spec.get("schedulingPolicy"), old.get("schedulingPolicy")):
            found += blocks.immutable(f"{path}.schedulingPolicy", {}, None)
            old = {**old, "schedulingPolicy": spec.get("schedulingPolicy", {})}
        return found + groups.validate_group(spec, old, path, composite=True)


STRATEGY = CompositePodGroupStrategy()

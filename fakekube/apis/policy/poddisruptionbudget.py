"""PodDisruptionBudgets.

Upstream: pkg/registry/policy/poddisruptionbudget/strategy.go and pkg/apis/policy/validation.
"""

from fakekube.apimachinery import field_errors, validation
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative_fields, one_of
from fakekube.apis import workloads
from fakekube.apis.base import StatusStrategy
from fakekube.apis.internals import internal
from fakekube.registry.strategy import WriteContext

COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
POLICIES = ("AlwaysAllow", "IfHealthyBudget")
EITHER = "minAvailable and maxUnavailable cannot be both set"


class PodDisruptionBudgetStrategy(StatusStrategy):
    """The kind's own endpoint and its status."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        return dict.fromkeys(COUNTS, 0)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        spec = obj.get("spec", {})
        found: list[FieldError] = []
        if "minAvailable" in spec and "maxUnavailable" in spec:
            shown = {
                "MinAvailable": spec["minAvailable"], "Selector": internal("*-LabelSelector", spec.get("selector")),
                "MaxUnavailable": spec["maxUnavailable"],
                "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
            }
            found.append(field_errors.invalid("spec", shown, EITHER))
        for name in ("minAvailable", "maxUnavailable"):
            if name in spec:
                found += workloads.int_or_percent(f"spec.{name}", spec[name])
                found += workloads.at_most_all(f"spec.{name}", spec[name])
        found += validation.label_selector(spec.get("selector"), "spec.selector")
        if "unhealthyPodEvictionPolicy" in spec:
            found += one_of("spec.unhealthyPodEvictionPolicy", spec["unhealthyPodEvictionPolicy"], POLICIES)
        return found

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """Metadata is looked at when all else is well."""
        return self.validate(obj, ctx) or of_metadata

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        status = obj.get("status", {})
        found = validation.conditions(status.get("conditions") or [], "status.conditions")
        return found + nonnegative_fields(status, "status", *COUNTS)


STRATEGY = PodDisruptionBudgetStrategy()

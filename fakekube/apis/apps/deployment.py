"""Deployments.

Upstream: pkg/registry/apps/deployment/strategy.go, pkg/apis/apps/validation,
pkg/apis/apps/v1/defaults.go.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative_fields
from fakekube.apis import workloads
from fakekube.registry.strategy import WriteContext

COUNTS = (
    "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas",
    "terminatingReplicas", "collisionCount",
)
PARTS = ("updatedReplicas", "readyReplicas", "availableReplicas")
PROGRESS_DEADLINE_SECONDS = 600


class DeploymentStrategy(workloads.WorkloadStrategy):
    """The kind's own endpoint and its status."""

    def default_spec(self, spec: Tree, ctx: WriteContext) -> None:
        spec.setdefault("replicas", 1)
        strategy = spec.setdefault("strategy", {})
        if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            rolling.setdefault("maxUnavailable", "25%")
            rolling.setdefault("maxSurge", "25%")
        spec.setdefault("progressDeadlineSeconds", PROGRESS_DEADLINE_SECONDS)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        spec = obj["spec"]
        found = nonnegative_fields(spec, "spec", "replicas")
        found += workloads.validate_selector(spec.get("selector"), "deployment")
        found += workloads.validate_selected_template(spec, "ReplicaSet", "invalid label selector", ctx)
        found += _strategy(spec["strategy"], "spec.strategy")
        found += nonnegative_fields(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
        deadline = spec["progressDeadlineSeconds"]
        if deadline <= spec.get("minReadySeconds", 0):
            what = "must be greater than minReadySeconds"
            found.append(field_errors.invalid("spec.progressDeadlineSeconds", deadline, what))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        if same(obj["spec"], old["spec"]):
            return []
        return self.validate(obj, ctx) + workloads.immutable_selector(obj["spec"], old["spec"])

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        before, now = old["metadata"].get("annotations", {}), obj["metadata"].get("annotations", {})
        return not same(obj["spec"], old["spec"]) or now != before

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_status_update(obj, old, ctx)
        if "labels" in old["metadata"]:
            obj["metadata"]["labels"] = old["metadata"]["labels"]
        else:
            obj["metadata"].pop("labels", None)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        status = obj.get("status", {})
        found = workloads.validate_replica_status(status, COUNTS, PARTS)
        return found + workloads.validate_collision_count(status, old.get("status", {}))


def _strategy(strategy: Tree, path: str) -> list[FieldError]:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        what = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [field_errors.forbidden(f"{path}.rollingUpdate", what)]
    if kind != "RollingUpdate":
        return [workloads.unsupported_strategy(path, strategy, ("Recreate", "RollingUpdate"))]
    return _rolling(rolling or {}, f"{path}.rollingUpdate")


def _rolling(rolling: Tree, path: str) -> list[FieldError]:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    found = workloads.int_or_percent(f"{path}.maxUnavailable", unavailable)
    found += workloads.int_or_percent(f"{path}.maxSurge", surge)
    if workloads.amount_of(unavailable) == 0 and workloads.amount_of(surge) == 0:
        what = "may not be 0 when `maxSurge` is 0"
        found.append(field_errors.invalid(f"{path}.maxUnavailable", unavailable, what))
    return found + workloads.at_most_all(f"{path}.maxUnavailable", unavailable)


STRATEGY = DeploymentStrategy()

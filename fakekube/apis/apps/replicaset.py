"""ReplicaSets. Upstream: pkg/registry/apps/replicaset/strategy.go and pkg/apis/apps/validation."""

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative_fields
from fakekube.apis import workloads
from fakekube.registry.strategy import WriteContext

COUNTS = (
    "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
    "terminatingReplicas",
)
PARTS = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


class ReplicaSetStrategy(workloads.WorkloadStrategy):
    """The kind's own endpoint and its status."""

    history_limit = None

    def default_spec(self, spec: Tree, ctx: WriteContext) -> None:
        spec.setdefault("replicas", 1)

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        return {"replicas": 0}

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        spec = obj["spec"]
        found = nonnegative_fields(spec, "spec", "replicas", "minReadySeconds")
        found += workloads.validate_selector(spec.get("selector"), "deployment")
        return found + workloads.validate_selected_template(spec, "ReplicaSet", "invalid label selector", ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        if same(obj["spec"], old["spec"]):
            return []
        return self.validate(obj, ctx) + workloads.immutable_selector(obj["spec"], old["spec"])

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return workloads.validate_replica_status(obj.get("status", {}), COUNTS, PARTS)


STRATEGY = ReplicaSetStrategy()

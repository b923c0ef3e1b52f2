"""ReplicationControllers: the ReplicaSet's predecessor, whose selector is a plain map.

Upstream: pkg/registry/core/replicationcontroller/strategy.go and pkg/apis/core/validation.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, nonnegative_fields
from fakekube.apis import workloads
from fakekube.apis.checks import declared_form_of_name
from fakekube.apis.core.podspec_validation import template_options, validate_template
from fakekube.registry.strategy import WriteContext

COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
PARTS = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


class ReplicationControllerStrategy(workloads.WorkloadStrategy):
    """The kind's own endpoint and its status."""

    history_limit = None
    defaults_metadata = True

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {})
        if "template" not in spec:
            spec.setdefault("replicas", 1)
            return
        super().default(obj, ctx)
        labels = spec["template"]["metadata"].get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            if not obj["metadata"].get("labels"):
                obj["metadata"]["labels"] = dict(labels)

    def default_spec(self, spec: Tree, ctx: WriteContext) -> None:
        spec.setdefault("replicas", 1)

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        return {"replicas": 0}

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        if "template" in obj["spec"]:
            super().prepare_for_create(obj, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        if "template" in obj["spec"]:
            super().prepare_for_update(obj, old, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """As for other workloads, save that upstream warns of the template that was there before.
        """
        template = obj["spec"].get("template") if old is None else old["spec"].get("template")
        shown = obj if template is None else {**obj, "spec": {**obj["spec"], "template": template}}
        return super().warnings(shown, old, ctx)

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """The form of the name is a declarative rule's."""
        return declared_form_of_name(of_metadata, ctx.minor) + self.validate(obj, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        found = self._spec(obj, ctx)
        if ctx.minor < DECLARATIVE_SINCE:
            return found
        return sorted(found, key=lambda error: error.field != "spec.replicas")

    def _spec(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        spec = obj["spec"]
        selector, template = spec.get("selector") or {}, spec.get("template")
        found = [field_errors.declared(error) for error in nonnegative_fields(spec, "spec", "minReadySeconds")]
        if not selector:
            found.append(field_errors.required("spec.selector"))
        found += [field_errors.declared(error) for error in nonnegative_fields(spec, "spec", "replicas")]
        if template is None:
            return [*found, field_errors.required("spec.template")]
        labels = (template.get("metadata") or {}).get("labels") or {}
        if any(labels.get(key) != value for key, value in selector.items()):
            shown = workloads.shown_labels(template)
            found.append(field_errors.invalid("spec.template.metadata.labels", shown, workloads.MISMATCH))
        found += validate_template(template, "spec.template", template_options(ctx))
        return found + workloads.validate_endless(template, "ReplicationController")

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return workloads.validate_replica_status(obj.get("status", {}), COUNTS, PARTS)


STRATEGY = ReplicationControllerStrategy()

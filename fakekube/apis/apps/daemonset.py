"""DaemonSets.

Upstream: pkg/registry/apps/daemonset/strategy.go, pkg/apis/apps/validation,
pkg/apis/apps/v1/conversion.go. The template's generation is a field of upstream's internal type
that apps/v1 shows as an annotation.
"""

from fakekube.apimachinery import field_errors, validation
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative_fields
from fakekube.apis import workloads
from fakekube.apis.core.pod_warnings import template_warnings
from fakekube.apis.core.podspec_validation import template_options, validate_template
from fakekube.registry.strategy import WriteContext

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
COUNTS = (
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
    "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
)


def _template_generation(obj: Tree) -> int:
    text = obj["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION, "0")
    return int(text) if text.removeprefix("-").isdecimal() else 0


def _set_template_generation(obj: Tree, number: int) -> None:
    meta = obj["metadata"]
    meta["annotations"] = {**meta.get("annotations", {}), TEMPLATE_GENERATION: str(number)}


class DaemonSetStrategy(workloads.WorkloadStrategy):
    """The kind's own endpoint and its status."""

    warns_of_names = False
    defaults_metadata = True

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        super().default(obj, ctx)
        # whoever writes the object writes its generation too, and owns the annotation
        if "metadata" in obj:
            _set_template_generation(obj, _template_generation(obj))

    def default_spec(self, spec: Tree, ctx: WriteContext) -> None:
        strategy = spec.setdefault("updateStrategy", {})
        if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            rolling.setdefault("maxUnavailable", 1)
            rolling.setdefault("maxSurge", 0)

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        return dict.fromkeys(COUNTS[:4], 0)

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        super().prepare_for_create(obj, ctx)
        _set_template_generation(obj, max(_template_generation(obj), 1))

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_update(obj, old, ctx)
        changed = not same(obj["spec"]["template"], old["spec"]["template"])
        _set_template_generation(obj, _template_generation(old) + changed)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_status_update(obj, old, ctx)
        _set_template_generation(obj, _template_generation(old))

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        spec = obj["spec"]
        selector, template = spec.get("selector"), spec["template"]
        found = validation.label_selector(selector, "spec.selector")
        if workloads.matches(selector, template) is False:
            shown = workloads.shown_labels(template)
            found.append(field_errors.invalid("spec.template.metadata.labels", shown, workloads.MISMATCH))
        if selector is not None and validation.is_empty_selector(selector):
            found.append(field_errors.invalid("spec.selector", selector, "empty selector is invalid for daemonset"))
        found += validate_template(template, "spec.template", template_options(ctx))
        found += workloads.validate_endless(template, "DaemonSet")
        found += nonnegative_fields(spec, "spec", "minReadySeconds")
        found += _strategy(spec["updateStrategy"], "spec.updateStrategy")
        return found + nonnegative_fields(spec, "spec", "revisionHistoryLimit")

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        if same(obj["spec"], old["spec"]):
            return []
        return workloads.immutable_selector(obj["spec"], old["spec"]) + self.validate(obj, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        if old is not None and same(obj["spec"]["template"], old["spec"]["template"]):
            return []
        return template_warnings(obj["spec"]["template"], "spec.template")

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        status = obj.get("status", {})
        found = nonnegative_fields(status, "status", *COUNTS)
        return found + workloads.validate_collision_count(status, old.get("status", {}))


def _strategy(strategy: Tree, path: str) -> list[FieldError]:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        return [workloads.unsupported_strategy(path, strategy, ("RollingUpdate", "OnDelete"))]
    path = f"{path}.rollingUpdate"
    unavailable, surge = (rolling or {}).get("maxUnavailable", 0), (rolling or {}).get("maxSurge", 0)
    found = workloads.int_or_percent(f"{path}.maxUnavailable", unavailable)
    found += workloads.int_or_percent(f"{path}.maxSurge", surge)
    found += workloads.at_most_all(f"{path}.maxUnavailable", unavailable)
    found += workloads.at_most_all(f"{path}.maxSurge", surge)
    has_unavailable, has_surge = workloads.amount_of(unavailable) != 0, workloads.amount_of(surge) != 0
    if has_unavailable and has_surge:
        what = "may not be set when maxUnavailable is non-zero"
        found.append(field_errors.invalid(f"{path}.maxSurge", surge, what))
    if not has_unavailable and not has_surge:
        found.append(field_errors.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return found


STRATEGY = DaemonSetStrategy()

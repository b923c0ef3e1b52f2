"""StatefulSets.

Upstream: pkg/registry/apps/statefulset/strategy.go, pkg/apis/apps/validation and v1/defaults.go.
"""

from fakekube.apimachinery import field_errors, names, validation
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, immutable, nonnegative_fields, one_of
from fakekube.apis import workloads
from fakekube.apis.core.persistentvolumeclaim import claim_spec_errors, claim_spec_warnings, default_claim_spec
from fakekube.apis.core.podspec_validation import template_options, validate_template
from fakekube.apis.internals import internal
from fakekube.registry.strategy import WriteContext

COUNTS = (
    "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
    "collisionCount",
)
PARTS = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
MUTABLE = (
    "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)
FIXED = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
RETENTION = ("Retain", "Delete")
HISTORY_WARNING = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
)


class StatefulSetStrategy(workloads.WorkloadStrategy):
    """The kind's own endpoint and its status."""

    warns_of_names = False

    def default_spec(self, spec: Tree, ctx: WriteContext) -> None:
        spec.setdefault("podManagementPolicy", "OrderedReady")
        strategy = spec.setdefault("updateStrategy", {})
        if "type" not in strategy:
            strategy["type"] = "RollingUpdate"
            strategy.setdefault("rollingUpdate", {})
        if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
            strategy["rollingUpdate"].setdefault("partition", 0)
            if ctx.cluster.gate("MaxUnavailableStatefulSet"):
                strategy["rollingUpdate"].setdefault("maxUnavailable", 1)
        retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        for name in ("whenDeleted", "whenScaled"):
            if not retention.get(name):
                retention[name] = "Retain"
        spec.setdefault("replicas", 1)
        for claim in spec.get("volumeClaimTemplates", ()):
            claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
            default_claim_spec(claim.setdefault("spec", {}))
            claim.setdefault("status", {}).setdefault("phase", "Pending")

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        return {"replicas": 0, "availableReplicas": 0}

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        super().prepare_for_create(obj, ctx)
        self._drop_disabled(obj, None, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_update(obj, old, ctx)
        self._drop_disabled(obj, old, ctx)

    def _drop_disabled(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
        rolling = obj["spec"]["updateStrategy"].get("rollingUpdate") or {}
        old_rolling = old["spec"]["updateStrategy"].get("rollingUpdate") if old else None
        name = "maxUnavailable"
        if name in rolling and name not in (old_rolling or ()) and not ctx.cluster.gate("MaxUnavailableStatefulSet"):
            del rolling[name]

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return _spec(obj["spec"], ctx, new=True)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        spec, old_spec = obj["spec"], old["spec"]
        if same(spec, old_spec):
            return []
        found = _spec(spec, ctx, new=False)
        if ctx.minor < DECLARATIVE_SINCE:
            kept = {name: value for name, value in spec.items() if name not in MUTABLE}
            alike = same(kept, {name: value for name, value in old_spec.items() if name not in MUTABLE})
            return found if alike else [*found, field_errors.forbidden("spec", FIXED)]
        found += workloads.immutable_selector(spec, old_spec)
        claims, old_claims = spec.get("volumeClaimTemplates"), old_spec.get("volumeClaimTemplates")
        if not same(claims, old_claims):
            shown = internal("[]PersistentVolumeClaim", claims)
            found.append(field_errors.invalid("spec.volumeClaimTemplates", shown, validation.IMMUTABLE))
        for name in ("serviceName", "podManagementPolicy"):
            found += immutable(f"spec.{name}", spec.get(name, ""), old_spec.get(name, ""))
        return found

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        found = super().warnings(obj, old, ctx)
        for position, claim in enumerate(obj["spec"].get("volumeClaimTemplates", ())):
            found += claim_spec_warnings(f"spec.volumeClaimTemplates[{position}]", claim.get("spec") or {})
        return [*found, HISTORY_WARNING] if obj["spec"].get("revisionHistoryLimit", 0) < 0 else found

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        status = obj.get("status", {})
        found = workloads.validate_replica_status(status, COUNTS, PARTS, "status.readyReplicas")
        return found + workloads.validate_collision_count(status, old.get("status", {}))


def _spec(spec: Tree, ctx: WriteContext, *, new: bool) -> list[FieldError]:
    """The whole spec; what an update could not change anyhow is checked on new objects only."""
    found: list[FieldError] = []
    policy = spec.get("podManagementPolicy", "")
    if policy not in ("OrderedReady", "Parallel"):
        what = "must be 'OrderedReady' or 'Parallel'"
        found.append(field_errors.invalid("spec.podManagementPolicy", policy, what))
    found += _strategy(spec["updateStrategy"], ctx)
    retention = spec.get("persistentVolumeClaimRetentionPolicy", {})
    for name in ("whenDeleted", "whenScaled"):
        path = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
        found += one_of(path, retention.get(name, ""), RETENTION)
    claims = spec.get("volumeClaimTemplates", [])
    if new:
        for position, claim in enumerate(claims):
            found += claim_spec_errors(f"spec.volumeClaimTemplates[{position}].spec", claim.get("spec", {}))
    found += nonnegative_fields(spec, "spec", "replicas", "minReadySeconds")
    found += nonnegative_fields(spec.get("ordinals", {}), "spec.ordinals", "start")
    if new and (service := spec.get("serviceName")):
        found += complaints("spec.serviceName", service, names.dns1123_label(service))
    found += workloads.validate_selector(spec.get("selector"), "statefulset")
    return found + _template(spec, claims, ctx)


def _strategy(strategy: Tree, ctx: WriteContext) -> list[FieldError]:
    path = "spec.updateStrategy"
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    known = ["RollingUpdate", "OnDelete"]
    recreates = kind == "Recreate" and ctx.cluster.gate("StatefulSetRecreateStrategy")
    if kind == "OnDelete" or recreates:
        if rolling is None:
            return []
        what = "only allowed for updateStrategy 'RollingUpdate'"
        return [field_errors.invalid(f"{path}.rollingUpdate", _internal_rolling(rolling), what)]
    if kind != "RollingUpdate":
        shown = {"Type": kind, "RollingUpdate": None if rolling is None else _internal_rolling(rolling)}
        what = "must be " + " or ".join(f"'{name}'" for name in known)
        return [field_errors.invalid(path, shown, what)]
    if rolling is None:
        return []
    path = f"{path}.rollingUpdate"
    found = nonnegative_fields(rolling, path, "partition")
    if "maxUnavailable" in rolling:
        value, here = rolling["maxUnavailable"], f"{path}.maxUnavailable"
        found += workloads.int_or_percent(here, value)
        if workloads.amount_of(value) == 0:
            found.append(field_errors.invalid(here, value, "cannot be 0"))
        found += workloads.at_most_all(here, value)
    return found


def _internal_rolling(rolling: Tree) -> Tree:
    """As upstream prints its internal type, with Go's names."""
    return {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}


def _template(spec: Tree, claims: list[Tree], ctx: WriteContext) -> list[FieldError]:
    """The template, as if it had the volumes that the claims will be, and none of the names that
    pods will get.
    """
    selector, template = spec.get("selector"), spec["template"]
    found: list[FieldError] = []
    fits = workloads.matches(selector, template)
    if fits is None:
        shown = workloads.shown_selector(selector or {})
        found.append(field_errors.invalid("spec.selector", shown, ""))
    else:
        if not fits and not (selector is not None and validation.is_empty_selector(selector)):
            shown_labels = workloads.shown_labels(template)
            found.append(field_errors.invalid("spec.template.metadata.labels", shown_labels, workloads.MISMATCH))
        found += validate_template(_with_claims(template, claims), "spec.template", template_options(ctx))
        meta = template.get("metadata") or {}
        found += validation.labels(meta.get("labels") or {}, "spec.template.labels")
        found += validation.annotations(meta.get("annotations") or {}, "spec.template.annotations")
    return found + workloads.validate_endless(template, "StatefulSet")


def _with_claims(template: Tree, claims: list[Tree]) -> Tree:
    pod = {name: value for name, value in template["spec"].items() if name not in ("hostname", "subdomain")}
    if claims:
        named = [(claim.get("metadata") or {}).get("name", "") for claim in claims]
        volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(named)]
        pod["volumes"] = volumes + [volume for volume in pod.get("volumes", ()) if volume.get("name") not in named]
    return {**template, "spec": pod}


STRATEGY = StatefulSetStrategy()

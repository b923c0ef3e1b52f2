"""What the kinds that make pods from a template have in common: ReplicaSets, Deployments, and their
like.

Upstream: the strategies in pkg/registry/apps and core/replicationcontroller, and what their
validations share.
"""

from collections.abc import Sequence
from typing import Any

from fakekube.apimachinery import field_errors, labels, names, strconv, validation
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable, nonnegative, nonnegative_fields
from fakekube.apis.base import StatusStrategy
from fakekube.apis.core import podspec_gates
from fakekube.apis.core.pod_warnings import template_warnings
from fakekube.apis.core.podspec_defaults import default_template
from fakekube.apis.core.podspec_validation import template_options, validate_template
from fakekube.registry.strategy import WriteContext

NAME_WARNING = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is "
    "recommended: [{}]"
)
MISMATCH = "`selector` does not match template `labels`"
OVER_REPLICAS = "cannot be greater than status.replicas"


class WorkloadStrategy(StatusStrategy):
    """A kind with ``spec.template``.

    ``warns_of_names`` is for those whose own name becomes a host's, ``defaults_metadata`` for those
    whose defaults are not in their spec alone.
    """

    warns_of_names = True
    defaults_metadata = False
    history_limit: int | None = 10

    def default_spec(self, spec: Tree, ctx: WriteContext) -> None:
        """Fill what is the kind's own."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {})
        default_template(spec.setdefault("template", {}))
        self.default_spec(spec, ctx)
        if self.history_limit is not None:
            spec.setdefault("revisionHistoryLimit", self.history_limit)

    def default_status(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        if obj.get("spec") is not old["spec"] or self.defaults_metadata:
            super().default_status(obj, old, ctx)

    default_update = default_status

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        super().prepare_for_create(obj, ctx)
        podspec_gates.drop_disabled(obj["spec"]["template"]["spec"], None, ctx.cluster.gate)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_update(obj, old, ctx)
        pod, old_pod = obj["spec"]["template"]["spec"], old["spec"]["template"]["spec"]
        if pod is not old_pod:
            podspec_gates.drop_disabled(pod, old_pod, ctx.cluster.gate)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        found: list[str] = []
        if old is None and self.warns_of_names:
            texts = names.dns1123_label(obj["metadata"]["name"])
            found += [NAME_WARNING.format(" ".join(texts))] if texts else []
        if old is None or obj["metadata"].get("generation") != old["metadata"].get("generation"):
            found += template_warnings(obj["spec"]["template"], "spec.template")
        return found


def shown_selector(selector: Tree) -> Tree:
    """A LabelSelector the way upstream prints it: labels sorted, fields in the order of Go's
    struct.
    """
    shown: Tree = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    if selector.get("matchExpressions"):
        shown["matchExpressions"] = [
            {name: each[name] for name in ("key", "operator", "values") if name in each}
            for each in selector["matchExpressions"]
        ]
    return shown


def shown_labels(template: Tree) -> dict[str, str] | None:
    """A template's labels the way upstream prints them."""
    present = (template.get("metadata") or {}).get("labels")
    return None if present is None else dict(sorted(present.items()))


def validate_selector(selector: Tree | None, what: str) -> list[FieldError]:
    """spec.selector, which must be there and must not select everything."""
    if selector is None:
        return [field_errors.required("spec.selector")]
    found = validation.label_selector(selector, "spec.selector")
    if validation.is_empty_selector(selector):
        found.append(field_errors.invalid("spec.selector", selector, f"empty selector is invalid for {what}"))
    return found


def matches(selector: Tree | None, template: Tree) -> bool | None:
    """Whether a selector fits the template's labels; None when it is no selector at all."""
    try:
        return labels.selects(selector, (template.get("metadata") or {}).get("labels") or {})
    except labels.SelectorError:
        return None


def validate_selected_template(spec: Tree, kind: str, bad_selector: str, ctx: WriteContext) -> list[FieldError]:
    """spec.template, which must fit spec.selector and run forever. ``kind`` stands in the texts."""
    selector, template = spec.get("selector"), spec["template"]
    fits = matches(selector, template)
    if fits is None:
        return [field_errors.invalid("spec.selector", shown_selector(selector or {}), bad_selector)]
    found: list[FieldError] = []
    if not fits and not (selector is not None and validation.is_empty_selector(selector)):
        found.append(field_errors.invalid("spec.template.metadata.labels", shown_labels(template), MISMATCH))
    found += validate_template(template, "spec.template", template_options(ctx))
    return found + validate_endless(template, kind)


def validate_endless(template: Tree, kind: str) -> list[FieldError]:
    """Pods that always restart, and have no deadline."""
    found: list[FieldError] = []
    policy = template["spec"].get("restartPolicy", "")
    if policy != "Always":
        found.append(field_errors.not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if "activeDeadlineSeconds" in template["spec"]:
        what = f"activeDeadlineSeconds in {kind} is not Supported"
        found.append(field_errors.forbidden("spec.template.spec.activeDeadlineSeconds", what))
    return found


def int_or_percent(path: str, value: Any) -> list[FieldError]:
    """A count of pods, not negative, or a share of them."""
    if isinstance(value, str):
        return complaints(path, value, names.percent(value))
    return nonnegative(path, value)


def unsupported_strategy(path: str, strategy: Tree, supported: tuple[str, ...]) -> FieldError:
    """An update strategy of a type that there is not, as upstream shows the whole of it."""
    rolling = strategy.get("rollingUpdate")
    shown: Tree = {"Type": strategy.get("type", ""), "RollingUpdate": None}
    if rolling is not None:
        shown["RollingUpdate"] = {"MaxUnavailable": rolling.get("maxUnavailable", 0), "MaxSurge": rolling.get("maxSurge", 0)}
    return field_errors.not_supported(path, shown, supported)


def percent_of(value: Any) -> int | None:
    """The number before the percent sign, None for what is no share."""
    if isinstance(value, str) and not names.percent(value):
        return strconv.whole(value[:-1])
    return None


def amount_of(value: Any) -> int:
    """The number of an IntOrString, whichever of the two it is; 0 for a text without one."""
    if isinstance(value, int):
        return value
    share = percent_of(value)
    if share is not None:
        return share
    try:
        return strconv.parse_int(value)
    except strconv.NumberError:
        return 0


def at_most_all(path: str, value: Any) -> list[FieldError]:
    """A share above 100%."""
    share = percent_of(value)
    if share is None or share <= 100:
        return []
    return [field_errors.invalid(path, value, "must not be greater than 100%")]


def validate_replica_status(
    status: Tree, counts: Sequence[str], parts: Sequence[str], ready: str = "readyReplicas",
) -> list[FieldError]:
    """Counts that are not negative; ``parts`` of them are parts of ``replicas``.

    ``ready`` is how the text names it.
    """
    found = nonnegative_fields(status, "status", *counts)
    total = status.get("replicas", 0)
    for name in parts:
        if status.get(name, 0) > total:
            found.append(field_errors.invalid(f"status.{name}", status.get(name, 0), OVER_REPLICAS))
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        found.append(field_errors.invalid("status.availableReplicas", available, f"cannot be greater than {ready}"))
    return found


def validate_collision_count(status: Tree, old_status: Tree) -> list[FieldError]:
    """status.collisionCount only rises."""
    before, now = old_status.get("collisionCount"), status.get("collisionCount")
    if before is None or (now is not None and now >= before):
        return []
    return [field_errors.invalid("status.collisionCount", now or 0, "cannot be decremented")]


def immutable_selector(spec: Tree, old_spec: Tree) -> list[FieldError]:
    """spec.selector, which no update may change."""
    new = spec.get("selector")
    if same(new, old_spec.get("selector")):
        return []
    return immutable("spec.selector", shown_selector(new) if new is not None else None, old_spec.get("selector"))

"""Jobs: defaults, the selector and labels that the server makes up, and what may change.

Upstream: pkg/apis/batch/v1/defaults.go and pkg/registry/batch/job/strategy.go.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE
from fakekube.apis.batch.job_scheduling import declared_scheduling, validate_variant
from fakekube.apis.batch.job_status import validate_job_status
from fakekube.apis.batch.job_validation import (
    LEGACY_NAME_LABEL,
    LEGACY_UID_LABEL,
    NAME_LABEL,
    UID_LABEL,
    validate_changes,
    validate_job,
    validate_pod_names,
    validate_spec_and_selector,
)
from fakekube.apis.core import podspec_gates
from fakekube.apis.core.pod_warnings import template_warnings
from fakekube.apis.core.podspec_defaults import default_template
from fakekube.apis.core.podspec_validation import template_options
from fakekube.registry.strategy import Cluster, Strategy, WriteContext

BACKOFF_LIMIT = 6
UNLIMITED_BACKOFF = 2**31 - 1
NAME_WARNING = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is "
    "recommended: [{}]"
)
LARGE_WARNING = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes "
    "might not be able to track completedIndexes when a big number of indexes fail"
)
MANY_COMPLETIONS, MANY_PODS = 100_000, 10_000
# the minor number of the release that asks no Job that never started whether it says so
UNSTARTED_SINCE = 36
GATED = (
    ("WorkloadWithJob", ("scheduling",)),
    ("JobSuccessPolicy", ("successPolicy",)),
    ("JobBackoffLimitPerIndex", ("backoffLimitPerIndex", "maxFailedIndexes")),
    ("JobPodReplacementPolicy", ("podReplacementPolicy",)),
)
"""Fields that a Job has only while a gate is on."""
GATED_ON_CREATE = (*GATED, ("JobManagedBy", ("managedBy",)), ("JobPodFailurePolicy", ("podFailurePolicy",)))


class JobStrategy(Strategy):
    """The kind's own endpoint and its status."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {})
        template = spec.setdefault("template", {})
        default_template(template)
        default_job_spec_patterns(spec)
        if "completions" not in spec and "parallelism" not in spec:
            spec["completions"] = 1
        spec.setdefault("parallelism", 1)
        spec.setdefault("backoffLimit", UNLIMITED_BACKOFF if "backoffLimitPerIndex" in spec else BACKOFF_LIMIT)
        if (labels := template["metadata"].get("labels")) and not obj["metadata"].get("labels"):
            # One and the same map, as upstream's: prepare_for_create tells by that to whom the
            # labels belong.
            obj["metadata"]["labels"] = labels
        spec.setdefault("completionMode", "NonIndexed")
        spec.setdefault("suspend", False)
        if ctx.cluster.gate("JobPodReplacementPolicy"):
            spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
        spec.setdefault("manualSelector", False)

    def default_status(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        if obj.get("spec") is not old["spec"] or not obj["metadata"].get("labels"):
            super().default_status(obj, old, ctx)

    default_update = default_status

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        meta, spec = obj["metadata"], obj["spec"]
        template_meta = spec["template"]["metadata"]
        labels = template_meta.get("labels", {})
        shared = bool(labels) and meta.get("labels") is labels
        if not spec["manualSelector"]:
            labels = _generate_selector(spec, labels, meta)
        if labels:
            template_meta["labels"] = labels
            if shared:
                meta["labels"] = dict(labels)
        obj["status"] = {}
        drop_disabled(spec, None, ctx.cluster)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        obj["status"] = old["status"]
        labels = (obj["spec"]["template"].get("metadata") or {}).get("labels")
        if labels is not None and obj["metadata"].get("labels") is labels:
            obj["metadata"]["labels"] = dict(labels)
        drop_disabled(obj["spec"], old["spec"], ctx.cluster)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        found = validate_job(obj, template_options(ctx)) + validate_pod_names(obj)
        return found + declared_scheduling(obj["spec"], None, "spec.scheduling")

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        spec, old_spec = obj["spec"], old["spec"]
        if spec == old_spec:
            return []
        movable = _is_template_mutable(old, ctx.minor)
        unstarted = bool(old_spec.get("suspend")) and "startTime" not in old["status"]
        older = ctx.minor < DECLARATIVE_SINCE  # then a changed Job is looked at as a new one, too
        found = (self.validate(obj, ctx) if older else []) + validate_spec_and_selector(spec, template_options(ctx))
        found += validate_changes(
            spec, old_spec,
            scheduling=movable if ctx.cluster.gate("MutableSchedulingDirectivesForSuspendedJobs") else unstarted,
            resources=movable and ctx.cluster.gate("MutablePodResourcesForSuspendedJobs"),
            elastic=ctx.cluster.gate("ElasticIndexedJob"),
        )
        found += validate_variant(spec, old_spec, "spec.scheduling")
        found += declared_scheduling(spec, old_spec, "spec.scheduling")
        return found if older else found + validate_pod_names(obj)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        found: list[str] = []
        if old is None:
            texts = names.dns1123_label(obj["metadata"].get("name", ""))
            found += [NAME_WARNING.format(" ".join(texts))] if texts else []
        elif obj["metadata"].get("generation") == old["metadata"].get("generation"):
            return found
        return found + job_spec_warnings(obj["spec"], "spec")

    def canonicalize(self, obj: Tree) -> None:
        # Upstream's defaulting runs again when the object is read from storage, and finds the
        # generated labels then.
        labels = obj["spec"]["template"]["metadata"].get("labels")
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return validate_job_status(obj, old, ctx.minor, ctx.cluster.gate)


def default_job_spec_patterns(spec: Tree) -> None:
    """Fill what a CronJob's template gets of a Job's defaults too: the status that a condition is
    matched by.
    """
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return
    if not policy.get("rules"):
        policy["rules"] = None
    for rule in policy["rules"] or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def drop_disabled(spec: Tree, old: Tree | None, cluster: Cluster) -> None:
    """Forget fields of features that are off, those that the Job has already excepted.

    managedBy and podFailurePolicy are dropped from new Jobs only: in others they cannot change.
    """
    for gate, fields in (GATED if old is not None else GATED_ON_CREATE):
        for name in fields:
            if name in spec and name not in (old or {}) and not cluster.gate(gate):
                del spec[name]
    policy = spec.get("podFailurePolicy")
    if old is None and policy and not cluster.gate("JobBackoffLimitPerIndex"):
        policy["rules"] = [rule for rule in policy.get("rules") or () if rule.get("action") != "FailIndex"] or None
    pod = spec["template"]["spec"]
    old_pod = old["template"]["spec"] if old else None
    if pod is not old_pod:
        podspec_gates.drop_disabled(pod, old_pod, cluster.gate)


def job_spec_warnings(spec: Tree, path: str) -> list[str]:
    """About the spec of a Job or of a CronJob's template."""
    found: list[str] = []
    if (
        spec.get("completionMode") == "Indexed" and spec.get("completions", 0) > MANY_COMPLETIONS
        and spec.get("parallelism", 0) > MANY_PODS
    ):
        found.append(f"{path}: {LARGE_WARNING}")
    return found + template_warnings(spec["template"], f"{path}.template")


def _generate_selector(spec: Tree, labels: dict[str, str], meta: Tree) -> dict[str, str]:
    """Select by the Job's uid; the template's labels with those that belong to it."""
    name, uid = meta.get("name", ""), meta["uid"]
    generated = {LEGACY_NAME_LABEL: name, NAME_LABEL: name, LEGACY_UID_LABEL: uid, UID_LABEL: uid}
    selector = dict(spec.get("selector") or {})
    selector["matchLabels"] = {UID_LABEL: uid} | selector.get("matchLabels", {})
    spec["selector"] = selector
    return generated | labels


def _is_template_mutable(old: Tree, minor: int) -> bool:
    """Whether nothing runs of a suspended Job, so that its pods may still be told where to run and
    what to ask for.
    """
    status = old["status"]
    suspended = any(
        condition.get("type") == "Suspended" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
    stopped = suspended or ("startTime" not in status and minor >= UNSTARTED_SINCE)
    return bool(old["spec"].get("suspend")) and stopped and not status.get("active")


STRATEGY = JobStrategy()

"""Pods: defaults, the status that a new one gets, and what its endpoints may change.

Upstream: pkg/registry/core/pod/strategy.go.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.pods import FINISHED_PHASES
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import drop_disabled
from fakekube.apis.core import pod_resize, pod_status, pod_update, pod_validation, podresources, podspec_gates
from fakekube.apis.core.pod_profiles import has_profiles, sync_app_armor
from fakekube.apis.core.pod_warnings import pod_warnings
from fakekube.apis.core.podspec_defaults import default_pod, default_pod_spec
from fakekube.apis.core.podspec_validation import SPREAD_MERGE
from fakekube.registry.strategy import Strategy, WriteContext

AFFINITIES = ("podAffinity", "podAntiAffinity")
KEPT_STATUS = ("resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses")
STATUS_GATES = {"volumeHealth": "CSIVolumeHealth"}
GATED = {
    "lastProbeTime": None, "message": "Scheduling is blocked due to non-empty scheduling gates",
    "reason": "SchedulingGated", "status": "False", "type": "PodScheduled",
}
NAME_WARNING = (
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is "
    "recommended: [{}]"
)


class PodStrategy(Strategy):
    """The kind's own endpoint and its status."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        spec = obj.setdefault("spec", {"containers": None})
        default_pod(spec)
        default_pod_spec(spec)
        status = obj.setdefault("status", {})
        if status:
            pod_status.default_ips(status)

    def default_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        if obj.get("spec") is not old["spec"]:
            super().default_status(obj, old, ctx)
        elif (status := obj.setdefault("status", {})) and status is not old["status"]:
            pod_status.default_ips(status)

    default_status = default_update

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        spec, annotations = obj["spec"], obj["metadata"].get("annotations")
        _complete(spec, obj["metadata"].get("labels", {}), ctx)
        if has_profiles(annotations):
            for text in sync_app_armor(spec, annotations or {}):
                ctx.warn(text)
        status: Tree = {"phase": "Pending"}
        if spec.get("schedulingGates"):
            status["conditions"] = [{**GATED, "lastTransitionTime": ctx.now}]
        status["qosClass"] = podresources.qos_class(spec)
        obj["status"] = status

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        obj["status"] = old["status"]
        spec, old_spec = obj["spec"], old["spec"]
        if spec is old_spec:
            return
        if "resources" not in spec and "resources" in old_spec:
            spec["resources"] = old_spec["resources"]
        podspec_gates.drop_disabled(spec, old_spec, ctx.cluster.gate)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return pod_validation.validate_create(obj, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return pod_update.validate_update(obj, old, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        if old is not None:
            return []
        name = obj["metadata"]["name"]
        texts = names.dns1123_label(name)
        found = [NAME_WARNING.format(" ".join(texts))] if texts else []
        return found + pod_warnings(obj)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        super().prepare_for_status_update(obj, old, ctx)
        meta, old_meta = obj["metadata"], old["metadata"]
        for name in ("ownerReferences", "deletionTimestamp"):
            if name in old_meta:
                meta[name] = old_meta[name]
            else:
                meta.pop(name, None)
        status, old_status = obj.setdefault("status", {}), old["status"]
        if "qosClass" in old_status:
            status.setdefault("qosClass", old_status["qosClass"])
        for name in KEPT_STATUS:
            if name in old_status:
                status.setdefault(name, old_status[name])
        pod_status.keep_observed_generations(status, old_status)
        drop_disabled(status, old_status, STATUS_GATES, ctx)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        return pod_status.validate_status_update(obj, old)

    def check_graceful_delete(self, obj: Tree, grace_seconds: int | None, ctx: WriteContext) -> int | None:
        spec = obj["spec"]
        if not spec.get("nodeName") or obj["status"].get("phase") in FINISHED_PHASES:
            return 0
        period: int = spec.get("terminationGracePeriodSeconds", 0) if grace_seconds is None else grace_seconds
        return period if period >= 0 else 1


def _complete(spec: Tree, labels: dict[str, str], ctx: WriteContext) -> None:
    """What gates, the pod's labels and its pod-level resources make of a new spec."""
    gate = ctx.cluster.gate
    podspec_gates.drop_disabled(spec, None, gate)
    if "affinity" in spec:
        _merge_affinity_keys(spec["affinity"], labels)
    if "topologySpreadConstraints" in spec and gate(SPREAD_MERGE):
        for constraint in spec["topologySpreadConstraints"]:
            merge_label_keys(constraint, labels, ("matchLabelKeys", "In"))
    if "resources" in spec:
        podresources.default_pod_level(spec)


def _merge_affinity_keys(affinity: Tree, labels: dict[str, str]) -> None:
    for name in AFFINITIES:
        rules = affinity.get(name, {})
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            term = weighted.get("podAffinityTerm", {})
            merge_label_keys(term, labels, ("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for term in rules.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            merge_label_keys(term, labels, ("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))


def merge_label_keys(holder: Tree, labels: dict[str, str], *rules: tuple[str, str]) -> None:
    """Turn label keys that a term names into requirements of its selector, with the values of the
    pod's own labels.
    """
    selector = holder.get("labelSelector")
    if selector is None:
        return
    found = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in rules for key in holder.get(field, ()) if key in labels
    ]
    if found:
        holder["labelSelector"] = {**selector, "matchExpressions": [*selector.get("matchExpressions", ()), *found]}


STRATEGY = PodStrategy()
SUBRESOURCES: dict[str, Strategy] = {
    "ephemeralcontainers": pod_update.EphemeralContainersStrategy(),
    "resize": pod_resize.ResizeStrategy(),
}

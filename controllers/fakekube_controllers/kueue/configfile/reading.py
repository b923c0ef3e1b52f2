"""From the models of a Configuration to what Kueue goes by: defaults, gates, then values.

Upstream: apis/config/*/defaults.go and configuration_conversion.go; LoadAndValidateFeatureGates in
pkg/config/validation.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fakekube.apimachinery import field_errors, labels
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.runtime.configmodels import near
from fakekube_controllers.kueue import configuration as told
from fakekube_controllers.kueue.configfile import validation
from fakekube_controllers.kueue.configfile.model import (
    ConfigurationError,
    ConfigurationModel,
    MetricsModel,
    MultiKueueModel,
    ResourcesModel,
    WaitForPodsReadyModel,
    WorkloadRetentionModel,
    decode,
)
from fakekube_controllers.kueue.features import KEP_DRAFTS, LOCKED, Features

OLD = "config.kueue.x-k8s.io/v1beta1"
OLD_PODS_READY_SECONDS = 300.0
DRAFTS_PRESET = "kep-drafts"


def read(tree: Any, known_frameworks: Iterable[str] = ()) -> told.Configuration:
    """The configuration that a tree says.

    ``known_frameworks`` are those besides upstream's. Raises ConfigurationError.
    """
    model = decode(tree)
    features = gates(model.feature_gates)
    namespace = model.namespace or told.NAMESPACE
    selector = model.managed_jobs_namespace_selector
    _refuse("", validation.errors(model, features, namespace, [*validation.FRAMEWORKS, *known_frameworks]))
    integrations, retention = model.integrations, model.object_retention_policies
    kept = retention.workloads if retention is not None else None
    return told.Configuration(
        namespace=namespace, manage_jobs_without_queue_name=model.manage_jobs_without_queue_name,
        managed_jobs_namespace_selector=(
            told.jobs_namespaces(namespace) if selector is None else labels.from_label_selector(selector)),
        wait_for_pods_ready=None if features.DisableWaitForPodsReady else _waiting(model),
        integrations=told.Integrations(
            tuple(integrations.frameworks) or ("batch/job",), tuple(integrations.external_frameworks),
            tuple(integrations.label_keys_to_copy)) if integrations is not None else told.Integrations(("batch/job",)),
        multi_kueue=_multi_kueue(model.multi_kueue or MultiKueueModel()),
        fair_sharing=_fair_sharing(model), admission_fair_sharing=_admission_fair_sharing(model),
        resources=_resources(model.resources or ResourcesModel()),
        workload_retention=_retention(kept) if kept is not None else told.WorkloadRetentionPolicy(),
        metrics=_metrics(model.metrics), features=features)


def _retention(model: WorkloadRetentionModel) -> told.WorkloadRetentionPolicy:
    found = told.WorkloadRetentionPolicy(model.after_finished, model.after_deactivated_by_kueue)
    history = model.preempted_workload_slice_history
    return found if history is None else found._replace(preempted_workload_slice_history=history)


def _refuse(text: str, found: list[FieldError]) -> None:
    if found:
        raise ConfigurationError(f"{text}{field_errors.aggregate(found)}")


# gates


def gates(wanted: Mapping[str, bool]) -> Features:
    """The gates with upstream's defaults, but for those that are said.

    The preset ``kep-drafts`` stands for those that are ours. Raises ConfigurationError.
    """
    chosen: dict[str, bool] = {}
    for name, on in wanted.items():
        if name == DRAFTS_PRESET:
            chosen |= {draft: on for draft in KEP_DRAFTS if draft not in wanted}
        elif name not in Features._fields:
            text = f"unrecognized feature gate: {name}{near(name, [*Features._fields, DRAFTS_PRESET])}"
            raise ConfigurationError(f"featureGates: Invalid value: {field_errors.go_json(dict(wanted))}: {text}")
        elif name in LOCKED and on != Features._field_defaults[name]:
            text = f"cannot set feature gate {name} to {str(on).lower()}, feature is locked to {str(not on).lower()}"
            raise ConfigurationError(f"featureGates: Invalid value: {field_errors.go_json(dict(wanted))}: {text}")
        else:
            chosen[name] = on
    features = Features(**chosen)
    _refuse("", [*_of_gates(features)])
    return features


REPLACES, TAS = "TASFailedNodeReplacement", "TopologyAwareScheduling"
NEEDS: Mapping[str, tuple[str, ...]] = {
    "TASFailedNodeReplacement": (TAS,), "TASFailedNodeReplacementFailFast": (TAS, REPLACES),
    "TASReplaceNodeOnPodTermination": (TAS, REPLACES), "TASReplaceNodeDueToNotReadyOverFixedTime": (TAS, REPLACES),
    "TASBalancedPlacement": (TAS,), "TASReplaceNodeOnNodeTaints": (TAS,), "TASMultiLayerTopology": (TAS,),
    "TASRespectNodeAffinityPreferred": (TAS,), "TASRecomputeAssignmentWithinSchedulingCycle": (TAS,),
    "UnadmittedWorkloadsExplicitStatus": ("UnadmittedWorkloadsObservability",),
    "ElasticJobsViaWorkloadSlicesWithTAS": ("ElasticJobsViaWorkloadSlices", TAS),
    "KueueDRAIntegrationExtendedResource": ("KueueDRAIntegration",),
    "KueueDRAIntegrationPartitionableDevices": ("KueueDRAIntegration",),
    "KueueDRAIntegrationConsumableCapacity": ("KueueDRAIntegration",),
}
"""Gates that have no effect without others."""


def _of_gates(features: Features) -> Iterator[FieldError]:
    on = features._asdict()
    if features.TASProfileMixed and not features.TopologyAwareScheduling:
        yield invalid("featureGates", 1, "cannot use a TAS profile with TAS disabled")
    if features.TASHandleOverlappingFlavors and not features.TopologyAwareScheduling:
        name = "TASHandleOverlappingFlavors"
        yield invalid("featureGates", name, f"{name} requires {TAS} to be enabled")
    for gate, others in NEEDS.items():
        for other in others:
            if on[gate] and not on[other]:
                yield invalid("featureGates", gate, f"{gate} requires {other} to be enabled")


# values


def _waiting(model: ConfigurationModel) -> told.WaitForPodsReady | None:
    given = model.wait_for_pods_ready
    if model.api_version == OLD:
        if given is None or not given.enable:
            return None
        default, blocks = OLD_PODS_READY_SECONDS, given.block_admission is not False
    else:
        given = given or WaitForPodsReadyModel()
        default, blocks = told.WaitForPodsReady().timeout_seconds, bool(given.block_admission)
    timeout, requeuing = given.timeout or default, given.requeuing_strategy
    usual = told.RequeuingStrategy()
    strategy = usual if requeuing is None else told.RequeuingStrategy(
        requeuing.timestamp or usual.timestamp, requeuing.backoff_limit_count, _or(requeuing.backoff_base_seconds, usual[2]),
        _or(requeuing.backoff_max_seconds, usual[3]))
    return told.WaitForPodsReady(timeout, _or(given.recovery_timeout, timeout), blocks, strategy)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _multi_kueue(model: MultiKueueModel) -> told.MultiKueue:
    usual, step = told.MultiKueue(), model.incremental_dispatcher_config
    return told.MultiKueue(
        _or(model.gc_interval, usual.gc_interval_seconds), model.origin or usual.origin,
        _or(model.worker_lost_timeout, usual.worker_lost_timeout_seconds), _or(model.dispatcher_name, usual.dispatcher_name),
        tuple(each.name for each in model.external_frameworks),
        _or(step.step_size if step is not None else None, usual.incremental_step_size))


def _fair_sharing(model: ConfigurationModel) -> told.FairSharing | None:
    given = model.fair_sharing
    if given is None or (model.api_version == OLD and not given.enable):
        return None
    return told.FairSharing(tuple(given.preemption_strategies)) if given.preemption_strategies else told.FairSharing()


def _admission_fair_sharing(model: ConfigurationModel) -> told.AdmissionFairSharing | None:
    given, usual = model.admission_fair_sharing, told.AdmissionFairSharing()
    if given is None:
        return None
    return told.AdmissionFairSharing(
        given.usage_half_life_time, given.usage_sampling_interval or usual.usage_sampling_interval_seconds,
        dict(given.resource_weights))


def _resources(model: ResourcesModel) -> told.Resources:
    transformations = tuple(
        told.ResourceTransformation(each.input, each.strategy or told.RETAIN, each.multiply_by, {**each.outputs})
        for each in model.transformations)
    classes = {name: each.name for each in model.device_class_mappings for name in each.device_class_names}
    return told.Resources(
        model.quota_check_strategy or told.BLOCK_UNDECLARED, tuple(model.exclude_resource_prefixes), transformations, classes)


def _metrics(model: MetricsModel) -> told.Metrics:
    labels_of = tuple(
        told.CustomLabel(
            each.name, each.source_label_key, each.source_annotation_key, each.source_kind or "ClusterQueue",
            tuple(each.tracked_values))
        for each in model.custom_labels)
    local = model.local_queue_metrics
    selector = local.local_queue_selector if local is not None else None
    return told.Metrics(
        model.enable_cluster_queue_resources, labels_of, local is None or local.enable,
        labels.from_label_selector(selector) if selector is not None else None)



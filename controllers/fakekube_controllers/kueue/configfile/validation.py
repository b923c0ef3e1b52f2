"""Upstream's complaints about a Configuration. Upstream: pkg/config/validation.go.

Left out: what the CEL of a device source says, and TLS, which nobody speaks here.
"""

import ipaddress
from collections.abc import Iterator, Sequence

from fakekube.apimachinery import labels, names
from fakekube.apimachinery.field_errors import (
    FieldError,
    Verbatim,
    child,
    duplicate,
    forbidden,
    index,
    invalid,
    key,
    not_supported,
    required,
    too_many,
)
from fakekube.apimachinery.validation import NEGATIVE, label_selector
from fakekube.runtime.configmodels import near
from fakekube.util import durations
from fakekube_controllers.kueue import configuration as told
from fakekube_controllers.kueue.configfile.model import (
    ConfigurationModel,
    CustomLabelModel,
    MultiKueueModel,
    ResourcesModel,
    WaitForPodsReadyModel,
)
from fakekube_controllers.kueue.features import Features

FRAMEWORKS = tuple(sorted((
    *told.FRAMEWORKS, "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob", "kubeflow.org/xgboostjob",
    "kubeflow.org/jaxjob", "sparkoperator.k8s.io/sparkapplication")))
"""All that upstream knows; those that are not here are accepted, and said to be absent."""
ADAPTED = {
    "jobset.x-k8s.io/jobset": "JobSet.v1alpha2.jobset.x-k8s.io", "kubeflow.org/jaxjob": "JAXJob.v1.kubeflow.org",
    "kubeflow.org/mpijob": "MPIJob.v2beta1.kubeflow.org", "kubeflow.org/paddlejob": "PaddleJob.v1.kubeflow.org",
    "kubeflow.org/pytorchjob": "PyTorchJob.v1.kubeflow.org", "kubeflow.org/tfjob": "TFJob.v1.kubeflow.org",
    "kubeflow.org/xgboostjob": "XGBoostJob.v1.kubeflow.org",
    "leaderworkerset.x-k8s.io/leaderworkerset": "LeaderWorkerSet.v1.leaderworkerset.x-k8s.io", "batch/job": "Job.v1.batch",
    "ray.io/raycluster": "RayCluster.v1.ray.io", "ray.io/rayjob": "RayJob.v1.ray.io", "ray.io/rayservice": "RayService.v1.ray.io",
    "statefulset": "StatefulSet.v1.apps", "trainer.kubeflow.org/trainjob": "TrainJob.v1alpha1.trainer.kubeflow.org",
    "workload.codeflare.dev/appwrapper": "AppWrapper.v1beta2.workload.codeflare.dev"}
"""The kinds that MultiKueue knows by itself, while their frameworks are enabled."""
STRATEGIES = (
    (told.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,), (told.LESS_THAN_INITIAL_SHARE,),
    (told.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, told.LESS_THAN_INITIAL_SHARE))
MOST_BY_KIND = {"Workload": 2, "LocalQueue": 6, "ClusterQueue": 6, "Cohort": 6}
MOST_LABELS, MOST_TRACKED, MOST_TRACKED_OF_WORKLOADS = 20, 16, 12
MOST_MAPPINGS, MOST_CLASSES, MOST_NAME = 16, 8, 253
SELECTOR = "managedJobsNamespaceSelector"


def errors(model: ConfigurationModel, features: Features, namespace: str, frameworks: Sequence[str]) -> list[FieldError]:
    """All complaints, in upstream's order."""
    enabled = (model.integrations.frameworks if model.integrations is not None else ()) or ("batch/job",)
    waits, old = model.wait_for_pods_ready, model.api_version.endswith("v1beta1")
    return [
        *(_waiting(waits) if waits is not None and not features.DisableWaitForPodsReady else ()),
        *_integrations(model, frameworks), *_pods(model, namespace),
        *_multi_kueue(model.multi_kueue or MultiKueueModel(), enabled),
        *_fair_sharing(model, old=old), *_admission_fair_sharing(model), *_certificates(model),
        *_transformations(model.resources or ResourcesModel()), *_mappings(model.resources or ResourcesModel()),
        *_selector(model, namespace), *_retention(model, features), *_visibility(model),
        *_custom_labels(model.metrics.custom_labels), *_quota_check(model, features)]


def _negative(path: str, value: int | None) -> Iterator[FieldError]:
    if value is not None and value < 0:
        yield invalid(path, value, NEGATIVE)


def _negative_time(path: str, seconds: float | None) -> Iterator[FieldError]:
    if seconds is not None and seconds < 0:
        yield invalid(path, Verbatim(durations.go_text(seconds)), NEGATIVE)


def _waiting(model: WaitForPodsReadyModel) -> Iterator[FieldError]:
    path, strategy = "waitForPodsReady", model.requeuing_strategy
    yield from _negative_time(child(path, "timeout"), model.timeout)
    yield from _negative_time(child(path, "recoveryTimeout"), model.recovery_timeout)
    if strategy is None:
        return
    path = child(path, "requeuingStrategy")
    if strategy.timestamp not in (None, told.CREATION, told.EVICTION):
        yield not_supported(child(path, "timestamp"), strategy.timestamp, (told.CREATION, told.EVICTION))
    yield from _negative(child(path, "backoffLimitCount"), strategy.backoff_limit_count)
    yield from _negative(child(path, "backoffBaseSeconds"), strategy.backoff_base_seconds)
    yield from _negative(child(path, "backoffMaxSeconds"), strategy.backoff_max_seconds)


def _integrations(model: ConfigurationModel, known: Sequence[str]) -> Iterator[FieldError]:
    given, seen = model.integrations, set[str]()
    if given is None:
        return
    for place, name in enumerate(given.frameworks):
        path = index("integrations.frameworks", place)
        if name not in known:
            error = not_supported(path, name, known)
            yield error._replace(detail=error.detail + near(name, [*known]))
        elif name in seen:
            yield duplicate(path, name)
        seen.add(name)
    external = set[str]()
    for place, kind in enumerate(given.external_frameworks):
        path = index("integrations.externalFrameworks", place)
        if not _is_kind(kind):
            yield invalid(path, kind, "must be format, 'Kind.version.group.com'")
        elif kind in external:
            yield duplicate(path, kind)
        external.add(kind)


def _is_kind(text: str) -> bool:
    """Whether a text is ``Kind.version.group``."""
    kind, _, rest = text.partition(".")
    version, _, group = rest.partition(".")
    return bool(kind and version and group)


def _pods(model: ConfigurationModel, namespace: str) -> Iterator[FieldError]:
    if model.integrations is not None and "pod" in model.integrations.frameworks:
        yield from _selector(model, namespace)


def _selector(model: ConfigurationModel, namespace: str) -> Iterator[FieldError]:
    selector = model.managed_jobs_namespace_selector
    if selector is None:
        return
    if found := label_selector(selector, SELECTOR):
        yield from found
        return
    for name in ("kube-system", namespace):
        if labels.selects(selector, {"kubernetes.io/metadata.name": name}):
            yield invalid(SELECTOR, selector, f'should not match the "{name}" namespace')


def _multi_kueue(model: MultiKueueModel, frameworks: Sequence[str]) -> Iterator[FieldError]:
    path = "multiKueue"
    yield from _negative_time(child(path, "gcInterval"), model.gc_interval)
    yield from _negative_time(child(path, "workerLostTimeout"), model.worker_lost_timeout)
    if model.origin is not None and (wrong := names.label_value(model.origin)):
        yield invalid(child(path, "origin"), model.origin, ",".join(wrong))
    seen, built_in = set[str](), {ADAPTED.get(each, "") for each in frameworks}
    for place, framework in enumerate(model.external_frameworks):
        here = child(index(child(path, "externalFrameworks"), place), "name")
        if not _is_kind(framework.name):
            yield invalid(here, framework.name, "must be in 'kind.version.group' format")
        elif framework.name in seen:
            yield duplicate(here, framework.name)
        seen.add(framework.name)
        if framework.name in built_in:
            yield invalid(here, framework.name, "conflicts with a built-in MultiKueue adapter")
    profile = model.cluster_profile or {}
    if profile.get("accessProviders") and profile.get("credentialsProviders"):
        what = "must not be specified when accessProviders is specified"
        yield forbidden(child(path, "clusterProfile", "credentialsProviders"), what)
    step, path = model.incremental_dispatcher_config, child(path, "incrementalDispatcherConfig")
    if step is not None and model.dispatcher_name != told.INCREMENTAL:
        what = "incrementalDispatcherConfig is only valid when dispatcherName is set to the incremental dispatcher"
        yield invalid(path, step.model_dump(by_alias=True, exclude_none=True), what)
    if step is not None and step.step_size is not None and step.step_size < 1:
        yield invalid(child(path, "stepSize"), step.step_size, "must be greater than or equal to 1")


def _fair_sharing(model: ConfigurationModel, *, old: bool) -> Iterator[FieldError]:
    given, path = model.fair_sharing, "fairSharing.preemptionStrategies"
    if given is None or (old and (not given.enable or not given.preemption_strategies)):
        return
    strategies = tuple(given.preemption_strategies)
    if not strategies:
        yield required(path, "must be specified")
    elif strategies not in STRATEGIES:
        yield not_supported(path, [*strategies], [",".join(each) for each in STRATEGIES])


def _admission_fair_sharing(model: ConfigurationModel) -> Iterator[FieldError]:
    given, path = model.admission_fair_sharing, "admissionFairSharing"
    if given is None:
        return
    yield from _negative_time(child(path, "usageHalfLifeTime"), given.usage_half_life_time)
    if given.usage_sampling_interval < 0:
        shown = Verbatim(durations.go_text(given.usage_sampling_interval))
        yield invalid(child(path, "usageSamplingInterval"), shown, "must be greater than 0")
    for name, weight in given.resource_weights.items():
        if weight < 0:
            yield invalid(key(child(path, "resourceWeights"), name), given.resource_weights, NEGATIVE)


def _certificates(model: ConfigurationModel) -> Iterator[FieldError]:
    given, path = model.internal_cert_management, "internalCertManagement"
    if given is None or given.enable is False:
        return
    for field, name, rule in (
            ("webhookServiceName", given.webhook_service_name, names.dns1035_label),
            ("webhookSecretName", given.webhook_secret_name, names.dns1123_subdomain)):
        if name is not None and (wrong := rule(name)):
            yield invalid(child(path, field), name, ",".join(wrong))


def _transformations(model: ResourcesModel) -> Iterator[FieldError]:
    seen = set[str]()
    for place, each in enumerate(model.transformations):
        path = index("resources.transformations", place)
        if each.strategy not in (None, told.RETAIN, told.REPLACE):
            yield not_supported(child(path, "strategy"), each.strategy, (told.RETAIN, told.REPLACE))
        if each.input in seen:
            yield duplicate(child(path, "input"), each.input)
        seen.add(each.input)


def _mappings(model: ResourcesModel) -> Iterator[FieldError]:
    path, resources, of_class = "resources.deviceClassMappings", set[str](), dict[str, str]()
    if len(model.device_class_mappings) > MOST_MAPPINGS:
        yield too_many(path, len(model.device_class_mappings), MOST_MAPPINGS)
    for place, mapping in enumerate(model.device_class_mappings):
        here = index(path, place)
        yield from _label_key(child(here, "name"), mapping.name)
        if mapping.name in resources:
            yield duplicate(child(here, "name"), mapping.name)
        resources.add(mapping.name)
        here = child(here, "deviceClassNames")
        if not mapping.device_class_names:
            yield required(here, "at least one device class name is required")
        if len(mapping.device_class_names) > MOST_CLASSES:
            yield too_many(here, len(mapping.device_class_names), MOST_CLASSES)
        for number, name in enumerate(mapping.device_class_names):
            at = index(here, number)
            yield from _label_key(at, name)
            if name in mapping.device_class_names[:number]:
                yield duplicate(at, name)
            elif not mapping.sources and of_class.setdefault(name, mapping.name) != mapping.name:
                yield invalid(at, name, f"device class already mapped to resource {of_class[name]}")


def _label_key(path: str, name: str) -> Iterator[FieldError]:
    if wrong := names.qualified_name(name):
        yield invalid(path, name, "; ".join(wrong))
    if len(name) > MOST_NAME:
        yield invalid(path, name, f"must not exceed {MOST_NAME} characters")


def _retention(model: ConfigurationModel, features: Features) -> Iterator[FieldError]:
    policies = model.object_retention_policies
    if policies is not None and policies.workloads is not None:
        path = "objectRetentionPolicies.workloads"
        yield from _negative_time(child(path, "afterFinished"), policies.workloads.after_finished)
        yield from _negative_time(child(path, "afterDeactivatedByKueue"), policies.workloads.after_deactivated_by_kueue)
        history, path = policies.workloads.preempted_workload_slice_history, child(path, "preemptedWorkloadSliceHistory")
        if history is not None and not features.WorkloadSliceHistory:
            yield forbidden(path, "needs the feature gate WorkloadSliceHistory, which is fakekube's own")
        elif history is not None and history < 0:
            yield invalid(path, history, "must be greater than or equal to 0")


def _visibility(model: ConfigurationModel) -> Iterator[FieldError]:
    given, path = model.visibility_server, "visibilityServer"
    if given is None:
        return
    if given.bind_address is not None and not _is_address(given.bind_address):
        yield invalid(child(path, "bindAddress"), given.bind_address, "must be a valid IP address")
    if given.bind_port is not None and not 1 <= given.bind_port <= 65535:
        yield invalid(child(path, "bindPort"), given.bind_port, "must be a valid port number (1-65535)")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _custom_labels(found: Sequence[CustomLabelModel]) -> Iterator[FieldError]:
    path, seen, counts = "metrics.customLabels", set[str](), dict[str, int]()
    if len(found) > MOST_LABELS:
        yield too_many(path, len(found), MOST_LABELS)
    for place, label in enumerate(found):
        here = index(path, place)
        if not names.matches("[a-zA-Z][a-zA-Z0-9_]*", label.name):
            yield invalid(child(here, "name"), label.name, "must match ^[a-zA-Z][a-zA-Z0-9_]*$")
        if label.name in seen:
            yield duplicate(child(here, "name"), label.name)
        seen.add(label.name)
        if label.source_label_key and label.source_annotation_key:
            what = "sourceLabelKey and sourceAnnotationKey are mutually exclusive"
            yield invalid(here, label.model_dump(by_alias=True, exclude_defaults=True), what)
        field, name = next(pair for pair in (
            ("sourceLabelKey", label.source_label_key), ("sourceAnnotationKey", label.source_annotation_key),
            ("name", label.name or "-")) if pair[1])
        if wrong := names.qualified_name(name):
            yield invalid(child(here, field), name, "; ".join(wrong))
        kind = label.source_kind or "ClusterQueue"
        counts[kind] = counts.get(kind, 0) + 1
        yield from _tracked(child(here, "trackedValues"), kind, label.tracked_values)
    for kind, count in sorted(counts.items()):
        shown = [each.model_dump(by_alias=True, exclude_defaults=True) for each in found]
        if kind not in MOST_BY_KIND:
            yield invalid(path, shown, f"unknown source kind: {kind}")
        elif count > MOST_BY_KIND[kind]:
            what = f"too many custom labels for source kind {kind}: found {count}, expected <= {MOST_BY_KIND[kind]}"
            yield invalid(path, shown, what)


def _tracked(path: str, kind: str, values: list[str]) -> Iterator[FieldError]:
    if kind == "Workload":
        if not values:
            yield invalid(path, values, "must not be empty when sourceKind is 'Workload'")
        if len(values) > MOST_TRACKED_OF_WORKLOADS:
            yield invalid(path, values, f"must not be greater than {MOST_TRACKED_OF_WORKLOADS} when sourceKind is 'Workload'")
    elif len(values) > MOST_TRACKED:
        yield too_many(path, len(values), MOST_TRACKED)
    if len({*values}) < len(values):
        yield invalid(path, values, "must not contain duplicates")


def _quota_check(model: ConfigurationModel, features: Features) -> Iterator[FieldError]:
    resources, path = model.resources, "resources.quotaCheckStrategy"
    if resources is None or resources.quota_check_strategy is None or not features.QuotaCheckStrategy:
        return
    strategy = resources.quota_check_strategy
    if resources.exclude_resource_prefixes and strategy == told.IGNORE_UNDECLARED:
        yield invalid(path, strategy, "excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared")
    if strategy not in (told.IGNORE_UNDECLARED, told.BLOCK_UNDECLARED):
        yield not_supported(path, strategy, (told.IGNORE_UNDECLARED, told.BLOCK_UNDECLARED))

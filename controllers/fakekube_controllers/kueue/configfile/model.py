"""The fields of a Configuration, config.kueue.x-k8s.io v1beta1 and v1beta2, as models.

A field that does not exist is refused, and near ones are named. Upstream: apis/config.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from fakekube.apimachinery.types import Tree
from fakekube.runtime.component import WrongOption
from fakekube.runtime.configmodels import STRICT, Int32, decoding_error, without_nulls
from fakekube.util.durations import go_nanoseconds

GROUP, KIND = "config.kueue.x-k8s.io", "Configuration"
VERSIONS = ("v1beta2", "v1beta1")


class ConfigurationError(WrongOption):
    """The configuration is wrong; the text says where and why, as upstream's does."""

    option = "kueue"


def _duration(value: Any) -> float:
    if not isinstance(value, str):
        raise ValueError("a duration is a text, as 1h30m")  # pydantic's own
    nanoseconds = go_nanoseconds(value)
    if nanoseconds is None:
        raise ValueError(f'time: invalid duration "{value}"')
    return nanoseconds / 1e9


def _amount(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Seconds = Annotated[float, BeforeValidator(_duration)]
Amount = Annotated[str, BeforeValidator(_amount)]


class Model(BaseModel):
    """With what every model has."""

    model_config = STRICT


class CustomLabelModel(Model):
    """A label that metrics carry besides."""

    name: str = ""
    source_label_key: str = ""
    source_annotation_key: str = ""
    source_kind: str | None = None
    tracked_values: list[str] = []


class LocalQueueMetricsModel(Model):
    """Whether there are metrics of LocalQueues, and of which."""

    enable: bool = False
    local_queue_selector: Tree | None = None


class MetricsModel(Model):
    """Which metrics there are."""

    bind_address: str = ""
    enable_cluster_queue_resources: bool = False
    custom_labels: list[CustomLabelModel] = []
    local_queue_metrics: LocalQueueMetricsModel | None = None


class RequeuingStrategyModel(Model):
    """When a Workload whose pods were not ready is queued again."""

    timestamp: str | None = None
    backoff_limit_count: Int32 | None = None
    backoff_base_seconds: Int32 | None = None
    backoff_max_seconds: Int32 | None = None


class WaitForPodsReadyModel(Model):
    """How long pods may take to be ready; ``enable`` is of v1beta1."""

    enable: bool | None = None
    timeout: Seconds | None = None
    block_admission: bool | None = None
    requeuing_strategy: RequeuingStrategyModel | None = None
    recovery_timeout: Seconds | None = None


class NameModel(Model):
    """A name."""

    name: str = ""


class IncrementalModel(Model):
    """How many clusters are nominated at a time."""

    step_size: Int32 | None = None


class MultiKueueModel(Model):
    """How Workloads go to other clusters."""

    gc_interval: Seconds | None = None
    origin: str | None = None
    worker_lost_timeout: Seconds | None = None
    dispatcher_name: str | None = None
    external_frameworks: list[NameModel] = []
    cluster_profile: Tree | None = None
    incremental_dispatcher_config: IncrementalModel | None = None


class IntegrationsModel(Model):
    """Which kinds of jobs are managed; ``pod_options`` is of v1beta1, and has no effect."""

    frameworks: list[str] = []
    external_frameworks: list[str] = []
    label_keys_to_copy: list[str] = []
    pod_options: Tree | None = None


class FairSharingModel(Model):
    """How shares are compared; ``enable`` is of v1beta1."""

    enable: bool | None = None
    preemption_strategies: list[str] = []


class AdmissionFairSharingModel(Model):
    """How usage of the past counts."""

    usage_half_life_time: Seconds = 0.0
    usage_sampling_interval: Seconds = 0.0
    resource_weights: dict[str, Annotated[float, Field(strict=False)]] = {}


class TransformationModel(Model):
    """A resource and what stands for it."""

    input: str = ""
    strategy: str | None = None
    multiply_by: str = ""
    outputs: dict[str, Amount] = {}


class DeviceClassMappingModel(Model):
    """The resource that device classes stand for."""

    name: str = ""
    device_class_names: list[str] = []
    sources: list[Tree] = []


class ResourcesModel(Model):
    """What requests of pods mean to quotas."""

    quota_check_strategy: str | None = None
    exclude_resource_prefixes: list[str] = []
    transformations: list[TransformationModel] = []
    device_class_mappings: list[DeviceClassMappingModel] = []


class WorkloadRetentionModel(Model):
    """How long Workloads are kept."""

    after_finished: Seconds | None = None
    after_deactivated_by_kueue: Seconds | None = None
    preempted_workload_slice_history: Int32 | None = None


class RetentionModel(Model):
    """How long objects are kept."""

    workloads: WorkloadRetentionModel | None = None


class CertificatesModel(Model):
    """Where the certificate of webhooks is kept; it has no effect here."""

    enable: bool | None = None
    webhook_service_name: str | None = None
    webhook_secret_name: str | None = None


class TLSModel(Model):
    """How servers speak TLS; it has no effect here."""

    min_version: str = ""
    cipher_suites: list[str] = []
    curve_preferences: list[Int32] = []


class VisibilityServerModel(Model):
    """Where the visibility server listens; it has no effect here."""

    bind_address: str | None = None
    bind_port: Int32 | None = None


class ConfigurationModel(Model):
    """The whole. ``queue_visibility`` is of v1beta1, and has no effect."""

    api_version: str
    kind: str
    namespace: str | None = None
    webhook: Tree = {}
    leader_election: Tree | None = None
    metrics: MetricsModel = MetricsModel()
    health: Tree = {}
    pprof_bind_address: str = ""
    controller: Tree | None = None
    tls: TLSModel | None = None
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: Tree | None = None
    internal_cert_management: CertificatesModel | None = None
    wait_for_pods_ready: WaitForPodsReadyModel | None = None
    client_connection: Tree | None = None
    integrations: IntegrationsModel | None = None
    queue_visibility: Tree | None = None
    multi_kueue: MultiKueueModel | None = None
    fair_sharing: FairSharingModel | None = None
    admission_fair_sharing: AdmissionFairSharingModel | None = None
    resources: ResourcesModel | None = None
    feature_gates: dict[str, bool] = {}
    object_retention_policies: RetentionModel | None = None
    visibility_server: VisibilityServerModel | None = None


ONLY_OLD = (("queueVisibility",), ("waitForPodsReady", "enable"), ("fairSharing", "enable"), ("integrations", "podOptions"))
ONLY_NEW = (
    ("visibilityServer",), ("multiKueue", "clusterProfile"), ("multiKueue", "incrementalDispatcherConfig"),
    ("resources", "quotaCheckStrategy"))
"""Fields of one version alone."""


def decode(tree: Any) -> ConfigurationModel:
    """The models of a tree, which is of v1beta2 where it says neither version nor kind. Raises
    ConfigurationError.
    """
    if isinstance(tree, Mapping) and "apiVersion" not in tree and "kind" not in tree:
        tree = {**tree, "apiVersion": f"{GROUP}/{VERSIONS[0]}", "kind": KIND}
    if not isinstance(tree, Mapping) or not tree.get("kind"):
        raise ConfigurationError("Object 'Kind' is missing in the configuration")
    version, kind = str(tree.get("apiVersion") or ""), tree["kind"]
    group, _, name = version.partition("/")
    if group != GROUP or name not in VERSIONS or kind != KIND:
        raise ConfigurationError(f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:110"')
    tree = without_nulls(tree)
    for path in ONLY_OLD if name == "v1beta2" else ONLY_NEW:
        if _is_at(tree, path):
            other = "v1beta1" if name == "v1beta2" else "v1beta2"
            raise ConfigurationError(f'strict decoding error: unknown field "{".".join(path)}": {other} has it')
    try:
        return ConfigurationModel.model_validate(tree)
    except ValidationError as error:
        raise ConfigurationError(decoding_error(error, ConfigurationModel)) from None


def _is_at(tree: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(tree, dict) or name not in tree:
            return False
        tree = tree[name]
    return True

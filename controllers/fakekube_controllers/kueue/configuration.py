"""What Kueue is told once, when it starts: the fields of upstream's ``Configuration`` that say what
happens, with the values of the manifest that is shipped.

Upstream: apis/config/v1beta2, config/components/manager/controller_manager_config.yaml. Left out:
what configures a process (ports, certificates, leader election, rate limits of clients).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from fakekube.apimachinery.labels import NOT_IN, Requirement, Selector
from fakekube_controllers.kueue.features import Features

NAMESPACE = "kueue-system"
FRAMEWORKS = (
    "batch/job", "kubeflow.org/mpijob", "ray.io/rayjob", "ray.io/raycluster", "ray.io/rayservice", "jobset.x-k8s.io/jobset",
    "workload.codeflare.dev/appwrapper", "trainer.kubeflow.org/trainjob", "pod", "deployment", "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
)
"""Those that the shipped manifest enables."""

CREATION, EVICTION = "Creation", "Eviction"
BLOCK_UNDECLARED, IGNORE_UNDECLARED = "BlockUndeclared", "IgnoreUndeclared"
RETAIN, REPLACE = "Retain", "Replace"
LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, LESS_THAN_INITIAL_SHARE = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def jobs_namespaces(namespace: str = NAMESPACE) -> Selector:
    """The namespaces in which jobs are managed unless a configuration says otherwise: all but the
    system's and Kueue's own.
    """
    return Selector([Requirement("kubernetes.io/metadata.name", NOT_IN, ("kube-system", namespace))])


class RequeuingStrategy(NamedTuple):
    """When a Workload whose pods were not ready in time is queued again.

    ``timestamp`` is CREATION or EVICTION; without ``backoff_limit_count`` it is tried for ever.
    """

    timestamp: str = EVICTION
    backoff_limit_count: int | None = None
    backoff_base_seconds: int = 60
    backoff_max_seconds: int = 3600


class WaitForPodsReady(NamedTuple):
    """How long the pods of an admitted Workload may take to be ready, and to be ready again.

    Without ``recovery_timeout_seconds`` they may take for ever to recover.
    """

    timeout_seconds: float = 1800.0
    recovery_timeout_seconds: float | None = 1800.0
    block_admission: bool = False
    requeuing_strategy: RequeuingStrategy = RequeuingStrategy()


class Integrations(NamedTuple):
    """Which kinds of jobs are managed; external ones are kinds as ``Kind.version.group``."""

    frameworks: tuple[str, ...] = FRAMEWORKS
    external_frameworks: tuple[str, ...] = ()
    label_keys_to_copy: tuple[str, ...] = ()
    annotation_keys_to_copy: tuple[str, ...] = ()


class MultiKueue(NamedTuple):
    """How Workloads go to other clusters. ``gc_interval_seconds`` 0: nothing is collected."""

    gc_interval_seconds: float = 60.0
    origin: str = "multikueue"
    worker_lost_timeout_seconds: float = 900.0
    dispatcher_name: str = ALL_AT_ONCE
    external_frameworks: tuple[str, ...] = ()
    incremental_step_size: int = 3


class FairSharing(NamedTuple):
    """Shares are compared in preemption, by these strategies in their order."""

    preemption_strategies: tuple[str, ...] = (LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, LESS_THAN_INITIAL_SHARE)


class AdmissionFairSharing(NamedTuple):
    """Workloads are ordered by what their LocalQueue used before."""

    usage_half_life_time_seconds: float = 0.0
    usage_sampling_interval_seconds: float = 300.0
    resource_weights: Mapping[str, float] = MappingProxyType({})


class ResourceTransformation(NamedTuple):
    """A resource that pods ask for, and what is asked of quotas in its place or besides.

    ``outputs`` are quantities as text, by the resource.
    """

    input: str
    strategy: str = RETAIN
    multiply_by: str = ""
    outputs: Mapping[str, str] = MappingProxyType({})


class Resources(NamedTuple):
    """What requests of pods mean to quotas.

    ``device_class_mappings`` has the resource that a device class stands for.
    """

    quota_check_strategy: str = BLOCK_UNDECLARED
    exclude_resource_prefixes: tuple[str, ...] = ()
    transformations: tuple[ResourceTransformation, ...] = ()
    device_class_mappings: Mapping[str, str] = MappingProxyType({})


class WorkloadRetentionPolicy(NamedTuple):
    """How long Workloads are kept; None: for ever.

    ``preempted_workload_slice_history`` is ours: of how many slices of a job that others took the
    place of Workloads are kept, with the gate WorkloadSliceHistory.
    """

    after_finished_seconds: float | None = None
    after_deactivated_by_kueue_seconds: float | None = None
    preempted_workload_slice_history: int = 10


class CustomLabel(NamedTuple):
    """A label that metrics carry besides, with the value of a label or annotation of an object."""

    name: str
    source_label_key: str = ""
    source_annotation_key: str = ""
    source_kind: str = "ClusterQueue"
    tracked_values: tuple[str, ...] = ()


class Metrics(NamedTuple):
    """Which metrics there are."""

    enable_cluster_queue_resources: bool = False
    custom_labels: tuple[CustomLabel, ...] = ()
    local_queues: bool = True
    local_queue_selector: Selector | None = None


class Configuration(NamedTuple):
    """The whole. ``wait_for_pods_ready`` None: nobody waits; ``fair_sharing`` None: there is none.
    """

    namespace: str = NAMESPACE
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: Selector = jobs_namespaces()
    wait_for_pods_ready: WaitForPodsReady | None = WaitForPodsReady()
    integrations: Integrations = Integrations()
    multi_kueue: MultiKueue = MultiKueue()
    fair_sharing: FairSharing | None = None
    admission_fair_sharing: AdmissionFairSharing | None = None
    resources: Resources = Resources()
    workload_retention: WorkloadRetentionPolicy = WorkloadRetentionPolicy()
    metrics: Metrics = Metrics()
    features: Features = Features()

"""Kinds of Kueue's API, and the keys of labels, annotations, finalizers and scheduling gates.

Upstream: apis/kueue/v1beta2, pkg/controller/constants, pkg/constants, and the constants of each
integration. Constants have upstream's names, with the ending that says where the key stands:
LABEL, ANNOTATION, FINALIZER, GATE.
"""

from fakekube.client.resources import Resource

GROUP, VERSION, OLD_VERSION = "kueue.x-k8s.io", "v1beta2", "v1beta1"


def _resource(plural: str, kind: str, *, namespaced: bool = False) -> Resource:
    return Resource(GROUP, VERSION, plural, kind, namespaced)


WORKLOADS = _resource("workloads", "Workload", namespaced=True)
LOCAL_QUEUES = _resource("localqueues", "LocalQueue", namespaced=True)
CLUSTER_QUEUES = _resource("clusterqueues", "ClusterQueue")
RESOURCE_FLAVORS = _resource("resourceflavors", "ResourceFlavor")
COHORTS = _resource("cohorts", "Cohort")
ADMISSION_CHECKS = _resource("admissionchecks", "AdmissionCheck")
WORKLOAD_PRIORITY_CLASSES = _resource("workloadpriorityclasses", "WorkloadPriorityClass")
TOPOLOGIES = _resource("topologies", "Topology")
MULTIKUEUE_CLUSTERS = _resource("multikueueclusters", "MultiKueueCluster")
MULTIKUEUE_CONFIGS = _resource("multikueueconfigs", "MultiKueueConfig")
PROVISIONING_REQUEST_CONFIGS = _resource("provisioningrequestconfigs", "ProvisioningRequestConfig")

KUEUE_NAME = "kueue"
"""The managed-by value of objects that are Kueue's, and the name that it goes by in the API."""
ADMISSION_NAME = "kueue-admission"
"""The field manager of a Workload's quota reservation and admission."""
JOB_CONTROLLER_NAME = "kueue-job-controller"
WORKLOAD_CONTROLLER_NAME = "kueue-workload-controller"
POD_TERMINATION_CONTROLLER_NAME = "kueue-pod-termination-controller"
RECLAIMABLE_PODS_MANAGER = "kueue-reclaimable-pods"
"""Field managers, and names that Events come from."""

RESOURCE_IN_USE_FINALIZER = f"{GROUP}/resource-in-use"

# on jobs and pods, by users
QUEUE_LABEL = f"{GROUP}/queue-name"
WORKLOAD_PRIORITY_CLASS_LABEL = f"{GROUP}/priority-class"
MAX_EXEC_TIME_SECONDS_LABEL = f"{GROUP}/max-exec-time-seconds"
PREBUILT_WORKLOAD_LABEL = f"{GROUP}/prebuilt-workload-name"
PREBUILT_WORKLOAD_ANNOTATION = PREBUILT_WORKLOAD_LABEL
ELASTIC_JOB_ANNOTATION = f"{GROUP}/elastic-job"
ADMISSION_GATED_BY_ANNOTATION = f"{GROUP}/admission-gated-by"
PRIORITY_BOOST_ANNOTATION = f"{GROUP}/priority-boost"
SAFE_TO_FORCEFULLY_DELETE_ANNOTATION = f"{GROUP}/safe-to-forcefully-delete"
PROV_REQ_ANNOTATION_PREFIX = f"provreq.{GROUP}/"
JOB_MIN_PARALLELISM_ANNOTATION = f"{GROUP}/job-min-parallelism"
JOB_COMPLETIONS_EQUAL_PARALLELISM_ANNOTATION = f"{GROUP}/job-completions-equal-parallelism"
STOPPING_ANNOTATION = f"{GROUP}/stopping"
RAYCLUSTER_GENERATION_ANNOTATION = f"{GROUP}/raycluster-generation"
RAYCLUSTER_PODSET_REPLICA_SIZES_ANNOTATION = f"{GROUP}/raycluster-podset-replica-sizes"

# on Workloads
JOB_UID_LABEL = f"{GROUP}/job-uid"
JOB_OWNER_GVK_ANNOTATION = f"{GROUP}/job-owner-gvk"
JOB_OWNER_NAME_ANNOTATION = f"{GROUP}/job-owner-name"
COMPONENT_WORKLOAD_INDEX_ANNOTATION = f"{GROUP}/component-workload-index"
IS_GROUP_WORKLOAD_ANNOTATION = f"{GROUP}/is-group-workload"
WORKLOAD_SLICE_NAME_ANNOTATION = f"{GROUP}/workload-slice-name"
WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION = f"{GROUP}/workload-slice-replacement-for"
WORKLOAD_ALLOWED_RESOURCE_FLAVORS_ANNOTATION = f"{GROUP}/workload-allowed-resource-flavors"
CONCURRENT_ADMISSION_PARENT_LABEL = f"{GROUP}/concurrent-admission-parent"

# on pods and the templates of pods, by Kueue
MANAGED_LABEL = f"{GROUP}/managed"
POD_FINALIZER = MANAGED_LABEL
PODSET_LABEL = f"{GROUP}/podset"
CLUSTER_QUEUE_LABEL = f"{GROUP}/cluster-queue-name"
LOCAL_QUEUE_LABEL = f"{GROUP}/local-queue-name"
WORKLOAD_ANNOTATION = f"{GROUP}/workload"
ADMISSION_GATE = f"{GROUP}/admission"
TOPOLOGY_GATE = f"{GROUP}/topology"
ELASTIC_JOB_GATE = ELASTIC_JOB_ANNOTATION

# of groups of pods
POD_GROUP_NAME_LABEL = f"{GROUP}/pod-group-name"
POD_GROUP_NAME_ANNOTATION = POD_GROUP_NAME_LABEL
POD_GROUP_TOTAL_COUNT_ANNOTATION = f"{GROUP}/pod-group-total-count"
POD_GROUP_SETS_ANNOTATION = f"{GROUP}/pod-group-sets"
POD_GROUP_ROLE_LABEL = f"{GROUP}/pod-group-role"
POD_GROUP_FAST_ADMISSION_ANNOTATION = f"{GROUP}/pod-group-fast-admission"
POD_GROUP_SERVING_ANNOTATION = f"{GROUP}/pod-group-serving"
POD_GROUP_POD_INDEX_LABEL = f"{GROUP}/pod-group-pod-index"
POD_GROUP_POD_INDEX_LABEL_ANNOTATION = f"{GROUP}/pod-group-pod-index-label"
POD_INDEX_OFFSET_ANNOTATION = f"{GROUP}/pod-index-offset"
RETRIABLE_IN_GROUP_ANNOTATION = f"{GROUP}/retriable-in-group"
ROLE_HASH_ANNOTATION = f"{GROUP}/role-hash"
SUSPENDED_BY_PARENT_ANNOTATION = f"{GROUP}/pod-suspending-parent"
TERMINATION_TARGET = "TerminationTarget"
"""The condition of a pod that Kueue stops."""

GROUP_PREFIX = "group/"
"""Stands before the namespace in requests for groups."""

# of topologies, on templates of pods
PODSET_REQUIRED_TOPOLOGY_ANNOTATION = f"{GROUP}/podset-required-topology"
PODSET_PREFERRED_TOPOLOGY_ANNOTATION = f"{GROUP}/podset-preferred-topology"
PODSET_UNCONSTRAINED_TOPOLOGY_ANNOTATION = f"{GROUP}/podset-unconstrained-topology"
PODSET_SLICE_REQUIRED_TOPOLOGY_ANNOTATION = f"{GROUP}/podset-slice-required-topology"
PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS_ANNOTATION = f"{GROUP}/podset-slice-required-topology-constraints"
PODSET_SLICE_SIZE_ANNOTATION = f"{GROUP}/podset-slice-size"
PODSET_GROUP_NAME_ANNOTATION = f"{GROUP}/podset-group-name"

# of MultiKueue and admission checks
MULTIKUEUE_ORIGIN_LABEL = f"{GROUP}/multikueue-origin"
MULTIKUEUE_ORIGIN_UID_ANNOTATION = f"{GROUP}/multikueue-origin-uid"
MULTIKUEUE_WORKER_WORKLOAD_POD_LABEL = f"{GROUP}/multikueue-worker-workload-pod"
MULTIKUEUE_CONTROLLER_NAME = f"{GROUP}/multikueue"
MULTIKUEUE_PREEMPTION_GATE = MULTIKUEUE_CONTROLLER_NAME
CONCURRENT_ADMISSION_PREEMPTION_GATE = f"{GROUP}/concurrent-admission"
PROVISIONING_REQUEST_CONTROLLER_NAME = f"{GROUP}/provisioning-request"
MULTIKUEUE_CONFIG_KEY = "kubeconfig"
"""Of the Secret that says how a cluster is reached."""

DEFAULT_LOCAL_QUEUE_NAME = "default"
DEFAULT_WORKLOAD_PRIORITY_CLASS_NAME = "default"
DEFAULT_PODSET_NAME = "main"
MAX_PODSETS = 18
MAX_ANCESTORS = 10
"""How many controllers above a job are looked at for one that Kueue manages."""
UPDATES_BATCH_PERIOD_SECONDS = 1.0
"""Changes of one queue within this time make one write of its status."""

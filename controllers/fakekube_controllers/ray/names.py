"""Ray's kinds, and the keys of labels and finalizers.

Upstream: ray-operator/controllers/ray/utils/constant.go.
"""

from fakekube.client.resources import Resource

GROUP = "ray.io"
RAY_CLUSTERS = Resource(GROUP, "v1", "rayclusters", "RayCluster")
RAY_JOBS = Resource(GROUP, "v1", "rayjobs", "RayJob")

CLUSTER_LABEL = "ray.io/cluster"
NODE_TYPE_LABEL = "ray.io/node-type"
GROUP_LABEL = "ray.io/group"
IS_NODE_LABEL = "ray.io/is-ray-node"
IDENTIFIER_LABEL = "ray.io/identifier"
ORIGIN_NAME_LABEL = "ray.io/originated-from-cr-name"
ORIGIN_KIND_LABEL = "ray.io/originated-from-crd"
SUBMISSION_MODE_LABEL = "ray.io/job-submission-mode"
APPLICATION_LABEL = "app.kubernetes.io/name"
CREATED_BY_LABEL = "app.kubernetes.io/created-by"
JOB_FINALIZER = "ray.io/rayjob-finalizer"

HEAD, WORKER, HEAD_GROUP = "head", "worker", "headgroup"
OPERATOR = "kuberay-operator"
MANAGED_BY_OPERATOR = "ray.io/kuberay-operator"

MAX_CLUSTER_NAME_LENGTH = 53
MAX_JOB_NAME_LENGTH = 47
MAX_PREFIX_LENGTH = 50
"""So much of a cluster's name stands in names of its pods."""


def pod_prefix(cluster: str, node_type: str) -> str:
    """What the names of a cluster's pods begin with, but for their suffix."""
    return f"{cluster[:MAX_PREFIX_LENGTH]}-{node_type}-".lower()


def head_service(cluster: str) -> str:
    """The Service of the head."""
    return f"{cluster[-MAX_PREFIX_LENGTH:]}-head-svc"

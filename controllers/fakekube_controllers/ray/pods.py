"""The pods and the Service of a RayCluster, and how many workers a group is to have.

Upstream: ray-operator/controllers/ray/common/pod.go, service.go, and GetWorkerGroupDesiredReplicas
in controllers/ray/utils/util.go.
"""

import copy

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.ownership import set_controller
from fakekube_controllers.ray import names

MAX_INT32 = 2**31 - 1
PORTS = (("gcs-server", 6379), ("dashboard", 8265), ("client", 10001), ("metrics", 8080), ("serve", 8000))


def desired_workers(group: ReadOnlyTree) -> int:
    """Pods of a worker group: its replicas within their bounds, times the hosts of each."""
    if group.get("suspend"):
        return 0
    least, most = group.get("minReplicas") or 0, group.get("maxReplicas", MAX_INT32)
    wanted = group.get("replicas")
    replicas = least if wanted is None or wanted < least else min(wanted, most)
    return int(replicas) * hosts(group)


def hosts(group: ReadOnlyTree) -> int:
    """Pods of one replica."""
    return max(1, group.get("numOfHosts") or 1)


def groups_of(cluster: ReadOnlyTree) -> list[Tree]:
    """The worker groups."""
    return cluster["spec"].get("workerGroupSpecs") or []


def head_pod(cluster: ReadOnlyTree) -> Tree:
    """The head, to be created."""
    return _pod(cluster, cluster["spec"]["headGroupSpec"]["template"], names.HEAD, names.HEAD_GROUP, names.HEAD)


def worker_pod(cluster: ReadOnlyTree, group: ReadOnlyTree) -> Tree:
    """A worker of a group, to be created."""
    return _pod(cluster, group["template"], names.WORKER, group["groupName"], f"{group['groupName']}-{names.WORKER}")


def _pod(cluster: ReadOnlyTree, template: ReadOnlyTree, node_type: str, group: str, kind: str) -> Tree:
    name = meta.name_of(cluster)
    metadata = copy.deepcopy(template.get("metadata") or {})
    ours = {
        names.IS_NODE_LABEL: "yes", names.CLUSTER_LABEL: name, names.NODE_TYPE_LABEL: node_type, names.GROUP_LABEL: group,
        names.IDENTIFIER_LABEL: f"{name}-{node_type}"[:63], names.APPLICATION_LABEL: "kuberay",
        names.CREATED_BY_LABEL: names.OPERATOR}
    pod: Tree = {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": names.pod_prefix(name, kind), "namespace": meta.namespace_of(cluster),
            "labels": (metadata.get("labels") or {}) | ours},
        "spec": copy.deepcopy(template["spec"])}
    if metadata.get("annotations"):
        pod["metadata"]["annotations"] = metadata["annotations"]
    set_controller(pod, cluster)
    return pod


def head_service(cluster: ReadOnlyTree) -> Tree:
    """The Service in front of the head, to be created."""
    name = meta.name_of(cluster)
    selector = {
        names.CLUSTER_LABEL: name, names.NODE_TYPE_LABEL: names.HEAD, names.IDENTIFIER_LABEL: f"{name}-{names.HEAD}"[:63],
        names.APPLICATION_LABEL: "kuberay", names.CREATED_BY_LABEL: names.OPERATOR}
    service: Tree = {
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": names.head_service(name), "namespace": meta.namespace_of(cluster), "labels": selector},
        "spec": {
            "selector": dict(selector), "clusterIP": "None", "publishNotReadyAddresses": True,
            "ports": [{"name": port, "port": number, "appProtocol": "tcp"} for port, number in PORTS]}}
    set_controller(service, cluster)
    return service

"""What the groups of a LeaderWorkerSet are to Kueue: their Workloads' names, and their pod sets.

Upstream: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go.
"""

from copy import deepcopy
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import construction
from fakekube_controllers.kueue.jobframework.workload_names import workload_name_for_owner
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS
from fakekube_controllers.kueue.jobs.statefulset.workloads import owner_uid
from fakekube_controllers.kueue.topology import requests

PREFIX = "leaderworkerset.sigs.k8s.io"
NAME, GROUP_INDEX, WORKER_INDEX = f"{PREFIX}/name", f"{PREFIX}/group-index", f"{PREFIX}/worker-index"
LEADER_NAME = f"{PREFIX}/leader-name"
LEADER, WORKER = "leader", "worker"
MAX_REPLICAS = 1_000_000


def template_of(lws: ReadOnlyTree) -> Tree:
    """``spec.leaderWorkerTemplate``."""
    template: Tree = lws["spec"]["leaderWorkerTemplate"]
    return template


def replicas_of(lws: ReadOnlyTree) -> int:
    """How many groups there are to be."""
    replicas: int | None = lws["spec"].get("replicas")
    return 1 if replicas is None else replicas


def size_of(lws: ReadOnlyTree) -> int:
    """How many pods a group has."""
    size: int | None = template_of(lws).get("size")
    return 1 if size is None else size


def workload_name(lws: ReadOnlyTree, index: str | int, features: Features) -> str:
    """The name of the Workload of a group."""
    return workload_name_for_owner(f"{meta.name_of(lws)}-{index}", owner_uid(lws), LEADER_WORKER_SETS.gvk, features)


def role_of(lws: ReadOnlyTree, pod: ReadOnlyTree) -> str:
    """The name of the pod set that a pod of a group is of."""
    if template_of(lws).get("leaderTemplate") is None:
        return names.DEFAULT_PODSET_NAME
    return WORKER if LEADER_NAME in meta.annotations_of(pod) else LEADER


def pod_sets(lws: ReadOnlyTree, features: Features) -> list[Tree]:
    """The pod sets of one group. Raises TopologyRequestError."""
    template, found = template_of(lws), list[Tree]()
    leader, name, count = template.get("leaderTemplate"), names.DEFAULT_PODSET_NAME, size_of(lws)
    if leader is not None:
        found.append(_pod_set(LEADER, 1, leader, features))
        name, count = WORKER, count - 1
    return [*found, _pod_set(name, count, template["workerTemplate"], features, pod_index_label=WORKER_INDEX)]


def _pod_set(name: str, count: int, template: ReadOnlyTree, features: Features, **index: Any) -> Tree:
    copy = deepcopy(dict(template))
    metadata = copy.get("metadata") or {}
    for field in ("labels", "annotations"):
        if metadata.get(field):
            metadata[field] = {key: value for key, value in metadata[field].items() if not key.startswith(PREFIX) or key == NAME}
    made: Tree = {"name": name, "count": count, "template": copy}
    construction.sanitize_pod_sets([made])
    if features.TopologyAwareScheduling:
        request = requests.topology_request(template.get("metadata") or meta.EMPTY, features, **index)
        if request is not None:
            made["topologyRequest"] = request
    return made

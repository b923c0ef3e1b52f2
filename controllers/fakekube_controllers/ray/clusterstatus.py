"""The status of a RayCluster: counts of workers, its state and its conditions.

Upstream: calculateStatus in ray-operator/controllers/ray/raycluster_controller.go.
"""

import copy
from collections.abc import Sequence

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.pods import is_ready, phase
from fakekube_controllers.ray import names
from fakekube_controllers.ray.pods import MAX_INT32, desired_workers, groups_of, hosts

READY, SUSPENDED_STATE = "ready", "suspended"
PROVISIONED, HEAD_POD_READY, REPLICA_FAILURE = "RayClusterProvisioned", "HeadPodReady", "ReplicaFailure"
SUSPENDING, SUSPENDED = "RayClusterSuspending", "RayClusterSuspended"


def suspend_status(cluster: ReadOnlyTree) -> str:
    """SUSPENDING while pods go, SUSPENDED when they are gone, else empty."""
    found = (cluster.get("status") or meta.EMPTY).get("conditions")
    return next((type_ for type_ in (SUSPENDING, SUSPENDED) if conditions.is_true(found, type_)), "")


def status_of(cluster: ReadOnlyTree, pods: Sequence[ReadOnlyTree], failure: tuple[str, str] | None, now: float) -> Tree:
    """What the status is to be. ``failure`` is the reason and the text of what could not be done,
    ``now`` Unix seconds.
    """
    before: ReadOnlyTree = cluster.get("status") or meta.EMPTY
    status: Tree = copy.deepcopy(dict(before))
    groups = groups_of(cluster)
    workers = [pod for pod in pods if meta.labels_of(pod).get(names.NODE_TYPE_LABEL) == names.WORKER]
    running = [group for group in groups if not group.get("suspend")]
    status |= {
        "observedGeneration": meta.generation_of(cluster),
        "desiredWorkerReplicas": sum(map(desired_workers, groups)),
        "minWorkerReplicas": sum((group.get("minReplicas") or 0) * hosts(group) for group in running),
        "maxWorkerReplicas": min(sum(group.get("maxReplicas", MAX_INT32) * hosts(group) for group in running), MAX_INT32),
        "readyWorkerReplicas": sum(map(is_ready, workers)),
        "availableWorkerReplicas": sum(phase(pod) == "Running" for pod in workers)}
    are_ready = bool(pods) and all(map(is_ready, pods))
    if failure is None and are_ready and len(pods) == status["desiredWorkerReplicas"] + 1:
        status["state"] = READY
    _set_conditions(cluster, status, pods, failure, are_ready=are_ready, now=times.format_time(now))
    if cluster["spec"].get("suspend") and not pods:
        status["state"] = SUSPENDED_STATE
    _set_head(cluster, status, pods)
    if {**status, "lastUpdateTime": ""} != {**before, "lastUpdateTime": ""}:
        status["lastUpdateTime"] = times.format_time(now)
        if status.get("state") != before.get("state"):
            status.setdefault("stateTransitionTimes", {})[status["state"]] = status["lastUpdateTime"]
    return status


def _set_conditions(
    cluster: ReadOnlyTree, status: Tree, pods: Sequence[ReadOnlyTree], failure: tuple[str, str] | None, *, are_ready: bool,
    now: str,
) -> None:
    found = status.setdefault("conditions", [])

    def put(type_: str, reason: str, message: str = "", *, status: bool) -> None:
        conditions.set_condition(found, type_, "True" if status else "False", now=now, reason=reason, message=message)

    if failure is None:
        conditions.remove(found, REPLICA_FAILURE)
    else:
        put(REPLICA_FAILURE, *failure, status=True)
    _put_head_condition(found, pods, now)
    suspended = suspend_status(cluster)
    if not conditions.is_true(found, PROVISIONED) and suspended != SUSPENDED:
        if are_ready:
            put(PROVISIONED, "AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time", status=True)
        else:
            put(
                PROVISIONED, "RayClusterPodsProvisioning", "RayCluster Pods are being provisioned for first time",
                status=False)
    is_wanted = bool(cluster["spec"].get("suspend"))
    if suspended == SUSPENDING:
        if not pods:
            put(PROVISIONED, "RayClusterPodsProvisioning", "RayCluster has been suspended", status=False)
            put(SUSPENDING, SUSPENDING, status=False)
            put(SUSPENDED, SUSPENDED, status=True)
    elif suspended == SUSPENDED:
        if not is_wanted:
            put(SUSPENDED, SUSPENDED, status=False)
    else:
        put(SUSPENDED, SUSPENDED, status=False)
        put(SUSPENDING, SUSPENDING, status=is_wanted)


def _put_head_condition(found: list[Tree], pods: Sequence[ReadOnlyTree], now: str) -> None:
    head = _head(pods)
    if head is None:
        conditions.set_condition(
            found, HEAD_POD_READY, "False", now=now, reason="HeadPodNotFound", message="Head Pod not found")
        return
    ready = conditions.find((head.get("status") or meta.EMPTY).get("conditions"), "Ready") or {}
    is_true = ready.get("status") == "True"
    reason = ready.get("reason") or ("HeadPodRunningAndReady" if is_true else "Unknown")
    conditions.set_condition(
        found, HEAD_POD_READY, "True" if is_true else "False", now=now, reason=reason, message=ready.get("message", ""))


def _head(pods: Sequence[ReadOnlyTree]) -> ReadOnlyTree | None:
    return next((pod for pod in pods if meta.labels_of(pod).get(names.NODE_TYPE_LABEL) == names.HEAD), None)


def _set_head(cluster: ReadOnlyTree, status: Tree, pods: Sequence[ReadOnlyTree]) -> None:
    """Who the head is, and where."""
    head, service = _head(pods), names.head_service(meta.name_of(cluster))
    told = {"serviceName": service}
    if head is not None:
        told["podName"] = meta.name_of(head)
        ip = (head.get("status") or meta.EMPTY).get("podIP")
        if ip:
            told |= {"podIP": ip, "serviceIP": ip}
    status["head"] = told

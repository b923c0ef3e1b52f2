"""The status that a kubelet writes for a pod. Upstream: pkg/kubelet/status, pkg/kubelet/kubelet_pods.go."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import times
from fakekube_controllers.kubelet.container import Container
from fakekube_controllers.kubelet.podrun import PodRun

Tree = dict[str, Any]


def render(run: PodRun, present: Mapping[str, Any], *, host_ip: str, pod_ip: str, now: float) -> Tree:
    """The whole status, from what the pod's is now; what others wrote into it (conditions, quality of service) stays."""
    phase = run.phase
    for container in run.apps:
        container.waiting = "ContainerCreating" if run.initialized else "PodInitializing"
    status: Tree = {
        **present, "phase": phase, "hostIP": host_ip, "hostIPs": [{"ip": host_ip}],
        "startTime": present.get("startTime") or times.format_time(run.accepted_at),
    }
    if any(c.started_at is not None for c in run.containers):
        status["podIP"], status["podIPs"] = pod_ip, [{"ip": pod_ip}]
    if run.failure is not None:
        status["reason"], status["message"] = run.failure
    status["conditions"] = _conditions(run, present.get("conditions") or (), phase, times.format_time(now))
    if run.init:
        status["initContainerStatuses"] = [_init_status(c, now) for c in run.init]
    status["containerStatuses"] = [c.status(now) for c in run.apps]
    return status


def _init_status(container: Container, now: float) -> Tree:
    status = container.status(now)
    if container.restarts_on != "Always":
        status["ready"] = container.done and container.exit_code == 0
    return status


def _conditions(run: PodRun, present: Sequence[Mapping[str, Any]], phase: str, now: str) -> list[Tree]:
    waiting = [c.name for c in run.apps if not c.ready]
    finished = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "")
    ready = not waiting and phase == "Running" and run.deleting_since is None
    because: Tree = {} if ready else {"reason": finished or "ContainersNotReady"}
    if not ready and not finished and waiting:
        because["message"] = f"containers with unready status: [{' '.join(waiting)}]"
    started = any(c.started_at is not None for c in run.containers)
    initialized: Tree = {} if run.initialized else {
        "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: [{' '.join(c.name for c in run.init if not c.done)}]",
    }
    wanted: list[Tree] = [
        {"type": "PodReadyToStartContainers", "status": _word(started and not finished)},
        {"type": "Initialized", "status": _word(run.initialized), **initialized},
        {"type": "Ready", "status": _word(ready), **because},
        {"type": "ContainersReady", "status": _word(ready), **because},
    ]
    result = [dict(condition) for condition in present]
    for condition in wanted:
        _put(result, condition, now)
    return result


def _word(value: bool) -> str:
    return "True" if value else "False"


def _put(conditions: list[Tree], condition: Tree, now: str) -> None:
    for position, present in enumerate(conditions):
        if present["type"] == condition["type"]:
            since = present.get("lastTransitionTime", now) if present["status"] == condition["status"] else now
            conditions[position] = {**condition, "lastProbeTime": None, "lastTransitionTime": since}
            return
    conditions.append({**condition, "lastProbeTime": None, "lastTransitionTime": now})

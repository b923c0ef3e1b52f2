"""The status that a kubelet writes for a pod. Upstream: pkg/kubelet/kubelet_pods.go, pkg/kubelet/status/generate.go."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube_controllers.kubelet.container import Container
from fakekube_controllers.kubelet.podrun import PodRun

Tree = dict[str, Any]

MINE = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def render(
    run: PodRun, present: Mapping[str, Any], *, host_ip: str, pod_ip: str, now: float, observed_generation: bool,
) -> Tree:
    """The whole status, from what the pod's is now; what others wrote into it (conditions, quality of service) stays.

    ``observed_generation``: whether the status says which generation of the pod it speaks of.
    """
    phase = run.phase
    if run.rejected:
        return _rejected(run, present, observed_generation)
    for container in run.apps:
        if not container.begun:
            container.waiting = "ContainerCreating" if run.initialized else "PodInitializing"
    status: Tree = {
        **present, "phase": phase, "hostIP": host_ip, "hostIPs": [{"ip": host_ip}],
        "startTime": present.get("startTime") or times.format_time(run.accepted_at),
    }
    if any(c.started_at is not None for c in run.containers):
        status["podIP"], status["podIPs"] = pod_ip, [{"ip": pod_ip}]
    if run.failure is not None:
        status["reason"], status["message"] = run.failure
    conditions = [*_disruption(run), *_conditions(run, present.get("conditions") or (), phase)]
    if observed_generation and (generation := meta.generation_of(run.pod)):
        status["observedGeneration"] = generation
        conditions = [{**condition, "observedGeneration": generation} for condition in conditions]
    status["conditions"] = _merged(present.get("conditions") or (), conditions, times.format_time(now))
    if run.init:
        status["initContainerStatuses"] = [_init_status(c, now) for c in run.init]
    status["containerStatuses"] = [c.status(now) for c in run.apps]
    return status


def _rejected(run: PodRun, present: Mapping[str, Any], observed_generation: bool) -> Tree:
    """Of a pod that the node did not take there is nothing to tell but that."""
    assert run.failure is not None, "it says why"
    reason, message = run.failure
    status: Tree = {
        **present, "phase": "Failed", "reason": reason, "message": message,
        "startTime": present.get("startTime") or times.format_time(run.accepted_at)}
    if others := [c for c in present.get("conditions") or () if c["type"] not in MINE]:
        status["conditions"] = others
    else:
        status.pop("conditions", None)
    if observed_generation and (generation := meta.generation_of(run.pod)):
        status["observedGeneration"] = generation
    return status


def _init_status(container: Container, now: float) -> Tree:
    status = container.status(now)
    if container.restarts_on != "Always":
        status["ready"] = container.done and container.exit_code == 0
    return status


def _conditions(run: PodRun, present: Sequence[Mapping[str, Any]], phase: str) -> list[Tree]:
    containers_ready = _containers_ready(run, phase)
    return [
        _sandbox(run, phase), _initialized(run, phase),
        {"type": "Ready", **(containers_ready if containers_ready["status"] == "False" else _gates(run.pod, present))},
        {"type": "ContainersReady", **containers_ready}, {"type": "PodScheduled", "status": "True"},
    ]


def _disruption(run: PodRun) -> list[Tree]:
    if not run.disruption:
        return []
    return [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": run.disruption}]


def _sandbox(run: PodRun, phase: str) -> Tree:
    started = any(c.started_at is not None for c in run.containers)
    if started and phase not in ("Succeeded", "Failed"):
        return {"type": "PodReadyToStartContainers", "status": "True"}
    return {"type": "PodReadyToStartContainers", "status": "False"}


def _initialized(run: PodRun, phase: str) -> Tree:
    if phase == "Succeeded":
        return {"type": "Initialized", "status": "True", "reason": "PodCompleted"}
    if run.initialized:
        return {"type": "Initialized", "status": "True"}
    incomplete = [c.name for c in run.init if not (c.running if c.restarts_on == "Always" else c.done and c.exit_code == 0)]
    return {
        "type": "Initialized", "status": "False", "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: [{' '.join(incomplete)}]",
    }


def _containers_ready(run: PodRun, phase: str) -> Tree:
    finished = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase)
    if finished is not None:
        return {"status": "False", "reason": finished}
    watched = [*(c for c in run.init if c.restarts_on == "Always"), *run.apps]
    unready = [c.name for c in watched if not c.ready or run.deleting_since is not None]
    if not unready:
        return {"status": "True"}
    message = f"containers with unready status: [{' '.join(unready)}]"
    return {"status": "False", "reason": "ContainersNotReady", "message": message}


def _gates(pod: Mapping[str, Any], present: Sequence[Mapping[str, Any]]) -> Tree:
    """Whether the pod's readiness gates are open, all of its containers being ready."""
    known = {condition["type"]: condition["status"] for condition in present}
    texts: list[str] = []
    for gate in pod["spec"].get("readinessGates") or ():
        name = gate["conditionType"]
        if name not in known:
            texts.append(f'corresponding condition of pod readiness gate "{name}" does not exist.')
        elif known[name] != "True":
            texts.append(f'the status of pod readiness gate "{name}" is not "True", but {known[name]}')
    if texts:
        return {"status": "False", "reason": "ReadinessGatesNotReady", "message": ", ".join(texts)}
    return {"status": "True"}


def _merged(present: Sequence[Mapping[str, Any]], conditions: Sequence[Tree], now: str) -> list[Tree]:
    """What others wrote, then the kubelet's own; a condition whose status did not change keeps its time."""
    since = {c["type"]: c.get("lastTransitionTime") for c in present}
    before = {c["type"]: c["status"] for c in present}
    mine = (*MINE, *(condition["type"] for condition in conditions))
    result = [dict(condition) for condition in present if condition["type"] not in mine]
    for condition in conditions:
        kind = condition["type"]
        kept = since.get(kind) if before.get(kind) == condition["status"] else None
        result.append({**condition, "lastProbeTime": None, "lastTransitionTime": kept or now})
    return result

"""The status that a kubelet writes for a pod. Upstream: pkg/kubelet/kubelet_pods.go,
pkg/kubelet/status/generate.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.conditions import transition_time
from fakekube.apimachinery.pods import FINISHED_PHASES
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kubelet.containers.container import CREATING, INITIALIZING, Container
from fakekube_controllers.kubelet.pods.run import PodRun

Verdict = tuple[str, str, str]
"""A condition's status, reason and message; what is empty is left out."""
Condition = tuple[str, str, str, str]
"""A condition's type, and its verdict."""

TRUE: Verdict = ("True", "", "")
MINE = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def render(
    run: PodRun, present: Mapping[str, Any], *, host_ip: str, pod_ip: str, now: float, observed_generation: bool,
) -> Tree:
    """The whole status, from what the pod's is now; what others wrote into it (conditions, quality
    of service) stays.

    ``observed_generation``: whether the status says which generation of the pod it speaks of.
    """
    if run.rejected:
        return _rejected(run, present, observed_generation)
    phase = run.phase
    for container in run.containers:
        if container.waiting in (CREATING, INITIALIZING):
            container.waiting = INITIALIZING if run.init else CREATING
    status: Tree = {
        **present, "phase": phase, "hostIP": host_ip, "hostIPs": [{"ip": host_ip}],
        "startTime": present.get("startTime") or times.format_time(run.accepted_at),
    }
    started = any(c.started_at is not None for c in run.containers)
    if started:
        status["podIP"], status["podIPs"] = pod_ip, [{"ip": pod_ip}]
    if run.failure is not None:
        status["reason"], status["message"] = run.failure
    generation = meta.generation_of(run.pod) if observed_generation else 0
    if generation:
        status["observedGeneration"] = generation
    before = present.get("conditions") or ()
    status["conditions"] = _merged(before, _conditions(run, before, phase, started=started), generation, times.format_time(now))
    if run.init:
        status["initContainerStatuses"] = [_init_status(c, now) for c in run.init]
    status["containerStatuses"] = [c.status(now) for c in run.apps]
    return status


def changes(status: Mapping[str, Any], present: Mapping[str, Any]) -> Tree:
    """The merge patch that makes ``status`` of ``present``; empty when they are the same."""
    changed: Tree = {key: value for key, value in status.items() if present.get(key) != value}
    for key in present:
        if key not in status:
            changed[key] = None
    # a null in them says what its absence does, and takes longer to read
    if conditions := changed.get("conditions"):
        changed["conditions"] = [
            {key: value for key, value in condition.items() if value is not None} for condition in conditions]
    return changed


def _rejected(run: PodRun, present: Mapping[str, Any], observed_generation: bool) -> Tree:
    """The status of a pod that the node did not admit."""
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


def _conditions(run: PodRun, present: Sequence[Mapping[str, Any]], phase: str, *, started: bool) -> list[Condition]:
    """What the kubelet says of the pod. ``started``: whether any container ever did."""
    found: list[Condition] = []
    if run.disruption:
        found.append(("DisruptionTarget", "True", "TerminationByKubelet", run.disruption))
    found.append(("PodReadyToStartContainers", "True" if started and phase not in FINISHED_PHASES else "False", "", ""))
    found.append(("Initialized", *_initialized(run, phase)))
    ready = _containers_ready(run, phase)
    found.append(("Ready", *(_gates(run.pod, present) if ready[0] == "True" else ready)))
    found.append(("ContainersReady", *ready))
    found.append(("PodScheduled", *TRUE))
    return found


def _initialized(run: PodRun, phase: str) -> Verdict:
    if phase == "Succeeded":
        return ("True", "PodCompleted", "")
    if run.initialized:
        return TRUE
    incomplete = [c.name for c in run.init if not (c.running if c.restarts_on == "Always" else c.done and c.exit_code == 0)]
    return ("False", "ContainersNotInitialized", f"containers with incomplete status: [{' '.join(incomplete)}]")


def _containers_ready(run: PodRun, phase: str) -> Verdict:
    if phase in FINISHED_PHASES:
        return ("False", "PodCompleted" if phase == "Succeeded" else "PodFailed", "")
    watched = [*[c for c in run.init if c.restarts_on == "Always"], *run.apps]
    unready = [c.name for c in watched if not c.ready or run.deleting_since is not None]
    if not unready:
        return TRUE
    return ("False", "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")


def _gates(pod: Mapping[str, Any], present: Sequence[Mapping[str, Any]]) -> Verdict:
    """Whether the pod's readiness gates are open, all of its containers being ready."""
    gates = pod["spec"].get("readinessGates")
    if not gates:
        return TRUE
    known = {condition["type"]: condition["status"] for condition in present}
    texts: list[str] = []
    for gate in gates:
        name = gate["conditionType"]
        if name not in known:
            texts.append(f'corresponding condition of pod readiness gate "{name}" does not exist.')
        elif known[name] != "True":
            texts.append(f'the status of pod readiness gate "{name}" is not "True", but {known[name]}')
    return ("False", "ReadinessGatesNotReady", ", ".join(texts)) if texts else TRUE


def _merged(present: Sequence[Mapping[str, Any]], conditions: Sequence[Condition], generation: int, now: str) -> list[Tree]:
    """What others wrote, then the kubelet's own; a condition whose status did not change keeps its
    time.
    """
    before = {c["type"]: c for c in present}
    mine = []
    for kind, status, reason, message in conditions:
        old = before.pop(kind, None)
        condition: Tree = {"type": kind, "status": status}
        if reason:
            condition["reason"] = reason
        if message:
            condition["message"] = message
        if generation:
            condition["observedGeneration"] = generation
        condition["lastProbeTime"], condition["lastTransitionTime"] = None, transition_time(old, status, now)
        mine.append(condition)
    return [*(dict(c) for c in present if c["type"] in before), *mine] if before else mine

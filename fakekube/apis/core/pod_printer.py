"""How pods print: the one word for their state comes from containers, conditions and deletion
together.

Upstream: printPod in pkg/printers/internalversion/printers.go.
"""

from dataclasses import dataclass

from fakekube.apimachinery import pods
from fakekube.apimachinery.ages import since, unix
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import NONE, age, columns, dig
from fakekube.registry.kind import Printer

COLUMNS = columns(
    "Name", "Ready", "Status", "Restarts", "Age", "IP+", "Node+", "Nominated Node+", "Readiness Gates+",
)  # fmt: skip

_FINISHED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


@dataclass(slots=True)
class _Summary:
    reason: str
    total: int
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""  # when a container last ended before it was started again

    def count(self, status: Tree) -> None:
        """Book the restarts of one container."""
        self.restarts += status.get("restartCount", 0)
        ended = dig(status, "lastState", "terminated", "finishedAt")
        if ended and (unix(ended) or 0) > (unix(self.last_restart) or 0):
            self.last_restart = ended


def cells(pod: Tree, now: float) -> list[Json]:
    """One row."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    summary = _summarize(pod, spec, status)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{restarts} ({since(summary.last_restart, now)} ago)"
    addresses = status.get("podIPs") or [{}]
    return [
        dig(pod, "metadata", "name") or "",
        f"{summary.ready}/{summary.total}",
        summary.reason,
        restarts,
        age(pod, now),
        addresses[0].get("ip") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _readiness_gates(spec, status),
    ]


def conditions(pod: Tree) -> list[Tree]:
    """That a pod is finished, so that clients can leave it out."""
    phase = dig(pod, "status", "phase")
    if phase not in _FINISHED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _FINISHED[phase]}]


def _summarize(pod: Tree, spec: Tree, status: Tree) -> _Summary:
    phase = status.get("phase", "")
    found = status.get("conditions") or []
    sidecars = {container["name"] for container in pods.sidecars(spec)}
    summary = _Summary(status.get("reason") or phase, len(spec.get("containers") or ()) + len(sidecars))
    if any(each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated" for each in found):
        summary.reason = "SchedulingGated"
    restarted_sidecars = _Summary("", 0)
    initializing = _initializing(spec, status, sidecars, summary, restarted_sidecars)
    if not initializing or _is_true(found, "Initialized"):
        summary.restarts, summary.last_restart = restarted_sidecars.restarts, restarted_sidecars.last_restart
        _running(status, summary, ready=_is_true(found, "Ready"))
    if dig(pod, "metadata", "deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif phase not in _FINISHED:
            summary.reason = "Terminating"
    return summary


def _is_true(conditions: list[Tree], kind: str) -> bool:
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)


def _initializing(
    spec: Tree, status: Tree, sidecars: set[str], summary: _Summary, restarted_sidecars: _Summary,
) -> bool:  # fmt: skip
    """Whether an init container still keeps the pod back; ``summary`` then says how."""
    for index, container in enumerate(status.get("initContainerStatuses") or ()):
        summary.count(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        sidecar = container.get("name") in sidecars
        if sidecar:
            restarted_sidecars.count(container)
        if ended is not None and not ended.get("exitCode"):
            continue
        if sidecar and container.get("started"):
            summary.ready += bool(container.get("ready"))
            continue
        if ended is not None:
            summary.reason = f"Init:{_exit(ended)}"
        elif waiting and waiting.get("reason") and waiting["reason"] != "PodInitializing":
            summary.reason = f"Init:{waiting['reason']}"
        else:
            summary.reason = f"Init:{index}/{len(spec.get('initContainers') or ())}"
        return True
    return False


def _running(status: Tree, summary: _Summary, *, ready: bool) -> None:
    """What the containers say, the first one last, so that it wins."""
    has_running, failure = False, ""
    for container in reversed(status.get("containerStatuses") or ()):
        summary.count(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if waiting and waiting.get("reason"):
            summary.reason = waiting["reason"]
        elif ended is not None:
            summary.reason = _exit(ended)
            if ended.get("exitCode"):
                failure = summary.reason
        elif container.get("ready") and state.get("running") is not None:
            has_running = True
            summary.ready += 1
    if summary.reason == "Completed":
        if has_running and ready:
            summary.reason = "Running"
        elif failure:
            summary.reason = failure
        elif has_running:
            summary.reason = "NotReady"


def _exit(ended: Tree) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _readiness_gates(spec: Tree, status: Tree) -> str:
    gates = [gate.get("conditionType") for gate in spec.get("readinessGates") or ()]
    if not gates:
        return NONE
    states = {each.get("type"): each.get("status") for each in reversed(status.get("conditions") or ())}
    return f"{sum(states.get(gate) == 'True' for gate in gates)}/{len(gates)}"


PRINTER = Printer(COLUMNS, cells, conditions)

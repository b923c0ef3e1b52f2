"""The parts of the API's containerStatus. Upstream: pkg/kubelet/kubelet_pods.go
(convertToAPIContainerStatuses).
"""

from fakekube.apimachinery import times
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kubelet.outcomes.outcome import Outcome


def terminated(
    exit_code: int, outcome: Outcome | None, started_at: float | None, finished_at: float | None, container_id: str,
) -> Tree:
    """The state ``terminated`` of a container. Times are Unix seconds."""
    reason = (outcome.reason if outcome is not None else "") or ("Completed" if exit_code == 0 else "Error")
    result: Tree = {"exitCode": exit_code, "reason": reason}
    if outcome is not None and outcome.message:
        result["message"] = outcome.message
    result["startedAt"] = times.format_time(0.0 if reason == "StartError" else started_at or 0.0)
    result["finishedAt"] = times.format_time(finished_at or 0.0)
    result["containerID"] = container_id
    return result


def waiting(reason: str, message: str) -> Tree:
    """The state of a container that does not run yet."""
    return {"waiting": {"reason": reason, "message": message} if message else {"reason": reason}}


def crash_loop_back_off(seconds: float, name: str, pod: str) -> Tree:
    """The state of a container that is to be restarted after so many seconds; ``pod`` is
    ``name_namespace(uid)``.
    """
    text = f"back-off {_duration(int(seconds))} restarting failed container={name} pod={pod}"
    return waiting("CrashLoopBackOff", text)


def container_id(name: str, restart_count: int, started_at: float | None) -> str:
    """An id that looks like one and is the same in every run of the same history."""
    text = f"{name}-{restart_count}-{int((started_at or 0.0) * 1000)}"
    return "fakekube://" + text.encode().hex().ljust(64, "0")[:64]


def _duration(seconds: int) -> str:
    """``10s``, ``1m20s``, ``5m0s``, as Go prints a duration."""
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60}s"

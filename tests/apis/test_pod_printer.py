"""The row of a pod: what its one word for state, its readiness and its restarts are made from."""

from typing import Any

import pytest

from fakekube.apimachinery.times import parse_time
from fakekube.apis.core.pod_printer import PRINTER

NOW = parse_time("2026-01-01T01:00:00Z")


def pod(*, spec: dict[str, Any] | None = None, deleted: bool = False, **status: Any) -> dict[str, Any]:
    metadata = {"name": "p", "creationTimestamp": "2026-01-01T00:55:00Z"}
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T01:00:00Z"
    return {"metadata": metadata, "spec": {"containers": [{"name": "a"}], **(spec or {})}, "status": status}


def container(name: str = "a", *, ready: bool = False, restarts: int = 0, **state: Any) -> dict[str, Any]:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state}


def ended(code: int = 0, reason: str = "", **more: Any) -> dict[str, Any]:
    return {"exitCode": code, **({"reason": reason} if reason else {}), **more}


RUNNING = container(ready=True, running={})
READY = [{"type": "Ready", "status": "True"}]
TWO = {"containers": [{"name": "a"}, {"name": "b"}]}
INIT = {"initContainers": [{"name": "i"}, {"name": "j"}]}
SIDECAR = {"initContainers": [{"name": "s", "restartPolicy": "Always"}]}

STATES = [
    ("pending", pod(phase="Pending"), "0/1", "Pending"),
    ("running", pod(phase="Running", containerStatuses=[RUNNING]), "1/1", "Running"),
    ("a reason of the pod itself", pod(phase="Failed", reason="Evicted"), "0/1", "Evicted"),
    (
        "gated",
        pod(phase="Pending", conditions=[{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]),
        "0/1", "SchedulingGated",
    ),
    ("pulling", pod(phase="Pending", containerStatuses=[container(waiting={"reason": "ImagePullBackOff"})]),
     "0/1", "ImagePullBackOff"),
    ("completed", pod(phase="Succeeded", containerStatuses=[container(terminated=ended(0, "Completed"))]),
     "0/1", "Completed"),
    ("failed", pod(phase="Failed", containerStatuses=[container(terminated=ended(1, "Error"))]), "0/1", "Error"),
    ("an exit code without reason", pod(phase="Failed", containerStatuses=[container(terminated=ended(3))]),
     "0/1", "ExitCode:3"),
    ("a signal", pod(phase="Failed", containerStatuses=[container(terminated=ended(137, signal=9))]),
     "0/1", "Signal:9"),
    (
        "one completed, one running and ready",
        pod(spec=TWO, phase="Running", conditions=READY,
            containerStatuses=[container(terminated=ended(0, "Completed")), {**RUNNING, "name": "b"}]),
        "1/2", "Running",
    ),
    (
        "one completed, one running and not ready",
        pod(spec=TWO, phase="Running",
            containerStatuses=[container(terminated=ended(0, "Completed")), {**RUNNING, "name": "b"}]),
        "1/2", "NotReady",
    ),
    (
        "one completed, one failed",
        pod(spec=TWO, phase="Running", containerStatuses=[
            container(terminated=ended(0, "Completed")), container("b", terminated=ended(2, "OOMKilled"))]),
        "0/2", "OOMKilled",
    ),
    ("initializing", pod(spec=INIT, phase="Pending", initContainerStatuses=[
        container("i", terminated=ended(0)), container("j", running={})]), "0/1", "Init:1/2"),
    ("an init container that waits for its turn", pod(spec=INIT, phase="Pending", initContainerStatuses=[
        container("i", waiting={"reason": "PodInitializing"})]), "0/1", "Init:0/2"),
    ("an init container that crashes", pod(spec=INIT, phase="Pending", initContainerStatuses=[
        container("i", waiting={"reason": "CrashLoopBackOff"})]), "0/1", "Init:CrashLoopBackOff"),
    ("an init container that failed", pod(spec=INIT, phase="Failed", initContainerStatuses=[
        container("i", terminated=ended(1, "Error"))]), "0/1", "Init:Error"),
    ("an init container killed by a signal", pod(spec=INIT, phase="Failed", initContainerStatuses=[
        container("i", terminated=ended(9, signal=9))]), "0/1", "Init:Signal:9"),
    (
        "a sidecar counts as a container",
        pod(spec=SIDECAR, phase="Running", containerStatuses=[RUNNING],
            initContainerStatuses=[{**container("s", ready=True, running={}), "started": True}]),
        "2/2", "Running",
    ),
    ("deleted", pod(phase="Running", deleted=True, containerStatuses=[RUNNING]), "1/1", "Terminating"),
    ("deleted after its end", pod(phase="Succeeded", deleted=True), "0/1", "Succeeded"),
    ("deleted from a lost node", pod(phase="Running", reason="NodeLost", deleted=True), "0/1", "Unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("obj", "ready", "state"), [case[1:] for case in STATES], ids=[case[0] for case in STATES])
def test_the_state_of_a_pod(obj: dict[str, Any], ready: str, state: str):
    """Given a pod / when printed / then readiness and state are one of the words that kubectl users
    know.
    """
    assert PRINTER.cells(obj, NOW)[1:3] == [ready, state]


def test_restarts_say_how_long_ago():
    """Given a container that ended before / when printed / then the count and the time since; age
    is beside it.
    """
    status = container(ready=True, restarts=3, running={})
    status["lastState"] = {"terminated": ended(1, finishedAt="2026-01-01T00:57:30Z")}
    cells = PRINTER.cells(pod(phase="Running", containerStatuses=[status]), NOW)
    assert cells[3:5] == ["3 (2m30s ago)", "5m"]


def test_restarts_of_init_containers_are_forgotten_once_the_pod_runs():
    """Given an init container that was restarted / when the pod is initialized / then containers
    alone count.
    """
    waiting = [container("i", restarts=2, waiting={"reason": "CrashLoopBackOff"})]
    assert PRINTER.cells(pod(spec=INIT, phase="Pending", initContainerStatuses=waiting), NOW)[3] == "2"
    finished = [container("i", restarts=2, terminated=ended(0)), container("j", terminated=ended(0))]
    running = pod(spec=INIT, phase="Running", initContainerStatuses=finished, containerStatuses=[RUNNING])
    assert PRINTER.cells(running, NOW)[3] == "0"


def test_the_wide_columns():
    """Given address, node and gates / when printed / then they are shown, and <none> without them.
    """
    assert PRINTER.cells(pod(phase="Pending"), NOW)[5:] == ["<none>"] * 4
    gates = {"readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}], "nodeName": "n"}
    full = pod(
        spec=gates, podIPs=[{"ip": "10.0.0.9"}, {"ip": "fd00::9"}], nominatedNodeName="m",
        conditions=[{"type": "x", "status": "True"}, {"type": "y", "status": "False"}],
    )  # fmt: skip
    assert PRINTER.cells(full, NOW)[5:] == ["10.0.0.9", "n", "m", "1/2"]


@pytest.mark.parametrize(
    ("phase", "message"),
    [("Succeeded", "The pod has completed successfully."), ("Failed", "The pod failed.")],
)
def test_rows_of_finished_pods_say_so(phase: str, message: str):
    """Given a finished pod / when its row is made / then it carries the condition Completed."""
    assert PRINTER.conditions is not None
    expected = {"type": "Completed", "status": "True", "reason": phase, "message": message}
    assert PRINTER.conditions(pod(phase=phase)) == [expected]
    assert PRINTER.conditions(pod(phase="Running")) == []

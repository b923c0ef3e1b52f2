"""What exec probes come to: as the annotation ``exec`` says of their command, or as the command
itself tells. And what a probe that fails says of it.

A probe succeeds whose command neither says anything about, as one of HTTP or TCP does. Upstream:
pkg/probe. Left out: the callback ``on_exec``, which is for commands that somebody waits for.
"""

from collections.abc import Mapping
from typing import Any

from fakekube_controllers.kubelet.outcomes import commands
from fakekube_controllers.kubelet.outcomes.annotations import exec_answer, invalid

PROBES = ("readinessProbe", "livenessProbe", "startupProbe")


def failing(texts: Mapping[str, str], container: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an Outcome that say which exec probes of a container fail; ``texts`` are its
    pod's annotations.

    Raises InvalidOutcome for an annotation that cannot be read.
    """
    found: dict[str, Any] = {}
    for name in PROBES:
        probe = container.get(name)
        command = (probe.get("exec") or {}).get("command") if probe else None
        if not probe or not command or not _fails(texts, container["name"], command):
            continue
        if name == "readinessProbe":
            found["ready_after_seconds"] = None
        elif name == "startupProbe":
            found["started_after_seconds"] = None
        else:
            found["unhealthy_after_seconds"] = float(probe.get("initialDelaySeconds") or 0)
    return found


def failure_output(texts: Mapping[str, str], container: Mapping[str, Any], probe: Mapping[str, Any], pod_ip: str) -> str:
    """What a probe of a container that fails says, in the words of pkg/probe.

    A command without output, of which upstream has nothing to tell, is said to have failed.
    """
    if "exec" in probe:
        command = (probe["exec"] or {}).get("command") or []
        code, output = _answer(texts, container["name"], command)
        return output or f"command terminated with exit code {code or 1}"
    if "tcpSocket" in probe:
        return f"dial tcp {_address(container, probe['tcpSocket'], pod_ip)}: connect: connection refused"
    if "grpc" in probe:
        return 'service unhealthy (responded with "NOT_SERVING")'
    return "HTTP probe failed with statuscode: 503"


def _fails(texts: Mapping[str, str], container: str, command: list[str]) -> bool:
    return _answer(texts, container, command)[0] != 0


def _answer(texts: Mapping[str, str], container: str, command: list[str]) -> tuple[int, str]:
    """The exit code of a command and what it says; 0 where nobody knows."""
    effect = commands.effect_of(command)
    if effect is not None:
        return effect.exit_code, "\n".join(line for _, line in effect.output)
    try:
        answer = exec_answer(texts, container, command)
    except ValueError as error:
        raise invalid("exec", str(error)) from error
    output = ""
    if isinstance(answer, dict):
        output = "".join(str(answer.get(name) or "") for name in ("stdout", "stderr"))
        answer = answer.get("exitCode", 0)
    return (answer % 256 if isinstance(answer, int) else 0), output.rstrip("\n")


def _address(container: Mapping[str, Any], action: Mapping[str, Any], pod_ip: str) -> str:
    """``host:port`` as Go's net.JoinHostPort writes it; a port may be the name of a declared one.
    """
    host, port = action.get("host") or pod_ip, action.get("port")
    for declared in container.get("ports") or ():
        if declared.get("name") == port:
            port = declared["containerPort"]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

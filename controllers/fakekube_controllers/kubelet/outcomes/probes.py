"""What exec probes come to: as the annotation ``exec`` says of their command, or as the command
itself tells.

A probe succeeds whose command neither says anything about, as one of HTTP or TCP does. Upstream:
pkg/probe/exec. Left out: the callback ``on_exec``, which is for commands that somebody waits for.
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


def _fails(texts: Mapping[str, str], container: str, command: list[str]) -> bool:
    effect = commands.effect_of(command)
    if effect is not None:
        return effect.exit_code != 0
    try:
        answer = exec_answer(texts, container, command)
    except ValueError as error:
        raise invalid("exec", str(error)) from error
    if isinstance(answer, dict):
        answer = answer.get("exitCode", 0)
    return isinstance(answer, int) and answer % 256 != 0

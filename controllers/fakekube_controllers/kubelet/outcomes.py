"""Who decides how a container fares: a callback, the pod's annotations, its command, the cluster's default; in this order.

Annotations (``fakekube.dev/...``, on the pod or its template):

    run-duration  how long it runs (1h30m); "forever" for until it is deleted
    exit-code     how it ends
    exit-codes    the same by attempt: "1,0" fails once and then succeeds; the last one stays
    start-delay   how long after it was bound until it starts
    ready-after   how long after its start until it is ready; "never" for never
    log           what it logs, line by line
    ignore-sigterm  "true": it runs on until its grace period is over

An attempt is a restart of the container, or, for pods that replace each other (those of a Job), the next of these pods.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fakekube_controllers.kubelet import commands, durations

PREFIX = "fakekube.dev/"

Pod = Mapping[str, Any]


class BadAnnotation(ValueError):
    """An annotation that cannot be meant; the text names it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one run of one container fares. Seconds; ``run_seconds`` None runs until the pod is deleted."""

    run_seconds: float | None = 1.0
    exit_code: int = 0
    reason: str = ""  # of the terminated state; empty: Completed or Error by the exit code
    message: str = ""
    ready_after_seconds: float | None = 0.0  # None: never
    log: tuple[tuple[float, str], ...] = ()  # seconds after the start, and a line
    ignore_sigterm: bool = False


Callback = Callable[[Pod, int, str], "Outcome | Mapping[str, str] | int | None"]
"""``callback(pod, attempt, container)``: an Outcome, an exit code, or what the annotations would say (their names without
the prefix); None lets the next in line decide."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where nobody says anything. Seconds."""

    start_delay_seconds: float = 1.0
    run_seconds: float = 1.0  # of containers that are meant to end


def start_delay_seconds(pod: Pod, defaults: Defaults) -> float:
    """How long after it was bound a pod's first container starts. Raises BadAnnotation."""
    text = _annotation(pod, "start-delay")
    return defaults.start_delay_seconds if text is None else _seconds("start-delay", text)


def decide(pod: Pod, attempt: int, container: Mapping[str, Any], callback: Callback | None, defaults: Defaults) -> Outcome:
    """How this run fares. Raises BadAnnotation, and what the callback raises."""
    if callback is not None:
        chosen = callback(pod, attempt, container["name"])
        if isinstance(chosen, Outcome):
            return chosen
        if isinstance(chosen, Mapping):
            said = {PREFIX + name: text for name, text in chosen.items()}
            annotations = {**(pod["metadata"].get("annotations") or {}), **said}
            told = {**pod, "metadata": {**pod["metadata"], "annotations": annotations}}
            return _by_annotation(told, attempt, container, defaults)
        if chosen is not None:
            return replace(_by_annotation(pod, attempt, container, defaults), exit_code=int(chosen))
    return _by_annotation(pod, attempt, container, defaults)


def _annotation(pod: Pod, name: str) -> str | None:
    return (pod["metadata"].get("annotations") or {}).get(PREFIX + name)


def _seconds(name: str, text: str) -> float:
    try:
        return durations.seconds_of(text)
    except ValueError as error:
        raise BadAnnotation(f"annotation {PREFIX}{name}: {error}") from error


def _code(name: str, text: str) -> int:
    if not text.strip().isdecimal() or int(text) > 255:
        raise BadAnnotation(f"annotation {PREFIX}{name}: {text!r} is no exit code")
    return int(text)


def _by_annotation(pod: Pod, attempt: int, container: Mapping[str, Any], defaults: Defaults) -> Outcome:
    outcome = _by_command(pod, container, defaults)
    codes = _annotation(pod, "exit-codes")
    code = _annotation(pod, "exit-code")
    duration = _annotation(pod, "run-duration")
    if codes is not None:
        listed = codes.split(",")
        outcome = replace(outcome, exit_code=_code("exit-codes", listed[min(attempt, len(listed) - 1)]))
    elif code is not None:
        outcome = replace(outcome, exit_code=_code("exit-code", code))
    if duration == "forever":
        outcome = replace(outcome, run_seconds=None)
    elif duration is not None:
        outcome = replace(outcome, run_seconds=_seconds("run-duration", duration))
    elif (codes or code) is not None and outcome.run_seconds is None:
        outcome = replace(outcome, run_seconds=defaults.run_seconds)
    ready = _annotation(pod, "ready-after")
    if ready is not None:
        outcome = replace(outcome, ready_after_seconds=None if ready == "never" else _seconds("ready-after", ready))
    log = _annotation(pod, "log")
    if log is not None:
        outcome = replace(outcome, log=tuple((0.0, line) for line in log.split("\n")))
    return replace(outcome, ignore_sigterm=_annotation(pod, "ignore-sigterm") == "true")


def _by_command(pod: Pod, container: Mapping[str, Any], defaults: Defaults) -> Outcome:
    probe = container.get("readinessProbe") or {}
    ready = float(probe.get("initialDelaySeconds", 0))
    script = commands.read([*(container.get("command") or ()), *(container.get("args") or ())])
    if script is not None:
        return Outcome(script.run_seconds, script.exit_code, ready_after_seconds=ready, log=script.output)
    endless = pod["spec"].get("restartPolicy", "Always") == "Always"
    return Outcome(None if endless else defaults.run_seconds, ready_after_seconds=ready)

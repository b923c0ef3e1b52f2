"""Who decides how a container fares: a callback, the pod's annotations, its command, the cluster's default; in this order.

Annotations (``fakekube.dev/...``, on the pod or its template):

    run-duration  how long it runs (1h30m); "forever" for until it is deleted
    exit-code     how it ends
    exit-codes    the same by attempt: "1,0" fails once and then succeeds; the last one stays
    start-delay   how long after it was bound until it starts
    ready-after   how long after its start until it is ready; "never" for never
    log           what it logs, line by line
    ignore-sigterm  "true": it runs on until its grace period is over

They speak of the pod's containers; ``exit-code.NAME`` speaks of one container alone, and only so of init containers.
An attempt is a restart of the container, or, for pods that replace each other (those of a Job), the next of these pods.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fakekube.runtime.controller import attempt
from fakekube.util import durations
from fakekube_controllers.kubelet import commands

PREFIX = "fakekube.dev/"

Pod = Mapping[str, Any]


class BadOutcome(ValueError):
    """What was said of a container cannot be meant. ``reason`` is for machines; the text names who said it."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


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
    removal_seconds: float = 1.0  # from when a deleted pod's containers have stopped until it is gone


def start_delay_seconds(pod: Pod, defaults: Defaults) -> float:
    """How long after it was bound a pod's first container starts. Raises BadOutcome."""
    text = _annotations(pod).get(PREFIX + "start-delay")
    return defaults.start_delay_seconds if text is None else _seconds("start-delay", text)


def decide(pod: Pod, number: int, container: Mapping[str, Any], callback: Callback | None, defaults: Defaults) -> Outcome:
    """How this run, attempt ``number``, fares. Raises BadOutcome."""
    name = container["name"]
    chosen: Any = None
    if callback is not None:
        chosen, error = attempt(callback, pod, number, name)
        if error is not None:
            text = f"outcome of container {name}, attempt {number}: the callback raised {type(error).__name__}: {error}"
            raise BadOutcome("OutcomeCallbackFailed", text)
    if isinstance(chosen, Outcome):
        return chosen
    if isinstance(chosen, Mapping):
        said = {f"{PREFIX}{key}.{name}": str(text) for key, text in chosen.items()}
        return _by_annotation(pod, number, container, defaults, {**_annotations(pod), **said})
    outcome = _by_annotation(pod, number, container, defaults, _annotations(pod))
    if chosen is None:
        return outcome
    if not isinstance(chosen, int):
        text = f"outcome of container {name}, attempt {number}: the callback returned {chosen!r}, which is no outcome"
        raise BadOutcome("OutcomeCallbackFailed", text)
    seconds = defaults.run_seconds if outcome.run_seconds is None else outcome.run_seconds
    return replace(outcome, exit_code=chosen, run_seconds=seconds)


def _annotations(pod: Pod) -> Mapping[str, str]:
    found: Mapping[str, str] = pod["metadata"].get("annotations") or {}
    return found


def _seconds(name: str, text: str) -> float:
    try:
        return durations.seconds_of(text)
    except ValueError as error:
        raise BadOutcome("InvalidAnnotation", f"annotation {PREFIX}{name}: {error}") from error


def _code(name: str, text: str) -> int:
    if not text.strip().isdecimal() or int(text) > 255:
        raise BadOutcome("InvalidAnnotation", f"annotation {PREFIX}{name}: {text!r} is no exit code")
    return int(text)


def _by_annotation(
    pod: Pod, number: int, container: Mapping[str, Any], defaults: Defaults, annotations: Mapping[str, str],
) -> Outcome:
    outcome = _by_command(pod, container, defaults)
    name = container["name"]
    is_init = any(other["name"] == name for other in pod["spec"].get("initContainers") or ())

    def said(key: str) -> str | None:
        return annotations.get(f"{PREFIX}{key}.{name}", None if is_init else annotations.get(PREFIX + key))

    codes, code, duration = said("exit-codes"), said("exit-code"), said("run-duration")
    if codes is not None:
        listed = codes.split(",")
        outcome = replace(outcome, exit_code=_code("exit-codes", listed[min(number, len(listed) - 1)]))
    elif code is not None:
        outcome = replace(outcome, exit_code=_code("exit-code", code))
    if duration == "forever":
        outcome = replace(outcome, run_seconds=None)
    elif duration is not None:
        outcome = replace(outcome, run_seconds=_seconds("run-duration", duration))
    elif (codes or code) is not None and outcome.run_seconds is None:
        outcome = replace(outcome, run_seconds=defaults.run_seconds)
    ready = said("ready-after")
    if ready is not None:
        outcome = replace(outcome, ready_after_seconds=None if ready == "never" else _seconds("ready-after", ready))
    log = said("log")
    if log is not None:
        outcome = replace(outcome, log=tuple((0.0, line) for line in log.split("\n")))
    return replace(outcome, ignore_sigterm=said("ignore-sigterm") == "true")


def _by_command(pod: Pod, container: Mapping[str, Any], defaults: Defaults) -> Outcome:
    probe = container.get("readinessProbe") or {}
    ready = float(probe.get("initialDelaySeconds", 0))
    script = commands.read([*(container.get("command") or ()), *(container.get("args") or ())])
    if script is not None:
        return Outcome(script.run_seconds, script.exit_code, ready_after_seconds=ready, log=script.output)
    endless = container.get("restartPolicy") == "Always"  # a sidecar
    if not any(other["name"] == container["name"] for other in pod["spec"].get("initContainers") or ()):
        # A command that reads waits for somebody who attaches to it, see streams.py.
        endless = pod["spec"].get("restartPolicy", "Always") == "Always" or bool(container.get("stdin"))
    return Outcome(None if endless else defaults.run_seconds, ready_after_seconds=ready)

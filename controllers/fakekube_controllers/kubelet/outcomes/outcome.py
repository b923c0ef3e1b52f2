"""Who decides how a container fares: a callback, the pod's annotations, its command, the cluster's default; in this order.

``annotations.py`` has the words of the annotations. An attempt is a restart of the container, or, for pods that replace each
other (those of a Job), the next of these pods.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fakekube.runtime.controller import attempt
from fakekube.runtime.pods import Pod
from fakekube_controllers.kubelet.outcomes import annotations, commands
from fakekube_controllers.kubelet.outcomes.annotations import PREFIX, BadOutcome, Said, bad

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
OOM_CODE = 137

log = logging.getLogger(__name__)


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
    term_seconds: float = 0.0  # from SIGTERM to its end
    term_exit_code: int = 143
    unready_after_seconds: float | None = None  # None: never
    unhealthy_after_seconds: float | None = None  # until its liveness probe fails, if it has one; None: never
    started_after_seconds: float | None = 0.0  # until its startup probe succeeds, if it has one; None: never
    image_pull: tuple[str | float, ...] = ()  # by pull: "fail", "ok", or seconds; the last one stays
    pull_message: str = ""
    start_error: str = ""
    config_error: str = ""
    cpu: str = ""  # what it uses, as a quantity
    memory: str = ""


Callback = Callable[[Pod, int, str], "Outcome | Mapping[str, str] | int | None"]
"""``callback(pod, attempt, container)``: an Outcome, an exit code, or what the annotations would say (their names without
the prefix); None lets the next in line decide."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where nobody says anything. Seconds, and quantities."""

    start_delay_seconds: float = 1.0
    run_seconds: float = 1.0  # of containers that are meant to end
    removal_seconds: float = 1.0  # from when a deleted pod's containers have stopped until it is gone
    cpu: str = "1m"  # what a running container uses
    memory: str = "8Mi"


def start_delay_seconds(pod: Pod, defaults: Defaults) -> float:
    """How long after it was bound a pod's first container starts. Raises BadOutcome."""
    text = annotations.of_pod(pod).get(PREFIX + "start-delay")
    return defaults.start_delay_seconds if text is None else annotations.seconds_of("start-delay", text)


def evict_after_seconds(pod: Pod) -> float | None:
    """How long after it was bound a pod is evicted; None for never. Raises BadOutcome."""
    text = annotations.of_pod(pod).get(PREFIX + "evict-after")
    return None if text is None else annotations.seconds_of("evict-after", text)


def decide(pod: Pod, number: int, container: Mapping[str, Any], callback: Callback | None, defaults: Defaults) -> Outcome:
    """How this run, attempt ``number``, fares. Raises BadOutcome."""
    name = container["name"]
    chosen: Any = None
    if callback is not None:
        chosen, error = attempt(callback, pod, number, name)
        if error is not None:
            text = f"outcome of container {name}, attempt {number}: the callback raised {type(error).__name__}: {error}"
            log.error("%s", text, exc_info=error)
            raise BadOutcome("OutcomeCallbackFailed", text) from error
    if isinstance(chosen, Outcome):
        return chosen
    said = annotations.of_pod(pod)
    if isinstance(chosen, Mapping):
        unknown = [key for key in chosen if key not in annotations.OF_CONTAINERS]
        if unknown:
            text = f"outcome of container {name}, attempt {number}: the callback said {unknown[0]!r}, which is not known"
            raise BadOutcome("OutcomeCallbackFailed", text)
        said = {**said, **{f"{PREFIX}{key}.{name}": str(text) for key, text in chosen.items()}}
    outcome = _by_annotation(pod, number, container, defaults, said)
    if chosen is None or isinstance(chosen, Mapping):
        return outcome
    if not isinstance(chosen, int):
        text = f"outcome of container {name}, attempt {number}: the callback returned {chosen!r}, which is no outcome"
        raise BadOutcome("OutcomeCallbackFailed", text)
    seconds = defaults.run_seconds if outcome.run_seconds is None else outcome.run_seconds
    return replace(outcome, exit_code=chosen, run_seconds=seconds)


def _by_annotation(
    pod: Pod, number: int, container: Mapping[str, Any], defaults: Defaults, texts: Mapping[str, str],
) -> Outcome:
    outcome = _by_command(pod, container, defaults)
    if not any(key.startswith(PREFIX) for key in texts):
        return outcome
    is_init = any(other["name"] == container["name"] for other in pod["spec"].get("initContainers") or ())
    said = Said(texts, container["name"], is_init=is_init)
    said.check()
    return _probed(said, pod, container, _ended(said, pod, number, outcome, defaults))


def _ended(said: Said, pod: Pod, number: int, outcome: Outcome, defaults: Defaults) -> Outcome:
    """How it comes about and how it ends."""
    code, reason, ends = _exit(said, pod, number)
    changes: dict[str, Any] = {} if code is None else {"exit_code": code}
    if said.text("run-duration") == "forever":
        changes["run_seconds"] = None
    elif (seconds := said.seconds("run-duration")) is not None:
        changes["run_seconds"] = seconds
    elif ends and outcome.run_seconds is None:
        changes["run_seconds"] = defaults.run_seconds
    if text := said.text("log"):
        changes["log"] = tuple((0.0, line) for line in text.split("\n"))
    if pulls := said.text("image-pull"):
        changes["image_pull"] = tuple(
            word if word in ("ok", "fail") else annotations.seconds_of("image-pull", word)
            for word in (part.strip() for part in pulls.split(",")))
    code = said.code("term-exit-code")
    return replace(
        outcome, **changes, reason=reason or said.text("reason") or "", message=said.text("message") or "",
        ignore_sigterm=said.flag("ignore-sigterm"), term_seconds=said.seconds("term-duration") or 0.0,
        term_exit_code=outcome.term_exit_code if code is None else code, pull_message=said.text("image-pull-message") or "",
        start_error=said.text("start-error") or "", config_error=said.text("config-error") or "",
        cpu=said.text("cpu-usage") or "", memory=said.text("memory-usage") or "")


def _exit(said: Said, pod: Pod, number: int) -> tuple[int | None, str, bool]:
    """The exit code, the reason, and whether anything was said of an end at all."""
    code = said.code("exit-code")
    ends = code is not None
    if (codes := said.text("exit-codes")) is not None:
        listed = codes.split(",")
        code, ends = annotations.code_of("exit-codes", listed[min(number, len(listed) - 1)]), True
    elif (by_index := said.text("exit-code-by-index")) is not None:
        code, ends = _by_index(by_index, annotations.of_pod(pod).get(COMPLETION_INDEX, "")), True
    reason = ""
    if said.flag("oom"):
        code, reason, ends = OOM_CODE, "OOMKilled", True
    if (crashes := said.text("crash-loop")) is not None:
        if crashes not in ("forever", "true") and not crashes.isdecimal():
            raise bad("crash-loop", f"{crashes!r} is no number of crashes")
        if crashes.isdecimal() and number >= int(crashes):
            return (None, "", False)
        code, ends = code or 1, True
    return code, reason, ends


def _by_index(text: str, index: str) -> int | None:
    """``3=1,*=0``: the code of an index. What is not listed has none of its own."""
    codes: dict[str, int] = {}
    for part in text.split(","):
        key, equals, code = part.strip().partition("=")
        if not equals or not (key == "*" or key.isdecimal()):
            raise bad("exit-code-by-index", f"{part.strip()!r} is no index with its exit code: say 3=1 or *=0")
        codes[key] = annotations.code_of("exit-code-by-index", code)
    return codes.get(index, codes.get("*"))


def _probed(said: Said, pod: Pod, container: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """What its probes find. A probe that it has not cannot find anything."""
    for key, probe in (("unhealthy-after", "livenessProbe"), ("started-after", "startupProbe")):
        somewhere = any(c.get(probe) for c in (*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]))
        if said.text(key) is not None and not container.get(probe) and (said.of_it_alone(key) or not somewhere):
            raise bad(key, f"container {container['name']} has no {probe}")
    changes: dict[str, Any] = {}
    if (ready := said.text("ready-after")) is not None:
        changes["ready_after_seconds"] = said.seconds("ready-after", "never")
        if ready == "never" and said.text("unready-after") is not None:
            raise bad("unready-after", f"contradicts {PREFIX}ready-after: it is never ready")
    unready = changes["unready_after_seconds"] = said.seconds("unready-after")
    since = changes.get("ready_after_seconds", outcome.ready_after_seconds)
    if unready is not None and since is not None and unready <= since:
        raise bad("unready-after", "it is not ready by then")
    if said.text("started-after") is not None:
        changes["started_after_seconds"] = said.seconds("started-after", "never")
    return replace(outcome, **changes, unhealthy_after_seconds=said.seconds("unhealthy-after"))


def _by_command(pod: Pod, container: Mapping[str, Any], defaults: Defaults) -> Outcome:
    probe = container.get("readinessProbe") or {}
    ready = float(probe.get("initialDelaySeconds") or 0)
    if probe:
        ready += float(probe.get("periodSeconds") or 10) * (int(probe.get("successThreshold") or 1) - 1)
    script = commands.read([*(container.get("command") or ()), *(container.get("args") or ())])
    if script is not None:
        return Outcome(script.run_seconds, script.exit_code, ready_after_seconds=ready, log=script.output)
    endless = container.get("restartPolicy") == "Always"  # a sidecar
    if not any(other["name"] == container["name"] for other in pod["spec"].get("initContainers") or ()):
        # A command that reads waits for somebody who attaches to it, see ``server/exec.py``.
        policy = container.get("restartPolicy") or pod["spec"].get("restartPolicy", "Always")
        endless = policy == "Always" or bool(container.get("stdin"))
    return Outcome(None if endless else defaults.run_seconds, ready_after_seconds=ready)

"""How one run of a container goes: as a callback, the pod's annotations, its command or the
cluster's defaults say.

The first of these that says anything decides. ``annotations.py`` has the annotations,
``commands.py`` the commands. An attempt is a restart of the container, or, for pods that replace
each other (those of a Job), the next of these pods.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.pods import is_sidecar
from fakekube.runtime.controller import attempt
from fakekube.runtime.pods import Pod
from fakekube_controllers.kubelet.outcomes import annotations, commands, probes, servers
from fakekube_controllers.kubelet.outcomes.annotations import PREFIX, ContainerAnnotations, InvalidOutcome, invalid

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
OOM_CODE = 137

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one run of one container goes. Without a ``run_seconds`` it runs until the pod is
    deleted.
    """

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
    # until its liveness probe fails, if it has one; None: never
    unhealthy_after_seconds: float | None = None
    # until its startup probe succeeds, if it has one; None: never
    started_after_seconds: float | None = 0.0
    # by pull: "fail", "ok", or seconds; the last one stays
    image_pull: tuple[str | float, ...] = ()
    pull_message: str = ""
    start_error: str = ""
    config_error: str = ""
    cpu: str = ""  # what it uses, as a quantity
    memory: str = ""


Callback = Callable[[Pod, int, str], "Outcome | Mapping[str, str] | int | None"]
"""``callback(pod, attempt, container)``: an Outcome, an exit code, or what the annotations would
say (their names without the prefix); None lets the next in line decide.
"""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where nothing else says anything. ``cpu`` and ``memory`` are quantities."""

    start_delay_seconds: float = 1.0
    run_seconds: float = 1.0  # of containers that are meant to end
    # from when a deleted pod's containers have stopped until it is gone
    removal_seconds: float = 1.0
    cpu: str = "1m"  # what a running container uses
    memory: str = "8Mi"


def start_delay_seconds(pod: Pod, defaults: Defaults) -> float:
    """How long after it was bound a pod's first container starts. Raises InvalidOutcome."""
    text = meta.annotations_of(pod).get(PREFIX + "start-delay")
    return defaults.start_delay_seconds if text is None else annotations.seconds_of("start-delay", text)


def evict_after_seconds(pod: Pod) -> float | None:
    """How long after it was bound a pod is evicted; None for never. Raises InvalidOutcome."""
    text = meta.annotations_of(pod).get(PREFIX + "evict-after")
    return None if text is None else annotations.seconds_of("evict-after", text)


def decide(pod: Pod, number: int, container: Mapping[str, Any], callback: Callback | None, defaults: Defaults) -> Outcome:
    """How this run, attempt ``number``, goes. Raises InvalidOutcome."""
    name = container["name"]
    chosen: Any = None
    if callback is not None:
        chosen, error = attempt(callback, pod, number, name)
        if error is not None:
            text = f"outcome of container {name}, attempt {number}: the callback raised {type(error).__name__}: {error}"
            log.error("%s", text, exc_info=error)
            raise InvalidOutcome("OutcomeCallbackFailed", text) from error
    if isinstance(chosen, Outcome):
        return chosen
    texts = meta.annotations_of(pod)
    if isinstance(chosen, Mapping):
        unknown = [key for key in chosen if key not in annotations.CONTAINER_KEYS]
        if unknown:
            text = f"outcome of container {name}, attempt {number}: the callback said {unknown[0]!r}, which is not known"
            raise InvalidOutcome("OutcomeCallbackFailed", text)
        texts = {**texts, **{f"{PREFIX}{key}.{name}": str(text) for key, text in chosen.items()}}
    outcome = _by_annotations(pod, number, container, defaults, texts)
    if chosen is None or isinstance(chosen, Mapping):
        return outcome
    if not isinstance(chosen, int):
        text = f"outcome of container {name}, attempt {number}: the callback returned {chosen!r}, which is no outcome"
        raise InvalidOutcome("OutcomeCallbackFailed", text)
    seconds = defaults.run_seconds if outcome.run_seconds is None else outcome.run_seconds
    return replace(outcome, exit_code=chosen, run_seconds=seconds)


def _by_annotations(
    pod: Pod, number: int, container: Mapping[str, Any], defaults: Defaults, texts: Mapping[str, str],
) -> Outcome:
    outcome = _by_command(pod, container, defaults)
    if fails := probes.failing(texts, container):
        outcome = replace(outcome, **fails)
    if not any(key.startswith(PREFIX) for key in texts):
        return outcome
    is_init = any(other["name"] == container["name"] for other in pod["spec"].get("initContainers") or ())
    found = ContainerAnnotations(texts, container["name"], is_init=is_init)
    found.check_contradictions()
    return _with_probes(found, pod, container, _with_end(found, pod, number, outcome, defaults))


def _with_end(found: ContainerAnnotations, pod: Pod, number: int, outcome: Outcome, defaults: Defaults) -> Outcome:
    """What the annotations say of its start, its length and its end."""
    code, reason, ends = _exit(found, pod, number)
    changes: dict[str, Any] = {} if code is None else {"exit_code": code}
    if found.text("run-duration") == "forever":
        changes["run_seconds"] = None
    elif (seconds := found.seconds("run-duration")) is not None:
        changes["run_seconds"] = seconds
    elif ends and outcome.run_seconds is None:
        changes["run_seconds"] = defaults.run_seconds
    if text := found.text("log"):
        changes["log"] = tuple((0.0, line) for line in text.split("\n"))
    if pulls := found.text("image-pull"):
        changes["image_pull"] = tuple(
            word if word in ("ok", "fail") else annotations.seconds_of("image-pull", word)
            for word in (part.strip() for part in pulls.split(",")))
    code = found.code("term-exit-code")
    return replace(
        outcome, **changes, reason=reason or found.text("reason") or "", message=found.text("message") or "",
        ignore_sigterm=found.flag("ignore-sigterm"), term_seconds=found.seconds("term-duration") or 0.0,
        term_exit_code=outcome.term_exit_code if code is None else code, pull_message=found.text("image-pull-message") or "",
        start_error=found.text("start-error") or "", config_error=found.text("config-error") or "",
        cpu=found.text("cpu-usage") or "", memory=found.text("memory-usage") or "")


def _exit(found: ContainerAnnotations, pod: Pod, number: int) -> tuple[int | None, str, bool]:
    """The exit code, the reason, and whether any annotation says that it ends."""
    code = found.code("exit-code")
    ends = code is not None
    if (codes := found.text("exit-codes")) is not None:
        listed = codes.split(",")
        code, ends = annotations.code_of("exit-codes", listed[min(number, len(listed) - 1)]), True
    elif (by_index := found.text("exit-code-by-index")) is not None:
        code, ends = _by_index(by_index, meta.annotations_of(pod).get(COMPLETION_INDEX, "")), True
    reason = ""
    if found.flag("oom"):
        code, reason, ends = OOM_CODE, "OOMKilled", True
    if (crashes := found.text("crash-loop")) is not None:
        if crashes not in ("forever", "true") and not crashes.isdecimal():
            raise invalid("crash-loop", f"{crashes!r} is no number of crashes")
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
            raise invalid("exit-code-by-index", f"{part.strip()!r} is no index with its exit code: say 3=1 or *=0")
        codes[key] = annotations.code_of("exit-code-by-index", code)
    return codes.get(index, codes.get("*"))


def _with_probes(found: ContainerAnnotations, pod: Pod, container: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """What the annotations say of its probes. InvalidOutcome for a probe that it does not have."""
    for key, probe in (("unhealthy-after", "livenessProbe"), ("started-after", "startupProbe")):
        somewhere = any(c.get(probe) for c in (*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]))
        if found.text(key) is not None and not container.get(probe) and (found.is_own(key) or not somewhere):
            raise invalid(key, f"container {container['name']} has no {probe}")
    changes: dict[str, Any] = {}
    if (ready := found.text("ready-after")) is not None:
        changes["ready_after_seconds"] = found.seconds("ready-after", "never")
        if ready == "never" and found.text("unready-after") is not None:
            raise invalid("unready-after", f"contradicts {PREFIX}ready-after: it is never ready")
    unready = changes["unready_after_seconds"] = found.seconds("unready-after")
    since = changes.get("ready_after_seconds", outcome.ready_after_seconds)
    if unready is not None and since is not None and unready <= since:
        raise invalid("unready-after", "it is not ready by then")
    if found.text("started-after") is not None:
        changes["started_after_seconds"] = found.seconds("started-after", "never")
    if (unhealthy := found.seconds("unhealthy-after")) is not None:
        changes["unhealthy_after_seconds"] = unhealthy
    return replace(outcome, **changes)


def _by_command(pod: Pod, container: Mapping[str, Any], defaults: Defaults) -> Outcome:
    probe = container.get("readinessProbe") or {}
    ready = float(probe.get("initialDelaySeconds") or 0)
    if probe:
        ready += float(probe.get("periodSeconds") or 10) * (int(probe.get("successThreshold") or 1) - 1)
    effect = commands.effect_of([*(container.get("command") or ()), *(container.get("args") or ())])
    if effect is not None:
        return Outcome(effect.run_seconds, effect.exit_code, ready_after_seconds=ready, log=effect.output)
    endless = is_sidecar(container) or servers.runs_until_stopped(container)
    if not endless and not any(other["name"] == container["name"] for other in pod["spec"].get("initContainers") or ()):
        # A command that reads waits for somebody who attaches to it, see ``server/exec.py``.
        policy = container.get("restartPolicy") or pod["spec"].get("restartPolicy", "Always")
        endless = policy == "Always" or bool(container.get("stdin"))
    return Outcome(None if endless else defaults.run_seconds, ready_after_seconds=ready)

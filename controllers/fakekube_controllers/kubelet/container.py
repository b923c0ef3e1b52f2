"""One container's life: waiting, running, terminated, and around again with back-off.

Upstream: pkg/kubelet/kuberuntime. Times are Unix seconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakekube.apimachinery import times
from fakekube_controllers.kubelet.outcomes import Outcome

BACKOFF_SECONDS, MAX_BACKOFF_SECONDS, BACKOFF_RESET_SECONDS = 10.0, 300.0, 600.0
SIGTERM_CODE, SIGKILL_CODE = 143, 137

Tree = dict[str, Any]
Plan = Callable[[int], Outcome]


@dataclass(slots=True)
class Container:
    """``plan(attempt)`` says how each run fares. ``state`` is the API's containerStatus state; ``due`` the next instant."""

    name: str
    image: str
    plan: Plan
    restarts_on: str  # Always, OnFailure, Never
    pod: str = ""  # as texts call it: name_namespace(uid)
    waiting: str = "ContainerCreating"
    attempt: int = 0
    restart_count: int = 0
    started_at: float | None = None
    finished_at: float | None = None
    exit_code: int = 0
    outcome: Outcome | None = None
    ready: bool = False
    last: Tree = field(default_factory=dict)
    ends_at: float | None = None
    ready_at: float | None = None
    restarts_at: float | None = None
    failures: int = 0
    log: list[tuple[float, str]] = field(default_factory=list)
    previous_log: list[tuple[float, str]] = field(default_factory=list)
    stopping: bool = False

    @property
    def running(self) -> bool:
        """Whether it runs now."""
        return self.started_at is not None and self.finished_at is None

    @property
    def ran(self) -> bool:
        """Whether it ever ran."""
        return self.started_at is not None and (self.outcome is None or self.outcome.reason != "ContainerStatusUnknown")

    @property
    def done(self) -> bool:
        """Whether it ended for good."""
        return self.finished_at is not None and self.restarts_at is None

    @property
    def due(self) -> float | None:
        """The next instant at which something happens by itself."""
        known = [at for at in (self.ends_at, self.ready_at, self.restarts_at) if at is not None]
        return min(known) if known else None

    def start(self, now: float) -> None:
        """Begin a run."""
        outcome = self.outcome = self.plan(self.attempt)
        self.started_at, self.finished_at, self.restarts_at = now, None, None
        self.ends_at = None if outcome.run_seconds is None else now + outcome.run_seconds
        self.ready = outcome.ready_after_seconds is not None and outcome.ready_after_seconds <= 0
        later = outcome.ready_after_seconds
        self.ready_at = now + later if later is not None and later > 0 else None
        self.log = [(now + at, line) for at, line in outcome.log]

    def step(self, now: float) -> str:
        """Do what is due; the name of what happened: ready, ended, restarted, or nothing."""
        if self.restarts_at is not None and self.restarts_at <= now:
            self._restart(now)
            return "restarted"
        if self.ends_at is not None and self.ends_at <= now:
            assert self.outcome is not None, "it runs"
            self._end(now, self.outcome.exit_code)
            return "ended"
        if self.ready_at is not None and self.ready_at <= now:
            self.ready, self.ready_at = True, None
            return "ready"
        return ""

    def _end(self, now: float, exit_code: int) -> None:
        self.finished_at, self.exit_code = now, exit_code
        self.ends_at = self.ready_at = None
        self.ready = False
        if self.stopping or self.restarts_on == "Never" or (self.restarts_on == "OnFailure" and exit_code == 0):
            return
        ran = now - (self.started_at or now)
        self.failures = 1 if ran >= BACKOFF_RESET_SECONDS else self.failures + 1
        delay = 0.0 if self.failures == 1 else min(BACKOFF_SECONDS * 2.0 ** (self.failures - 2), MAX_BACKOFF_SECONDS)
        self.restarts_at = now + delay

    def _restart(self, now: float) -> None:
        self.last = {"terminated": self._terminated()}
        self.previous_log = self.log
        self.restart_count += 1
        self.attempt += 1
        self.start(now)

    def stop(self, now: float, grace_seconds: float) -> None:
        """SIGTERM now, SIGKILL after the grace period."""
        self.stopping, self.restarts_at = True, None
        if self.finished_at is not None:
            return
        if self.started_at is None:
            self.started_at = self.finished_at = now
            self.exit_code = SIGKILL_CODE
            self.outcome = Outcome(exit_code=SIGKILL_CODE, reason="ContainerStatusUnknown")
            return
        stubborn = self.outcome is not None and self.outcome.ignore_sigterm
        end = now + grace_seconds if stubborn else now
        if self.ends_at is None or self.ends_at > end:
            self.ends_at = end
            code = SIGKILL_CODE if stubborn else SIGTERM_CODE
            self.outcome = Outcome(exit_code=code, reason="Error", ignore_sigterm=stubborn)

    def _terminated(self) -> Tree:
        outcome = self.outcome or Outcome()
        reason = outcome.reason or ("Completed" if self.exit_code == 0 else "Error")
        result: Tree = {"exitCode": self.exit_code, "reason": reason}
        if outcome.message:
            result["message"] = outcome.message
        return result | {
            "startedAt": times.format_time(self.started_at or 0.0), "finishedAt": times.format_time(self.finished_at or 0.0),
            "containerID": self.container_id,
        }

    @property
    def container_id(self) -> str:
        """An id that looks like one and is the same in every run of the same history."""
        text = f"{self.name}-{self.restart_count}-{int((self.started_at or 0.0) * 1000)}"
        return "fakekube://" + text.encode().hex().ljust(64, "0")[:64]

    def state(self, now: float) -> Tree:
        """The API's ``state``."""
        if self.finished_at is not None:
            if self.restarts_at is not None and self.restarts_at > now and self.failures > 1:
                wait = int(self.restarts_at - self.finished_at)
                text = f"back-off {_minutes(wait)} restarting failed container={self.name} pod={self.pod}"
                return {"waiting": {"reason": "CrashLoopBackOff", "message": text}}
            return {"terminated": self._terminated()}
        if self.started_at is not None:
            return {"running": {"startedAt": times.format_time(self.started_at)}}
        return {"waiting": {"reason": self.waiting}}

    def status(self, now: float) -> Tree:
        """The API's containerStatus."""
        state = self.state(now)
        last = self.last
        if "waiting" in state and self.finished_at is not None:
            last = {"terminated": self._terminated()}
        result: Tree = {
            "name": self.name, "state": state, "lastState": last, "ready": self.ready, "restartCount": self.restart_count,
            "image": self.image, "imageID": "", "started": self.running,
        }
        if self.started_at is not None:
            result["imageID"], result["containerID"] = f"fakekube://{self.image}", self.container_id
        return result


def container_of(spec: Mapping[str, Any], plan: Plan, restarts_on: str, pod: str, attempt: int) -> Container:
    """A container that waits to be started."""
    return Container(spec["name"], spec.get("image", ""), plan, restarts_on, pod, attempt=attempt)


def _minutes(seconds: int) -> str:
    """``10s``, ``1m20s``, ``5m0s``, as Go prints a duration."""
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60}s"

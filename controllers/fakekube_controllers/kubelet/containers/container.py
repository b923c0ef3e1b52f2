"""One container as a state machine: waiting, running, terminated, and restarted with back-off.

It changes by itself at instants only: when a pull ends, a probe succeeds or has failed too often,
its command ends, or its back-off is over. ``due`` is the next of these instants, ``step`` does what
is due. Times are Unix seconds. Upstream: pkg/kubelet/kuberuntime, pkg/kubelet/images,
pkg/kubelet/prober.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from fakekube.apimachinery import times
from fakekube.apimachinery.types import Tree
from fakekube.workqueue.ratelimit import doubled_seconds
from fakekube_controllers.kubelet.containers import images, probing, states
from fakekube_controllers.kubelet.containers.config import DEFAULT_CONFIG, MIN_GRACE_SECONDS, RESTART_ALL, ContainerConfig
from fakekube_controllers.kubelet.containers.events import ContainerEvent
from fakekube_controllers.kubelet.containers.timers import Timer
from fakekube_controllers.kubelet.outcomes.outcome import Outcome

BACK_OFF_RESET_SECONDS = 600.0  # a run of this length has the back-off begin again
CREATING, INITIALIZING = "ContainerCreating", "PodInitializing"
"""Why it waits before anything else is known, in a pod without and in one with init containers."""
CONFIG_ERROR = "CreateContainerConfigError"
SIGTERM_CODE, SIGKILL_CODE, START_ERROR_CODE = 143, 137, 128

Plan = Callable[[int], Outcome]
"""``plan(attempt)`` says how a run goes. It may raise InvalidOutcome."""


@dataclass(slots=True)
class Container:
    """A container of one pod, through all of its runs."""

    name: str
    image: str
    plan: Plan
    restarts_on: str  # Always, OnFailure, Never
    pod: str = ""  # as texts name it: name_namespace(uid)
    config: ContainerConfig = DEFAULT_CONFIG
    waiting: str = CREATING  # the reason
    waiting_message: str = ""
    attempt: int = 0
    restart_count: int = 0
    started_at: float | None = None
    finished_at: float | None = None
    exit_code: int = 0
    outcome: Outcome | None = None
    started: bool = False  # past its startup probe
    ready: bool = False
    last: Tree = field(default_factory=dict)  # the API's lastState
    ends_at: float | None = None
    ready_at: float | None = None
    restarts_at: float | None = None
    later: dict[Timer, float] = field(default_factory=dict)
    failed_probes: dict[Timer, int] = field(default_factory=dict)  # in a row
    pulls: int = 0
    pulled: bool = False
    failures: int = 0  # since the back-off began
    log: list[tuple[float, str]] = field(default_factory=list)
    previous_log: list[tuple[float, str]] = field(default_factory=list)
    stopping: bool = False
    restarts_all: bool = False  # a rule says that its end restarts all containers of the pod
    detail: str = ""  # of what happened last, for Events
    # says why it cannot be made, if anything that it refers to is missing
    missing: Callable[[], str] | None = None

    @property
    def running(self) -> bool:
        """Whether it runs now."""
        return self.started_at is not None and self.finished_at is None

    @property
    def ran(self) -> bool:
        """Whether it ever ran."""
        return self.started_at is not None and (self.outcome is None or self.outcome.reason != "ContainerStatusUnknown")

    @property
    def begun(self) -> bool:
        """Whether it was told to start: it runs, has run, or waits for its image."""
        return self.started_at is not None or bool(self.later) or self.waiting not in (CREATING, INITIALIZING)

    @property
    def done(self) -> bool:
        """Whether it ended for good."""
        return self.finished_at is not None and self.restarts_at is None

    @property
    def due(self) -> float | None:
        """The next instant at which something happens by itself."""
        due = None
        for at in (self.ends_at, self.ready_at, self.restarts_at):
            if at is not None and (due is None or at < due):
                due = at
        if self.later:
            first = min(self.later.values())
            return first if due is None or first < due else due
        return due

    # starting

    def start(self, now: float) -> ContainerEvent:
        """Begin a run, or the pull that has to come before it. Raises InvalidOutcome."""
        outcome = self.plan(self.attempt)
        if not outcome.image_pull and images.does_not_exist(self.image):
            outcome = replace(outcome, image_pull=("fail",))
        self.outcome = outcome
        if not self.pulled and (error := images.name_error(self.image)):
            self.waiting, self.waiting_message = "InvalidImageName", error
            return ContainerEvent.INVALID_IMAGE_NAME
        if not self.pulled and outcome.image_pull:
            return self._pull(now)
        return self._run(now)

    def _run(self, now: float) -> ContainerEvent:
        outcome = self.outcome
        assert outcome is not None, "it was planned"
        self.pulled = True
        if error := outcome.config_error or (self.missing() if self.missing is not None else ""):
            self.waiting, self.waiting_message = CONFIG_ERROR, error
            self.started_at = self.finished_at = self.restarts_at = None
            return ContainerEvent.CONFIG_ERROR
        self.started_at, self.finished_at, self.restarts_at = now, None, None
        if outcome.start_error:
            self.outcome = replace(outcome, reason="StartError", message=outcome.start_error)
            self._end(now, START_ERROR_CODE)
            return ContainerEvent.START_ERROR
        self.ends_at = None if outcome.run_seconds is None else now + outcome.run_seconds
        self.log = [(now + at, line) for at, line in outcome.log]
        probing.begin(self, now, outcome)
        return ContainerEvent.STARTED

    def look_again(self, now: float) -> None:
        """Go on if what was missing is there by now."""
        if self.missing is None or self.waiting != CONFIG_ERROR or self.started_at is not None or self.stopping:
            return
        assert self.outcome is not None, "it was planned"
        self.waiting_message = self.outcome.config_error or self.missing()
        if not self.waiting_message:
            self.waiting = CREATING
            self.later[Timer.PULL] = now

    def _pull(self, now: float) -> ContainerEvent:
        assert self.outcome is not None, "it was planned"
        wanted = self.outcome.image_pull[min(self.pulls, len(self.outcome.image_pull) - 1)]
        if wanted == "fail" and self.config.pull_policy == "Never":
            self.waiting = "ErrImageNeverPull"
            self.waiting_message = self.detail = f'Container image "{self.image}" is not present with pull policy of Never'
            self.later[Timer.PULL] = now + images.MAX_PULL_BACK_OFF_SECONDS
            return ContainerEvent.NEVER_PULLED
        self.pulls += 1
        if wanted == "fail":
            self.waiting, self.waiting_message = "ErrImagePull", self.outcome.pull_message or images.not_found(self.image)
            self.later[Timer.PULL_BACK_OFF] = now + images.PULL_ERROR_SECONDS
            self.later[Timer.PULL] = now + images.back_off_seconds(self.pulls)
            return ContainerEvent.PULL_FAILED
        seconds = 0.0 if wanted == "ok" else float(wanted)
        self.pulled, self.waiting, self.waiting_message = True, CREATING, ""
        self.later[Timer.PULL] = now + seconds
        self.detail = f"{seconds:g}s"
        return ContainerEvent.PULLING

    # what happens by itself

    def step(self, now: float) -> ContainerEvent | None:
        """Do one thing that is due: what happened, or None. Raises InvalidOutcome."""
        if self.restarts_at is not None and self.restarts_at <= now:
            return self._restart(now)
        if self.ends_at is not None and self.ends_at <= now:
            assert self.outcome is not None, "it runs"
            self._end(now, self.outcome.exit_code)
            return ContainerEvent.ENDED
        if self.later and (event := self._step_later(now)):
            return event
        if self.ready_at is not None and self.ready_at <= now:
            self.ready, self.ready_at = True, None
            probing.succeed(self, now)
            return ContainerEvent.READY
        return None

    def _step_later(self, now: float) -> ContainerEvent | None:
        timer, at = min(self.later.items(), key=lambda item: item[1])
        if at > now:
            return None
        del self.later[timer]
        match timer:
            case Timer.PULL:
                return self._run(now) if self.pulled else self._pull(now)
            case Timer.PULL_BACK_OFF:
                self.detail = f'Back-off pulling image "{self.image}"'
                self.waiting = "ImagePullBackOff"
                self.waiting_message = f"{self.detail}: ErrImagePull: {self.waiting_message}"
                return ContainerEvent.PULL_BACK_OFF
            case Timer.STARTUP:
                self.started = True
                self.later.pop(Timer.STARTUP_FAILURE, None)
                return ContainerEvent.STARTUP_SUCCEEDED
            case Timer.STARTUP_FAILURE | Timer.READINESS_FAILURE | Timer.LIVENESS_FAILURE:
                return probing.fail(self, timer, now)
            case _:
                assert_never(timer)

    def _end(self, now: float, exit_code: int) -> None:
        self.finished_at, self.exit_code = now, exit_code
        self.ends_at = self.ready_at = None
        self.later.clear()
        self.ready = self.started = False
        action = self.config.action(exit_code)
        if self.stopping:
            return
        if action == RESTART_ALL:
            self.restarts_all = True
            return
        if not action and (self.restarts_on == "Never" or (self.restarts_on == "OnFailure" and exit_code == 0)):
            return
        ran = now - (self.started_at or now)
        self.failures = 1 if ran >= BACK_OFF_RESET_SECONDS else self.failures + 1
        config = self.config
        back_off = doubled_seconds(config.back_off_seconds, self.failures - 2, config.max_back_off_seconds)
        self.restarts_at = now + (0.0 if self.failures == 1 else back_off)

    def _restart(self, now: float) -> ContainerEvent:
        self._keep_last_run()
        self.restarts_at = None
        return self.start(now)

    def _keep_last_run(self) -> None:
        """Keep what the API and the logs show of the last run, and count this restart."""
        self.last = {"terminated": self._terminated(self.container_id)}
        self.previous_log = self.log
        self.restart_count += 1
        self.attempt += 1

    def reset(self, now: float) -> None:
        """Kill it if it runs, and have it wait for another start, whatever the restart policy says.
        """
        if self.started_at is None:
            return
        if self.finished_at is None:
            self._end(now, SIGKILL_CODE)
            self.outcome = Outcome(exit_code=SIGKILL_CODE, reason="Error")
        self._keep_last_run()
        self.started_at = self.finished_at = self.restarts_at = None
        self.restarts_all = False
        self.waiting, self.waiting_message = CREATING, ""

    # stopping

    def stop(self, now: float, grace_seconds: float) -> None:
        """Run preStop and send SIGTERM now, SIGKILL after the grace period. It is not started
        again.
        """
        self.stopping, self.restarts_at = True, None
        for timer in (Timer.STARTUP_FAILURE, Timer.LIVENESS_FAILURE):
            self.later.pop(timer, None)  # these probes are not asked any more
        if self.finished_at is not None:
            return
        if self.started_at is None:
            self.started_at = self.finished_at = now
            self.later.clear()
            self.exit_code = SIGKILL_CODE
            self.outcome = Outcome(exit_code=SIGKILL_CODE, reason="ContainerStatusUnknown")
            return
        self.terminate(now, grace_seconds)

    def terminate(self, now: float, grace_seconds: float) -> None:
        """Send SIGTERM to what runs, which is started again if it may."""
        outcome = self.outcome or Outcome()
        pre_stop = min(self.config.pre_stop_seconds, grace_seconds)
        left = grace_seconds if not pre_stop else max(grace_seconds - pre_stop, MIN_GRACE_SECONDS)
        killed = outcome.ignore_sigterm or outcome.term_seconds > left
        end = now + pre_stop + (left if killed else outcome.term_seconds)
        if self.ends_at is None or self.ends_at > end:
            self.ends_at = end
            code = SIGKILL_CODE if killed else outcome.term_exit_code
            self.outcome = replace(outcome, exit_code=code, reason="Error" if code else "Completed", message="")

    # what the API shows

    @property
    def container_id(self) -> str:
        """The id of this run."""
        return states.container_id(self.name, self.restart_count, self.started_at)

    def status(self, now: float) -> Tree:
        """The API's containerStatus."""
        last, container_id = self.last, "" if self.started_at is None else self.container_id
        if self.started_at is None:
            state = states.waiting(self.waiting, self.waiting_message)
        elif self.finished_at is None:
            state = {"running": {"startedAt": times.format_time(self.started_at)}}
        else:
            state = {"terminated": self._terminated(container_id)}
            if self.restarts_at is not None and self.restarts_at > now and self.failures > 1:
                last, state = state, states.crash_loop_back_off(self.restarts_at - self.finished_at, self.name, self.pod)
        result: Tree = {
            "name": self.name, "state": state, "lastState": last, "ready": self.ready, "restartCount": self.restart_count,
            "image": self.image, "imageID": "", "started": self.running and self.started,
        }
        if container_id:
            result["imageID"], result["containerID"] = f"fakekube://{self.image}", container_id
        return result

    def _terminated(self, container_id: str) -> Tree:
        return states.terminated(self.exit_code, self.outcome, self.started_at, self.finished_at, container_id)


def container_of(
    spec: Mapping[str, Any], plan: Plan, restarts_on: str, pod: str, attempt: int, config: ContainerConfig,
) -> Container:
    """A container that waits to be started."""
    return Container(spec["name"], spec.get("image", ""), plan, restarts_on, pod, config, attempt=attempt)

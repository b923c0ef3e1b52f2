"""A pod's life on a node, as a chain of instants: nothing happens between two of them.

``advance(now)`` takes the pod through everything that is due and says when the next thing is. Init containers run one after
the other, sidecars (restartPolicy Always among them) run along, app containers run together. A deletion stops what runs.
Upstream: pkg/kubelet (syncPod, computePodActions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakekube_controllers.kubelet.container import Container

Pod = Mapping[str, Any]
DEADLINE_EXCEEDED = ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")

Happened = Callable[[str, Container, float], None]
"""Told of ``started``, ``ended``, ``backoff`` and ``killing``, with the container and the time."""


@dataclass(slots=True)
class PodRun:
    """What the kubelet knows of one pod. Times are Unix seconds."""

    pod: Pod
    accepted_at: float
    starts_at: float
    init: list[Container]
    apps: list[Container]
    happened: Happened
    deadline: float | None = None  # spec.activeDeadlineSeconds, from when the pod was accepted
    deleting_since: float | None = None
    grace_seconds: float = 0.0
    failure: tuple[str, str] | None = None  # reason and message of a pod that failed as a whole
    concluded: str = ""  # the terminal phase that the API shows: there is no way back from it
    status: Mapping[str, Any] | None = None  # what was written last
    _current: int = 0  # the init container whose turn it is
    _apps_started: bool = field(default=False)

    @property
    def containers(self) -> list[Container]:
        """All containers, init containers first."""
        return [*self.init, *self.apps]

    @property
    def initialized(self) -> bool:
        """Whether the app containers may run."""
        return self._current >= len(self.init)

    @property
    def phase(self) -> str:
        """The API's phase."""
        if self.concluded:
            return self.concluded
        if self.failure is not None:
            return "Failed"
        main = self.apps
        if self.deleting_since is not None and all(c.done for c in self.containers):
            return "Succeeded" if all(c.exit_code == 0 for c in main) and self._apps_started else "Failed"
        if self._init_failed():
            return "Failed"
        if self._apps_started and all(c.done for c in main):
            return "Succeeded" if all(c.exit_code == 0 for c in main) else "Failed"
        return "Running" if self._apps_started else "Pending"

    @property
    def finished(self) -> bool:
        """Whether the phase is terminal."""
        return self.phase in ("Succeeded", "Failed")

    def _init_failed(self) -> bool:
        return any(c.done and c.exit_code != 0 and c.restarts_on == "Never" for c in self.init)

    def fail(self, now: float, reason: str, message: str) -> None:
        """The pod fails as a whole, and what runs is stopped."""
        self.failure = (reason, message)
        self._kill(now)

    def conclude(self, now: float, phase: str) -> None:
        """The API shows that the pod has ended, whoever wrote that: what still runs is stopped."""
        self.concluded = phase
        self._kill(now)

    def _kill(self, now: float) -> None:
        for container in self.containers:
            if container.running and not container.stopping:
                self.happened("killing", container, now)
                container.stop(now, 0.0)
            elif container.restarts_at is not None:
                container.stop(now, 0.0)

    def delete(self, now: float, grace_seconds: float) -> None:
        """Stop everything; said again with a shorter grace period, sooner."""
        if self.deleting_since is None:
            self.deleting_since = now
            for container in self.containers:
                if container.running:
                    self.happened("killing", container, now)
        self.grace_seconds = grace_seconds
        for container in self.containers:
            container.stop(now, grace_seconds)

    def advance(self, now: float) -> float | None:
        """Do all that is due until ``now``; the time of what comes next, or None."""
        while not self.finished or any(c.running for c in self.containers):
            due = self._next_due()
            if due is None or due > now:
                return due
            self._step(due)
        return None

    def _next_due(self) -> float | None:
        known = [due for c in self.containers if (due := c.due) is not None]
        if self.deadline is not None and not self.finished:
            known.append(self.deadline)
        if self._may_start_something():
            known.append(self.starts_at)
        return min(known) if known else None

    def _may_start_something(self) -> bool:
        if self.deleting_since is not None or self.failure is not None or self._init_failed():
            return False
        return not self._apps_started and (self.initialized or self.init[self._current].started_at is None)

    def _step(self, moment: float) -> None:
        if self.deadline is not None and self.deadline <= moment and not self.finished:
            self.fail(moment, *DEADLINE_EXCEEDED)
            return
        if self._may_start_something() and self.starts_at <= moment:
            self._start_next(moment)
            return
        for container in self.containers:
            event = container.step(moment)
            if event == "ended":
                self.happened("backoff" if container.restarts_at and container.failures > 1 else "ended", container, moment)
                self._after_end(container, moment)
            elif event == "restarted":
                self.happened("started", container, moment)
            if event:
                return

    def _start_next(self, moment: float) -> None:
        if not self.initialized:
            container = self.init[self._current]
            self._start(container, moment)
            if container.restarts_on == "Always":
                self._current += 1
            return
        self._apps_started = True
        for container in self.apps:
            self._start(container, moment)

    def _start(self, container: Container, moment: float) -> None:
        container.start(moment)
        self.happened("started", container, moment)

    def _after_end(self, container: Container, moment: float) -> None:
        if not self.initialized and container is self.init[self._current] and container.done and container.exit_code == 0:
            self._current += 1
            self.starts_at = moment
        if self._apps_started and all(c.done for c in self.apps):
            for sidecar in self.init:
                sidecar.stop(moment, 0.0)

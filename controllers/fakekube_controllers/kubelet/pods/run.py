"""What one pod does on its node, as a state machine: it changes at instants only, and nothing
happens between two of them.

``advance(now)`` does everything that is due, and returns when the next thing is. Init containers
run one after the other. Sidecars (init containers whose restartPolicy is Always) go on running
beside what follows. App containers run together. A deletion stops what runs. Upstream: pkg/kubelet
(syncPod, computePodActions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakekube.apimachinery.pods import FINISHED_PHASES
from fakekube.runtime.pods import Pod
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.containers.events import ContainerEvent

LOW_ON_RESOURCE = "The node was low on resource: {}. "
DEADLINE_EXCEEDED = ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")

OnEvent = Callable[["PodRun", ContainerEvent, Container, float], None]
"""Called with the run, what happened, the container and the time (Unix seconds)."""


@dataclass(slots=True)
class PodRun:
    """What the kubelet knows of one pod. Times are Unix seconds."""

    pod: Pod
    accepted_at: float
    starts_at: float
    init: list[Container]
    apps: list[Container]
    on_event: OnEvent
    deadline: float | None = None  # spec.activeDeadlineSeconds, from when the pod was accepted
    deleting_since: float | None = None
    grace_seconds: float = 0.0
    failure: tuple[str, str] | None = None  # reason and message of a pod that failed as a whole
    rejected: bool = False  # by the node, which never admitted it
    disruption: str = ""  # the message of its condition DisruptionTarget, when the kubelet ended it
    evicts_at: float | None = None
    concluded: str = ""  # the terminal phase that the API shows: it never changes again
    status: Mapping[str, Any] | None = None  # what was written last
    unmounted: str = ""  # why its volumes cannot be mounted: nothing is started before they can
    _current: int = 0  # the init container whose turn it is
    _apps_started: bool = field(default=False)

    @property
    def containers(self) -> list[Container]:
        """All containers, init containers first."""
        return [*self.init, *self.apps] if self.init else self.apps

    def container(self, name: str) -> Container | None:
        """The container of this name, or None."""
        return next((container for container in self.containers if container.name == name), None)

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
        if self.deleting_since is not None and all(c.done for c in self.containers):
            return "Succeeded" if all(c.exit_code == 0 for c in self.apps) and self._apps_started else "Failed"
        if self.init and self._init_failed():
            return "Failed"
        return self._phase_of_apps() if self._apps_started else "Pending"

    def _phase_of_apps(self) -> str:
        """The phase of a pod whose app containers were told to start. A loop, as it is asked at
        every step.
        """
        ended, failed, begun = True, False, False
        for container in self.apps:
            begun = begun or container.started_at is not None
            if container.finished_at is None or container.restarts_at is not None or container.restarts_all:
                ended = False
            elif container.exit_code:
                failed = True
        if ended:
            return "Failed" if failed else "Succeeded"
        return "Running" if begun else "Pending"

    @property
    def finished(self) -> bool:
        """Whether the phase is terminal."""
        return self.phase in FINISHED_PHASES

    @property
    def begun(self) -> bool:
        """Whether any container was told to start."""
        return self._apps_started or self._current > 0 or any(container.begun for container in self.init)

    @property
    def running(self) -> bool:
        """Whether any container runs."""
        for container in self.containers:  # noqa: SIM110 - asked at every step
            if container.running:
                return True
        return False

    @property
    def over(self) -> bool:
        """Whether nothing but its deletion can happen to a pod whose phase is terminal."""
        return self.deleting_since is None and not self.running

    def _init_failed(self) -> bool:
        return any(c.done and c.exit_code != 0 and c.restarts_on == "Never" and not c.restarts_all for c in self.init)

    def fail(self, now: float, reason: str, message: str, *, grace_seconds: float = 0.0, disruption: str = "") -> None:
        """The pod fails as a whole, and what runs is stopped.

        ``disruption``: the message of the condition DisruptionTarget; empty where the kubelet did
        not end the pod.
        """
        self.failure, self.disruption = (reason, message), disruption
        self._kill(now, grace_seconds)

    def reject(self, reason: str, message: str) -> None:
        """The node does not admit the pod."""
        self.failure, self.rejected = (reason, f"Pod was rejected: {message}"), True

    def conclude(self, now: float, phase: str) -> None:
        """The API shows that the pod has ended, whoever wrote that: what still runs is stopped."""
        self.concluded = phase
        self._kill(now, 0.0)

    def _kill(self, now: float, grace_seconds: float) -> None:
        for container in self.containers:
            if container.running and not container.stopping:
                self.on_event(self, ContainerEvent.KILLING, container, now)
                container.stop(now, grace_seconds)
            elif container.restarts_at is not None or container.later:
                container.later.clear()
                if container.started_at is not None:
                    container.stop(now, 0.0)

    def delete(self, now: float, grace_seconds: float) -> None:
        """Stop everything, sidecars after the rest. Called again with a shorter grace period, it
        stops things sooner.
        """
        if self.deleting_since is None:
            self.deleting_since = now
            for container in self.containers:
                if container.running:
                    self.on_event(self, ContainerEvent.KILLING, container, now)
        self.grace_seconds = grace_seconds
        waited_for = [c for c in self.containers if not self._is_sidecar(c)]
        for container in waited_for:
            container.stop(now, grace_seconds)
        if not any(c.running for c in waited_for):
            self._stop_sidecars(now, grace_seconds)

    def _is_sidecar(self, container: Container) -> bool:
        return container.restarts_on == "Always" and any(container is other for other in self.init)

    def _stop_sidecars(self, now: float, grace_seconds: float) -> None:
        for container in reversed(self.init):
            container.stop(now, grace_seconds)

    @property
    def _grace_is_over_at(self) -> float | None:
        """When sidecars that go on until the rest has stopped are killed."""
        if self.deleting_since is None or not self.init or not any(c.running and not c.stopping for c in self.init):
            return None
        return self.deleting_since + self.grace_seconds

    def advance(self, now: float) -> float | None:
        """Do all that is due until ``now``; when the next thing is, or None. Raises InvalidOutcome.
        """
        while not self.finished or self.running:
            due = self._next_due()
            if due is None or due > now:
                return due
            self._step(due)
        return None

    def _next_due(self) -> float | None:
        known = [due for c in self.containers if (due := c.due) is not None]
        if (self.deadline is not None or self.evicts_at is not None) and not self.finished:
            known += [at for at in (self.deadline, self.evicts_at) if at is not None]
        if (over := self._grace_is_over_at) is not None:
            known.append(over)
        if self._may_start_something():
            known.append(self.starts_at)
        return min(known) if known else None

    def _may_start_something(self) -> bool:
        if self._apps_started or self.deleting_since is not None or self.failure is not None or self.unmounted:
            return False
        return self.initialized or not self.init[self._current].begun

    def _step(self, moment: float) -> None:
        if self._ended_by_kubelet(moment):
            return
        if (over := self._grace_is_over_at) is not None and over <= moment:
            self._stop_sidecars(moment, 0.0)
            return
        if self._may_start_something() and self.starts_at <= moment:
            self._start_next(moment)
            return
        for container in self.containers:
            event = container.step(moment)
            if event is None:
                continue
            if event is ContainerEvent.ENDED:
                self._ended(container, moment)
            elif event is ContainerEvent.START_ERROR and container.finished_at is not None:
                self.on_event(self, event, container, moment)
                self._ended(container, moment)
            else:
                self.on_event(self, event, container, moment)
                self._sidecar_started(container)
            return

    def _ended_by_kubelet(self, moment: float) -> bool:
        """Whether its deadline or its eviction has come; then it has failed."""
        if (self.deadline is None and self.evicts_at is None) or self.finished:
            return False
        if self.deadline is not None and self.deadline <= moment:
            self.fail(moment, *DEADLINE_EXCEEDED)
        elif self.evicts_at is not None and self.evicts_at <= moment:
            self.evict(moment, "memory")
        else:
            return False
        return True

    def evict(self, now: float, resource: str) -> None:
        """The node runs short of a resource: the pod fails."""
        message = LOW_ON_RESOURCE.format(resource)
        self.fail(now, "Evicted", message, disruption=message)

    def _ended(self, container: Container, moment: float) -> None:
        if container.restarts_all:
            self.on_event(self, ContainerEvent.ENDED, container, moment)
            self._restart_all(moment)
            return
        backs_off = container.restarts_at and container.failures > 1
        self.on_event(self, ContainerEvent.BACK_OFF if backs_off else ContainerEvent.ENDED, container, moment)
        self._after_end(container, moment)

    def _restart_all(self, moment: float) -> None:
        """A restart rule says so: restart all containers, init containers too."""
        for container in self.containers:
            container.reset(moment)
        self._current, self._apps_started, self.starts_at = 0, False, moment

    def _start_next(self, moment: float) -> None:
        if not self.initialized:
            self._start(self.init[self._current], moment)
            return
        self._apps_started = True
        for container in self.apps:
            self._start(container, moment)

    def _start(self, container: Container, moment: float) -> None:
        event = container.start(moment)
        self.on_event(self, event, container, moment)
        if event is ContainerEvent.START_ERROR:
            self._ended(container, moment)
        else:
            self._sidecar_started(container)

    def _sidecar_started(self, container: Container) -> None:
        """Go on to the next init container once a sidecar is past its startup probe."""
        if not self.initialized and container is self.init[self._current] and container.restarts_on == "Always" and (
                container.started):
            self._current += 1

    def _after_end(self, container: Container, moment: float) -> None:
        if not self.initialized and container is self.init[self._current] and container.done and container.exit_code == 0:
            self._current += 1
            self.starts_at = moment
        if self._apps_started and all(c.done for c in self.apps):
            left = 0.0
            if self.deleting_since is not None:
                left = max(0.0, self.deleting_since + self.grace_seconds - moment)
            elif any(c.restarts_on == "Always" for c in self.init):
                left = self.init[0].config.grace_seconds
            self._stop_sidecars(moment, left)

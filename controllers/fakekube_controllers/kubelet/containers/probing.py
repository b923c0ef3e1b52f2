"""The probes of a container that runs: when they fail, how often they may, and what follows.

Upstream: pkg/kubelet/prober/worker.go. An outcome says when a probe would find the container
started, ready or unhealthy; what is due next stands in ``container.later``. A probe is asked until
it has failed as often as it may: upstream goes on asking whether a container is ready, which here
would keep virtual time from its rest.
"""

from typing import Protocol

from fakekube_controllers.kubelet.containers.config import ContainerConfig, Probe
from fakekube_controllers.kubelet.containers.events import ContainerEvent
from fakekube_controllers.kubelet.containers.timers import Timer
from fakekube_controllers.kubelet.outcomes.outcome import Outcome


class Probed(Protocol):
    """What of a container probes depend on and change; ``container.py`` says what it means."""

    config: ContainerConfig
    outcome: Outcome | None
    started_at: float | None
    started: bool
    ready: bool
    ready_at: float | None
    later: dict[Timer, float]
    failed_probes: dict[Timer, int]
    detail: str

    def terminate(self, now: float, grace_seconds: float) -> None:
        """Send SIGTERM to what runs, which is started again if it may."""


def begin(container: Probed, now: float, outcome: Outcome) -> None:
    """A run begins now: startup comes first, readiness and liveness after it."""
    after, startup, later = outcome.started_after_seconds, container.config.startup, container.later
    container.failed_probes.clear()
    container.started = startup is None or (after is not None and after <= 0)
    if startup is not None and not container.started:
        later[Timer.STARTUP_FAILURE] = now + startup.delay_seconds
        if after is None or after > startup.delay_seconds + startup.seconds_to_fail + startup.period_seconds:
            container.ready, container.ready_at = False, None
            return
        later[Timer.STARTUP] = now + after
    since = now + (after or 0.0) if startup is not None else now
    _await_readiness(container, now, since, outcome.ready_after_seconds)
    if outcome.unhealthy_after_seconds is not None and container.config.liveness is not None:
        later[Timer.LIVENESS_FAILURE] = max(now + outcome.unhealthy_after_seconds, since)


def succeed(container: Probed, now: float) -> None:
    """It is ready: the next failure of its readiness probe is when the outcome says so."""
    assert container.outcome is not None, "it runs"
    assert container.started_at is not None, "it runs"
    container.failed_probes.pop(Timer.READINESS_FAILURE, None)
    container.later.pop(Timer.READINESS_FAILURE, None)
    if container.outcome.unready_after_seconds is not None:
        container.later[Timer.READINESS_FAILURE] = max(container.started_at + container.outcome.unready_after_seconds, now)


def fail(container: Probed, timer: Timer, now: float) -> ContainerEvent:
    """A probe fails: what that comes to."""
    if timer is Timer.READINESS_FAILURE:
        return _readiness_failed(container, now)
    of_startup = timer is Timer.STARTUP_FAILURE
    probe = container.config.startup if of_startup else container.config.liveness
    assert probe is not None, "it was asked for"
    succeeds_at = container.later.get(Timer.STARTUP) if of_startup else None
    if succeeds_at is None and _failed_too_often(container, timer, probe):
        container.detail = "startup" if of_startup else "liveness"
        container.terminate(now, container.config.grace_seconds if probe.grace_seconds is None else probe.grace_seconds)
        return ContainerEvent.KILLED_BY_PROBE
    if succeeds_at is None or now + probe.period_seconds < succeeds_at:
        container.later[timer] = now + probe.period_seconds
    return ContainerEvent.STARTUP_FAILED if of_startup else ContainerEvent.LIVENESS_FAILED


def _await_readiness(container: Probed, now: float, since: float, ready_after: float | None) -> None:
    due, probe = None if ready_after is None else max(now + ready_after, since), container.config.readiness
    container.ready = due is not None and due <= now
    container.ready_at = None if container.ready else due
    if container.ready:
        succeed(container, now)
    elif probe is not None and _fails_at(container, probe, at := max(since, now + probe.delay_seconds)):
        container.later[Timer.READINESS_FAILURE] = at


def _readiness_failed(container: Probed, now: float) -> ContainerEvent:
    probe = container.config.readiness
    if probe is None:
        container.ready = False
        return ContainerEvent.UNREADY
    if _failed_too_often(container, Timer.READINESS_FAILURE, probe):
        container.ready = False
    elif _fails_at(container, probe, now + probe.period_seconds):
        container.later[Timer.READINESS_FAILURE] = now + probe.period_seconds
    return ContainerEvent.READINESS_FAILED


def _fails_at(container: Probed, probe: Probe, moment: float) -> bool:
    """Whether the readiness probe still finds then that it is not ready."""
    return container.ready or container.ready_at is None or moment < container.ready_at - probe.seconds_to_succeed


def _failed_too_often(container: Probed, timer: Timer, probe: Probe) -> bool:
    container.failed_probes[timer] = container.failed_probes.get(timer, 0) + 1
    return container.failed_probes[timer] >= probe.failure_threshold

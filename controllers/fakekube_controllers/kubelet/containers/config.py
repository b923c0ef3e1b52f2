"""What a container's specification says of how it is run: restart rules, probes, preStop hook,
grace period, pull policy.

Upstream: pkg/kubelet/container/helpers.go (restart rules), pkg/kubelet/prober.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube.util.durations import of_whole_seconds
from fakekube_controllers.kubelet.outcomes import commands

RESTART_ALL = "RestartAllContainers"
MIN_GRACE_SECONDS = 2.0  # what SIGTERM has left when preStop took all

Spec = Mapping[str, Any]


class Probe(NamedTuple):
    """What a probe says of its times."""

    delay_seconds: float
    period_seconds: float
    failure_threshold: int
    success_threshold: int
    grace_seconds: float | None  # terminationGracePeriodSeconds of the probe itself

    @property
    def seconds_to_fail(self) -> float:
        """How long after its first failure it has failed as often as it may."""
        return self.period_seconds * (self.failure_threshold - 1)

    @property
    def seconds_to_succeed(self) -> float:
        """How long after its first success it has succeeded as often as it must."""
        return self.period_seconds * (self.success_threshold - 1)


class ContainerConfig(NamedTuple):
    """How a container is run. ``rules`` are its restartPolicyRules, back-off is what restarts wait
    for.
    """

    rules: Sequence[Spec] = ()
    liveness: Probe | None = None
    startup: Probe | None = None
    readiness: Probe | None = None
    pre_stop_seconds: float = 0.0
    grace_seconds: float = 30.0  # the pod's terminationGracePeriodSeconds
    pull_policy: str = "IfNotPresent"
    back_off_seconds: float = 10.0
    max_back_off_seconds: float = 300.0

    def action(self, exit_code: int) -> str:
        """What the first rule that matches an exit code says: Restart, RestartAllContainers, or
        nothing.
        """
        for rule in self.rules:
            codes = rule.get("exitCodes") or {}
            listed = exit_code in (codes.get("values") or ())
            if listed if codes.get("operator") == "In" else codes.get("operator") == "NotIn" and not listed:
                return str(rule["action"])
        return ""


DEFAULT_CONFIG = ContainerConfig()


def config_of(container: Spec, pod: Spec, *, rules: bool, quick: bool) -> ContainerConfig:
    """The configuration of a container.

    ``rules``: whether restart rules count; ``quick``: whether back-off is from 1 s to 60 s, and not
    from 10 s to 300 s.
    """
    return ContainerConfig(
        rules=tuple(container.get("restartPolicyRules") or ()) if rules else (),
        liveness=_probe(container.get("livenessProbe")), startup=_probe(container.get("startupProbe")),
        readiness=_probe(container.get("readinessProbe")),
        pre_stop_seconds=_pre_stop_seconds((container.get("lifecycle") or {}).get("preStop")),
        grace_seconds=granted_seconds(pod["spec"].get("terminationGracePeriodSeconds", 30)),
        pull_policy=container.get("imagePullPolicy", "IfNotPresent"),
        back_off_seconds=1.0 if quick else 10.0, max_back_off_seconds=60.0 if quick else 300.0)


def granted_seconds(count: int) -> float:
    """A grace period in seconds as container runtimes take it: one that Go's durations do not hold
    is over at once.
    """
    return max(0.0, of_whole_seconds(count))


def _probe(probe: Spec | None) -> Probe | None:
    if not probe:
        return None
    grace = probe.get("terminationGracePeriodSeconds")
    return Probe(
        float(probe.get("initialDelaySeconds") or 0), float(probe.get("periodSeconds") or 10),
        int(probe.get("failureThreshold") or 3), int(probe.get("successThreshold") or 1),
        None if grace is None else granted_seconds(grace))


def _pre_stop_seconds(handler: Spec | None) -> float:
    """How long a preStop hook takes: as its sleep says, or as its command would."""
    if not handler:
        return 0.0
    if handler.get("sleep"):
        return granted_seconds(handler["sleep"].get("seconds", 0))
    effect = commands.effect_of((handler.get("exec") or {}).get("command") or ())
    return 0.0 if effect is None or effect.run_seconds is None else effect.run_seconds

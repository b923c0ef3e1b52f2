"""What a container's specification says of how it is treated: restart rules, probes, its end, its image.

Upstream: pkg/kubelet/container/helpers.go (restart rules), pkg/kubelet/prober, pkg/kubelet/images.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fakekube_controllers.kubelet.outcomes import commands

RESTART_ALL = "RestartAllContainers"
MIN_GRACE_SECONDS = 2.0  # what SIGTERM has left when preStop took all
REFERENCE = re.compile(
    r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9._-]+)*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z0-9.+_-]+:[0-9a-fA-F]{32,})?", re.ASCII)
HOST = re.compile(r"(?:[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+|localhost|[A-Za-z0-9.-]+:\d+)(?::\d+)?/", re.ASCII)

Spec = Mapping[str, Any]


class Probe(NamedTuple):
    """A probe's numbers. Seconds."""

    delay: float
    period: float
    failures: int
    successes: int
    grace: float | None  # terminationGracePeriodSeconds, of the probe itself

    @property
    def patience(self) -> float:
        """How long it may fail from its first failure on until it counts."""
        return self.period * (self.failures - 1)


class Traits(NamedTuple):
    """``rules`` are restartPolicyRules; ``backoff`` and ``max_backoff`` what restarts wait for, in seconds."""

    rules: Sequence[Spec] = ()
    readiness: Probe | None = None
    liveness: Probe | None = None
    startup: Probe | None = None
    pre_stop: float = 0.0
    grace: float = 30.0  # the pod's terminationGracePeriodSeconds
    pull_policy: str = "IfNotPresent"
    backoff: float = 10.0
    max_backoff: float = 300.0

    def action(self, exit_code: int) -> str:
        """What the first rule that matches an exit code says: Restart, RestartAllContainers, or nothing."""
        for rule in self.rules:
            codes = rule.get("exitCodes") or {}
            listed = exit_code in (codes.get("values") or ())
            if listed if codes.get("operator") == "In" else codes.get("operator") == "NotIn" and not listed:
                return str(rule["action"])
        return ""


PLAIN = Traits()


def traits_of(container: Spec, pod: Spec, *, rules: bool, quick: bool) -> Traits:
    """The traits of a container. ``rules``: whether restart rules count; ``quick``: whether back-off is from 1 s to 60 s."""
    return Traits(
        rules=tuple(container.get("restartPolicyRules") or ()) if rules else (),
        readiness=_probe(container.get("readinessProbe")), liveness=_probe(container.get("livenessProbe")),
        startup=_probe(container.get("startupProbe")), pre_stop=_pre_stop((container.get("lifecycle") or {}).get("preStop")),
        grace=float(pod["spec"].get("terminationGracePeriodSeconds", 30)),
        pull_policy=container.get("imagePullPolicy", "IfNotPresent"),
        backoff=1.0 if quick else 10.0, max_backoff=60.0 if quick else 300.0)


def _probe(probe: Spec | None) -> Probe | None:
    if not probe:
        return None
    grace = probe.get("terminationGracePeriodSeconds")
    return Probe(
        float(probe.get("initialDelaySeconds") or 0), float(probe.get("periodSeconds") or 10),
        int(probe.get("failureThreshold") or 3), int(probe.get("successThreshold") or 1), None if grace is None else float(grace))


def _pre_stop(handler: Spec | None) -> float:
    """How long a preStop hook takes: as its sleep says, or as its command would."""
    if not handler:
        return 0.0
    if handler.get("sleep"):
        return float(handler["sleep"].get("seconds", 0))
    script = commands.read((handler.get("exec") or {}).get("command") or ())
    return 0.0 if script is None or script.run_seconds is None else script.run_seconds


def bad_image(image: str) -> str:
    """Why an image's name cannot be read, in upstream's words; empty when it can."""
    if REFERENCE.fullmatch(HOST.sub("host/", image, count=1)):
        return ""
    why = "invalid reference format"
    if REFERENCE.fullmatch(image.lower()):
        why += f": repository name ({_repository(image)}) must be lowercase"
    return f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": {why}'


def _repository(image: str) -> str:
    name = re.sub(r"(@.*|:[^/:]*)$", "", image)
    return name if "/" in name else f"library/{name}"

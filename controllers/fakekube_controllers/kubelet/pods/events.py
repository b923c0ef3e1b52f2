"""The Events that a kubelet records of its pods, in upstream's words.

Upstream: pkg/kubelet/events, pkg/kubelet/kuberuntime, pkg/kubelet/images, pkg/kubelet/prober.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from fakekube.apimachinery import meta
from fakekube.client.recorder import Recorder
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.containers.events import ContainerEvent
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.outcomes import probes
from fakekube_controllers.kubelet.pods.run import PodRun

EventType = Literal["Normal", "Warning"]
Event = tuple[EventType, str, str]
"""Type, reason and message."""


class PodEvents:
    """Records Events of pods.

    ``pull_checked``: whether the kubelet says of an image that is there that the pod may use it.
    """

    def __init__(self, recorder: Recorder, addresses: Addresses, *, pull_checked: bool) -> None:
        self._recorder, self._addresses, self._pull_checked = recorder, addresses, pull_checked

    def pod(self, run: PodRun, type_: EventType, reason: str, message: str) -> None:
        """Record an Event of a pod as a whole."""
        self._recorder.event(run.pod, type_, reason, message, host=run.pod["spec"]["nodeName"])

    def container(self, run: PodRun, event: ContainerEvent, container: Container, _: float) -> None:
        """Record what happened to a container, as ``PodRun`` calls it; most of what happens has no
        Event.
        """
        described = _EVENTS.get(event)
        if described is None:
            return
        field = "initContainers" if any(container is other for other in run.init) else "containers"
        field_path, host = f"spec.{field}{{{container.name}}}", run.pod["spec"]["nodeName"]
        events = described(container, self._pull_checked)
        if (probe := _FAILED_PROBES.get(event)) is not None:
            events = (self._unhealthy(run, container.name, field, probe or container.detail), *events)
        for type_, reason, message in events:
            self._recorder.event(run.pod, type_, reason, message, field_path=field_path, host=host)

    def _unhealthy(self, run: PodRun, name: str, field: str, probe: str) -> Event:
        """What the failure of a probe (startup, readiness, liveness) is told as."""
        pod, spec = run.pod, next(each for each in run.pod["spec"][field] if each["name"] == name)
        pod_ip = self._addresses.of_pod(pod["spec"]["nodeName"], meta.uid_of(pod), bool(pod["spec"].get("hostNetwork")))
        output = probes.failure_output(meta.annotations_of(pod), spec, spec[f"{probe}Probe"], pod_ip)
        return ("Warning", "Unhealthy", f"{probe.capitalize()} probe failed: {output}")


def _started(container: Container, pull_checked: bool) -> tuple[Event, ...]:
    image, outcome = container.image, container.outcome
    if container.pulls and outcome is not None and outcome.image_pull and not container.restart_count:
        took = container.detail
        pulled = f'Successfully pulled image "{image}" in {took} ({took} including waiting). Image size: 0 bytes.'
    else:
        pulled = f'Container image "{image}" already present on machine'
        pulled += " and can be accessed by the pod" if pull_checked else ""
    return (
        ("Normal", "Pulled", pulled), ("Normal", "Created", "Container created"), ("Normal", "Started", "Container started"))


def _killing(container: Container, _: bool) -> tuple[Event, ...]:
    return (("Normal", "Killing", f"Stopping container {container.name}"),)


def _killed_by_probe(container: Container, _: bool) -> tuple[Event, ...]:
    restarted = "" if container.restarts_on == "Never" else ", will be restarted"
    return (("Normal", "Killing", f"Container {container.name} failed {container.detail} probe{restarted}"),)


def _back_off(container: Container, _: bool) -> tuple[Event, ...]:
    message = f"Back-off restarting failed container {container.name} in pod {container.pod}"
    return (("Warning", "BackOff", message),)


def _pulling(container: Container, _: bool) -> tuple[Event, ...]:
    return (("Normal", "Pulling", f'Pulling image "{container.image}"'),)


def _pull_failed(container: Container, _: bool) -> tuple[Event, ...]:
    return (
        ("Normal", "Pulling", f'Pulling image "{container.image}"'),
        ("Warning", "Failed", f'Failed to pull image "{container.image}": {container.waiting_message}'),
        ("Warning", "Failed", "Error: ErrImagePull"))


def _pull_back_off(container: Container, _: bool) -> tuple[Event, ...]:
    return (("Normal", "BackOff", container.detail), ("Warning", "Failed", "Error: ImagePullBackOff"))


def _never_pulled(container: Container, _: bool) -> tuple[Event, ...]:
    return (("Warning", "ErrImageNeverPull", container.detail), ("Warning", "Failed", "Error: ErrImageNeverPull"))


def _invalid_image_name(container: Container, _: bool) -> tuple[Event, ...]:
    return (("Warning", "InspectFailed", container.waiting_message), ("Warning", "Failed", "Error: InvalidImageName"))


def _not_started(container: Container, _: bool) -> tuple[Event, ...]:
    start_error = container.outcome.start_error if container.outcome is not None else ""
    return (("Warning", "Failed", f"Error: {start_error or container.waiting_message}"),)


def _nothing_more(_: Container, __: bool) -> tuple[Event, ...]:
    return ()


_FAILED_PROBES: Mapping[ContainerEvent, str] = MappingProxyType({
    ContainerEvent.STARTUP_FAILED: "startup", ContainerEvent.READINESS_FAILED: "readiness",
    ContainerEvent.LIVENESS_FAILED: "liveness", ContainerEvent.KILLED_BY_PROBE: "",
})
"""The probe that failed; empty where the container says which one it was."""
_EVENTS: Mapping[ContainerEvent, Callable[[Container, bool], tuple[Event, ...]]] = MappingProxyType({
    ContainerEvent.STARTED: _started,
    ContainerEvent.KILLING: _killing,
    ContainerEvent.KILLED_BY_PROBE: _killed_by_probe,
    ContainerEvent.BACK_OFF: _back_off,
    ContainerEvent.PULLING: _pulling,
    ContainerEvent.PULL_FAILED: _pull_failed,
    ContainerEvent.PULL_BACK_OFF: _pull_back_off,
    ContainerEvent.NEVER_PULLED: _never_pulled,
    ContainerEvent.INVALID_IMAGE_NAME: _invalid_image_name,
    ContainerEvent.START_ERROR: _not_started,
    ContainerEvent.CONFIG_ERROR: _not_started,
    ContainerEvent.STARTUP_FAILED: _nothing_more,
    ContainerEvent.READINESS_FAILED: _nothing_more,
    ContainerEvent.LIVENESS_FAILED: _nothing_more,
})

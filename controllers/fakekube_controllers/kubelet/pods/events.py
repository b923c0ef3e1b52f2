"""The Events that a kubelet tells of its pods, in upstream's words. Upstream: pkg/kubelet/events, kuberuntime, images, prober."""

from typing import Literal

from fakekube.client.recorder import Recorder
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.pods.run import PodRun


class PodEvents:
    """Tells of pods. ``checked``: whether the kubelet says of an image that it checked who may use it."""

    def __init__(self, recorder: Recorder, *, checked: bool) -> None:
        self._recorder = recorder
        self._accessible = " and can be accessed by the pod" if checked else ""

    def pod(self, run: PodRun, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Something about a pod as a whole."""
        self._recorder.event(run.pod, kind, reason, message, host=run.pod["spec"]["nodeName"])

    def happened(self, run: PodRun, what: str, container: Container, now: float) -> None:
        """What happened to a container, as ``PodRun`` calls it."""
        image, name = container.image, container.name
        if what == "started":
            if container.pulls and container.outcome is not None and container.outcome.image_pull and not container.restart_count:
                took = container.detail
                self._normal(run, container, "Pulled", (
                    f'Successfully pulled image "{image}" in {took} ({took} including waiting). Image size: 0 bytes.'))
            else:
                self._normal(run, container, "Pulled", f'Container image "{image}" already present on machine{self._accessible}')
            self._normal(run, container, "Created", "Container created")
            self._normal(run, container, "Started", "Container started")
        elif what == "killing":
            self._normal(run, container, "Killing", f"Stopping container {name}")
        elif what == "kill":
            self._probe_failed(run, container)
        elif what == "backoff":
            self._warn(run, container, "BackOff", f"Back-off restarting failed container {name} in pod {container.pod}")
        elif what == "pulling":
            self._normal(run, container, "Pulling", f'Pulling image "{image}"')
        elif what == "pull-failed":
            self._normal(run, container, "Pulling", f'Pulling image "{image}"')
            self._warn(run, container, "Failed", f'Failed to pull image "{image}": {container.waiting_message}')
            self._warn(run, container, "Failed", "Error: ErrImagePull")
        elif what == "pull-backoff":
            self._normal(run, container, "BackOff", container.detail)
            self._warn(run, container, "Failed", "Error: ImagePullBackOff")
        elif what == "never-pulled":
            self._warn(run, container, "ErrImageNeverPull", container.detail)
            self._warn(run, container, "Failed", "Error: ErrImageNeverPull")
        elif what == "invalid-image":
            self._warn(run, container, "InspectFailed", container.waiting_message)
            self._warn(run, container, "Failed", "Error: InvalidImageName")
        elif what in ("start-error", "config-error"):
            outcome = container.outcome
            self._warn(run, container, "Failed", f"Error: {outcome.start_error or outcome.config_error if outcome else ''}")
        elif what in ("unready", "unhealthy"):
            self._warn(run, container, "Unhealthy", f"{'Readiness' if what == 'unready' else 'Liveness'} probe failed: ")

    def _probe_failed(self, run: PodRun, container: Container) -> None:
        if container.detail == "startup":
            self._warn(run, container, "Unhealthy", "Startup probe failed: ")
        again = "" if container.restarts_on == "Never" else ", will be restarted"
        self._normal(run, container, "Killing", f"Container {container.name} failed {container.detail} probe{again}")

    def _normal(self, run: PodRun, container: Container, reason: str, message: str) -> None:
        self._tell(run, container, "Normal", reason, message)

    def _warn(self, run: PodRun, container: Container, reason: str, message: str) -> None:
        self._tell(run, container, "Warning", reason, message)

    def _tell(self, run: PodRun, container: Container, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        where = "initContainers" if any(container is other for other in run.init) else "containers"
        self._recorder.event(
            run.pod, kind, reason, message, field_path=f"spec.{where}{{{container.name}}}", host=run.pod["spec"]["nodeName"])

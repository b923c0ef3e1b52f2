"""Rules about pods that the server and controllers share. Upstream: pkg/api/v1/pod/util.go."""

from fakekube.apimachinery.types import ReadOnlyTree

FINISHED_PHASES = ("Succeeded", "Failed")


def is_sidecar(init_container: ReadOnlyTree) -> bool:
    """Whether an init container goes on beside the others. Upstream: IsRestartableInitContainer."""
    return init_container.get("restartPolicy") == "Always"


def sidecars(spec: ReadOnlyTree) -> list[ReadOnlyTree]:
    """The sidecars of a pod's spec."""
    return [container for container in spec.get("initContainers") or () if is_sidecar(container)]

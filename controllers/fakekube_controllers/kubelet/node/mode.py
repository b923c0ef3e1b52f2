"""Whether the kubelet of a node runs, is stopped or shuts down: an annotation of the Node says so.

Any client can set ``fakekube.dev/kubelet``:

    stopped   it renews no lease and writes no status; what runs there runs on
    shutdown  it ends its pods, takes no more and is not ready
    running   it is well, as without the annotation
"""

from enum import StrEnum

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree

ANNOTATION = "fakekube.dev/kubelet"


class KubeletMode(StrEnum):
    """The values of the annotation."""

    RUNNING = "running"
    STOPPED = "stopped"
    SHUTDOWN = "shutdown"


_BY_VALUE = {mode.value: mode for mode in KubeletMode}


class KubeletModes:
    """The modes of the kubelets of all nodes, by the name of the node. One that is not known is
    running.
    """

    def __init__(self) -> None:
        self._modes: dict[str, KubeletMode] = {}

    def of(self, node: str) -> KubeletMode:
        """The mode of a node's kubelet."""
        return self._modes.get(node, KubeletMode.RUNNING)

    def is_stopped(self, node: str) -> bool:
        """Whether a node's kubelet renews no lease and writes no status."""
        return self._modes.get(node) is KubeletMode.STOPPED

    def is_shutting_down(self, node: str) -> bool:
        """Whether a node ends its pods and takes no more."""
        return self._modes.get(node) is KubeletMode.SHUTDOWN

    def read(self, node: ReadOnlyTree) -> bool:
        """Take the mode from a Node's annotation, running where the value is not known; whether it
        has changed.
        """
        name = meta.name_of(node)
        mode = _BY_VALUE.get(meta.annotations_of(node).get(ANNOTATION, ""), KubeletMode.RUNNING)
        if mode is self.of(name):
            return False
        self._modes[name] = mode
        return True

    def forget(self, node: str) -> None:
        """A node is gone."""
        self._modes.pop(node, None)

    def clear(self) -> None:
        """Every kubelet is running, until its node is read again."""
        self._modes.clear()

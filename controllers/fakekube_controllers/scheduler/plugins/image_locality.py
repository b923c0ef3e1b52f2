"""Nodes are better that have the pod's images already: the larger these are, and the more nodes
have them.

Upstream: plugins/imagelocality.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.interface import MAX_NODE_SCORE
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

MIB = 1 << 20
LEAST_BYTES = 23 * MIB
MOST_BYTES_PER_IMAGE = 1000 * MIB


class ImageLocality:
    """PreScore and Score."""

    name = "ImageLocality"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """SKIP where no node has any of the images, which gives all nodes the same score."""
        return None if self._known(pod) else SKIP

    def _known(self, pod: PodInfo) -> bool:
        states = self._handle.snapshot.image_states
        return bool(states) and any(name in states for name in _images(pod))

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The bytes of the pod's images that the node has, each by the share of nodes that have it,
        between two limits.
        """
        snapshot = self._handle.snapshot
        images, total = list(_images(pod)), len(snapshot.all_nodes)
        found = 0
        for name in images:
            if name in node.images:
                size, num_nodes = snapshot.image_states[name]
                found += int(size * (num_nodes / total))
        most = MOST_BYTES_PER_IMAGE * len(images)
        found = min(max(found, LEAST_BYTES), most)
        return MAX_NODE_SCORE * (found - LEAST_BYTES) // (most - LEAST_BYTES)

    # one answer for nodes with the same of the pod's images

    def sign_pod(self, pod: PodInfo) -> tuple[str, ...]:
        """The images."""
        return tuple(_images(pod))

    def node_fields(self, pod: PodInfo) -> tuple[str, ...]:
        """Those of the images that some node has."""
        states = self._handle.snapshot.image_states
        return tuple(sorted(dict.fromkeys(name for name in _images(pod) if name in states))) if states else ()

    def sign_node(self, node_fields: tuple[str, ...], node: NodeInfo) -> tuple[bool, ...]:
        """Which of them the node has."""
        return tuple([name in node.images for name in node_fields]) if node_fields else ()


def _images(pod: PodInfo) -> Iterator[str]:
    """The images of a pod's containers and volumes, one for each."""
    spec = pod.pod["spec"]
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        yield normalized(container.get("image") or "")
    for volume in spec.get("volumes") or ():
        if volume.get("image") is not None:
            yield normalized(volume["image"].get("reference") or "")


def normalized(name: str) -> str:
    """The name of an image with its tag: ``latest`` where there is none."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"

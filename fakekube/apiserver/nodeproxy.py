"""What the API server asks of the nodes' agents: the output of containers, for now.

Upstream speaks HTTPS to each kubelet; here whoever plays the kubelet is called. Upstream: pkg/registry/core/pod/rest.
"""

from typing import NamedTuple, Protocol

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Stream
from fakekube.apimachinery.types import Tree


class LogOptions(NamedTuple):
    """How to read a log. Seconds are whole, ``since_time`` is Unix seconds; None means not given."""

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: float | None = None


class NodeProxy(Protocol):
    """The agents of all nodes."""

    async def logs(self, pod: Tree, container: str, options: LogOptions) -> bytes | Stream:
        """What a container wrote. ``pod`` is bound to a node and has the container. Raises APIError as a kubelet
        does.
        """


class NoNodes:
    """A cluster without agents."""

    async def logs(self, pod: Tree, container: str, options: LogOptions) -> bytes | Stream:
        """Raise what upstream says of a node that it cannot find."""
        node = pod["spec"].get("nodeName", "")
        raise errors.internal(f'Get "https://{node}:10250/containerLogs": no agent runs on node {node}')

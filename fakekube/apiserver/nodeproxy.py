"""What the API server asks of kubelets: logs, commands, connections to ports, resource usage.

Upstream speaks HTTPS to each kubelet; here one object stands for all of them. Upstream:
pkg/registry/core/pod/rest.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Response, Stream
from fakekube.apimachinery.ports import PortAnswer, PortRequest
from fakekube.apimachinery.types import Tree

if TYPE_CHECKING:
    from fakekube.apimachinery.streams import Command, CommandOptions, Forward


class LogOptions(NamedTuple):
    """How to read a log.

    Seconds are whole, ``since_time`` is Unix seconds; None means not given.
    """

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: float | None = None


class Usage(NamedTuple):
    """What is used at a moment, in billionths of a CPU and in bytes."""

    cpu_nanocores: int
    memory_bytes: int


class NodeProxy(Protocol):
    """The kubelets of all nodes."""

    async def logs(self, pod: Tree, container: str, options: LogOptions) -> bytes | Stream:
        """What a container wrote.

        ``pod`` is bound to a node and has the container. Raises APIError as a kubelet does.
        """

    async def execute(self, options: "CommandOptions") -> "Command":
        """A command, ready to be run in a container.

        Raises NodeError as a kubelet does, APIError when there is none.
        """

    async def attach(self, options: "CommandOptions") -> "Command":
        """The same for what the container runs already."""

    async def forward(self, pod: Tree) -> "Forward":
        """The way to a pod's ports. Raises NodeError and APIError like these."""

    async def ask(self, pod: Tree, port: int, request: PortRequest) -> PortAnswer:
        """Ask an HTTP server behind a port of a pod.

        Raises ConnectionRefusedError when nobody listens, BadAnswer for what is no answer,
        StreamError for a server that fails, ConnectionError for one that goes away.
        """

    def node_page(self, name: str, path: str) -> Response | None:
        """What the agent of a node answers itself to a GET of a path; None where none answers."""

    def pod_usage(self, pod: Mapping[str, Any]) -> Mapping[str, Usage] | None:
        """What each running container of a pod uses;

        None when nobody can tell. Raises APIError when there are no agents.
        """

    def node_usage(self, name: str) -> Usage | None:
        """What a node uses; None when nobody can tell. Raises APIError when there are no agents."""


class NoNodes:
    """A cluster without kubelets."""

    async def logs(self, pod: Tree, container: str, options: LogOptions) -> bytes | Stream:
        """Raise what upstream says of a node that it cannot find."""
        node = pod["spec"].get("nodeName", "")
        raise errors.internal(f'Get "https://{node}:10250/containerLogs": no agent runs on node {node}')

    async def execute(self, options: "CommandOptions") -> "Command":
        """Raise what upstream says of a node that it cannot reach."""
        raise unreachable(options.pod)

    async def attach(self, options: "CommandOptions") -> "Command":
        """Raise the same."""
        raise unreachable(options.pod)

    async def forward(self, pod: Tree) -> "Forward":
        """Raise the same."""
        raise unreachable(pod)

    async def ask(self, pod: Tree, port: int, request: PortRequest) -> PortAnswer:
        """Nobody listens."""
        raise ConnectionRefusedError

    def node_page(self, name: str, path: str) -> Response | None:
        """Nobody answers."""
        return None

    def pod_usage(self, pod: Mapping[str, Any]) -> Mapping[str, Usage] | None:
        """Raise what upstream says while no metrics-server answers."""
        raise no_metrics()

    def node_usage(self, name: str) -> Usage | None:
        """Raise the same."""
        raise no_metrics()


def no_metrics() -> APIError:
    """503 of an API whose server is not there."""
    return APIError(503, "ServiceUnavailable", "the server is currently unable to handle the request")


def unreachable(pod: Mapping[str, Any]) -> APIError:
    """500 of a connection to a pod on whose node nobody answers."""
    return errors.internal(f"error dialing backend: no agent runs on node {pod['spec'].get('nodeName', '')}")

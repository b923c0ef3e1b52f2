"""exec, attach and port-forward: connections to what runs in a cluster.

The API server checks what it can see, agrees on a protocol, and passes the connection on to the
kubelet of the pod's node. Upstream: pkg/registry/core/{pod,node,service}/rest, pod/strategy.go, and
pkg/kubelet/server for what a kubelet refuses.
"""

from collections.abc import Awaitable, Callable, Sequence

from fakekube.apimachinery import errors, strconv
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.streams import (
    Command,
    CommandOptions,
    CommandSession,
    CommandStreams,
    NodeError,
    PortSession,
    StreamError,
)
from fakekube.apimachinery.types import Tree
from fakekube.apiserver import upgrade
from fakekube.apiserver.authorization import check_also
from fakekube.apiserver.nodeproxy import NodeProxy
from fakekube.apiserver.podlog import chosen_container
from fakekube.endpoints.connecting import admit_connection, check_dry_run
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

Nodes = Callable[[], NodeProxy]
"""The agents of the nodes, as they are at the time of a request."""


async def execute(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Run a command in a container."""
    return await _command(nodes().execute, scope, info, request)


async def attach(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Attach to what a container runs."""
    return await _command(nodes().attach, scope, info, request)


async def _command(
    begin: Callable[[CommandOptions], Awaitable[Command]], scope: Scope, info: RequestInfo, request: Request,
) -> Response:
    check_dry_run(request)
    await admit_connection(scope, info, request)
    _check_create(scope, info, request)
    pod = scope.store.load(scope.store.find(info.namespace, info.name))
    container = chosen_container(pod, request.param("container"))
    _check_host(pod)
    upgrade.check(request)
    gate, tty = scope.services.cluster.gate, _flag(request, "tty")
    options = CommandOptions(
        pod, container, tuple(request.query.get("command") or ()), stdin=_flag(request, "stdin"),
        stdout=_flag(request, "stdout"), stderr=_flag(request, "stderr") and not tty, tty=tty)
    first = upgrade.V5 if gate("TranslateStreamCloseWebsocketRequests") else ""
    try:
        _check_options(options, info.subresource)
        run = await begin(options)
        chosen = upgrade.choose(request, channels=upgrade.COMMAND_CHANNELS, first=first, spdy=upgrade.COMMAND_SPDY)
    except NodeError as error:
        # Where kubelets do not speak v5 yet, the API server agrees to it before it asks them.
        if gate("ExtendWebSocketsToKubelet") or not first or not upgrade.offers(request, first):
            return _plain(error)
        run, chosen = _failing(f"unable to upgrade connection: {error}"), upgrade.Chosen(first)
    except upgrade.Refused as refused:
        return refused.response
    response = chosen.response()
    response.session = CommandSession(chosen.protocol, chosen.spdy, options, run)
    return response


def _check_options(options: CommandOptions, subresource: str) -> None:
    if not (options.stdin or options.stdout or options.stderr):
        raise NodeError(400, "you must specify at least 1 of stdin, stdout, stderr")
    if subresource == "exec" and not options.command:
        raise NodeError(400, "you must specify at least 1 command for the container")


def _failing(text: str) -> Command:
    async def fail(_: CommandStreams) -> int:
        raise StreamError(text)

    return fail


async def forward_ports(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Forward connections to ports of a pod."""
    check_dry_run(request)
    ports = _ports(request.query.get("ports", []))
    await admit_connection(scope, info, request)
    _check_create(scope, info, request)
    pod = scope.store.load(scope.store.find(info.namespace, info.name))
    _check_host(pod)
    upgrade.check(request)
    tunnel = upgrade.TUNNEL if scope.services.cluster.gate("PortForwardWebsockets") else ""
    try:
        if upgrade.wants_websocket(request) and not (tunnel and upgrade.offers(request, tunnel)):
            _check_ports(ports)
        forward = await nodes().forward(pod)
        chosen = upgrade.choose(request, channels=upgrade.PORT_CHANNELS, first=tunnel, spdy=upgrade.PORT_SPDY)
    except NodeError as error:
        return _plain(error)
    except upgrade.Refused as refused:
        return refused.response
    response = chosen.response()
    response.session = PortSession(chosen.protocol, chosen.spdy, pod, ports, forward)
    return response


def _ports(texts: Sequence[str]) -> tuple[int, ...]:
    """The ports that are asked for, several in a parameter or one. Raises 400."""
    found: list[int] = []
    for text in (text for several in texts for text in several.split(",")):
        try:
            port = strconv.parse_uint(text, bits=16)
        except strconv.NumberError as error:
            raise errors.bad_request(f"cannot convert to []int32: {error}") from None
        found.append(port)
    return tuple(found)


def _check_ports(ports: tuple[int, ...]) -> None:
    """Raises what a kubelet says of ports that it cannot make channels for."""
    if not ports:
        raise NodeError(400, 'query parameter "port" is required')
    if 0 in ports:
        raise NodeError(400, f'port "{",".join(str(port) for port in ports)}" must be > 0')


def _check_create(scope: Scope, info: RequestInfo, request: Request) -> None:
    """Who reads may not run commands: a GET needs the verb of a POST, too. Raises 403."""
    cluster = scope.services.cluster
    if cluster.gate("AuthorizePodWebsocketUpgradeCreatePermission"):
        check_also(cluster.authorization.authorizer, info, request, "create")


def _check_host(pod: Tree) -> None:
    if not pod["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {pod['metadata']['name']} does not have a host assigned")


def _flag(request: Request, name: str) -> bool:
    """A boolean option, which upstream reads more strictly than a flag of a list."""
    values = request.query.get(name)
    return bool(values) and values is not None and values[0].lower() not in ("false", "0")


def _plain(error: NodeError) -> Response:
    """What a kubelet answers goes back as it is."""
    return Response(error.code, str(error).encode(), "text/plain; charset=utf-8")

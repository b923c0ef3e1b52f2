"""GET pods/<name>/log: what a container wrote, as the kubelet of its node has it.

Over WebSocket it comes as messages, after an empty one that says that the log was found. Upstream:
pkg/registry/core/pod/rest/log.go and strategy.go (LogLocation), apiserver's responsewriters
(StreamObject).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fakekube.apimachinery import errors, field_errors, times
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.http import Frame, Request, Response, Sink, Stream
from fakekube.apimachinery.types import Tree
from fakekube.apiserver import upgrade
from fakekube.apiserver.nodeproxy import LogOptions, NodeProxy
from fakekube.endpoints.options import parse_int
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

if TYPE_CHECKING:
    from fakekube.apimachinery.field_errors import FieldError

TEXT = "text/plain"


class PodLogs:
    """The endpoint. ``nodes`` gives the agents as they are at the time of the request."""

    def __init__(self, nodes: Callable[[], NodeProxy]) -> None:
        self._nodes = nodes

    async def get(self, scope: Scope, info: RequestInfo, request: Request) -> Response:
        """Answer a GET of a log: 204 while the pod has no node."""
        options = _options(request, info.name)
        pod = scope.store.load(scope.store.find(info.namespace, info.name))
        container = chosen_container(pod, request.param("container"))
        if not pod["spec"].get("nodeName"):
            return Response(204, content_type="")
        log = await self._nodes().logs(pod, container, options)
        if upgrade.wants_websocket(request):
            return _over_websocket(request, log)
        if isinstance(log, bytes):
            return Response(200, log, TEXT)
        return Response(200, content_type=TEXT, stream=log)


def _over_websocket(request: Request, log: bytes | Stream) -> Response:
    try:
        protocol = upgrade.choose_websocket(request, upgrade.LOG_CHANNELS)
    except upgrade.Refused as refused:
        return refused.response
    headers = [("Sec-WebSocket-Protocol", protocol)] if protocol else []
    return Response(200, content_type=TEXT, headers=headers, stream=_Announced(log))


class _Announced:
    """A Stream that begins with an empty frame."""

    def __init__(self, log: bytes | Stream) -> None:
        self._log = log

    def start(self, sink: Sink) -> None:
        """Send all that there is."""
        sink.send(Frame(b""))
        if not isinstance(self._log, bytes):
            self._log.start(sink)
            return
        if self._log:
            sink.send(Frame(self._log))
        sink.end()

    def stop(self) -> None:
        """The receiver is gone."""
        if not isinstance(self._log, bytes):
            self._log.stop()


def chosen_container(pod: Tree, asked: str) -> str:
    """The container that is meant.

    Raises 400 when it is none of the pod's, or not said and the pod has several.
    """
    name, spec = pod["metadata"]["name"], pod["spec"]
    if not asked:
        if len(spec["containers"]) == 1:
            first: str = spec["containers"][0]["name"]
            return first
        names = " ".join(c["name"] for field in ("initContainers", "containers") for c in spec.get(field) or ())
        raise errors.bad_request(f"a container name must be specified for pod {name}, choose one of: [{names}]")
    for field in ("containers", "initContainers", "ephemeralContainers"):
        if any(container["name"] == asked for container in spec.get(field) or ()):
            return asked
    raise errors.bad_request(f"container {asked} is not valid for pod {name}")


def _options(request: Request, name: str) -> LogOptions:
    def number(parameter: str) -> int | None:
        text = request.param(parameter)
        return parse_int(text) if text else None

    tail, limit, since = number("tailLines"), number("limitBytes"), number("sinceSeconds")
    since_time = request.param("sinceTime")
    found: list[FieldError] = []
    if tail is not None and tail < 0:
        found.append(field_errors.invalid("tailLines", tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        found.append(field_errors.invalid("limitBytes", limit, "must be greater than 0"))
    if since is not None and since_time:
        why = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        found.append(field_errors.forbidden("[]", why))
    elif since is not None and since < 1:
        found.append(field_errors.invalid("sinceSeconds", since, "must be greater than 0"))
    if request.param("stream"):
        found.append(field_errors.forbidden("stream", "may not be specified"))
    if found:
        raise errors.invalid(GroupKind("", "PodLogOptions"), name, found)
    try:
        moment = times.parse_time(since_time) if since_time else None
    except ValueError as error:
        raise errors.bad_request(str(error)) from None
    return LogOptions(
        request.flag("follow"), request.flag("previous"), request.flag("timestamps"), tail, limit, since, moment)

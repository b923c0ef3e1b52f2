"""Proxies: a client's request goes to a port of a pod, to a service through one of its endpoints,
or to a node's kubelet.

Who is behind a port is asked over HTTP/1.1, on a connection that the node's agent gives; where
nobody listens, the answer is that of a refused connection. ``https:`` before a name is taken, and
spoken like ``http:``: no certificate is anywhere here.
Upstream: pkg/registry/core/{pod,service,node}/rest, apimachinery/pkg/util/proxy. Left out: upgrades
through a proxy (501), and links inside of HTML pages, which upstream rewrites.
"""

import ipaddress
import posixpath
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.ports import BadAnswer, PortAnswer, PortRequest
from fakekube.apimachinery.streams import StreamError
from fakekube.apimachinery.types import Tree
from fakekube.apiserver.nodeproxy import NodeProxy
from fakekube.endpoints.connecting import admit_connection, check_dry_run
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

KUBELET_PORT = 10250
SCHEMES = ("", "http", "https")
PORTS = {"": 80, "http": 80, "https": 443}
SERVICE_NAME = "kubernetes.io/service-name"
# What is meant for this server, or for one connection alone.
KEPT_BACK = (
    "authorization", "connection", "content-length", "host", "keep-alive", "proxy-authenticate", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-forwarded-for", "x-forwarded-uri",
)
NOT_PASSED_ON = ("connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding", "upgrade")

Nodes = Callable[[], NodeProxy]


class Target(NamedTuple):
    """Who is meant by a name such as ``https:web:443``: the port is a number, a name, or empty."""

    scheme: str
    name: str
    port: str


async def to_pod(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Pass a request on to a pod: to the port that is named, or to the first that its containers
    declare.
    """
    check_dry_run(request)
    target = _target(info.name, "pod")
    await admit_connection(scope, info, request)
    pod = scope.store.load(scope.store.find(info.namespace, target.name))
    port = target.port or _first_port(pod)
    address = _address_of(pod)
    if not _is_allowed(address):
        raise errors.bad_request("address not allowed")
    redirected = _begin(info, request)
    return redirected or await _to_port(nodes(), pod, address, _number(target.scheme, port), info, request)


async def to_service(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Pass a request on to a pod that is an endpoint of a service, and ready."""
    check_dry_run(request)
    target = _target(info.name, "service")
    await admit_connection(scope, info, request)
    port = target.port
    if port.isdecimal():
        service = scope.store.load(scope.store.find(info.namespace, target.name))
        wanted = int(port)
        found = next((each for each in service["spec"].get("ports") or () if each["port"] == wanted), None)
        if found is None:
            raise _unavailable(f"no service port {wanted} found for service {go_quote(target.name)}")
        port = found.get("name", "")
    pod, address, number = _endpoint(scope, info.namespace, target.name, port)
    redirected = _begin(info, request)
    return redirected or await _to_port(nodes(), pod, address, number, info, request)


async def to_node(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Pass a request on to the kubelet of a node; no other port of a node has anybody listening."""
    check_dry_run(request)
    target = _target(info.name, "node")
    await admit_connection(scope, info, request)
    node = scope.store.load(scope.store.find("", target.name))
    addresses = {each["type"]: each["address"] for each in (node.get("status") or {}).get("addresses") or ()}
    address = addresses.get("InternalIP") or addresses.get("Hostname") or ""
    if not _is_allowed(address):
        if address:
            raise errors.bad_request("address not allowed")
        raise APIError(500, "", "no preferred addresses found; known addresses: []")
    redirected = _begin(info, request)
    if redirected is not None:
        return redirected
    number = _number(target.scheme, target.port or str(KUBELET_PORT))
    answer = nodes().node_page(target.name, _path_below(info, request)) if number == KUBELET_PORT else None
    if answer is None:
        raise _refused(address, number)
    return answer


def _target(text: str, kind: str) -> Target:
    parts = text.split(":")
    target = Target(*parts) if len(parts) == 3 else Target("", parts[0], parts[1] if len(parts) == 2 else "")
    if len(parts) > 3 or not target.name or target.scheme not in SCHEMES:
        raise errors.bad_request(f"invalid {kind} request {go_quote(text)}")
    return target


def _first_port(pod: Tree) -> str:
    for container in pod["spec"].get("containers") or ():
        if container.get("ports"):
            return str(container["ports"][0]["containerPort"])
    return ""


def _address_of(pod: Tree) -> str:
    status = pod.get("status") or {}
    addresses = [each.get("ip", "") for each in status.get("podIPs") or ()]
    return str(addresses[0] if addresses else status.get("podIP", ""))


def _is_allowed(address: str) -> bool:
    """Whether it is an address that is no one's own, nor a group's."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return not (parsed.is_loopback or parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified)


def _number(scheme: str, port: str) -> int:
    """Raises 503 for a port of a name that nobody knows, or out of range."""
    if not port:
        return PORTS[scheme]
    if port.isdecimal():
        if int(port) < 65536:
            return int(port)
        raise _unreachable(f"dial tcp: address {port}: invalid port")
    if port not in PORTS:
        raise _unreachable(f"dial tcp: lookup tcp/{port}: unknown port")
    return PORTS[port]


def _endpoint(scope: Scope, namespace: str, name: str, port: str) -> tuple[Tree, str, int]:
    """A pod that is ready behind a service, with its address and port there.

    Raises 503 when there is none.
    """
    cluster, rng = scope.services.cluster, scope.services.rng
    for each in cluster.select("discovery.k8s.io", "endpointslices", namespace):
        if (each["metadata"].get("labels") or {}).get(SERVICE_NAME) != name:
            continue
        numbers = [found["port"] for found in each.get("ports") or () if found.get("name", "") == port and "port" in found]
        endpoints = each.get("endpoints") or []
        if not numbers or not endpoints:
            continue
        start = rng.randbelow(len(endpoints))
        for endpoint in endpoints[start:] + endpoints[:start]:
            reference, address = endpoint.get("targetRef") or {}, endpoint["addresses"][0]
            if (endpoint.get("conditions") or {}).get("ready") is False or reference.get("namespace") != namespace:
                continue
            pod = cluster.lookup("", "pods", namespace, reference.get("name", ""))
            if pod is not None and address == _address_of(pod):
                return pod, address, numbers[0]
    raise _unavailable(f"no endpoints available for service {go_quote(name)}")


def _path_below(info: RequestInfo, request: Request) -> str:
    """What follows ``/proxy`` in a path."""
    path = "/".join(info.parts[3:])
    return posixpath.normpath(f"/{path}") + ("/" if path and request.path.endswith("/") else "") if path else (
        "/" if request.path.endswith("/") else "")


def _begin(info: RequestInfo, request: Request) -> Response | None:
    """The answer to who leaves out the slash at the end. Raises 501 for an upgrade."""
    if "upgrade" in request.headers.get("connection", "").lower():
        raise APIError(501, "NotImplemented", "upgrading a connection through a proxy is not served")
    if _path_below(info, request) or request.method not in ("GET", "HEAD"):
        return None
    where = f"{quote(request.path)}/{_query(request)}"
    return Response(301, content_type="", headers=[("Location", where)])


def _query(request: Request) -> str:
    return f"?{urlencode(request.query, doseq=True)}" if request.query else ""


async def _to_port(
    nodes: NodeProxy, pod: Tree, address: str, number: int, info: RequestInfo, request: Request,
) -> Response:
    below = _path_below(info, request) or "/"
    try:
        answer = await nodes.ask(pod, number, _passed_to(below, address, request))
    except ConnectionRefusedError:
        raise _refused(address, number) from None
    except (BadAnswer, StreamError, ConnectionError) as error:
        raise _unreachable(str(error)) from None
    return _passed_on(answer, address, below, request)


def _passed_to(below: str, address: str, request: Request) -> PortRequest:
    """The request as it goes on, less what is meant for this server."""
    headers = [("Host", request.headers.get("host") or address)]
    headers += [
        (_canonical(name), value) for name, value in request.headers.items()
        if name not in KEPT_BACK and not name.startswith("impersonate-")]
    peers = [request.headers.get("x-forwarded-for", ""), request.peer]
    if any(peers):
        headers.append(("X-Forwarded-For", ", ".join(peer for peer in peers if peer)))
    headers.append(("X-Forwarded-Uri", quote(request.path, safe=_SAFE)))
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        headers.append(("Content-Length", str(len(request.body))))
    return PortRequest(request.method, quote(below, safe=_SAFE) + _query(request), headers, request.body)


def _canonical(name: str) -> str:
    """A header's name as Go writes it: ``X-Forwarded-For``."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


_SAFE = "/:@!$&'()*+,;=~-._"


def _passed_on(answer: PortAnswer, address: str, below: str, request: Request) -> Response:
    headers = [(_canonical(name), value) for name, value in answer.headers if name.lower() not in NOT_PASSED_ON]
    headers = [(name, _moved(value, address, below, request) if name.lower() == "location" else value) for name, value in headers]
    kinds = [value for name, value in answer.headers if name.lower() == "content-type"]
    return Response(answer.status, answer.body, kinds[0] if kinds else "", headers, answer.stream)


def _moved(location: str, address: str, below: str, request: Request) -> str:
    """Where a redirect leads, by way of the proxy if it stays with the same server."""
    parts = urlsplit(location)
    here: Mapping[str, None] = dict.fromkeys(("", address, request.headers.get("host", "")))
    if parts.netloc.rpartition(":")[0] == address:
        here = {**here, parts.netloc: None}
    prefix = request.path.removesuffix(below)
    if parts.netloc not in here or not parts.path.startswith("/"):
        return location
    path = parts.path if parts.path.startswith(prefix) else prefix.rstrip("/") + parts.path
    return urlunsplit(("", "", path, parts.query, parts.fragment))


def _unavailable(text: str) -> APIError:
    return APIError(503, "ServiceUnavailable", text)


def _unreachable(why: str) -> APIError:
    return _unavailable(f"error trying to reach service: {why}")


def _refused(address: str, port: int) -> APIError:
    host = f"[{address}]" if ":" in address else address
    return _unreachable(f"dial tcp {host}:{port}: connect: connection refused")


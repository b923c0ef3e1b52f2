"""exec, attach, port-forward and proxy: connections to what runs in a cluster, of which nothing runs here.

What the API server itself checks is checked and worded as upstream does; where it would pass the connection on, 501 says
that there is nobody at the other end. Upstream: pkg/registry/core/{pod,node,service}/rest and pod/strategy.go.
"""

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Request, Response
from fakekube.apiserver.podlog import chosen_container
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope


def nobody_there(what: str) -> APIError:
    """501 of a connection that would leave the API server."""
    return APIError(501, "NotImplemented", f"{what} is not served: no container really runs in this cluster")


async def run_in_container(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Refuse exec or attach, after the checks that come before them."""
    _check_dry_run(request)
    pod = scope.store.load(scope.store.find(info.namespace, info.name))
    chosen_container(pod, request.param("container"))
    if not pod["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {info.name} does not have a host assigned")
    raise nobody_there(info.subresource)


async def forward_ports(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Refuse a port-forward, after the checks that come before it."""
    _check_dry_run(request)
    for text in request.query.get("ports", []):
        if not text.isdecimal():
            raise errors.bad_request(f"cannot convert to []int32: strconv.ParseUint: parsing {go_quote(text)}: invalid syntax")
    pod = scope.store.load(scope.store.find(info.namespace, info.name))
    if not pod["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {info.name} does not have a host assigned")
    raise nobody_there("portforward")


async def proxy_to_pod(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Refuse a proxy to a pod."""
    _check_dry_run(request)
    pod = scope.store.load(scope.store.find(info.namespace, info.name.rpartition(":")[0] or info.name))
    if not (pod.get("status") or {}).get("podIP"):
        raise errors.bad_request("address not allowed")
    raise nobody_there("proxy")


async def proxy_to_service(scope: Scope, info: RequestInfo, request: Request) -> Response:  # noqa: ARG001
    """Refuse a proxy to a service: nothing is behind one here."""
    _check_dry_run(request)
    parts = info.name.split(":")
    name = parts[1] if len(parts) == 3 else parts[0]
    raise APIError(503, "ServiceUnavailable", f"no endpoints available for service {go_quote(name)}")


async def proxy_to_node(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Refuse a proxy to a node."""
    _check_dry_run(request)
    scope.store.find("", info.name.partition(":")[0])
    raise nobody_there("proxy")


def _check_dry_run(request: Request) -> None:
    if request.param("dryRun"):
        raise errors.bad_request("dryRun is not supported")

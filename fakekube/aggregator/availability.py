"""Whether the server behind an APIService answers: its condition Available.

Upstream: kube-aggregator/pkg/controllers/status/remote/remote_available_controller.go, whose words
these are. It asks five times at once, which is once here.
"""

import asyncio
from typing import NamedTuple

from fakekube.aggregator.documents import AGGREGATOR
from fakekube.aggregator.remote import Remote, stop
from fakekube.aggregator.servers import Servers
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from fakekube.registry.strategy import Cluster
from fakekube.webhooks.transport import NoAnswer

TIMEOUT_SECONDS = 5.0
FAILED = "FailedDiscoveryCheck"
SERVICE_NAME = "kubernetes.io/service-name"
TIMED_OUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"


class Condition(NamedTuple):
    """A condition of type Available, at no time yet."""

    status: str
    reason: str
    message: str


async def condition_of(remote: Remote, servers: Servers, cluster: Cluster) -> Condition:
    """What is to be said of a server now."""
    service = remote.service
    if not remote.is_handler and not servers.is_mapped(service.namespace, service.name, service.port):
        found = _of_service(remote, cluster)
        if found is not None:
            return found
    problem = await _problem(remote)
    if problem:
        return Condition("False", FAILED, problem)
    return Condition("True", "Passed", "all checks passed")


def _of_service(remote: Remote, cluster: Cluster) -> Condition | None:
    """What is wrong with the service, seen without asking anybody behind it."""
    namespace, name, port = remote.service[:3]
    called = f"service/{name} in {go_quote(namespace)}"
    service = cluster.lookup("", "services", namespace, name)
    if service is None:
        return Condition("False", "ServiceNotFound", f"{called} is not present")
    spec = service.get("spec") or {}
    if spec.get("type") != "ClusterIP":
        return None
    found = next((each for each in spec.get("ports") or () if each.get("port") == port), None)
    if found is None:
        return Condition("False", "ServicePortError", f"{called} is not listening on port {port}")
    slices = [
        each for each in cluster.select("discovery.k8s.io", "endpointslices", namespace)
        if (each["metadata"].get("labels") or {}).get(SERVICE_NAME) == name]
    if not slices:
        return Condition("False", "EndpointsNotFound", f"cannot find endpointslices for {called}")
    port_name = found.get("name", "")
    if not any(_has_endpoint(each, port_name) for each in slices):
        text = f"endpointslices for {called} have no addresses with port name {go_quote(port_name)}"
        return Condition("False", "MissingEndpoints", text)
    return None


def _has_endpoint(endpoints: Tree, port_name: str) -> bool:
    if not any((each.get("conditions") or {}).get("ready") is not False for each in endpoints.get("endpoints") or ()):
        return False
    return any(
        each.get("name", "") == port_name and each.get("port") is not None for each in endpoints.get("ports") or ())


async def _problem(remote: Remote) -> str:
    """Why a path that the server has to serve could not be had; empty when it could."""
    headers = {"user-agent": "Go-http-client/1.1"}
    try:
        url = remote.url(remote.path)
    except NoAnswer as error:
        return str(error)
    missing = f"failing or missing response from {url}:"
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            answer = await remote.ask(Request("GET", remote.path, headers=headers, user=AGGREGATOR))
    except TimeoutError:
        return f"{missing} Get {go_quote(url)}: {TIMED_OUT}"
    except NoAnswer as error:
        return f"{missing} Get {go_quote(url)}: {error}"
    stop(answer)
    return "" if 200 <= answer.status < 300 else f"{missing} bad status from {url}: {answer.status}"

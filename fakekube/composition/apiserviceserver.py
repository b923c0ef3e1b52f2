"""The aggregated APIs of an add-on, for a cluster that is not in this process: served over HTTPS,
with an APIService each, and a Service of type ExternalName that leads to this machine.

The cluster's API server has recognised and authorized who asks. Only it may connect, by the
certificate of the authority that ``extension-apiserver-authentication`` publishes. Where none is
published, they are served on a loopback address alone. Upstream: GenericAPIServer in
k8s.io/apiserver, and the manifests of sample-apiserver.
"""

import ssl
from base64 import b64encode
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Handler, Request, Response
from fakekube.client.resources import API_SERVICES, CONFIG_MAPS, SERVICES
from fakekube.composition.webhookserver import certificate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fakekube.client.client import Client
    from fakekube.runtime.addon import AggregatedAPI, FindComponent
    from fakekube.server.http import HttpServer

NAMESPACE, AUTHENTICATION = "kube-system", "extension-apiserver-authentication"
AUTHORITY = "requestheader-client-ca-file"


class APIServiceServer:
    """Serves APIs, and takes their objects away when it ends; an async context manager.

    ``host`` is an address of this machine that the cluster's API server reaches, ``find`` gives
    what finds a running component by its name. ``refusal`` says why nothing is served, if so.
    """

    def __init__(self, client: "Client", apis: "Sequence[AggregatedAPI]", find: "FindComponent", *, host: str) -> None:
        self._client, self._apis, self._host = client, apis, host
        self._handlers = {api.name: api.made_handler(find) for api in apis}
        self._server: HttpServer | None = None
        self._bundle = ""
        self.refusal = ""

    async def __aenter__(self) -> Self:
        """Listen. Raises OSError, APIError, and OptionError without the extra ``tls``."""
        if not self._apis:
            return self
        authority = await self._authority()
        self.refusal = self._reason(authority)
        if self.refusal:
            return self
        from fakekube.server.http import HttpServer
        from fakekube.util.wallclock import RealClock

        services = {_service(api) for api in self._apis}
        names = [_dns_name(service) for service in sorted(services)]
        context, bundle = certificate(self._host, *names)
        if authority:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=authority)
        self._bundle = b64encode(bundle).decode()
        server = HttpServer(_Router(self._handlers), clock=RealClock(), host=self._host, tls=context)
        await server.start()
        self._server = server
        return self

    def _reason(self, authority: str) -> str:
        """Why they cannot be served."""
        try:
            address = ip_address(self._host)
        except ValueError:
            is_loopback = False
        else:
            is_loopback = address.is_loopback
            if address.version == 6:
                return "a Service cannot lead to an IPv6 address"
        if authority or is_loopback:
            return ""
        return f"no {AUTHORITY} is published by {AUTHENTICATION}, so anybody could ask"

    async def register(self) -> None:
        """Write the objects. Raises APIError."""
        if self._server is None:
            return
        for api in self._apis:
            service = _service(api)
            await self._client.apply({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": service, "namespace": NAMESPACE},
                "spec": {"type": "ExternalName", "externalName": self._host}})
            version, _, group = api.name.partition(".")
            await self._client.apply({
                "apiVersion": API_SERVICES.api_version, "kind": API_SERVICES.kind, "metadata": {"name": api.name},
                "spec": {
                    "group": group, "version": version, "groupPriorityMinimum": api.group_priority,
                    "versionPriority": api.version_priority, "caBundle": self._bundle,
                    "service": {"namespace": NAMESPACE, "name": service, "port": self._server.port}}})

    async def __aexit__(self, *_: object) -> None:
        """Take the objects away, since nobody answers any more."""
        if self._server is None:
            return
        for api in self._apis:
            await self._client.delete(API_SERVICES, api.name, missing_ok=True)
            await self._client.delete(SERVICES, _service(api), NAMESPACE, missing_ok=True)
        await self._server.stop()

    async def _authority(self) -> str:
        """The certificates in PEM whose owners may ask; empty: none are published."""
        found = await self._client.get(CONFIG_MAPS, AUTHENTICATION, NAMESPACE, missing_ok=True)
        return str(((found or {}).get("data") or {}).get(AUTHORITY, ""))


class _Router:
    """Leads a request to the Handler of its version."""

    def __init__(self, handlers: dict[str, Handler]) -> None:
        self._handlers = handlers

    async def handle(self, request: Request) -> Response:
        """What that Handler answers; 404 for a version that is none of them."""
        match request.path.split("/")[1:4]:
            case ["apis", group, version] if (handler := self._handlers.get(f"{version}.{group}")) is not None:
                return await handler.handle(request)
        error = errors.no_such_path()
        return Response(error.code, orjson.dumps(error.status()))


def _service(api: "AggregatedAPI") -> str:
    """The name of the Service of an API group."""
    return f"fakekube-{api.name.partition('.')[2].replace('.', '-')}"[:63].rstrip("-")


def _dns_name(service: str) -> str:
    return f"{service}.{NAMESPACE}.svc"

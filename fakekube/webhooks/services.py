"""Where a service's webhook, or its API server, really listens: a map that the user gives, then
the cluster's endpoints.

Services of a fake cluster have no network behind them, so a test says where its webhook server
listens: ``{"shop/hooks": "https://127.0.0.1:9443"}``. A service that is not in the map is looked up
as upstream does it: its EndpointSlices name addresses, which are dialled as they are. Upstream:
apiserver/pkg/util/proxy. Left out: a preference for an IP family.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import urlsplit

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.webhooks.transport import NoAnswer

if TYPE_CHECKING:
    from fakekube.util.rng import Rng

SERVICE_NAME = "kubernetes.io/service-name"
TYPES = ("ClusterIP", "LoadBalancer", "NodePort")


class Objects(Protocol):
    """What is asked of the cluster; ``registry.strategy.Cluster`` has it."""

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Tree | None:
        """The stored object, None when there is none."""

    def select(self, group: str, resource: str, namespace: str) -> list[Tree]:
        """All stored objects of a namespace."""


class Endpoint(NamedTuple):
    """``host:port`` to dial; ``plain`` where it speaks HTTP without TLS."""

    address: str
    plain: bool = False


class ServiceResolver:
    """Finds out where the webhook behind a service listens.

    ``known`` maps ``namespace/name`` or ``namespace/name:port`` to a URL.
    """

    def __init__(self, known: Mapping[str, str], objects: Objects, rng: "Rng") -> None:
        self._known, self._objects, self._rng = known, objects, rng

    def is_known(self, namespace: str, name: str, port: int) -> bool:
        """Whether the map says where a service listens."""
        return bool(self._url(namespace, name, port))

    def _url(self, namespace: str, name: str, port: int) -> str | None:
        key = f"{namespace}/{name}"
        return self._known.get(f"{key}:{port}") or self._known.get(key)

    def resolve(self, namespace: str, name: str, port: int) -> Endpoint:
        """Where to connect to. Raises NoAnswer in upstream's words."""
        url = self._url(namespace, name, port)
        if url is not None:
            parts = urlsplit(url)
            host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
            return Endpoint(f"{host}:{parts.port or (80 if parts.scheme == 'http' else 443)}", parts.scheme == "http")
        service = self._objects.lookup("", "services", namespace, name)
        if service is None:
            raise NoAnswer(f"service {go_quote(name)} not found")
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return Endpoint(f"{spec.get('externalName', '')}:{port}")
        if spec.get("type") not in TYPES:
            raise NoAnswer(f"unsupported service type {go_quote(spec.get('type', ''))}")
        wanted = next((each for each in spec.get("ports") or () if each.get("port") == port), None)
        if wanted is None:
            raise NoAnswer(f"no service port {port} found for service {go_quote(name)}")
        return Endpoint(self._endpoint(namespace, name, wanted.get("name", "")))

    def _endpoint(self, namespace: str, name: str, port_name: str) -> str:
        for each in self._objects.select("discovery.k8s.io", "endpointslices", namespace):
            if (each["metadata"].get("labels") or {}).get(SERVICE_NAME) != name:
                continue
            numbers = [found["port"] for found in each.get("ports") or ()
                       if found.get("name", "") == port_name and found.get("port") is not None]
            endpoints = each.get("endpoints") or []
            if not numbers or not endpoints:
                continue
            start = self._rng.randbelow(len(endpoints))
            for endpoint in endpoints[start:] + endpoints[:start]:
                if (endpoint.get("conditions") or {}).get("ready") is not False:
                    host = endpoint["addresses"][0]
                    return f"[{host}]:{numbers[0]}" if ":" in host else f"{host}:{numbers[0]}"
        raise NoAnswer(f"no endpoints available for service {go_quote(name)}")

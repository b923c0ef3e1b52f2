"""Endpoints: the addresses behind a service, as they were written before EndpointSlices.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/core/validation, pkg/registry/core/endpoint.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, index, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import ip_warnings, legacy_ip, special_ip
from fakekube.apis.checks import port_number, port_protocol, ruled
from fakekube.registry.strategy import Strategy, WriteContext

ADDRESSES = ("addresses", "notReadyAddresses")
MANAGED_BY, CONTROLLER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"


class EndpointsStrategy(Strategy):
    """What is particular to Endpoints."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Ports speak TCP."""
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                port.setdefault("protocol", "TCP")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Every subset."""
        strict = ctx.cluster.gate("StrictIPCIDRValidation")
        found: list[FieldError] = []
        for number, subset in enumerate(obj.get("subsets") or ()):
            found += _subset(index("subsets", number), subset, strict=strict)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What did not change passes."""
        return [] if same(obj.get("subsets"), old.get("subsets")) else self.validate(obj, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """Addresses that should be written otherwise."""
        if (obj["metadata"].get("labels") or {}).get(MANAGED_BY) == CONTROLLER:
            return []
        found: list[str] = []
        for number, subset in enumerate(obj.get("subsets") or ()):
            for name in ADDRESSES:
                for each, address in enumerate(subset.get(name) or ()):
                    path = index(child(index("subsets", number), name), each)
                    found += ip_warnings(child(path, "ip"), address.get("ip", ""))
        return found


def _subset(path: str, subset: Tree, *, strict: bool) -> list[FieldError]:
    found: list[FieldError] = []
    if not any(subset.get(name) for name in ADDRESSES):
        found.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
    for name in ADDRESSES:
        for number, address in enumerate(subset.get(name) or ()):
            found += _address(index(child(path, name), number), address, strict=strict)
    ports = subset.get("ports") or []
    for number, port in enumerate(ports):
        found += _port(index(child(path, "ports"), number), port, named=len(ports) > 1)
    return found


def _address(path: str, address: Tree, *, strict: bool) -> list[FieldError]:
    ip, where = address.get("ip", ""), child(path, "ip")
    found = legacy_ip(where, ip, strict=strict)
    if address.get("hostname"):
        found += ruled(child(path, "hostname"), address["hostname"], names.dns1123_label)
    if "nodeName" in address:
        found += ruled(child(path, "nodeName"), address["nodeName"], names.dns1123_subdomain)
    return found + special_ip(where, ip)


def _port(path: str, port: Tree, *, named: bool) -> list[FieldError]:
    found: list[FieldError] = []
    if port.get("name"):
        found += ruled(child(path, "name"), port["name"], names.dns1123_label)
    elif named:
        found.append(required(child(path, "name")))
    found += port_number(child(path, "port"), port.get("port", 0))
    found += port_protocol(path, port)
    if "appProtocol" in port:
        found += ruled(child(path, "appProtocol"), port["appProtocol"], names.qualified_name)
    return found


STRATEGY = EndpointsStrategy()

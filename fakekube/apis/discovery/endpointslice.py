"""EndpointSlice: some of the addresses behind a service.

Upstream: pkg/apis/discovery/v1/defaults.go, pkg/apis/discovery/validation,
pkg/registry/discovery/endpointslice.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    duplicate,
    index,
    invalid,
    not_supported,
    required,
    too_many,
)
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, declared_immutable
from fakekube.apis.addresses import ip_warnings, legacy_ip, parse_ip, special_ip, strict_ip
from fakekube.apis.base import stored_as_null
from fakekube.apis.checks import port_protocol, ruled
from fakekube.registry.strategy import Strategy, WriteContext

MAX_ENDPOINTS, MAX_ADDRESSES, MAX_PORTS, MAX_HINTS = 1000, 100, 20000, 8
ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")


class EndpointSliceStrategy(Strategy):
    """What is particular to EndpointSlices."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Ports speak TCP and are called nothing."""
        for field in ("endpoints", "ports"):
            obj.setdefault(field, None)
        for port in obj["ports"] or ():
            port.setdefault("name", "")
            port.setdefault("protocol", "TCP")

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """The topology of old versions is not written any more."""
        _drop_topology(obj)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As on create."""
        _drop_topology(obj)

    def canonicalize(self, obj: Tree) -> None:
        """Empty lists are stored as none."""
        for field in ("endpoints", "ports"):
            stored_as_null(obj, field)

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """Labels count too. No list is the same as an empty one."""
        if (obj["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
            return True
        lists = ("endpoints", "ports")
        plain = [{**tree, **{name: tree.get(name) or None for name in lists}} for tree in (obj, old)]
        return super().spec_changed(plain[0], plain[1])

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Type, ports and endpoints."""
        strict = ctx.cluster.gate("StrictIPCIDRValidation")
        return _type(obj) + _ports(obj.get("ports") or []) + _endpoints(obj, strict=strict)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; unchanged endpoints pass, the type stays."""
        strict = ctx.cluster.gate("StrictIPCIDRValidation")
        endpoints = [] if same(obj.get("endpoints"), old.get("endpoints")) else _endpoints(obj, strict=strict)
        kept = declared_immutable("addressType", obj.get("addressType", ""), old.get("addressType", ""))
        # declarative rules look no further at a value that may not change
        kind = [error._replace(declared=False) for error in _type(obj)] if kept else _type(obj)
        rest = kept + endpoints if ctx.minor >= DECLARATIVE_SINCE else endpoints + kept
        return kind + _ports(obj.get("ports") or []) + rest

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """Names for addresses are on their way out; so are odd spellings."""
        found = []
        if old is None and obj.get("addressType") == "FQDN":
            found.append("spec.addressType: FQDN endpoints are deprecated")
        if (obj["metadata"].get("labels") or {}).get(MANAGED_BY) in CONTROLLERS:
            return found
        for number, endpoint in enumerate(obj.get("endpoints") or ()):
            for each, text in enumerate(endpoint.get("addresses") or ()):
                found += ip_warnings(index(child(index("endpoints", number), "addresses"), each), text)
        return found


def _drop_topology(obj: Tree) -> None:
    for endpoint in obj.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _type(obj: Tree) -> list[FieldError]:
    kind = obj.get("addressType", "")
    if not kind:
        return [declared(required("addressType"))]
    return [] if kind in ADDRESS_TYPES else [declared(not_supported("addressType", kind, ADDRESS_TYPES))]


def _ports(ports: list[Tree]) -> list[FieldError]:
    if len(ports) > MAX_PORTS:
        return [too_many("ports", len(ports), MAX_PORTS)]
    found: list[FieldError] = []
    seen: set[str] = set()
    for number, port in enumerate(ports):
        path, name = index("ports", number), port.get("name", "")
        if name:
            found += ruled(child(path, "name"), name, names.dns1123_label)
        if name in seen:
            found.append(duplicate(child(path, "name"), name))
        seen.add(name)
        found += port_protocol(path, port)
        if "appProtocol" in port:
            found += ruled(child(path, "appProtocol"), port["appProtocol"], names.qualified_name)
    return found


def _endpoints(obj: Tree, *, strict: bool) -> list[FieldError]:
    endpoints = obj.get("endpoints") or []
    if len(endpoints) > MAX_ENDPOINTS:
        return [too_many("endpoints", len(endpoints), MAX_ENDPOINTS)]
    found: list[FieldError] = []
    for number, endpoint in enumerate(endpoints):
        path = index("endpoints", number)
        addresses, where = endpoint.get("addresses") or [], child(path, "addresses")
        if not addresses:
            found.append(declared(required(where), required(where, "must contain at least 1 address")))
        elif len(addresses) > MAX_ADDRESSES:
            found.append(declared(too_many(where, len(addresses), MAX_ADDRESSES)))
        for each, text in enumerate(addresses):
            found += _address(where, each, text, obj.get("addressType", ""), strict=strict)
        if "nodeName" in endpoint:
            found += ruled(child(path, "nodeName"), endpoint["nodeName"], names.dns1123_subdomain)
        if "hostname" in endpoint:
            found += ruled(child(path, "hostname"), endpoint["hostname"], names.dns1123_label)
        if "hints" in endpoint:
            found += _hints(child(path, "hints"), endpoint["hints"])
    return found


def _address(where: str, number: int, text: str, kind: str, *, strict: bool) -> list[FieldError]:
    path = index(where, number)
    if kind == "FQDN":
        return _domain(path, text)
    if kind not in ("IPv4", "IPv6"):
        return []
    found = legacy_ip(path, text, strict=strict) if kind == "IPv4" else strict_ip(path, text)
    if found:
        return found
    ip = parse_ip(text)
    if ip is not None and ip.version != int(kind[-1]):
        found.append(invalid(where, text, f"must be an {kind} address"))
    return found + special_ip(path, text)


def _domain(path: str, text: str) -> list[FieldError]:
    name = text.removesuffix(".")
    if not text:
        return [required(path)]
    if texts := names.dns1123_subdomain(name):
        return [invalid(path, name, ",".join(texts))]
    if "." not in name:
        return [invalid(path, name, "should be a domain with at least two segments separated by dots")]
    for label in name.split("."):
        if texts := names.dns1123_label(label):
            return [invalid(path, label, ",".join(texts))]
    return []


def _hints(path: str, hints: Tree) -> list[FieldError]:
    found: list[FieldError] = []
    for field, rule in (("forZones", names.label_value), ("forNodes", names.dns1123_subdomain)):
        given, seen, where = hints.get(field) or [], [], child(path, field)
        if len(given) > MAX_HINTS:
            return [*found, too_many(where, len(given), MAX_HINTS)]
        for number, hint in enumerate(given):
            name, place = hint.get("name", ""), child(index(where, number), "name")
            if name in seen:
                found.append(duplicate(place, name))
            seen.append(name)
            found += ruled(place, name, rule)
    return found


STRATEGY = EndpointSliceStrategy()

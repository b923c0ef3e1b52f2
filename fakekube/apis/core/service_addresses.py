"""Cluster addresses and node ports of Services: which are free, and what each Service gets.

What is taken is read off the stored Services each time, so there is nothing to keep in step. A free
one is drawn at random, as upstream does, from the cluster's seeded generator. Upstream:
pkg/registry/core/service/{storage/alloc.go, ipallocator,portallocator}. Left out: a second family,
IPAddress objects, and other ranges than the one constant.
"""

import ipaddress

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import FieldError, child, go_quote, index, invalid
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import parse_ip
from fakekube.apis.core.service_rules import (
    family_errors,
    is_headless,
    uses_addresses,
    uses_health_port,
    uses_node_ports,
)
from fakekube.registry.strategy import WriteContext

RANGE = ipaddress.IPv4Network("10.96.0.0/12")
FAMILY = "IPv4"
MIN_PORT, MAX_PORT = 30000, 32767
TAKEN_ADDRESS, TAKEN_PORT = "provided IP is already allocated", "provided port is already allocated"
OUTSIDE = "the provided network does not match the current range"
NOT_A_NODE_PORT = (
    f"provided port is not in the valid range. The range of valid ports is {MIN_PORT}-{MAX_PORT}"
)
SINGLE, REQUIRE_DUAL = "SingleStack", "RequireDualStack"
MANY = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"


def allocate(obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
    """Give a Service what its type needs and it does not have yet, and check what it asks for by
    number.

    Raises APIError: Invalid for addresses, families and ports that it cannot have, InternalError
    when none are left.
    """
    _families(obj, old, ctx)
    _cluster_address(obj, old, ctx)
    if not uses_node_ports(obj):
        return
    taken = _ports_taken(obj, ctx)
    if old is None:
        _first_node_ports(obj, ctx, taken)
    else:
        _node_ports(obj, old, ctx, taken)
    if uses_health_port(obj):
        _health_port(obj, old, ctx, taken)


def _refused(obj: Tree, *found: FieldError) -> APIError:
    return errors.invalid(GroupKind("", "Service"), obj["metadata"].get("name", ""), found)


def _families(obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
    spec = obj["spec"]
    if not uses_addresses(obj):
        return
    bare = spec.get("clusterIP") == "None" and not spec.get("selector")
    if "ipFamilyPolicy" not in spec:
        before = ((old or {}).get("spec") or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = before or (REQUIRE_DUAL if bare else SINGLE)
    if found := family_errors(obj, old, ctx):
        raise _refused(obj, *found)
    families, addresses = list(spec.get("ipFamilies") or ()), spec.get("clusterIPs") or []
    found = _released(spec, (old or {}).get("spec") or {})
    if spec["ipFamilyPolicy"] == SINGLE:
        path = "spec.ipFamilyPolicy"
        if len(addresses) == 2:
            found.append(invalid(path, SINGLE, MANY.format(what="cluster IPs")))
        if len(families) == 2:
            found.append(invalid(path, SINGLE, MANY.format(what="IP families")))
    for number, address in enumerate(addresses if not is_headless(obj) else ()):
        ip = parse_ip(address)
        family = f"IPv{ip.version}" if ip else FAMILY
        if number < len(families):
            continue
        if family != FAMILY:
            text = f"{family} is not configured on this cluster"
            found.append(invalid(index("spec.clusterIPs", number), addresses, text))
        else:
            families.append(family)
    if found:
        raise _refused(obj, *found)
    spec["ipFamilies"] = _completed(obj, families, bare)


def _released(spec: Tree, before: Tree) -> list[FieldError]:
    """Who gives back a second address or family must say so."""
    policy = spec["ipFamilyPolicy"]
    return [
        invalid("spec.ipFamilyPolicy", policy, f"must be 'SingleStack' to release the secondary {what}")
        for name, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family"))
        if policy != SINGLE and 0 < len(spec.get(name) or ()) < len(before.get(name) or ())
    ]


def _completed(obj: Tree, families: list[str], bare: bool) -> list[str]:
    """The families, those that the policy adds among them.

    A headless Service without selector may have any.
    """
    policy = obj["spec"]["ipFamilyPolicy"]
    if bare:
        families = families or [FAMILY]
        if len(families) < 2 and policy != SINGLE:
            families = [*families, "IPv6" if families[0] == FAMILY else FAMILY]
        return families
    found = []
    if policy == REQUIRE_DUAL:
        text = "this cluster is not configured for dual-stack services"
        found.append(invalid("spec.ipFamilyPolicy", policy, text))
    for number, family in enumerate(families):
        if family != FAMILY:
            found.append(invalid(index("spec.ipFamilies", number), family, "not configured on this cluster"))
    if found:
        raise _refused(obj, *found)
    return families or [FAMILY]


def _cluster_address(obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
    if not uses_addresses(obj) or is_headless(obj):
        return
    spec = obj["spec"]
    before = ((old or {}).get("spec") or {}).get("clusterIPs") or []
    if before and (before[0] == "None" or spec.get("clusterIPs")):
        return  # what it has it keeps; validation refuses changes
    asked = (spec.get("clusterIPs") or [""])[0]
    taken = {
        address for service in ctx.cluster.select("", "services", "")
        for address in (service.get("spec") or {}).get("clusterIPs") or ()}
    if asked:
        text = OUTSIDE if parse_ip(asked) not in RANGE else TAKEN_ADDRESS if asked in taken else ""
        if text:
            value = spec.get("clusterIPs")
            raise _refused(obj, invalid("spec.clusterIPs", value, f"failed to allocate IP {asked}: {text}"))
        return
    spec["clusterIP"] = _free_address(obj, taken, ctx)
    spec["clusterIPs"] = [spec["clusterIP"]]


def _free_address(obj: Tree, taken: set[str], ctx: WriteContext) -> str:
    size = RANGE.num_addresses - 2  # neither the first nor the last
    start = ctx.rng.randbelow(size)
    for step in range(size):
        address = str(RANGE[1 + (start + step) % size])
        if address not in taken:
            return address
    name = obj["metadata"].get("name", "")
    raise errors.internal(f"failed to allocate a serviceIP for Service {go_quote(name)}: range is full")


def node_ports(service: Tree) -> list[int]:
    """The node ports of a Service, its health check's aside."""
    return [port["nodePort"] for port in (service.get("spec") or {}).get("ports") or () if port.get("nodePort")]


def _ports_taken(obj: Tree, ctx: WriteContext) -> set[int]:
    """Ports that other Services have."""
    uid = obj["metadata"].get("uid")
    taken: set[int] = set()
    for service in ctx.cluster.select("", "services", ""):
        if service["metadata"].get("uid") != uid:
            taken.update(node_ports(service))
            taken.add((service.get("spec") or {}).get("healthCheckNodePort", 0))
    return taken


def _wants_node_ports(spec: Tree) -> bool:
    return bool(spec["type"] != "LoadBalancer" or spec.get("allocateLoadBalancerNodePorts", True))


def _first_node_ports(obj: Tree, ctx: WriteContext, taken: set[int]) -> None:
    """Ports of the same number share a node port, so that TCP and UDP can be served side by side.
    """
    spec, shared = obj["spec"], dict[int, int]()
    ports = [dict(port) for port in spec.get("ports") or ()]
    for number, port in enumerate(ports):
        own, asked = port.get("port", 0), port.get("nodePort") or 0
        if not asked and not _wants_node_ports(spec):
            continue
        if own not in shared:
            later = (each.get("nodePort") or 0 for each in ports if each.get("port", 0) == own)
            asked = next(filter(None, later), 0)
            if asked:
                _check_port(obj, number, asked, taken, ctx)
            port["nodePort"] = shared[own] = asked or _free_port(taken, ctx)
        elif asked and asked != shared[own]:
            _check_port(obj, number, asked, taken, ctx)
        elif not asked:
            port["nodePort"] = shared[own]
        taken.add(port["nodePort"])
    if ports:
        spec["ports"] = ports


def _node_ports(obj: Tree, old: Tree, ctx: WriteContext, taken: set[int]) -> None:
    """Each port has a node port of its own, or shares one that serves another protocol."""
    spec, own = obj["spec"], node_ports(old)
    used: set[int] = set()
    pairs: list[str] = []
    ports = []
    for number, port in enumerate(spec.get("ports") or ()):
        asked = port.get("nodePort") or 0
        if not asked and _wants_node_ports(spec):
            asked = _free_port(taken | used | set(own), ctx)
            port = {**port, "nodePort": asked}  # noqa: PLW2901
        if asked and asked not in own and asked not in used:
            _check_port(obj, number, asked, taken, ctx)
        if asked:
            pair = f"{{{port.get('protocol', '')} {asked}}}"
            if pair in pairs:
                raise errors.raw(f"duplicate nodePort: {pair}")
            pairs.append(pair)
        used.add(asked)
        ports.append(port)
    if ports:
        spec["ports"] = ports


def _refusal(port: int, taken: set[int], ctx: WriteContext) -> str:
    """Why a port cannot be had; a dry run asks only whether it is free."""
    if not (ctx.dry_run or MIN_PORT <= port <= MAX_PORT):
        return NOT_A_NODE_PORT
    return TAKEN_PORT if port in taken else ""


def _check_port(obj: Tree, number: int, port: int, taken: set[int], ctx: WriteContext) -> None:
    if text := _refusal(port, taken, ctx):
        raise _refused(obj, invalid(child(index("spec.ports", number), "nodePort"), port, text))


def _free_port(taken: set[int], ctx: WriteContext) -> int:
    size = MAX_PORT - MIN_PORT + 1
    start = ctx.rng.randbelow(size)
    for step in range(size):
        port = MIN_PORT + (start + step) % size
        if port not in taken:
            return port
    raise errors.internal("failed to allocate a nodePort: range is full")


def _health_port(obj: Tree, old: Tree | None, ctx: WriteContext, taken: set[int]) -> None:
    spec = obj["spec"]
    asked = spec.get("healthCheckNodePort", 0)
    if old is not None and uses_health_port(old):
        return  # what it has it keeps; validation refuses changes
    if not asked:
        spec["healthCheckNodePort"] = _free_port(taken | set(node_ports(obj)), ctx)
        return
    if text := _refusal(asked, taken, ctx):
        raise errors.internal(f"failed to allocate requested HealthCheck NodePort {asked}: {text}")

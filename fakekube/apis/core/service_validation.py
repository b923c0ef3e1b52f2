"""What is refused of a Service.

Upstream: ValidateService, ValidateServiceUpdate and ValidateLoadBalancerStatus in
pkg/apis/core/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    duplicate,
    forbidden,
    index,
    invalid,
    key,
    required,
)
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import labels, one_of
from fakekube.apis.addresses import legacy_cidr, legacy_ip, parse_ip, special_ip
from fakekube.apis.checks import port_number, port_number_or_name, port_protocol, required_name, ruled
from fakekube.apis.core.service_rules import (
    change_errors,
    family_errors,
    is_external,
    is_headless,
    uses_health_port,
)
from fakekube.registry.strategy import WriteContext

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
AFFINITIES, POLICIES = ("ClientIP", "None"), ("Cluster", "Local")
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
MAX_AFFINITY_SECONDS = 86400
TOPOLOGY_HINTS, TOPOLOGY_MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges"
ONLY_BALANCER = "may only be used when `type` is 'LoadBalancer'"
NOT_FOR_NAMES = "may not be set for ExternalName services"


def errors_of(obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
    """What is wrong with a Service, in upstream's order."""
    spec = obj["spec"]
    found = _topology(obj["metadata"].get("annotations") or {})
    if not spec.get("ports") and not is_headless(obj) and spec["type"] != "ExternalName":
        found.append(required("spec.ports"))
    found += _by_type(obj)
    found += _ports(spec.get("ports") or [])
    found += labels(spec.get("selector") or {}, "spec.selector")
    found += _affinity(spec)
    found += family_errors(obj, old, ctx)
    found += _external(spec, old, ctx)
    found += one_of("spec.type", spec["type"], TYPES)
    found += _port_numbers(spec)
    found += _balancer(obj, old, ctx)
    found += _class(spec)
    found += _external_traffic(obj)
    policy = spec.get("internalTrafficPolicy")
    if policy is not None:
        found += one_of("spec.internalTrafficPolicy", policy, POLICIES)
    if "trafficDistribution" in spec:
        allowed = DISTRIBUTIONS if ctx.cluster.gate("PreferSameTrafficDistribution") else DISTRIBUTIONS[:1]
        found += one_of("spec.trafficDistribution", spec["trafficDistribution"], allowed)
    return found


def change_errors_of(obj: Tree, old: Tree) -> list[FieldError]:
    """What may not change."""
    found, spec, before = change_errors(obj, old), obj["spec"], old["spec"]
    balancer = spec.get("loadBalancerClass")
    if spec["type"] == before["type"] == "LoadBalancer" and balancer != before.get("loadBalancerClass"):
        found.append(invalid("spec.loadBalancerClass", balancer, "may not change once set"))
    found += _class(spec)
    same_port = spec.get("healthCheckNodePort") == before.get("healthCheckNodePort")
    if uses_health_port(obj) and uses_health_port(old) and not same_port:
        found.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return found


def _topology(annotations: Tree) -> list[FieldError]:
    hints, mode = annotations.get(TOPOLOGY_HINTS), annotations.get(TOPOLOGY_MODE)
    if hints is None or mode is None or hints == mode:
        return []
    text = f"must match annotations[{TOPOLOGY_HINTS}] when both are specified"
    return [invalid(key("metadata.annotations", TOPOLOGY_MODE), mode, text)]


def _by_type(obj: Tree) -> list[FieldError]:
    spec = obj["spec"]
    if spec["type"] in ("LoadBalancer", "NodePort") and is_headless(obj):
        text = f"may not be set to 'None' for {spec['type']} services"
        return [invalid("spec.clusterIPs[0]", "None", text)]
    if spec["type"] != "ExternalName":
        return []
    fields = ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
    found = [forbidden(child("spec", name), NOT_FOR_NAMES) for name in fields if spec.get(name)]
    name = (spec.get("externalName") or "").removesuffix(".")
    return found + required_name("spec.externalName", name, names.dns1123_subdomain)


def _ports(ports: list[Tree]) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[str] = set()
    for number, port in enumerate(ports):
        path, name = index("spec.ports", number), port.get("name", "")
        if name:
            found += ruled(child(path, "name"), name, names.dns1123_label)
            if name in seen:
                found.append(duplicate(child(path, "name"), name))
            seen.add(name)
        elif len(ports) > 1:
            found.append(required(child(path, "name")))
        found += port_number(child(path, "port"), port.get("port", 0))
        found += port_protocol(path, port)
        found += port_number_or_name(child(path, "targetPort"), port.get("targetPort", 0))
        if "appProtocol" in port:
            found += ruled(child(path, "appProtocol"), port["appProtocol"], names.qualified_name)
    return found


def _affinity(spec: Tree) -> list[FieldError]:
    affinity, path = spec["sessionAffinity"], "spec.sessionAffinityConfig"
    found = one_of("spec.sessionAffinity", affinity, AFFINITIES)
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= MAX_AFFINITY_SECONDS:
            text = f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"
            found.append(invalid(child(path, "clientIP", "timeoutSeconds"), seconds, text))
    return found


def _external(spec: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
    strict = ctx.cluster.gate("StrictIPCIDRValidation")
    known = frozenset(((old or {}).get("spec") or {}).get("externalIPs") or ())
    found: list[FieldError] = []
    for number, address in enumerate(spec.get("externalIPs") or ()):
        path = index("spec.externalIPs", number)
        found += legacy_ip(path, address, known, strict=strict) or special_ip(path, address)
    return found


def _port_numbers(spec: Tree) -> list[FieldError]:
    ports, found = spec.get("ports") or [], []
    if spec["type"] == "ClusterIP":
        found += [
            forbidden(child(index("spec.ports", number), "nodePort"), "may not be used when `type` is 'ClusterIP'")
            for number, port in enumerate(ports) if port.get("nodePort")]
    for field in ("nodePort", "port"):
        seen: set[tuple[str, int]] = set()
        for number, port in enumerate(ports):
            pair, path = (port.get("protocol", ""), port.get(field, 0)), index("spec.ports", number)
            if field == "nodePort" and not pair[1]:
                continue
            if pair in seen and field == "nodePort":
                found.append(duplicate(child(path, "nodePort"), pair[1]))
            elif pair in seen:
                shown: Tree = {"Name": "", "Protocol": pair[0], "AppProtocol": None, "Port": pair[1]}
                found.append(duplicate(path, shown | {"TargetPort": 0, "NodePort": 0}))
            seen.add(pair)
    return found


def _balancer(obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
    spec, strict = obj["spec"], ctx.cluster.gate("StrictIPCIDRValidation")
    found: list[FieldError] = []
    ranges, path = spec.get("loadBalancerSourceRanges") or [], "spec.LoadBalancerSourceRanges"
    text = (obj["metadata"].get("annotations") or {}).get(RANGES_ANNOTATION)
    if ranges:
        if spec["type"] != "LoadBalancer":
            found.append(forbidden(path, ONLY_BALANCER))
        known = {each.strip() for each in ((old or {}).get("spec") or {}).get("loadBalancerSourceRanges") or ()}
        for number, each in enumerate(ranges):
            found += legacy_cidr(index(path, number), each.strip(), known, strict=strict)
    elif text is not None:
        path = key("metadata.annotations", RANGES_ANNOTATION)
        if spec["type"] != "LoadBalancer":
            found.append(forbidden(path, ONLY_BALANCER))
        before = ((old or {}).get("metadata", {}).get("annotations") or {}).get(RANGES_ANNOTATION)
        if text.strip() and text != before:
            for each in text.split(","):
                found += legacy_cidr(path, each.strip(), strict=strict)
    if "allocateLoadBalancerNodePorts" in spec and spec["type"] != "LoadBalancer":
        found.append(forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCER))
    return found


def _class(spec: Tree) -> list[FieldError]:
    name = spec.get("loadBalancerClass")
    if name is None:
        return []
    if spec["type"] != "LoadBalancer":
        return [forbidden("spec.loadBalancerClass", ONLY_BALANCER)]
    return ruled("spec.loadBalancerClass", name, names.qualified_name)


def _external_traffic(obj: Tree) -> list[FieldError]:
    spec = obj["spec"]
    policy, path = spec.get("externalTrafficPolicy", ""), "spec.externalTrafficPolicy"
    found: list[FieldError] = []
    if is_external(obj):
        found += one_of(path, policy, POLICIES) if policy else [required(path)]
    elif policy:
        found.append(invalid(path, policy, "may only be set for externally-accessible services"))
    port, path = spec.get("healthCheckNodePort", 0), "spec.healthCheckNodePort"
    if not uses_health_port(obj):
        if port:
            text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            found.append(invalid(path, port, text))
        return found
    return found + (port_number(path, port) if port else [required(path)])


def load_balancer_errors(obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
    """What is wrong with the addresses of a load balancer."""
    strict, path = ctx.cluster.gate("StrictIPCIDRValidation"), "status.loadBalancer.ingress"
    given, before = (((tree.get("status") or {}).get("loadBalancer") or {}).get("ingress") or [] for tree in (obj, old))
    if obj["spec"].get("type") != "LoadBalancer" and given:
        return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
    known = {each["ip"] for each in before if each.get("ip")}
    found: list[FieldError] = []
    for number, each in enumerate(given):
        where, ip, mode, host = index(path, number), each.get("ip", ""), each.get("ipMode"), each.get("hostname", "")
        if ip:
            found += legacy_ip(child(where, "ip"), ip, known, strict=strict)
        if mode is None and ip:
            found.append(required(child(where, "ipMode"), "must be specified when `ip` is set"))
        elif mode is not None and not ip:
            found.append(forbidden(child(where, "ipMode"), "may not be specified when `ip` is not set"))
        elif mode is not None:
            found += one_of(child(where, "ipMode"), mode, ("Proxy", "VIP"))
        if host:
            found += ruled(child(where, "hostname"), host, names.dns1123_subdomain)
            if parse_ip(host) is not None:
                found.append(invalid(child(where, "hostname"), host, "must be a DNS name, not an IP address"))
    return found

"""Service: a name and an address for some pods.

Upstream: pkg/apis/core/v1/defaults.go, pkg/registry/core/service/{strategy.go,storage/storage.go},
ValidateService. Addresses and ports are given out in service_addresses.py, the rules of the spec
are in service_validation.py.
"""

from fakekube.apimachinery.field_errors import FieldError, child, index
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import cidr_warnings, ip_warnings
from fakekube.apis.base import StatusStrategy
from fakekube.apis.core import service_validation
from fakekube.apis.core.service_addresses import allocate, node_ports
from fakekube.apis.core.service_rules import (
    is_external,
    uses_addresses,
    uses_health_port,
    uses_node_ports,
)
from fakekube.apis.core.service_validation import TOPOLOGY_HINTS, TOPOLOGY_MODE
from fakekube.registry.strategy import WriteContext

AFFINITY_SECONDS = 10800


class ServiceStrategy(StatusStrategy):
    """What is particular to Services."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """A port of the cluster, for pods that listen on the same port."""
        spec = obj.setdefault("spec", {})
        if not spec.get("sessionAffinity"):
            spec["sessionAffinity"] = "None"
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif spec["sessionAffinity"] == "ClientIP":
            config = spec.get("sessionAffinityConfig") or {}
            if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
                spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}
        if not spec.get("type"):
            spec["type"] = "ClusterIP"
        for port in spec.get("ports") or ():
            port.setdefault("protocol", "TCP")
            if not port.get("targetPort"):
                port["targetPort"] = port.get("port", 0)
        if is_external(obj) and not spec.get("externalTrafficPolicy"):
            spec["externalTrafficPolicy"] = "Cluster"
        if spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer"):
            spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec["type"] == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)
            for ingress in ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
                if ingress.get("ip"):
                    ingress.setdefault("ipMode", "VIP")

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """No load balancer yet."""
        return {"loadBalancer": {}}

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """A fresh status; addresses and ports."""
        super().prepare_for_create(obj, ctx)
        spec = obj["spec"]
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        allocate(obj, None, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """Keep what was given out, drop what a new type has no use for, and give out what it needs.
        """
        super().prepare_for_update(obj, old, ctx)
        obj["spec"] = spec = dict(obj["spec"])
        _keep_allocated(spec, obj, old)
        _link_addresses(spec, old["spec"])
        _drop_useless(obj, old)
        _release_second(obj, old)
        allocate(obj, old, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec."""
        return service_validation.errors_of(obj, None, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one, and what may not change."""
        return service_validation.change_errors_of(obj, old) + service_validation.errors_of(obj, old, ctx)

    def canonicalize(self, obj: Tree) -> None:
        """A mere name has no traffic policy, though one is filled in before its type is known to be
        that.
        """
        if not uses_addresses(obj):
            obj["spec"].pop("internalTrafficPolicy", None)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The addresses of a load balancer."""
        return service_validation.load_balancer_errors(obj, old, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """What is ignored, deprecated or should be written otherwise."""
        found, spec = [], obj["spec"]
        if TOPOLOGY_HINTS in (obj["metadata"].get("annotations") or {}):
            found.append(f"annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead")
        for number, address in enumerate(spec.get("clusterIPs") or ()):
            found += ip_warnings(index("spec.clusterIPs", number), address)
        return found + _ignored(spec)


def _ignored(spec: Tree) -> list[str]:
    headless = spec["type"] == "ClusterIP" and spec.get("clusterIP") == "None"
    outside, balancer = spec.get("externalIPs") or [], spec.get("loadBalancerIP", "")
    found = []
    if headless:
        if balancer:
            found.append("spec.loadBalancerIP is ignored for headless services")
        if outside:
            found.append("spec.externalIPs is ignored for headless services")
        if spec["sessionAffinity"] != "None":
            found.append("spec.SessionAffinity is ignored for headless services")
    for number, address in enumerate(outside):
        found += ip_warnings(index("spec.externalIPs", number), address)
    if outside and not headless and spec["type"] != "ExternalName":
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    found += ip_warnings("spec.loadBalancerIP", balancer)
    for number, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        found += cidr_warnings(index("spec.loadBalancerSourceRanges", number), text.strip())
    if spec["type"] == "ExternalName" and outside:
        found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec["type"] != "ExternalName" and spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append(f'{child("spec", "trafficDistribution")}: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def _keep_allocated(spec: Tree, obj: Tree, old: Tree) -> None:
    """A client that leaves out what was given out does not mean to give it back."""
    before = old["spec"]
    if uses_addresses(obj) and uses_addresses(old):
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
        if not spec.get("clusterIPs") and before.get("clusterIPs"):
            spec["clusterIPs"] = before["clusterIPs"]
    if uses_node_ports(obj) and uses_node_ports(old):
        kept = [port for port in node_ports(old) if port in node_ports(obj)]
        by_name = {port.get("name", ""): port.get("nodePort", 0) for port in before.get("ports") or ()}
        ports = []
        for port in spec.get("ports") or ():
            earlier = by_name.get(port.get("name", ""), 0)
            missing = not port.get("nodePort") and earlier and earlier not in kept
            ports.append({**port, "nodePort": earlier} if missing else port)
        if ports:
            spec["ports"] = ports
    if uses_health_port(obj) and uses_health_port(old) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort", 0)


def _link_addresses(spec: Tree, before: Tree) -> None:
    """Old clients know one address, new ones a list; whoever changes one field means both."""
    new, earlier = spec.get("clusterIP", ""), before.get("clusterIP", "")
    same = (spec.get("clusterIPs") or []) == (before.get("clusterIPs") or [])
    if new == earlier or not same:
        return
    if not new:
        spec.pop("clusterIPs", None)
    else:
        spec["clusterIPs"] = [new]


def _drop_useless(obj: Tree, old: Tree) -> None:
    """What a new type has no use for goes, unless the client changed it as well, which validation
    refuses.
    """
    spec, before = obj["spec"], old["spec"]

    def drop_if_same(*names: str) -> None:
        for name in names:
            if spec.get(name) == before.get(name):
                spec.pop(name, None)

    if uses_addresses(old) and not uses_addresses(obj):
        if all(spec.get(name) == before.get(name) for name in ("clusterIP", "clusterIPs")):
            drop_if_same("clusterIP", "clusterIPs")
        drop_if_same("ipFamilies", "ipFamilyPolicy")
    if uses_node_ports(old) and not uses_node_ports(obj) and all(port in node_ports(old) for port in node_ports(obj)):
        ports = spec.get("ports") or []
        if ports:
            spec["ports"] = [{name: value for name, value in port.items() if name != "nodePort"} for port in ports]
    if uses_health_port(old) and not uses_health_port(obj):
        drop_if_same("healthCheckNodePort")
    if before["type"] == "LoadBalancer" and spec["type"] != "LoadBalancer":
        drop_if_same("allocateLoadBalancerNodePorts", "loadBalancerClass")
    if is_external(old) and not is_external(obj):
        drop_if_same("externalTrafficPolicy")
    if spec["type"] != "LoadBalancer":
        obj["status"] = {**(obj.get("status") or {}), "loadBalancer": {}}


def _release_second(obj: Tree, old: Tree) -> None:
    """Who asks for a single stack gives back the second family."""
    spec, before = obj["spec"], old["spec"]
    if not uses_addresses(obj) or spec.get("ipFamilyPolicy", before.get("ipFamilyPolicy")) != "SingleStack":
        return
    for name in ("clusterIPs", "ipFamilies"):
        if spec.get(name) and spec[name] == before.get(name):
            spec[name] = spec[name][:1]


STRATEGY = ServiceStrategy()

"""Typed models of networking/v1: Ingress, IngressClass, NetworkPolicy and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty
from fakekube.types.claims import TypedLocalObjectReference
from fakekube.types.meta import LabelSelector
from fakekube.types.object import Object
from fakekube.types.values import Int, IntOrString


class ServiceBackendPort(Model):
    """In IngressServiceBackend.port."""

    name: str = ""
    number: Int = 0


class IngressServiceBackend(Model):
    """In IngressBackend.service."""

    name: str = ""
    port: ServiceBackendPort = empty(ServiceBackendPort)


class IngressBackend(Model):
    """In IngressSpec.defaultBackend, HTTPIngressPath.backend."""

    service: IngressServiceBackend | None = None
    resource: TypedLocalObjectReference | None = None


class IngressTLS(Model):
    """In IngressSpec.tls."""

    hosts: list[str] = empty(list)
    secret_name: str = ""


class HTTPIngressPath(Model):
    """In HTTPIngressRuleValue.paths."""

    path: str = ""
    path_type: str | None = None
    backend: IngressBackend = empty(IngressBackend)


class HTTPIngressRuleValue(Model):
    """In IngressRule.http."""

    paths: list[HTTPIngressPath] = empty(list)


class IngressRule(Model):
    """In IngressSpec.rules."""

    host: str = ""
    http: HTTPIngressRuleValue | None = None


class IngressSpec(Model):
    """In Ingress.spec."""

    ingress_class_name: str | None = None
    default_backend: IngressBackend | None = None
    tls: list[IngressTLS] = empty(list)
    rules: list[IngressRule] = empty(list)


class IngressPortStatus(Model):
    """In IngressLoadBalancerIngress.ports."""

    port: Int = 0
    protocol: str = ""
    error: str | None = None


class IngressLoadBalancerIngress(Model):
    """In IngressLoadBalancerStatus.ingress."""

    ip: str = ""
    hostname: str = ""
    ports: list[IngressPortStatus] = empty(list)


class IngressLoadBalancerStatus(Model):
    """In IngressStatus.loadBalancer."""

    ingress: list[IngressLoadBalancerIngress] = empty(list)


class IngressStatus(Model):
    """In Ingress.status."""

    load_balancer: IngressLoadBalancerStatus = empty(IngressLoadBalancerStatus)


class Ingress(Object):
    """``ingresses`` of networking.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("networking.k8s.io", "v1", "ingresses", "Ingress")

    spec: IngressSpec = empty(IngressSpec)
    status: IngressStatus = empty(IngressStatus)


class IngressClassParametersReference(Model):
    """In IngressClassSpec.parameters."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    scope: str | None = None
    namespace: str | None = None


class IngressClassSpec(Model):
    """In IngressClass.spec."""

    controller: str = ""
    parameters: IngressClassParametersReference | None = None


class IngressClass(Object):
    """``ingressclasses`` of networking.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "networking.k8s.io", "v1", "ingressclasses", "IngressClass", namespaced=False,
    )

    spec: IngressClassSpec = empty(IngressClassSpec)


class NetworkPolicyPort(Model):
    """In NetworkPolicyIngressRule.ports, NetworkPolicyEgressRule.ports."""

    protocol: str | None = None
    port: IntOrString | None = None
    end_port: Int | None = None


class IPBlock(Model):
    """In NetworkPolicyPeer.ipBlock."""

    cidr: str = ""
    except_: list[str] = empty(list)


class NetworkPolicyPeer(Model):
    """In NetworkPolicyIngressRule.from, NetworkPolicyEgressRule.to."""

    pod_selector: LabelSelector | None = None
    namespace_selector: LabelSelector | None = None
    ip_block: IPBlock | None = None


class NetworkPolicyIngressRule(Model):
    """In NetworkPolicySpec.ingress."""

    ports: list[NetworkPolicyPort] = empty(list)
    from_: list[NetworkPolicyPeer] = empty(list)


class NetworkPolicyEgressRule(Model):
    """In NetworkPolicySpec.egress."""

    ports: list[NetworkPolicyPort] = empty(list)
    to: list[NetworkPolicyPeer] = empty(list)


class NetworkPolicySpec(Model):
    """In NetworkPolicy.spec."""

    pod_selector: LabelSelector = empty(LabelSelector)
    ingress: list[NetworkPolicyIngressRule] = empty(list)
    egress: list[NetworkPolicyEgressRule] = empty(list)
    policy_types: list[str] = empty(list)


class NetworkPolicy(Object):
    """``networkpolicies`` of networking.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy",
    )

    spec: NetworkPolicySpec = empty(NetworkPolicySpec)

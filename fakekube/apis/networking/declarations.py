"""The resources of networking.k8s.io. Upstream: pkg/registry/networking/rest/storage_settings.go.

Left out: ClusterCIDR is declared without its allocator, and NetworkPolicy's short-lived status
(1.24 to 1.27, alpha).
"""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, STATUS, WHOLE_AND_UPDATE, Deprecated, Group, Resource, Served

ADDRESS_VERSIONS = (Served("v1", since=33), Served("v1beta1", since=31, until=36, deprecated=Deprecated(34, 37)))

GROUP = Group(
    "networking.k8s.io",
    17200,
    (
        Resource(
            plural="clustercidrs",
            kind="ClusterCIDR",
            namespaced=False,
            short_names=("cc",),
            versions=(Served("v1alpha1", until=28),),
        ),
        Resource(
            plural="ingressclasses",
            kind="IngressClass",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("networking.ingressclass"),
            printer=late.printer("networking.printers:INGRESS_CLASS"),
            namespaced=False,
            generation_since=ALWAYS,
        ),
        Resource(
            plural="ingresses",
            kind="Ingress",
            storage_path="ingress",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("networking.ingress"),
            printer=late.printer("networking.printers:INGRESS"),
            short_names=("ing",),
            generation_since=ALWAYS,
            subresources=(STATUS,),
        ),
        Resource(
            plural="ipaddresses",
            kind="IPAddress",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("networking.ipaddress"),
            printer=late.printer("networking.printers:IP_ADDRESS"),
            namespaced=False,
            short_names=("ip",),
            name_rule="ip",
            versions=(*ADDRESS_VERSIONS, Served("v1alpha1", since=27, until=30)),
        ),
        Resource(
            plural="networkpolicies",
            kind="NetworkPolicy",
            strategy=late.strategy("networking.networkpolicy"),
            printer=late.printer("networking.printers:NETWORK_POLICY"),
            short_names=("netpol",),
            generation_since=ALWAYS,
        ),
        Resource(
            plural="servicecidrs",
            kind="ServiceCIDR",
            status_keeps_metadata=True,
            strategy=late.strategy("networking.servicecidr"),
            printer=late.printer("networking.printers:SERVICE_CIDR"),
            namespaced=False,
            subresources=(STATUS,),
            versions=(*ADDRESS_VERSIONS, Served("v1alpha1", since=29, until=30)),
        ),
    ),
)

"""The resources of lifecycle.k8s.io. Upstream: pkg/registry/lifecycle/rest/storage_coordination.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served
from fakekube.registry.kind import Printer
from fakekube.registry.lazy import Lazy


def _lifecycle(plural: str, kind: str, printer: Lazy[Printer]) -> Resource:
    return Resource(
        plural=plural,
        kind=kind,
        status_keeps_metadata=True,
        printer=printer,
        unconditional_update=False,
        generation_since=ALWAYS,
        subresources=(STATUS,),
        versions=(Served("v1alpha1", since=37, gate="EvictionRequestAPI"),),
    )


GROUP = Group(
    "lifecycle.k8s.io",
    15700,
    (
        _lifecycle("evictionrequests", "EvictionRequest", late.printer("lifecycle.printers:EVICTION_REQUEST")),
        _lifecycle("evictions", "Eviction", late.printer("lifecycle.printers:EVICTION")),
    ),
)

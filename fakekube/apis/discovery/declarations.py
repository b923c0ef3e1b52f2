"""The resources of discovery.k8s.io. Upstream: pkg/registry/discovery/rest/storage_discovery.go."""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, WHOLE, Group, Resource

GROUP = Group(
    "discovery.k8s.io",
    16200,
    (
        Resource(
            plural="endpointslices",
            kind="EndpointSlice",
            metadata_checks=WHOLE,
            strategy=late.strategy("discovery.endpointslice"),
            printer=late.printer("discovery.printers:ENDPOINT_SLICE"),
            generation_since=ALWAYS,
        ),
    ),
)

"""The resources of discovery.k8s.io. Upstream: pkg/registry/discovery/rest/storage_discovery.go."""

from fakekube.apis.declaration import ALWAYS, Group, Resource
from fakekube.apis.discovery import endpointslice, printers

GROUP = Group(
    "discovery.k8s.io",
    16200,
    (
        Resource(
            plural="endpointslices",
            kind="EndpointSlice",
            strategy=endpointslice.STRATEGY,
            printer=printers.ENDPOINT_SLICE,
            generation_since=ALWAYS,
        ),
    ),
)

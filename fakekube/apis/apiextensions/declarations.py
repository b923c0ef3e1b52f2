"""The resources of apiextensions.k8s.io.

Upstream: apiextensions-apiserver/pkg/apiserver/apiserver.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, API_EXTENSIONS, STATUS, Group, Resource

GROUP = Group(
    "apiextensions.k8s.io",
    16700,
    (
        Resource(
            plural="customresourcedefinitions",
            kind="CustomResourceDefinition",
            strategy=late.strategy("apiextensions.strategy"),
            printer=late.printer("apiextensions.printers:CUSTOM_RESOURCE_DEFINITION"),
            namespaced=False,
            short_names=("crd", "crds"),
            categories=API_EXTENSIONS,
            generation_since=ALWAYS,
            unconditional_update=False,
            subresources=(STATUS,),
        ),
    ),
    by_other_server=True,
)

"""The resources of internal.apiserver.k8s.io.

Upstream: pkg/registry/apiserverinternal/rest/storage.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import STATUS, Group, Resource, Served

GROUP = Group(
    "internal.apiserver.k8s.io",
    16000,
    (
        Resource(
            plural="storageversions",
            kind="StorageVersion",
            status_keeps_metadata=True,
            printer=late.printer("internal.printers:STORAGE_VERSION"),
            namespaced=False,
            unconditional_update=False,
            name_rule="path_segment",
            subresources=(STATUS,),
            versions=(Served("v1alpha1"),),
        ),
    ),
    version_priorities={"v1alpha1": 9},
)

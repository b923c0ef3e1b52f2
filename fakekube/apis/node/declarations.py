"""The resources of node.k8s.io. Upstream: pkg/registry/node/rest/runtime_class.go."""

from fakekube.apis import late
from fakekube.apis.declaration import WHOLE_AND_UPDATE, Group, Resource

GROUP = Group(
    "node.k8s.io",
    16300,
    (
        Resource(
            plural="runtimeclasses",
            kind="RuntimeClass",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("node.runtimeclass"),
            printer=late.columns(("Handler", "handler")),
            namespaced=False,
            unconditional_update=False,
            create_on_update=True,
        ),
    ),
)

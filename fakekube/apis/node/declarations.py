"""The resources of node.k8s.io. Upstream: pkg/registry/node/rest/runtime_class.go."""

from fakekube.apis.declaration import Group, Resource
from fakekube.apis.node import printers, runtimeclass

GROUP = Group(
    "node.k8s.io",
    16300,
    (
        Resource(
            plural="runtimeclasses",
            kind="RuntimeClass",
            strategy=runtimeclass.STRATEGY,
            printer=printers.RUNTIME_CLASS,
            namespaced=False,
            unconditional_update=False,
            create_on_update=True,
        ),
    ),
)

"""The resources of rbac.authorization.k8s.io. Upstream: pkg/registry/rbac/rest/storage_rbac.go."""

from fakekube.apis import late
from fakekube.apis.declaration import WHOLE_AND_UPDATE, Group, Resource
from fakekube.registry.kind import Printer
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy


def _rbac(
    plural: str, kind: str, strategy: Lazy[Strategy], printer: Lazy[Printer] | None = None, *, namespaced: bool
) -> Resource:
    return Resource(
        plural=plural,
        kind=kind,
        metadata_checks=WHOLE_AND_UPDATE,
        strategy=strategy,
        printer=printer,
        namespaced=namespaced,
        create_on_update=True,
        name_rule="path_segment",
    )


GROUP = Group(
    "rbac.authorization.k8s.io",
    17000,
    (
        _rbac(
            "clusterrolebindings",
            "ClusterRoleBinding",
            late.strategy("rbac.clusterrolebinding"),
            late.printer("rbac.printers:BINDING"),
            namespaced=False,
        ),
        _rbac("clusterroles", "ClusterRole", late.strategy("rbac.clusterrole"), namespaced=False),
        _rbac(
            "rolebindings",
            "RoleBinding",
            late.strategy("rbac.rolebinding"),
            late.printer("rbac.printers:BINDING"),
            namespaced=True,
        ),
        _rbac("roles", "Role", late.strategy("rbac.role"), namespaced=True),
    ),
)

"""The resources of rbac.authorization.k8s.io. Upstream: pkg/registry/rbac/rest/storage_rbac.go."""

from fakekube.apis.declaration import Group, Resource
from fakekube.apis.rbac import printers
from fakekube.registry.kind import Printer


def _rbac(plural: str, kind: str, printer: Printer | None = None, *, namespaced: bool) -> Resource:
    return Resource(
        plural=plural,
        kind=kind,
        printer=printer,
        namespaced=namespaced,
        create_on_update=True,
        name_rule="path_segment",
    )


GROUP = Group(
    "rbac.authorization.k8s.io",
    17000,
    (
        _rbac("clusterrolebindings", "ClusterRoleBinding", printers.BINDING, namespaced=False),
        _rbac("clusterroles", "ClusterRole", namespaced=False),
        _rbac("rolebindings", "RoleBinding", printers.BINDING, namespaced=True),
        _rbac("roles", "Role", namespaced=True),
    ),
)

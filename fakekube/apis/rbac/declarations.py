"""The resources of rbac.authorization.k8s.io. Upstream: pkg/registry/rbac/rest/storage_rbac.go."""

from fakekube.apis.declaration import Group, Resource
from fakekube.apis.rbac import clusterrole, clusterrolebinding, printers, role, rolebinding
from fakekube.registry.kind import Printer
from fakekube.registry.strategy import Strategy


def _rbac(plural: str, kind: str, strategy: Strategy, printer: Printer | None = None, *, namespaced: bool) -> Resource:
    return Resource(
        plural=plural,
        kind=kind,
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
            "clusterrolebindings", "ClusterRoleBinding", clusterrolebinding.STRATEGY, printers.BINDING, namespaced=False
        ),
        _rbac("clusterroles", "ClusterRole", clusterrole.STRATEGY, namespaced=False),
        _rbac("rolebindings", "RoleBinding", rolebinding.STRATEGY, printers.BINDING, namespaced=True),
        _rbac("roles", "Role", role.STRATEGY, namespaced=True),
    ),
)

"""The resources of rbac.authorization.k8s.io. Upstream: pkg/registry/rbac/rest/storage_rbac.go."""

from fakekube.apis.declaration import Group, Resource


def _rbac(plural: str, kind: str, *, namespaced: bool) -> Resource:
    return Resource(plural=plural, kind=kind, namespaced=namespaced, create_on_update=True, name_rule="path_segment")


GROUP = Group("rbac.authorization.k8s.io", 17000, (
    _rbac("clusterrolebindings", "ClusterRoleBinding", namespaced=False),
    _rbac("clusterroles", "ClusterRole", namespaced=False),
    _rbac("rolebindings", "RoleBinding", namespaced=True),
    _rbac("roles", "Role", namespaced=True),
))  # fmt: skip

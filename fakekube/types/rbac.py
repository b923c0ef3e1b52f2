"""Typed models of rbac/v1: Role, ClusterRole, RoleBinding, ClusterRoleBinding and their parts."""

# Made by tools/typed_models.py: change that, and run make facts.

from typing import ClassVar

from fakekube.client.resources import Resource
from fakekube.types.base import Model, empty, wire
from fakekube.types.meta import LabelSelector
from fakekube.types.object import Object


class PolicyRule(Model):
    """In Role.rules, ClusterRole.rules."""

    verbs: list[str] = empty(list)
    api_groups: list[str] = empty(list)
    resources: list[str] = empty(list)
    resource_names: list[str] = empty(list)
    non_resource_urls: list[str] = wire("nonResourceURLs", list)


class Role(Object):
    """``roles`` of rbac.authorization.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role")

    rules: list[PolicyRule] = empty(list)


class AggregationRule(Model):
    """In ClusterRole.aggregationRule."""

    cluster_role_selectors: list[LabelSelector] = empty(list)


class ClusterRole(Object):
    """``clusterroles`` of rbac.authorization.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False,
    )

    rules: list[PolicyRule] = empty(list)
    aggregation_rule: AggregationRule | None = None


class Subject(Model):
    """In RoleBinding.subjects, ClusterRoleBinding.subjects."""

    kind: str = ""
    api_group: str = ""
    name: str = ""
    namespace: str = ""


class RoleRef(Model):
    """In RoleBinding.roleRef, ClusterRoleBinding.roleRef."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class RoleBinding(Object):
    """``rolebindings`` of rbac.authorization.k8s.io/v1, in a namespace."""

    resource: ClassVar[Resource] = Resource(
        "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding",
    )

    subjects: list[Subject] = empty(list)
    role_ref: RoleRef = empty(RoleRef)


class ClusterRoleBinding(Object):
    """``clusterrolebindings`` of rbac.authorization.k8s.io/v1, in no namespace."""

    resource: ClassVar[Resource] = Resource(
        "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False,
    )

    subjects: list[Subject] = empty(list)
    role_ref: RoleRef = empty(RoleRef)

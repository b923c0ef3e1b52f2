"""A cluster in which RBAC decides, and a short way to grant something."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource

RBAC = "rbac.authorization.k8s.io"
ROLES = Resource(RBAC, "v1", "roles", "Role")
ROLE_BINDINGS = Resource(RBAC, "v1", "rolebindings", "RoleBinding")
CLUSTER_ROLES = Resource(RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS = Resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False)
Rule = Mapping[str, Sequence[str]]


class Secured:
    """A cluster with RBAC, and clients of its users."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.admin = cluster, cluster.client

    def user(self, name: str, *groups: str) -> Client:
        """A client of somebody who has signed in."""
        return self.admin.with_options(user=UserInfo(name, (*groups, "system:authenticated")))

    async def ask(self, user: str, path: str, method: str = "GET", **headers: str) -> Response:
        """The answer to a request of somebody; of nobody whom a token names, for an empty name."""
        info = UserInfo(user, ("system:authenticated",)) if user else None
        return await self.cluster.apiserver.handle(Request(method, path, headers=headers, user=info))

    async def grant(self, user: str, *rules: Rule, namespace: str = "default", name: str = "granted") -> None:
        """Give a user rules: in a namespace, or ("") in the cluster."""
        roles, bindings = (ROLES, ROLE_BINDINGS) if namespace else (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
        place = {"namespace": namespace} if namespace else {}
        await self.admin.create(roles, {"metadata": {"name": name, **place}, "rules": list(rules)})
        await self.admin.create(bindings, {
            "metadata": {"name": name, **place}, "roleRef": {"kind": roles.kind, "name": name},
            "subjects": [{"kind": "User", "name": user}]})

    async def review(self, user: str, groups: Sequence[str] = (), **attributes: Any) -> Tree:
        """What a SubjectAccessReview says."""
        asked = {"nonResourceAttributes": attributes} if "path" in attributes else {"resourceAttributes": attributes}
        answer = await self.admin.create(
            Resource("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False),
            {"spec": {"user": user, "groups": list(groups), **asked}})
        status: Tree = answer["status"]
        return status


@pytest.fixture
async def secured() -> AsyncIterator[Secured]:
    async with Cluster(nodes=0, controllers="", clock="manual", authorization_mode="RBAC") as cluster:
        yield Secured(cluster)

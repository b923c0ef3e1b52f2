"""Who may act as whom."""

from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import Request, UserInfo
from fakekube.apimachinery.types import Tree
from tests.auth.conftest import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, Secured

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


async def as_other(
    secured: Secured, caller: str, path: str = REVIEW, extra: dict[str, tuple[str, ...]] | None = None, **headers: str,
) -> Tree:
    """The answer to a request of ``caller``, who wants to be somebody else by headers."""
    user = UserInfo(caller, ("system:authenticated",), "", extra or {})
    body = b'{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}' if path == REVIEW else b""
    sent = {f"impersonate-{name.replace('_', '-')}": value for name, value in headers.items()}
    answer = await secured.cluster.apiserver.handle(
        Request("POST" if body else "GET", path, headers=sent, body=body, user=user))
    tree: Tree = orjson.loads(answer.body)
    return tree


async def refusal(*args: Any, **headers: Any) -> str:
    answer = await as_other(*args, **headers)
    assert (answer["code"], answer["reason"]) == (403, "Forbidden")
    return str(answer["message"])


def info(answer: Tree) -> Tree:
    found: Tree = answer["status"]["userInfo"]
    return found


def may(verbs: str, resources: str, group: str = "", *names: str) -> Tree:
    rule: Tree = {"verbs": verbs.split(","), "apiGroups": [group], "resources": resources.split(",")}
    return {**rule, "resourceNames": list(names)} if names else rule


@pytest.mark.spec("API-169")
async def test_without_leave_the_request_itself_is_refused(secured: Secured) -> None:
    """Given a caller without leave, when they want to be a user, an account or a node, then the
    refusal is that of the mode, on the request.
    """
    place = 'in API group "" in the namespace "default"'
    path = "/api/v1/namespaces/default/pods"
    modes = {"jane": "user-info", "system:serviceaccount:a:b": "serviceaccount", "system:node:n": "arbitrary-node"}
    for user, mode in modes.items():
        assert await refusal(secured, "y", path, user=user) == (
            f'pods is forbidden: User "y" cannot impersonate-on:{mode}:list resource "pods" {place}')
    assert await refusal(secured, "y", "/version", user="jane") == (
        'forbidden: User "y" cannot impersonate-on:user-info:get path "/version"')
    old = 'cannot impersonate resource "users" in API group "" at the cluster scope'
    assert await refusal(secured, "y", path, user="system:node:n", group="g") == (
        f'users "system:node:n" is forbidden: User "y" {old}')


async def test_the_old_verb_covers_each_part(secured: Secured) -> None:
    """Given the verb impersonate on single names, when others are wanted, then each part is refused
    by itself once that kind of leave has passed.
    """
    await secured.grant(
        "y", may("impersonate", "users", "", "jane"), may("impersonate", "groups", "", "devs"),
        may("impersonate", "userextras/scopes", "authentication.k8s.io", "view"),
        may("impersonate", "uids", "authentication.k8s.io", "u-1"), namespace="")
    made = await as_other(secured, "y", user="jane", group="devs", uid="u-1", extra_scopes="view")
    assert info(made) == {
        "username": "jane", "uid": "u-1", "groups": ["devs", "system:authenticated"], "extra": {"scopes": ["view"]}}
    scope = "at the cluster scope"
    assert await refusal(secured, "y", user="joe") == (
        f'users "joe" is forbidden: User "y" cannot impersonate resource "users" in API group "" {scope}')
    assert await refusal(secured, "y", user="jane", group="system:masters") == (
        f'groups "system:masters" is forbidden: User "y" cannot impersonate resource "groups" in API group "" {scope}')
    assert await refusal(secured, "y", user="jane", extra_scopes="edit") == (
        'userextras.authentication.k8s.io "edit" is forbidden: User "y" cannot impersonate resource "userextras/scopes" in '
        f'API group "authentication.k8s.io" {scope}')
    assert await refusal(secured, "y", user="system:serviceaccount:a:b") == (
        'serviceaccounts "b" is forbidden: User "y" cannot impersonate resource "serviceaccounts" in API group "" '
        'in the namespace "a"')


async def test_constrained_leave_is_for_one_kind_of_request(secured: Secured) -> None:
    """Given leave to be jane while listing config maps, when she lists them, then her own rights
    decide; for anything else there is no leave.
    """
    await secured.grant(
        "y", may("impersonate:user-info", "users", "authentication.k8s.io", "jane"),
        may("impersonate-on:user-info:list", "configmaps"), namespace="")
    await secured.grant("jane", may("list", "configmaps"), name="jane")
    path = "/api/v1/namespaces/default/configmaps"
    assert (await as_other(secured, "y", path, user="jane"))["kind"] == "ConfigMapList"
    assert "cannot impersonate-on:user-info:get" in await refusal(secured, "y", f"{path}/a", user="jane")
    assert await refusal(secured, "y", path, user="joe") == (
        'users.authentication.k8s.io "joe" is forbidden: User "y" cannot impersonate:user-info resource "users" in API group '
        '"authentication.k8s.io" at the cluster scope')
    assert await refusal(secured, "y", path, user="jane", group="system:masters") == (
        'groups.authentication.k8s.io "system:masters" is forbidden: User "y" cannot impersonate:user-info resource "groups" in '
        'API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed')


async def test_an_account_may_be_the_node_of_its_pod(secured: Secured) -> None:
    """Given an account with leave for its own node, when its token names that node, then it may be
    that one and no other.
    """
    account = "system:serviceaccount:default:agent"
    await secured.admin.create(CLUSTER_ROLES, {"metadata": {"name": "agent"}, "rules": [
        may("impersonate:associated-node", "nodes", "authentication.k8s.io"),
        may("impersonate-on:associated-node:create", "selfsubjectreviews", "authentication.k8s.io")]})
    await secured.admin.create(CLUSTER_ROLE_BINDINGS, {
        "metadata": {"name": "agent"}, "roleRef": {"kind": "ClusterRole", "name": "agent"},
        "subjects": [{"kind": "ServiceAccount", "name": "agent", "namespace": "default"}]})
    extra = {"authentication.kubernetes.io/node-name": ("n1",)}
    assert info(await as_other(secured, account, extra=extra, user="system:node:n1")) == {
        "username": "system:node:n1", "groups": ["system:nodes", "system:authenticated"]}
    await refusal(secured, account, extra=extra, user="system:node:n2")


async def test_before_1_36_there_is_the_old_kind_alone() -> None:
    """Given 1.35, when leave is missing, then the old check is shown."""
    async with Cluster(
            nodes=0, controllers="", clock="manual", authorization_mode="RBAC", kubernetes_version="1.35") as cluster:
        assert (await refusal(Secured(cluster), "y", user="jane")).startswith('users "jane" is forbidden')


async def test_who_was_refused_is_the_caller(secured: Secured) -> None:
    """Given a caller without leave, when they want to be somebody, then the request log says that
    the caller was refused.
    """
    await refusal(secured, "y", "/api/v1/pods", user="jane")
    last = list(secured.cluster.apiserver.log)[-1]
    assert (last.user, last.decision, last.code) == ("y", "forbid", 403)

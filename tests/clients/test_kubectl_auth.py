"""kubectl auth: may somebody, what may they, who am I; and users who may little."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes import client, config

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine"),
    pytest.mark.fake_only(reason="it makes users by their names"),
    pytest.mark.fakekube(nodes=0, authorization_mode="Node,RBAC", tls=True),
]

Kubectl = Callable[..., str]
ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules:
- {apiGroups: [""], resources: [configmaps, pods/log], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}
- {kind: ServiceAccount, name: robot, namespace: default}
"""


@pytest.fixture
def granted(kubectl: Kubectl) -> Kubectl:
    """kubectl of the administrator, once alice and the account robot read config maps."""
    kubectl("create", "serviceaccount", "robot")
    told = kubectl("auth", "reconcile", "-f", "-", stdin=ROLES)
    assert "role.rbac.authorization.k8s.io/reader reconciled" in told
    assert "rolebinding.rbac.authorization.k8s.io/reader reconciled" in told
    return kubectl


@pytest.mark.spec("API-168", "API-172")
def test_can_i_tells_the_truth(granted: Kubectl) -> None:
    """Given rights of alice, when kubectl asks what she may, then it answers as they are, for
    sub-resources, names, paths and other namespaces too; so for an account, a group and oneself.
    """
    def can(*asked: str, yes: bool) -> None:
        assert granted("auth", "can-i", *asked, code=0 if yes else 1).splitlines()[-1 if yes else 0] == ("yes" if yes else "no")

    alice = ("--as", "alice")
    can("list", "configmaps", *alice, yes=True)
    can("get", "pods", "--subresource=log", *alice, yes=True)
    can("get", "pods", *alice, yes=False)
    can("list", "configmaps", "-n", "kube-system", *alice, yes=False)
    can("get", "/healthz", *alice, yes=True)
    can("get", "/metrics", *alice, yes=False)
    can("get", "configmaps/a", "--as", "system:serviceaccount:default:robot", yes=True)
    can("*", "*", "--as", "x", "--as-group", "system:masters", yes=True)
    can("*", "*", "--all-namespaces", yes=True)


@pytest.mark.spec("API-168")
def test_can_i_lists_what_there_is(granted: Kubectl) -> None:
    """Given the same, when kubectl lists, then the rights of alice are there, and not a star."""
    rows = [line.split() for line in granted("auth", "can-i", "--list", "--as", "alice").splitlines()[1:]]
    assert ["configmaps", "[]", "[]", "[get", "list]"] in rows
    assert ["pods/log", "[]", "[]", "[get", "list]"] in rows
    assert not any(row[0] == "*.*" for row in rows)
    assert any(row[0] == "*.*" for row in [line.split() for line in granted("auth", "can-i", "--list").splitlines()])


def test_reconcile_adds_what_is_missing_and_keeps_the_rest(granted: Kubectl) -> None:
    """Given a role with a rule more, when the manifest is reconciled again, then the rule stays; a
    binding to another role is made anew.
    """
    granted("patch", "role", "reader", "--type=json", "-p", (
        '[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}}]'))
    granted("auth", "reconcile", "-f", "-", stdin=ROLES)
    assert "secrets" in granted("get", "role", "reader", "-o", "jsonpath={.rules[*].resources}")
    other = ROLES.replace("kind: Role, name: reader", "kind: ClusterRole, name: view")
    granted("auth", "reconcile", "-f", "-", stdin=other)
    assert granted("get", "rolebinding", "reader", "-o", "jsonpath={.roleRef.name}") == "view"


def test_somebody_with_a_kubeconfig_of_their_own(granted: Kubectl, fakekube_server: Any) -> None:
    """Given kubeconfigs for a user and for an account, when their clients ask, then each is who it
    says, and may what it has and no more.
    """
    robot = "system:serviceaccount:default:robot"
    paths = [fakekube_server.kubeconfig_for("alice", ["developers"]), fakekube_server.kubeconfig_for(robot)]
    told = [granted("--kubeconfig", str(path), "auth", "whoami", "-o", "jsonpath={.status.userInfo}") for path in paths]
    assert told[0] == '{"groups":["developers","system:authenticated"],"username":"alice"}'
    assert '"username":"system:serviceaccount:default:robot"' in told[1]
    assert '"system:serviceaccounts:default"' in told[1]
    for path in paths:
        granted("--kubeconfig", str(path), "get", "configmaps")
        refused = granted("--kubeconfig", str(path), "get", "secrets", code=1)
        assert refused.startswith("Error from server (Forbidden): secrets is forbidden: User ")
    token = granted("create", "token", "robot").strip()
    assert "configmaps is forbidden" not in granted("--token", token, "get", "configmaps")
    bind = ("create", "rolebinding", "b", "--clusterrole=admin", "--user=alice")
    escalated = granted("--kubeconfig", str(paths[0]), *bind, code=1)
    assert 'cannot create resource "rolebindings"' in escalated


def test_python_clients_see_the_refusal(fakekube_server: Any) -> None:
    """Given a user without roles, when the official client lists pods, then it gets the Status of
    the refusal; after a reset the kubeconfig still works.
    """
    path = fakekube_server.kubeconfig_for("mallory")

    def refused() -> client.ApiException:
        with pytest.raises(client.ApiException) as error:
            client.CoreV1Api(config.new_client_from_config(str(path))).list_namespaced_pod("default")
        return error.value

    assert refused().status == 403
    assert b'User \\"mallory\\" cannot list' in str(refused().body).encode()
    fakekube_server.reset()
    assert refused().status == 403

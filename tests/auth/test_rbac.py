"""What roles and bindings let users do, and how a refusal reads."""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, JOBS, NODES, PODS
from fakekube.composition.options import OptionError
from tests.auth.conftest import ROLE_BINDINGS, ROLES, Secured


def rule(verbs: str, resources: str = "", *, groups: str = "", names: str = "", urls: str = "") -> dict[str, Any]:
    """A rule from words, separated by commas."""
    if urls:
        return {"verbs": verbs.split(","), "nonResourceURLs": urls.split(",")}
    made: dict[str, Any] = {"verbs": verbs.split(","), "apiGroups": groups.split(","), "resources": resources.split(",")}
    return made | ({"resourceNames": names.split(",")} if names else {})


@pytest.mark.spec("API-168")
async def test_who_has_no_role_is_refused_in_upstreams_words(secured: Secured) -> None:
    """Given a user without roles, when pods, nodes and a path are asked for, then each is 403 with
    the verb, the resource and the place.
    """
    alice = secured.user("alice")
    with pytest.raises(APIError) as one:
        await alice.get(PODS, "a", "default")
    assert (one.value.code, one.value.reason) == (403, "Forbidden")
    assert one.value.message == (
        'pods "a" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "default"')
    assert one.value.details == {"name": "a", "kind": "pods"}
    with pytest.raises(APIError, match=r'^nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" '
                                       "at the cluster scope$"):
        await alice.list(NODES)
    refused = await secured.ask("alice", "/metrics")
    assert refused.status == 403
    assert b'"message":"forbidden: User \\"alice\\" cannot get path \\"/metrics\\""' in refused.body
    assert ("X-Content-Type-Options", "nosniff") in refused.headers
    assert (await secured.ask("alice", "/version")).status == 200


@pytest.mark.spec("API-168")
async def test_a_refusal_comes_before_it_is_known_what_there_is(secured: Secured) -> None:
    """Given a user without roles, when an unknown group is asked for, then that is 403 and not 404;
    what could be HTML in a name is written as entities.
    """
    refused = await secured.ask("a<b>&c", "/apis/nothing.example/v1/namespaces/x/things/a")
    assert refused.status == 403
    assert b'User \\"a&lt;b&gt;&amp;c\\" cannot get resource \\"things\\" in API group \\"nothing.example\\"' in refused.body


async def test_a_change_is_in_force_with_its_commit(secured: Secured) -> None:
    """Given a user who was just refused, when a role, its binding and its rules come, change and
    go, then the next request knows.
    """
    async def may() -> bool:
        return (await secured.ask("alice", "/api/v1/namespaces/default/configmaps")).status == 200

    assert not await may()
    await secured.grant("alice", rule("list", "configmaps"))
    assert await may()
    role = await secured.admin.get(ROLES, "granted", "default")
    await secured.admin.update(ROLES, {**role, "rules": []})
    assert not await may()
    role = await secured.admin.get(ROLES, "granted", "default")
    await secured.admin.update(ROLES, {**role, "rules": [rule("*", "*", groups="*")]})
    assert await may()
    await secured.admin.delete(ROLE_BINDINGS, "granted", "default")
    assert not await may()


@pytest.mark.parametrize(("rules", "attributes", "allowed"), [
    ([rule("get", "pods")], {"verb": "get", "resource": "pods"}, True),
    ([rule("get", "pods")], {"verb": "list", "resource": "pods"}, False),
    ([rule("get", "pods")], {"verb": "get", "resource": "pods", "subresource": "log"}, False),
    ([rule("get", "pods/log")], {"verb": "get", "resource": "pods", "subresource": "log"}, True),
    ([rule("get", "*/log")], {"verb": "get", "resource": "pods", "subresource": "log"}, True),
    ([rule("get", "*/log")], {"verb": "get", "resource": "pods"}, False),
    ([rule("get", "pods/*")], {"verb": "get", "resource": "pods", "subresource": "log"}, False),
    ([rule("get", "*")], {"verb": "get", "resource": "pods", "subresource": "log"}, True),
    ([rule("get", "jobs", groups="batch")], {"verb": "get", "resource": "jobs"}, False),
    ([rule("get", "jobs", groups="*")], {"verb": "get", "group": "batch", "resource": "jobs"}, True),
    ([rule("get", "pods", names="a,b")], {"verb": "get", "resource": "pods", "name": "b"}, True),
    ([rule("get", "pods", names="a,b")], {"verb": "get", "resource": "pods", "name": "c"}, False),
    ([rule("get", "pods", names="a,b")], {"verb": "get", "resource": "pods"}, False),
    ([rule("get", "pods", names="a"), rule("get", "pods")], {"verb": "get", "resource": "pods", "name": "c"}, True),
    ([rule("get", "pods")], {"verb": "get", "resource": "pods", "namespace": "elsewhere"}, False),
])
async def test_what_a_rule_allows(
    secured: Secured, rules: list[dict[str, Any]], attributes: dict[str, str], allowed: bool,
) -> None:
    """Given rules in a namespace, when a review asks about verbs, sub-resources, groups, names and
    another namespace, then stars and names count as upstream's do.
    """
    await secured.grant("alice", *rules)
    status = await secured.review("alice", **{"namespace": "default", **attributes})
    assert status["allowed"] is allowed
    assert bool(status.get("reason")) is allowed


@pytest.mark.parametrize(("urls", "path", "allowed"), [
    ("/healthz/*", "/healthz/ping", True), ("/healthz/*", "/healthz", False), ("/logs*", "/logs", True), ("*", "/any", True),
    ("/metrics", "/metrics", True), ("/metrics", "/metrics/", False),
])
async def test_what_a_rule_of_paths_allows(secured: Secured, urls: str, path: str, allowed: bool) -> None:
    """Given a cluster role with paths, when a path is asked for, then a star at the end stands for
    anything.
    """
    await secured.grant("alice", rule("get", urls=urls), namespace="")
    assert (await secured.review("alice", verb="get", path=path))["allowed"] is allowed


async def test_reasons_name_binding_role_and_subject(secured: Secured) -> None:
    """Given a binding to a user, a group and an account, when a review asks about each, then the
    reason says by which subject; the group system:masters needs none.
    """
    await secured.admin.create(ROLES, {"metadata": {"name": "r", "namespace": "default"}, "rules": [rule("get", "pods")]})
    await secured.admin.create(ROLE_BINDINGS, {
        "metadata": {"name": "b", "namespace": "default"}, "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "User", "name": "alice"}, {"kind": "Group", "name": "devs"}, {"kind": "ServiceAccount", "name": "robot"}]})
    asked = {"verb": "get", "resource": "pods", "namespace": "default"}
    by = 'RBAC: allowed by RoleBinding "b/default" of Role "r" to '
    assert (await secured.review("alice", **asked)) == {"allowed": True, "reason": by + 'User "alice"'}
    assert (await secured.review("x", ["devs"], **asked))["reason"] == by + 'Group "devs"'
    robot = await secured.review("system:serviceaccount:default:robot", **asked)
    assert robot["reason"] == by + 'ServiceAccount "robot/default"'
    assert (await secured.review("devs", **asked)) == {"allowed": False}
    assert (await secured.review("x", ["system:masters"], verb="*", path="/any")) == {"allowed": True}


@pytest.mark.parametrize(("version", "prefix"), [("1.37", "rbac: "), ("1.36", "")])
async def test_a_binding_to_a_role_that_is_not_there_is_told(version: str, prefix: str) -> None:
    """Given a binding to a role that is not there, when its subject is refused, then the reason
    says so.
    """
    async with Cluster(
            nodes=0, controllers="", clock="manual", authorization_mode="RBAC", kubernetes_version=version) as cluster:
        secured = Secured(cluster)
        await secured.admin.create(ROLE_BINDINGS, {
            "metadata": {"name": "b", "namespace": "default"}, "roleRef": {"kind": "Role", "name": "gone"},
            "subjects": [{"kind": "User", "name": "alice"}]})
        with pytest.raises(APIError) as refused:
            await secured.user("alice").list(CONFIG_MAPS, "default")
        assert refused.value.message.endswith(
            f'in the namespace "default": {prefix}RBAC: role.rbac.authorization.k8s.io "gone" not found')


async def test_who_has_no_token_is_anonymous(secured: Secured) -> None:
    """Given RBAC, when a request comes without a token, then it is that of system:anonymous; paths
    of our own are the administrators'.
    """
    answer = await secured.ask("", "/api/v1/namespaces")
    assert answer.status == 403
    assert b'User \\"system:anonymous\\" cannot list' in answer.body
    assert (await secured.ask("", "/healthz")).status == 200
    assert (await secured.ask("alice", "/fakekube/v1/time")).status == 403


@pytest.mark.parametrize(("mode", "text"), [
    ("", "at least one authorization-mode must be passed"), ("Nope", '"Nope" is not a valid mode'),
    ("RBAC,RBAC", r'\["RBAC" "RBAC"\] has mode specified more than once'),
])
def test_modes_that_cannot_be_meant(mode: str, text: str) -> None:
    """Given a mode that there is not, or one twice, then the option is refused in upstream's words.
    """
    with pytest.raises(OptionError, match=text):
        Cluster(authorization_mode=mode)


async def test_always_deny_denies_all_but_administrators() -> None:
    """Given AlwaysDeny, when somebody asks, then it is 403 with its reason; administrators may."""
    async with Cluster(nodes=0, controllers="", clock="manual", authorization_mode="AlwaysDeny") as cluster:
        await cluster.client.list(CONFIG_MAPS, "default")
        with pytest.raises(APIError, match=r"alwaysdeny: Everything is forbidden\.$"):
            await Secured(cluster).user("alice").list(CONFIG_MAPS, "default")


async def test_forks_snapshots_and_resets_go_their_own_ways(secured: Secured) -> None:
    """Given a binding, when a fork, the cluster after a restore and after a reset are asked, then
    each knows what it holds itself, and follows its own changes.
    """
    path, cluster = "/api/v1/namespaces/default/configmaps", secured.cluster
    empty = cluster.snapshot()
    await secured.grant("alice", rule("list", "configmaps"))
    assert (await secured.ask("alice", path)).status == 200
    async with cluster.fork() as other:
        forked = Secured(other)
        assert (await forked.ask("alice", path)).status == 200
        await forked.admin.delete(ROLE_BINDINGS, "granted", "default")
        assert (await forked.ask("alice", path)).status == 403
    assert (await secured.ask("alice", path)).status == 200
    await cluster.restore(empty)
    assert (await secured.ask("alice", path)).status == 403
    await secured.grant("alice", rule("list", "configmaps"))
    assert (await secured.ask("alice", path)).status == 200
    await cluster.reset()
    assert (await secured.ask("alice", path)).status == 403


async def test_components_act_under_their_own_accounts() -> None:
    """Given a node and a Job, when it has run, then each component asked as the account that
    upstream gives it, although nobody asks whether it may.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "b"}]}}
        await cluster.client.create(JOBS, {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": template}})
        await cluster.settle()
        wrote = {(entry.resource, entry.subresource): entry.user for entry in cluster.apiserver.log if entry.verb != "watch"}
    assert wrote["pods", ""] == "system:serviceaccount:kube-system:job-controller"
    assert wrote["pods", "binding"] == "system:kube-scheduler"
    assert wrote["pods", "status"] == "system:node:node-0"
    assert wrote["leases", ""] == "system:node:node-0"


@pytest.mark.parametrize(("version", "may_run"), [("1.37", False), ("1.34", True)])
async def test_who_reads_runs_no_commands(version: str, may_run: bool) -> None:
    """Given the verb get on exec, when a GET asks for a command, then since 1.35 it is refused for
    want of create; with create it goes on.
    """
    async with Cluster(
            nodes=0, controllers="", clock="manual", authorization_mode="RBAC", kubernetes_version=version) as cluster:
        secured, path = Secured(cluster), "/api/v1/namespaces/default/pods/p/exec"
        await secured.grant("alice", rule("get", "pods/exec"))
        answer = await secured.ask("alice", path)
        assert answer.status == (404 if may_run else 403)
        assert b'"message":"pods \\"p\\" is forbidden: "' in answer.body or may_run
        await secured.grant("alice", rule("create", "pods/exec"), name="more")
        assert (await secured.ask("alice", path)).status == 404

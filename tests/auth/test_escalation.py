"""Nobody grants what they do not have."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.auth.rules import ALL_RESOURCES, PolicyRule, missing
from fakekube.client.client import Client
from tests.auth.conftest import CLUSTER_ROLES, ROLE_BINDINGS, ROLES, Secured

WRITES = {
    "verbs": ["get", "create", "update", "patch", "delete"], "apiGroups": ["rbac.authorization.k8s.io"],
    "resources": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"]}
READS_PODS = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "pods/log"]}
NOT_HELD = (
    'is forbidden: user "erin" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently '
    "held:\n")


async def erin(secured: Secured, *rules: Tree) -> Client:
    """A client of somebody who may write roles, and has these rules in all namespaces."""
    await secured.grant("erin", WRITES, READS_PODS, *rules, namespace="")
    return secured.user("erin")


def role(name: str, *rules: Tree, **more: Any) -> Tree:
    return {"metadata": {"name": name, "namespace": "default"}, "rules": list(rules), **more}


async def refused(make: Any) -> str:
    with pytest.raises(APIError) as error:
        await make
    assert (error.value.code, error.value.reason) == (403, "Forbidden")
    return error.value.message


async def test_what_somebody_has_can_be_granted_and_no_more(secured: Secured) -> None:
    """Given somebody who reads pods, when they write roles, then a part of that passes; what they
    lack is listed by group and resource, sorted, with its verbs in the order given.
    """
    client = await erin(secured)
    await client.create(ROLES, role("less", {**READS_PODS, "verbs": ["list"]}))
    more = {"verbs": ["watch", "get", "delete"], "apiGroups": [""], "resources": ["secrets", "pods"]}
    assert await refused(client.create(ROLES, role("more", more))) == (
        f'roles.rbac.authorization.k8s.io "more" {NOT_HELD}'
        '{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["watch" "get" "delete"]}')
    with pytest.raises(APIError) as missing_role:
        await secured.admin.get(ROLES, "more", "default")
    assert missing_role.value.code == 404


async def test_an_update_counts_as_a_grant(secured: Secured) -> None:
    """Given a stronger role that is there, when it is patched to the same rules with a label, then
    that is refused; to fewer rules it passes, and the garbage collector's changes do.
    """
    client = await erin(secured)
    await secured.admin.create(ROLES, role("strong", {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}))
    text = await refused(client.patch(ROLES, "strong", "default", {"metadata": {"labels": {"a": "b"}}}))
    assert text.endswith('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')
    await client.patch(ROLES, "strong", "default", {"metadata": {"finalizers": ["example.com/hold"]}})
    await client.patch(ROLES, "strong", "default", {"metadata": {"finalizers": None}})
    await client.patch(ROLES, "strong", "default", {"rules": []})


async def test_escalate_is_a_verb_of_its_own(secured: Secured) -> None:
    """Given the verb escalate on roles, when a role grants everything, then it is stored; for a
    cluster role that verb says nothing, and an aggregation rule needs everything.
    """
    may = {"verbs": ["escalate"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]}
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    client = await erin(secured, may)
    await client.create(ROLES, role("all", everything))
    await refused(client.create(CLUSTER_ROLES, {"metadata": {"name": "all"}, "rules": [everything]}))
    aggregated = {"metadata": {"name": "g"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]}}
    assert await refused(client.create(CLUSTER_ROLES, aggregated)) == (
        'clusterroles.rbac.authorization.k8s.io "g" is forbidden: must have cluster-admin privileges to use the aggregationRule')


def binding(name: str, kind: str, of: str) -> Tree:
    return {
        "metadata": {"name": name, "namespace": "default"}, "roleRef": {"kind": kind, "name": of},
        "subjects": [{"kind": "User", "name": "frank"}]}


async def test_a_binding_grants_what_its_role_does(secured: Secured) -> None:
    """Given roles of more and of less, when they are bound, then more is refused, unless the verb
    bind allows that role; a role that is not there is 404 in the words of the request.
    """
    bind = {
        "verbs": ["bind"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": ["edit"]}
    client = await erin(secured, bind)
    await secured.admin.create(ROLES, role("less", READS_PODS))
    await client.create(ROLE_BINDINGS, binding("less", "Role", "less"))
    text = await refused(client.create(ROLE_BINDINGS, binding("admin", "ClusterRole", "admin")))
    assert text.startswith(f'rolebindings.rbac.authorization.k8s.io "admin" {NOT_HELD}')
    await client.create(ROLE_BINDINGS, binding("edit", "ClusterRole", "edit"))
    with pytest.raises(APIError) as absent:
        await client.create(ROLE_BINDINGS, binding("absent", "Role", "absent"))
    assert (absent.value.code, absent.value.message) == (404, 'rolebindings.rbac.authorization.k8s.io "absent" not found')
    assert (absent.value.details or {})["kind"] == "rolebindings"


async def test_what_could_not_be_resolved_is_told(secured: Secured) -> None:
    """Given a binding of the writer to a role that is gone, when a grant is refused, then the text
    says so at its end.
    """
    client = await erin(secured)
    await secured.admin.create(ROLE_BINDINGS, {
        "metadata": {"name": "b", "namespace": "default"}, "roleRef": {"kind": "Role", "name": "gone"},
        "subjects": [{"kind": "User", "name": "erin"}]})
    text = await refused(client.create(ROLES, role("r", {"verbs": ["x"], "apiGroups": [""], "resources": ["y"]})))
    assert text.endswith('; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]')


async def test_a_rule_of_a_billion_parts_holds_nobody_up(secured: Secured) -> None:
    """Given a rule of a thousand groups, resources and verbs, when it is written, then it is judged
    whole and refused.
    """
    client, words = await erin(secured), [f"w{number}" for number in range(1000)]
    text = await refused(client.create(ROLES, role("wide", {"verbs": words, "apiGroups": words, "resources": words})))
    assert text.endswith("]}")
    assert '{APIGroups:["w0" "w1"' in text


async def test_an_apply_that_creates_needs_both_verbs(secured: Secured) -> None:
    """Given the verb patch alone, when an apply would create, then it is refused as a create is,
    and nothing is stored; with both verbs it creates.
    """
    roles = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]}
    await secured.grant("sam", {"verbs": ["patch", "update"], **roles})
    sam = secured.user("sam")
    assert await refused(sam.patch(ROLES, "r", "default", role("r"), type="apply", field_manager="t")) == (
        'roles.rbac.authorization.k8s.io "r" is forbidden: User "sam" cannot create resource "roles" in API group '
        '"rbac.authorization.k8s.io" in the namespace "default"')
    assert "cannot create" in await refused(sam.update(ROLES, role("r")))
    await secured.grant("sam", {"verbs": ["create"], **roles}, name="too")
    await sam.patch(ROLES, "r", "default", role("r"), type="apply", field_manager="t")


WORDS = st.lists(st.sampled_from(["*", "a", "b"]), min_size=1, max_size=2).map(tuple)
RESOURCES = st.lists(st.sampled_from(["*", "a", "b", "a/s", "*/s"]), min_size=1, max_size=2).map(tuple)
NAMES = st.lists(st.sampled_from(["a", "b"]), max_size=2).map(tuple)
RULES = st.builds(PolicyRule, WORDS, WORDS, RESOURCES, NAMES, st.just(()))


@given(st.lists(RULES, max_size=4), RULES, st.sampled_from("ab"), st.sampled_from("ab"), st.sampled_from("ab"),
       st.sampled_from(["", "s"]), st.sampled_from("ab"))
def test_what_is_covered_allows_nothing_new(
    held: list[PolicyRule], wanted: PolicyRule, verb: str, group: str, resource: str, subresource: str, name: str,
) -> None:
    """Given rules that cover another one, when anything is asked for, then that one allows nothing
    that they do not; and what is missing, added to them, covers it.
    """
    lacking = missing(held, [wanted])
    assert not missing([*held, *lacking], [wanted])
    assert not missing([ALL_RESOURCES], [wanted])
    if lacking:
        return

    def allows(rule: PolicyRule) -> bool:
        return rule.allows(verb, group, resource, subresource) and (not rule.names or name in rule.names)

    assert not allows(wanted) or any(map(allows, held))

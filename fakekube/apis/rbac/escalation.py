"""Nobody grants what they do not have: checks on who writes roles and bindings.

Upstream: pkg/registry/rbac/escalation_check.go, the ``policybased`` storages of pkg/registry/rbac,
ConfirmNoEscalation in pkg/registry/rbac/validation/rule.go.
"""

from collections.abc import Iterable

from fakekube.apimachinery import errors
from fakekube.apimachinery.equality import is_only_mutating_gc_fields
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import PRIVILEGED_GROUP, Access
from fakekube.auth.rules import FULL_AUTHORITY, PolicyRule, errors_text, go_texts, missing, rules_of
from fakekube.registry.strategy import WriteContext

GROUP = "rbac.authorization.k8s.io"
NOT_CLUSTER_ADMIN = "must have cluster-admin privileges to use the aggregationRule"
PLURALS = {"Role": "roles", "ClusterRole": "clusterroles"}


def check_role(obj: Tree, old: Tree | None, ctx: WriteContext, *, resource: str) -> None:
    """Whether the writer of a Role or ClusterRole has what it grants. Raises 403."""
    if _is_privileged(ctx) or is_only_mutating_gc_fields(obj, old):
        return
    meta = obj["metadata"]
    # a POST has no name in its path
    name = "" if old is None else meta.get("name", "")
    if _may(ctx, "escalate", resource, meta.get("namespace", ""), name):
        return
    kind = GroupResource(GROUP, resource)
    _confirm(ctx, kind, meta.get("namespace", ""), meta.get("name", ""), kind, rules_of(obj))
    if _aggregates(obj) or _aggregates(old):
        held, _ = _held(ctx, "")
        if missing(held, FULL_AUTHORITY):
            raise errors.forbidden(kind, meta.get("name", ""), NOT_CLUSTER_ADMIN)


def check_binding(obj: Tree, old: Tree | None, ctx: WriteContext, *, resource: str) -> None:
    """Whether the writer of a binding has what its role grants, or may bind that role.

    Raises 403, and 404 when there is no such role.
    """
    if _is_privileged(ctx) or is_only_mutating_gc_fields(obj, old):
        return
    meta, reference = obj["metadata"], obj.get("roleRef") or {}
    namespace, role_kind, role = meta.get("namespace", ""), reference.get("kind", ""), reference.get("name", "")
    plural = PLURALS.get(role_kind)
    if plural is not None and _may(ctx, "bind", plural, namespace, role, group=reference.get("apiGroup", "")):
        return
    kind, resolver = GroupResource(GROUP, resource), ctx.cluster.authorization.resolver
    assert resolver is not None, "where everybody may do everything nobody gets here"
    if plural is None:
        raise errors.raw(f"unsupported role reference kind: {go_quote(role_kind)}")
    rules = resolver.role_rules(role_kind, role, namespace)
    if rules is None:
        raise errors.not_found(kind, role)
    _confirm(ctx, kind, namespace, meta.get("name", ""), kind, rules)


def _is_privileged(ctx: WriteContext) -> bool:
    return ctx.cluster.authorization.resolver is None or PRIVILEGED_GROUP in ctx.user.groups


def _aggregates(role: Tree | None) -> bool:
    return bool(role and (role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _may(ctx: WriteContext, verb: str, resource: str, namespace: str, name: str, *, group: str = GROUP) -> bool:
    access = Access(verb, group, "*", resource, namespace=namespace, name=name)
    return ctx.cluster.authorization.authorizer.decide(ctx.user, access).allowed


def _held(ctx: WriteContext, namespace: str) -> tuple[list[PolicyRule], list[tuple[str, str]]]:
    resolver = ctx.cluster.authorization.resolver
    return resolver.policy_rules(ctx.user, namespace) if resolver is not None else ([], [])


def _confirm(
    ctx: WriteContext, kind: GroupResource, namespace: str, name: str, asked: GroupResource, rules: Iterable[PolicyRule],
) -> None:
    held, absent = _held(ctx, namespace)
    lacking = missing(held, rules)
    if not lacking:
        return
    user, lines = ctx.user, "\n".join(sorted(dict.fromkeys(rule.text() for rule in lacking)))
    text = (
        f"user {go_quote(user.name)} (groups={go_texts(user.groups)}) is attempting to grant RBAC permissions not currently "
        f"held:\n{lines}")
    if absent:
        # upstream names the resource of the request, whatever was not found
        text += f"; resolution errors: [{errors_text(f'{asked} {go_quote(role)} not found' for _, role in absent)}]"
    raise errors.forbidden(kind, name, text)

"""Who may do what by roles and bindings. Upstream: plugin/pkg/auth/authorizer/rbac,
pkg/registry/rbac/validation/rule.go.

Roles and bindings are read from the storage when somebody is first asked about, and followed from
then on: a change is in force with the commit. They are indexed by subject. What a user is granted
is put together when that user is asked about, and forgotten with the next change of any role or
binding. Of bindings that allow the same, the first by name is told, those of the cluster before
those of the namespace; upstream's order is that of a Go map.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import AccessAttributes, Decision
from fakekube.auth.rules import PolicyRule, UserRules, errors_text, rules_of
from fakekube.auth.tokens import PREFIX
from fakekube.storage.memory import Bucket, Event
from fakekube.util.memory import Memo

GROUP = "rbac.authorization.k8s.io"
ROLES, CLUSTER_ROLES = GroupResource(GROUP, "roles"), GroupResource(GROUP, "clusterroles")
ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS = GroupResource(GROUP, "rolebindings"), GroupResource(GROUP, "clusterrolebindings")
RESOURCES = {"Role": ROLES, "ClusterRole": CLUSTER_ROLES}
USERS, SHAPES, KEPT_BYTES = 1_000, 10_000, 16 << 20
"""For how many users, and for how many kinds of requests of theirs, it is kept what they have, and
how long the texts of either may be together.
"""

Key = tuple[str, str]
"""A namespace, empty for none, and a name."""
BucketOf = Callable[[GroupResource], Bucket]


class Subject(NamedTuple):
    """Whom a binding is for: the user or the group that it stands for, and how it reads."""

    is_group: bool
    name: str
    text: str

    def is_one_of(self, user: UserInfo) -> bool:
        """Whether the user is meant."""
        return self.name in user.groups if self.is_group else self.name == user.name


class Binding(NamedTuple):
    """A RoleBinding, or a ClusterRoleBinding with an empty namespace."""

    key: Key
    role_kind: str
    role_name: str
    subjects: tuple[Subject, ...]

    def reason(self, user: UserInfo) -> str:
        """Why the user may, as access reviews tell it."""
        subject = next(one for one in self.subjects if one.is_one_of(user))
        namespace, name = self.key
        shown = f"RoleBinding {go_quote(f'{name}/{namespace}')}" if namespace else f"ClusterRoleBinding {go_quote(name)}"
        return f"RBAC: allowed by {shown} of {self.role_kind} {go_quote(self.role_name)} to {subject.text}"


Allowance = tuple[frozenset[str], Decision]
"""Names that a rule is confined to, none for all, and the decision that it makes."""


class Grants:
    """What one user has by bindings, in the order in which they are asked."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self._of_namespaces: dict[str, list[Binding]] = {}
        for binding in bindings:
            self._of_namespaces.setdefault(binding.key[0], []).append(binding)

    def of(self, namespace: str) -> list[Binding]:
        """The bindings that count in a namespace ("": outside of all)."""
        cluster = self._of_namespaces.get("", [])
        return cluster + self._of_namespaces.get(namespace, []) if namespace else cluster


class RBAC:
    """An Authorizer and a RuleResolver by the roles and bindings in the buckets that ``bucket_of``
    gives.
    """

    def __init__(self, bucket_of: BucketOf) -> None:
        self._bucket_of = bucket_of
        self._roles: dict[str, dict[Key, tuple[PolicyRule, ...]]] = {}
        self._bindings: dict[Key, Binding] = {}
        self._of_users: dict[str, dict[Key, None]] = {}
        self._of_groups: dict[str, dict[Key, None]] = {}
        self._grants: Memo[tuple[str, tuple[str, ...]], Grants] = Memo(USERS, KEPT_BYTES)
        self._allowances: Memo[tuple[object, ...], list[Allowance]] = Memo(SHAPES, KEPT_BYTES)

    # decisions

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        """Whether a rule of any role that the user has allows it."""
        if access.path and not access.resource:
            return self._decide_path(user, access, self._granted(user))
        key = (
            user.name, user.groups, access.verb, access.group, access.resource, access.subresource, access.namespace)
        found = self._allowances.get(key)
        if found is None:
            found = self._sorted_out(user, access)
            self._allowances.put(key, found, _size(key))
        for names, decision in found:
            if not names or access.name in names:
                return decision
        return self._refused(self._granted(user), access.namespace)

    def _sorted_out(self, user: UserInfo, access: AccessAttributes) -> list[Allowance]:
        found: list[Allowance] = []
        for binding in self._granted(user).of(access.namespace):
            for rule in self._rules(binding) or ():
                if rule.allows(access.verb, access.group, access.resource, access.subresource):
                    found.append((frozenset(rule.names), Decision(True, binding.reason(user))))
                    if not rule.names:
                        return found
        return found

    def _decide_path(self, user: UserInfo, access: AccessAttributes, grants: Grants) -> Decision:
        for binding in grants.of(access.namespace):
            for rule in self._rules(binding) or ():
                if rule.urls and rule.allows_path(access.verb, access.path):
                    return Decision(True, binding.reason(user))
        return self._refused(grants, access.namespace)

    def _refused(self, grants: Grants, namespace: str) -> Decision:
        absent = self._absent(grants, namespace)
        return Decision(False, f"RBAC: {_not_found(absent)}" if absent else "")

    def _absent(self, grants: Grants, namespace: str) -> list[tuple[str, str]]:
        """The roles that bindings speak of and that are not there."""
        return [
            (binding.role_kind, binding.role_name) for binding in grants.of(namespace) if self._rules(binding) is None]

    # rules

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        """The rules that hold for the user in a namespace."""
        found, absent = self.policy_rules(user, namespace)
        return UserRules(found, False, _not_found(absent))

    def policy_rules(self, user: UserInfo, namespace: str) -> tuple[list[PolicyRule], list[tuple[str, str]]]:
        """As RuleResolver says."""
        grants = self._granted(user)
        found = [rule for binding in grants.of(namespace) for rule in self._rules(binding) or ()]
        return found, self._absent(grants, namespace)

    def role_rules(self, kind: str, name: str, namespace: str) -> Sequence[PolicyRule] | None:
        """As RuleResolver says."""
        self._follow()
        return self._roles.get(kind, {}).get((namespace if kind == "Role" else "", name))

    def _rules(self, binding: Binding) -> Sequence[PolicyRule] | None:
        return self.role_rules(binding.role_kind, binding.role_name, binding.key[0])

    def _granted(self, user: UserInfo) -> Grants:
        key = (user.name, user.groups)
        grants = self._grants.get(key)
        if grants is None:
            self._follow()
            keys = dict(self._of_users.get(user.name, {}))
            for group in user.groups:
                keys.update(self._of_groups.get(group, {}))
            grants = Grants(self._bindings[one] for one in sorted(keys))
            self._grants.put(key, grants, _size(key))
        return grants

    # what is stored

    def _follow(self) -> None:
        """Read all roles and bindings, and hear of every change from now on."""
        if self._roles:
            return
        for kind, resource in RESOURCES.items():
            self._roles[kind] = {}
            self._follow_bucket(resource, partial(self._set_role, kind))
        for resource in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
            self._follow_bucket(resource, self._set_binding)

    def _follow_bucket(self, resource: GroupResource, take: Callable[[Key, Tree | None], None]) -> None:
        bucket = self._bucket_of(resource)

        def changed(event: Event) -> None:
            record = event.record
            take((record.namespace, record.name), None if event.type == "DELETED" else record.tree())
            self._grants, self._allowances = Memo(USERS, KEPT_BYTES), Memo(SHAPES, KEPT_BYTES)

        bucket.subscribe(bucket.revision, "", changed)
        for record in bucket.all():
            take((record.namespace, record.name), record.tree())

    def _set_role(self, kind: str, key: Key, tree: Tree | None) -> None:
        if tree is None:
            self._roles[kind].pop(key, None)
        else:
            self._roles[kind][key] = rules_of(tree)

    def _set_binding(self, key: Key, tree: Tree | None) -> None:
        before = self._bindings.pop(key, None)
        for subject in before.subjects if before is not None else ():
            self._index(subject)[subject.name].pop(key, None)
        if tree is None:
            return
        reference = tree.get("roleRef") or {}
        subjects = tuple(
            found for one in tree.get("subjects") or () if (found := _subject(one, key[0])) is not None)
        self._bindings[key] = Binding(key, reference.get("kind", ""), reference.get("name", ""), subjects)
        for subject in subjects:
            self._index(subject).setdefault(subject.name, {})[key] = None

    def _index(self, subject: Subject) -> dict[str, dict[Key, None]]:
        return self._of_groups if subject.is_group else self._of_users


def _subject(tree: Tree, namespace: str) -> Subject | None:
    """A subject of a binding in a namespace; None for one that is nobody."""
    kind, name = tree.get("kind", ""), tree.get("name", "")
    if kind == "ServiceAccount":
        place = tree.get("namespace") or namespace
        return Subject(False, f"{PREFIX}{place}:{name}", f"{kind} {go_quote(f'{name}/{place}')}") if place else None
    return Subject(kind == "Group", name, f"{kind} {go_quote(name)}") if kind in ("User", "Group") else None


def _not_found(roles: Iterable[tuple[str, str]]) -> str:
    return errors_text(f"{kind.lower()}.{GROUP} {go_quote(name)} not found" for kind, name in roles)


def _size(key: tuple[object, ...]) -> int:
    """How long the texts of a key are together."""
    return sum(len(part) if isinstance(part, str) else _size(part) for part in key if isinstance(part, str | tuple))

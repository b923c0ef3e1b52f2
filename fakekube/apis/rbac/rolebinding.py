"""RoleBinding and ClusterRoleBinding: who has a role.

Upstream: pkg/apis/rbac/v1/defaults.go, pkg/apis/rbac/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, declared, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, IMMUTABLE
from fakekube.apis.checks import ruled
from fakekube.apis.rbac import escalation
from fakekube.registry.strategy import Strategy, WriteContext

GROUP = "rbac.authorization.k8s.io"
SUBJECT_KINDS = ("ServiceAccount", "User", "Group")


class RoleBindingStrategy(Strategy):
    """What is particular to RoleBindings, and with ``namespaced`` False to ClusterRoleBindings."""

    def __init__(self, *, namespaced: bool = True) -> None:
        self.namespaced = namespaced

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """The group of roles, users and groups."""
        reference = obj.setdefault("roleRef", {})
        if not reference.get("apiGroup"):
            reference["apiGroup"] = GROUP
        for subject in obj.get("subjects") or ():
            if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
                subject["apiGroup"] = GROUP

    def authorize(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
        """Nobody gives to others what they do not have."""
        escalation.check_binding(obj, old, ctx, resource="rolebindings" if self.namespaced else "clusterrolebindings")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The role, then the subjects.

        Since 1.37 upstream tells missing names last, that of the role at the end.
        """
        role, unnamed = self._role(obj), [] if (obj.get("roleRef") or {}).get("name") else [required("roleRef.name")]
        if ctx.minor < DECLARATIVE_SINCE:
            return role + unnamed + self._subjects(obj)
        return role + self._subjects(obj) + [declared(error) for error in unnamed]

    def _role(self, obj: Tree) -> list[FieldError]:
        reference, found = obj.get("roleRef") or {}, []
        kinds = ("Role", "ClusterRole") if self.namespaced else ("ClusterRole",)
        if reference.get("apiGroup") != GROUP:
            found.append(not_supported("roleRef.apiGroup", reference.get("apiGroup", ""), [GROUP]))
        if reference.get("kind") not in kinds:
            found.append(not_supported("roleRef.kind", reference.get("kind", ""), kinds))
        if reference.get("name"):
            found += ruled("roleRef.name", reference["name"], names.path_segment)
        return found

    def _subjects(self, obj: Tree) -> list[FieldError]:
        found: list[FieldError] = []
        for number, subject in enumerate(obj.get("subjects") or ()):
            found += _subject(index("subjects", number), subject, namespaced=self.namespaced)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the role stays."""
        new, before = obj.get("roleRef") or {}, old.get("roleRef") or {}
        fields = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        shown = {field: new.get(name, "") for field, name in fields}
        unnamed = [] if new.get("name") else [required("roleRef.name")]
        changed = invalid("roleRef", shown, IMMUTABLE)._replace(before=invalid("roleRef", shown, "cannot change roleRef"))
        return self._role(obj) + unnamed + self._subjects(obj) + ([changed] if new != before else [])


def _subject(path: str, subject: Tree, *, namespaced: bool) -> list[FieldError]:
    kind, group, name = subject.get("kind", ""), subject.get("apiGroup", ""), subject.get("name", "")
    found = [] if name else [declared(required(child(path, "name")))]
    if kind not in SUBJECT_KINDS:
        return [*found, not_supported(child(path, "kind"), kind, SUBJECT_KINDS)]
    if kind != "ServiceAccount":
        return found if group == GROUP else [*found, not_supported(child(path, "apiGroup"), group, [GROUP])]
    found += ruled(child(path, "name"), name, names.dns1123_subdomain) if name else []
    if group:
        found.append(not_supported(child(path, "apiGroup"), group, [""]))
    if not namespaced and not subject.get("namespace"):
        found.append(required(child(path, "namespace")))
    return found


STRATEGY = RoleBindingStrategy()

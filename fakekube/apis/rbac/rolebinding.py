"""RoleBinding and ClusterRoleBinding: who has a role.

Upstream: pkg/apis/rbac/v1/defaults.go, pkg/apis/rbac/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import Strategy, WriteContext
from fakekube.registry.validation import IMMUTABLE

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

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The role, then the subjects. Upstream tells missing names last."""
        unnamed = [required("roleRef.name")] if not (obj.get("roleRef") or {}).get("name") else []
        return self._role(obj) + self._subjects(obj) + _unnamed_subjects(obj) + unnamed

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
        changed = [invalid("roleRef", shown, IMMUTABLE)] if new != before else []
        return self._role(obj) + unnamed + self._subjects(obj) + changed + _unnamed_subjects(obj)


def _unnamed_subjects(obj: Tree) -> list[FieldError]:
    subjects = enumerate(obj.get("subjects") or ())
    return [required(child(index("subjects", number), "name")) for number, subject in subjects if not subject.get("name")]


def _subject(path: str, subject: Tree, *, namespaced: bool) -> list[FieldError]:
    kind, group = subject.get("kind", ""), subject.get("apiGroup", "")
    if kind not in SUBJECT_KINDS:
        return [not_supported(child(path, "kind"), kind, SUBJECT_KINDS)]
    if kind != "ServiceAccount":
        return [] if group == GROUP else [not_supported(child(path, "apiGroup"), group, [GROUP])]
    found = ruled(child(path, "name"), subject["name"], names.dns1123_subdomain) if subject.get("name") else []
    if group:
        found.append(not_supported(child(path, "apiGroup"), group, [""]))
    if not namespaced and not subject.get("namespace"):
        found.append(required(child(path, "namespace")))
    return found


STRATEGY = RoleBindingStrategy()

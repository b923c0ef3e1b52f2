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
        reference = obj.get("roleRef") or {}
        kinds = ("Role", "ClusterRole") if self.namespaced else ("ClusterRole",)
        found, missing = [], []
        if reference.get("apiGroup") != GROUP:
            found.append(not_supported("roleRef.apiGroup", reference.get("apiGroup", ""), [GROUP]))
        if reference.get("kind") not in kinds:
            found.append(not_supported("roleRef.kind", reference.get("kind", ""), kinds))
        if reference.get("name"):
            found += ruled("roleRef.name", reference["name"], names.path_segment)
        else:
            missing.append(required("roleRef.name"))
        for number, subject in enumerate(obj.get("subjects") or ()):
            path = index("subjects", number)
            if not subject.get("name"):
                missing.append(required(child(path, "name")))
            found += _subject(path, subject, namespaced=self.namespaced)
        return found + missing

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the role stays."""
        new, before = obj.get("roleRef") or {}, old.get("roleRef") or {}
        fields = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        shown = {field: new.get(name, "") for field, name in fields}
        return self.validate(obj, ctx) + ([invalid("roleRef", shown, IMMUTABLE)] if new != before else [])


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

"""Role and ClusterRole: rules of what may be done.

Upstream: pkg/apis/rbac/validation. Who may write which rules ``escalation.py`` knows.
"""

from fakekube.apimachinery.field_errors import FieldError, child, declared, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import label_selector
from fakekube.apis.base import stored_as_null
from fakekube.apis.rbac import escalation
from fakekube.registry.strategy import Strategy, WriteContext


class RoleStrategy(Strategy):
    """What is particular to Roles, and with ``namespaced`` False to ClusterRoles."""

    def __init__(self, *, namespaced: bool = True) -> None:
        self.namespaced = namespaced

    def canonicalize(self, obj: Tree) -> None:
        """An empty list is stored as none."""
        stored_as_null(obj, "rules")

    def authorize(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
        """Nobody grants what they do not have."""
        escalation.check_role(obj, old, ctx, resource="roles" if self.namespaced else "clusterroles")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Every rule, and the selectors of an aggregated role."""
        found: list[FieldError] = []
        for number, rule in enumerate(obj.get("rules") or ()):
            path = index("rules", number)
            if not rule.get("verbs"):
                where = child(path, "verbs")
                found.append(declared(required(where), required(where, "verbs must contain at least one value")))
            found += rule_errors(path, rule, namespaced=self.namespaced)
        if not self.namespaced and "aggregationRule" in obj:
            found += _aggregation(obj["aggregationRule"])
        return found


def rule_errors(path: str, rule: Tree, *, namespaced: bool) -> list[FieldError]:
    """What is wrong with one rule, its verbs aside."""
    urls = rule.get("nonResourceURLs")
    if urls:
        found, where = [], child(path, "nonResourceURLs")
        if namespaced:
            found.append(invalid(where, urls, "namespaced rules cannot apply to non-resource URLs"))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            found.append(invalid(where, urls, text))
        return found
    found = []
    if not rule.get("apiGroups"):
        found.append(required(child(path, "apiGroups"), "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        found.append(required(child(path, "resources"), "resource rules must supply at least one resource"))
    return found


def _aggregation(aggregation: Tree) -> list[FieldError]:
    path, selectors = "aggregationRule.clusterRoleSelectors", aggregation.get("clusterRoleSelectors") or []
    if not selectors:
        return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")]
    found: list[FieldError] = []
    for number, selector in enumerate(selectors):
        wrong = label_selector(selector, index(path, number))
        found += wrong
        if wrong:
            found.append(invalid(index(path, number), None, "invalid label selector."))
    return found


STRATEGY = RoleStrategy()

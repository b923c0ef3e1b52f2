"""Gathers in a ClusterRole with an aggregation rule the rules of all ClusterRoles that it selects.

There are few ClusterRoles: whenever one changes, all that are made of others are reconciled.
Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go.
"""


from collections.abc import Iterable

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CLUSTER_ROLES
from fakekube.runtime.context import Context
from fakekube.runtime.handlers import enqueue
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue

FIELD_MANAGER = "clusterrole-aggregation-controller"
AGGREGATING = "aggregating"
RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


class ClusterRoleReconciler:
    """Writes the rules of one ClusterRole."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.roles = ctx, ctx.client, ctx.lister(CLUSTER_ROLES)
        self.roles.add_index(AGGREGATING, lambda role: ("",) if role.get("aggregationRule") else ())

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch all ClusterRoles."""
        enqueue(self.ctx, CLUSTER_ROLES, queue, self._aggregating)

    def _aggregating(self, _: Tree) -> Iterable[Request]:
        return [meta.key_of(role) for role in self.roles.by_index(AGGREGATING, "")]

    async def reconcile(self, request: Request) -> None:
        """Apply the rules that are selected, unless they are there. Raises APIError."""
        name = request.name
        role = self.roles.get("", name)
        if role is None or not role.get("aggregationRule"):
            return
        rules: list[Tree] = []
        for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
            selected = self.roles.list(selector=labels.from_label_selector(selector))
            for other in sorted(selected, key=meta.name_of):
                if meta.name_of(other) != name:
                    rules += [rule for rule in map(_canonical, other.get("rules") or ()) if rule not in rules]
        if rules != [_canonical(rule) for rule in role.get("rules") or ()]:
            body = {"metadata": {"name": name}, **({"rules": rules} if rules else {})}
            await self.client.patch(CLUSTER_ROLES, name, body=body, type="apply", field_manager=FIELD_MANAGER, force=True)


def _canonical(rule: Tree) -> Tree:
    """The rule without what is empty."""
    return {field: rule[field] for field in RULE_FIELDS if rule.get(field)}

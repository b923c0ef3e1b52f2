"""Gathers in a ClusterRole with an aggregation rule the rules of all ClusterRoles that it selects.

There are few ClusterRoles: whenever one changes, all that are made of others are looked at.
Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go.
"""


from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CLUSTER_ROLES
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker

FIELD_MANAGER = "clusterrole-aggregation-controller"
AGGREGATING = "aggregating"
RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


class ClusterRoleAggregation:
    """A component for the manager."""

    name = "clusterroleaggregation"
    user_agent = "kube-controller-manager"
    user: UserInfo | None = None

    async def start(self, ctx: Context) -> None:
        """Watch ClusterRoles and begin."""
        self.client, self.roles, self.queue = ctx.client, ctx.lister(CLUSTER_ROLES), ctx.queue("ClusterRoleAggregator")
        self.roles.add_index(AGGREGATING, lambda role: ("",) if role.get("aggregationRule") else ())
        ctx.add_handler(CLUSTER_ROLES, self._changed, lambda _, new: self._changed(new), self._changed)
        Worker(ctx, self.queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    def _changed(self, _: Tree) -> None:
        for role in self.roles.by_index(AGGREGATING, ""):
            self.queue.add(meta.name_of(role))

    async def _sync(self, name: str) -> None:
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

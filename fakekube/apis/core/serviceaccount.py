"""ServiceAccount: a name and its secrets.

Upstream: pkg/registry/core/serviceaccount.
"""

from fakekube.apimachinery.types import Tree
from fakekube.registry.strategy import Strategy, WriteContext

ENFORCE = "kubernetes.io/enforce-mountable-secrets"


class ServiceAccountStrategy(Strategy):
    """What is particular to ServiceAccounts."""

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Of the secrets it refers to, only names are kept."""
        _keep_names(obj)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As on create."""
        _keep_names(obj)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """The annotation that guards secrets is on its way out."""
        present = ENFORCE in (obj["metadata"].get("annotations") or {})
        before = ENFORCE in ((old or {}).get("metadata", {}).get("annotations") or {})
        if not present or before:
            return []
        text = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        return [f"metadata.annotations[{ENFORCE}]: {text}"]


def _keep_names(obj: Tree) -> None:
    if obj.get("secrets"):
        obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]


STRATEGY = ServiceAccountStrategy()

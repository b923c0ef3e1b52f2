"""Old names of flow control: before v1beta3 shares of concurrency were "assured".

Upstream: pkg/apis/flowcontrol.
"""

from fakekube.apimachinery.types import Tree


def to_nominal(tree: Tree) -> Tree:
    """The stored form of a PriorityLevelConfiguration of v1beta1 or v1beta2."""
    return _renamed(tree, "assuredConcurrencyShares", "nominalConcurrencyShares")


def from_nominal(tree: Tree) -> Tree:
    """The form of v1beta1 and v1beta2."""
    return _renamed(tree, "nominalConcurrencyShares", "assuredConcurrencyShares")


def _renamed(tree: Tree, old: str, new: str) -> Tree:
    limited = (tree.get("spec") or {}).get("limited")
    if limited and old in limited:
        limited[new] = limited.pop(old)
    return tree

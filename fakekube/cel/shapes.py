"""What tells that two parts of expressions of one environment are computed alike."""

from collections.abc import Hashable

from fakekube.cel import tree

_ALIKE = frozenset({"!_", "-_", "@in", "@not_strictly_false", "contains", "endsWith", "size", "startsWith"})


def shape(part: tree.Expression) -> tuple[Hashable, ...] | None:
    """The same for two parts that give the same and cost the same on the same variables.

    None for a part of which that is not known: one that calls anything but operators and a few
    functions, since what others cost may depend on what was computed before them.
    """
    described = [_described(node) for node in tree.bottom_up(part, lambda node: node.children())]
    return None if None in described else tuple(described)


def _described(node: tree.Expression) -> Hashable:
    """What a node is beside its parts, and how many it has; None for what is not described."""
    if isinstance(node, tree.Literal):
        return (node.value.__class__, repr(node.value))
    if isinstance(node, tree.Ident):
        return (tree.Ident, node.name)
    if isinstance(node, tree.Select):
        return (tree.Select, node.field, node.test_only)
    if isinstance(node, tree.Call) and (node.function in _ALIKE or node.function.startswith("_")):
        return (tree.Call, node.function, node.target is None, len(node.arguments))
    if isinstance(node, tree.CreateList) and not node.optional:
        return (tree.CreateList, len(node.elements))
    if isinstance(node, tree.Comprehension):
        return (tree.Comprehension, node.variable, node.variable2, node.accumulator)
    return None

"""Changes that the tool has no operator for: another text, and a statement left out."""

from collections.abc import Iterator
from typing import Any

import parso
from cosmic_ray.operators.operator import Example, Operator

Position = tuple[tuple[int, int], tuple[int, int]]


class TextReplacer(Operator):
    """A text becomes another one; docstrings are told apart later."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """Every literal text, and every literal piece of a formatted one."""
        if node.type in ("string", "fstring_string") and node.value.strip("rbRBuU\"'"):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """A letter more, inside of the quotes."""
        if node.type == "fstring_string":
            node.value += "x"
            return node
        quotes = 3 if node.value.endswith(('"""', "'''")) else 1
        node.value = f"{node.value[:-quotes]}x{node.value[-quotes:]}"
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """What it does."""
        return (Example("a = 'b'", "a = 'bx'"), Example("a = f'b{c}'", "a = f'bx{c}'"))


class StatementRemover(Operator):
    """A call whose result nobody takes, a raise or a deletion is left out."""

    REMOVED = ("atom_expr", "await", "raise_stmt", "del_stmt", "return_stmt")

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """The statements that are there for their effect."""
        if node.type == "simple_stmt" and node.children[0].type in self.REMOVED:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """``pass`` stands in its place, on as many lines."""
        first = node.children[0]
        node.children[0] = parso.python.tree.Keyword("pass", first.start_pos, first.get_first_leaf().prefix)
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """What it does."""
        return (Example("f(a)\n", "pass\n"), Example("if a: raise b\n", "if a: pass\n"))

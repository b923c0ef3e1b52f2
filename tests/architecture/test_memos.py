"""What is remembered takes a bounded amount of memory, however long the texts are that are sent."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MOST_BYTES = 64 << 20
BODY_BYTES = 3 << 20
"""Of the longest text that anybody can send: the body of a request."""
OURS = {"environment", "_by_pattern", "_definitions", "_served", "_read", "_reader", "structs"}
"""Functions of names that are ours: of releases, packages, files."""


def value_of(node: ast.expr, names: dict[str, Any]) -> int:
    """A number, as a module writes it."""
    text = ast.unparse(node)
    return int(eval(text, {"__builtins__": {}}, names))


def constants(tree: ast.Module, path: Path) -> dict[str, Any]:
    """What expressions in a module may name."""
    import importlib

    names = path.relative_to(ROOT).with_suffix("").parts
    return vars(importlib.import_module(".".join(names[1:] if names[0] == "controllers" else names)))


def memos(path: Path) -> Iterator[tuple[str, int]]:
    """The memos of a module whose first argument is a text, and how much they may keep."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not node.args.args:
            continue
        first = node.args.args[0].annotation
        if first is None or ast.unparse(first) not in ("str", "bytes", "str | float") or node.name in OURS:
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("memoized"):
                names = constants(tree, path)
                longest = next((value_of(one.value, names) for one in decorator.keywords if one.arg == "longest"), BODY_BYTES)
                yield f"{path.relative_to(ROOT)}: {node.name}", value_of(decorator.args[0], names) * longest


MEMOS = [memo for folder in ("fakekube", "controllers") for path in sorted((ROOT / folder).rglob("*.py"))
         if "memoized(" in path.read_text() for memo in memos(path)]


def test_there_are_memos_of_texts() -> None:
    """Given the packages, when memos of texts are looked for, then many are found."""
    assert len(MEMOS) > 20


@pytest.mark.parametrize(("name", "size"), MEMOS)
def test_a_memo_of_texts_is_bounded_by_their_length(name: str, size: int) -> None:
    """Given a memo of texts that anybody may send, when it is full of the longest that it keeps,
    then it is not large: where bodies could be kept whole there would be no more than a few.
    """
    assert size <= MOST_BYTES, f"{name} says longest=..."

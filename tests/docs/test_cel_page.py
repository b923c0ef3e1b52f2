"""What docs/cel.md shows in Python is true."""

import ast
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "cel.md").read_text()
BLOCKS = [part.split("```", 1)[0] for part in PAGE.split("```python\n")[1:]]


def test_every_value_on_the_page_is_what_it_says() -> None:
    """given the blocks of the page, when they are run in order, then each expression with a
    comment has the value that the comment shows
    """
    names: dict[str, Any] = {}
    shown = 0
    for block in BLOCKS:
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            _, _, comment = lines[(statement.end_lineno or 0) - 1].partition("  # ")
            if isinstance(statement, ast.Expr) and comment:
                value = eval(compile(ast.Expression(statement.value), "page", "eval"), names)
                assert repr(value) == comment.strip()
                shown += 1
            else:
                exec(compile(ast.Module([statement], []), "page", "exec"), names)
    assert shown >= 5


@pytest.mark.parametrize("name", ["CompileError", "ProgramError", "EvaluationError", "CostExceeded"])
def test_every_error_is_on_the_page(name: str) -> None:
    """given an error that expressions raise, when the page is searched, then it is there"""
    assert f"`{name}`" in PAGE

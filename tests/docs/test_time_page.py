"""The recipes of the page about time pass as their reader would run them."""

from pathlib import Path

import pytest

from tests.docs.test_readme import of_page, python


@pytest.mark.parametrize(("recipe", "tests"), [("kopf", 1), ("threads", 2), ("a process", 1)])
def test_recipes_for_clients_outside(tmp_path: Path, recipe: str, tests: int) -> None:
    """Given the recipe for an operator in a thread or a process, when pytest runs it in an empty
    project, then it passes.
    """
    (tmp_path / "test_recipe.py").write_text(of_page("time.md", f"pytest, {recipe}"))
    printed = python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")
    assert f"{tests} passed" in printed

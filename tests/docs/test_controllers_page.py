"""What docs/controllers.md shows works, and a type checker agrees."""

from pathlib import Path

import pytest

from fakekube.runtime.builder import Builder
from tests.docs.test_readme import ROOT, of_page, python
from tests.types.test_user_project import mypy


@pytest.mark.parametrize("name", ["headless", "expiry"])
def test_the_controllers_work_and_type_check(tmp_path: Path, name: str) -> None:
    """Given a controller of the page and its test, when pytest runs them and mypy reads them
    strictly, then both are content.
    """
    (tmp_path / f"{name}.py").write_text(of_page("controllers.md", f"module {name}.py"))
    (tmp_path / "test_page.py").write_text(of_page("controllers.md", f"pytest, {name}"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "1 passed" in python(tmp_path, "-m", "pytest", *settings, "test_page.py")
    assert mypy(tmp_path, "test_page.py") == "Success: no issues found in 1 source file\n"


def test_every_step_of_a_declaration_is_in_the_table() -> None:
    """Given the builder's steps, when the page is read, then its table has a row for each."""
    text = (ROOT / "docs/controllers.md").read_text()
    steps = [name for name, value in vars(Builder).items() if callable(value) and not name.startswith("_")]
    assert [step for step in steps if f"\n| `.{step}(" not in text] == []

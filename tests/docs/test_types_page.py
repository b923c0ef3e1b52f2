"""What docs/types.md shows works, and a type checker agrees."""

from pathlib import Path

import pytest

from tests.docs.test_readme import of_page, python
from tests.types.test_user_project import mypy


@pytest.mark.parametrize("how", ["python, models", "python, own kinds"])
def test_the_programs_run(tmp_path: Path, how: str) -> None:
    """Given a program of the page, when Python runs it, then what it claims holds."""
    assert python(tmp_path, "-W", "error", "-c", of_page("types.md", how)) == ""


def test_the_controller_works_and_type_checks(tmp_path: Path) -> None:
    """Given the page's controller and its test, when pytest runs them and mypy reads them strictly,
    then both are content.
    """
    (tmp_path / "test_page.py").write_text(of_page("types.md", "pytest, models"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "1 passed" in python(tmp_path, "-m", "pytest", *settings, "test_page.py")
    assert mypy(tmp_path, "test_page.py") == "Success: no issues found in 1 source file\n"

"""What docs/operators.md shows works, and a type checker agrees."""

from pathlib import Path

from fakekube.runtime import AddOn
from tests.docs.test_readme import ROOT, of_page, python
from tests.types.test_user_project import mypy


def test_the_operator_works_and_type_checks(tmp_path: Path) -> None:
    """Given the operator of the page and its test, when pytest runs them and mypy reads them
    strictly, then both are content.
    """
    (tmp_path / "shop.py").write_text(of_page("operators.md", "module shop.py"))
    (tmp_path / "test_page.py").write_text(of_page("operators.md", "pytest, shop"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "1 passed" in python(tmp_path, "-m", "pytest", *settings, "test_page.py")
    assert mypy(tmp_path, "test_page.py") == "Success: no issues found in 1 source file\n"


def test_every_field_of_a_declaration_is_in_the_table() -> None:
    """Given the fields of an add-on, when the page is read, then its table has a row for each."""
    text = (ROOT / "docs/operators.md").read_text()
    assert [name for name in AddOn._fields if f"\n| `{name}` |" not in text] == []

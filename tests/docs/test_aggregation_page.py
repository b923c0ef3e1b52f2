"""What docs/aggregation.md shows works."""

from pathlib import Path

from tests.docs.test_readme import of_page, python


def test_the_recipe_works(tmp_path: Path) -> None:
    """Given the test of the page, when pytest runs it, then it passes."""
    (tmp_path / "test_page.py").write_text(of_page("aggregation.md", "pytest"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "1 passed" in python(tmp_path, "-m", "pytest", *settings, "test_page.py")

"""What docs/workloadbuilder.md shows works."""

from pathlib import Path

from tests.docs.test_readme import of_page, python


def test_the_example_works(tmp_path: Path) -> None:
    """Given the page's controller and its tests, when pytest runs them, then they pass."""
    (tmp_path / "trainer.py").write_text(of_page("workloadbuilder.md", "module trainer.py"))
    (tmp_path / "test_page.py").write_text(of_page("workloadbuilder.md", "pytest, trainer"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "2 passed" in python(tmp_path, "-m", "pytest", *settings, "test_page.py")

"""What docs/admission.md shows works, and what it lists is there."""

from pathlib import Path

from fakekube.admission.chain import OFF_BY_DEFAULT
from fakekube.composition.functionwebhooks import FIELDS
from tests.docs.test_readme import ROOT, of_page, python

TEXT = (ROOT / "docs/admission.md").read_text()


def test_the_recipe_works(tmp_path: Path) -> None:
    """Given the test of the page, when pytest runs it, then it passes."""
    (tmp_path / "test_page.py").write_text(of_page("admission.md", "pytest"))
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "1 passed" in python(tmp_path, "-m", "pytest", *settings, "test_page.py")


def test_it_names_every_plugin_and_every_field() -> None:
    """Given the plugins that are off by default and the fields of webhooks, when the page is read,
    then all are named."""
    assert [name for name in OFF_BY_DEFAULT if name not in TEXT] == []
    assert [name for name in FIELDS if f"`{name}`" not in TEXT] == []

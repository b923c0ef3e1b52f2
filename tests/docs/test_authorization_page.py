"""What docs/authorization.md shows comes true."""

import re

from tests.docs.test_readme import ROOT, python

PAGE = (ROOT / "docs/authorization.md").read_text()


def test_the_test_that_it_shows_passes(tmp_path) -> None:
    """Given the test that the page shows, when pytest runs it in an empty project, then it
    passes.
    """
    [code] = re.findall(r"<!-- run: rbac -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "test_page.py").write_text(code)
    assert "1 passed" in python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")

"""What the page about traces shows works, and prints what the page says."""

import re
from pathlib import Path

from tests.docs.test_readme import ROOT, of_page, python

PRINTED = re.compile(r"<!-- printed -->\n```text\n(.*?)```", re.DOTALL)


def test_the_test_on_the_page_prints_what_it_says(tmp_path: Path) -> None:
    """Given the test that the page shows, when pytest runs it in an empty project, then it passes,
    and prints the trace on the page.
    """
    (tmp_path / "test_page.py").write_text(of_page("tracing.md", "pytest"))
    output = python(tmp_path, "-m", "pytest", "-q", "-s", "-o", "asyncio_default_fixture_loop_scope=function")
    [printed] = PRINTED.findall((ROOT / "docs" / "tracing.md").read_text())
    assert without_names(printed) in without_names(output)
    assert "1 passed" in output


def without_names(text: str) -> str:
    """A trace without versions and names that are drawn: those follow from all that a cluster does.
    """
    return re.sub(r"report-\w{5}", "report-x", re.sub(r" #\d+ +", " # ", text))

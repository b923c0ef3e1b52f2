"""The page about exploration does what it says, as its reader would run it."""

import re
from pathlib import Path

from fakekube.util.choices import DELAYS_SECONDS, MOST_IN_LINE
from fakekube.util.timers import MOST_OF_ONE_INSTANT
from tests.docs.test_readme import ROOT, of_page, python

OPTIONS = ("-q", "-o", "asyncio_default_fixture_loop_scope=function")
"""Nothing that a reader would have to say in a file of theirs."""


def ran(folder: Path, *arguments: str) -> str:
    program = f"import sys, pytest; pytest.main([{', '.join(map(repr, (*OPTIONS, *arguments)))}])"
    return python(folder, "-c", program)


def test_the_race_is_found_and_mended_as_the_page_says(tmp_path: Path) -> None:
    """Given the operator of the page, when its test runs, then a seed fails and is told; when the
    pod has a name, then none does.
    """
    code = of_page("exploration.md", "pytest, race")
    test = tmp_path / "test_web.py"
    test.write_text(code)
    told = ran(tmp_path, str(test))
    assert re.search(r"the calm run passes, seed \d+ fails: shrunk from \d+ deviations to \d+ in \d+ runs", told)
    command = re.search(r"pytest (\S+::test_there_is_one_pod) --fakekube-schedule (\S+)", told)
    assert command is not None
    assert "1 failed" in ran(tmp_path, str(test), "--fakekube-schedule", command[2])
    mended = code.replace('"generateName": "web-"', '"name": "web-0"').replace("explore=200", "explore=30")
    test.write_text(mended)
    assert re.search(r"30 seeds, \d+ distinct histor(y|ies), no failure", ran(tmp_path, str(test)))


def test_the_page_says_how_late_and_how_far() -> None:
    """Given the bounds of what a seed does, when the page is read, then it has those."""
    page = (ROOT / "docs" / "exploration.md").read_text()
    assert f"up to {max(DELAYS_SECONDS) * 1000:g} ms" in page
    assert MOST_IN_LINE == MOST_OF_ONE_INSTANT == 4
    assert "one of the first four" in page

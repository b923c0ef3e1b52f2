"""What docs/kueue.md and docs/fleets.md show comes true."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["kueue", "fleets"])
def test_the_tests_of_the_page_pass(pytester: pytest.Pytester, page: str) -> None:
    """Given the tests on a page, when pytest runs them, then all pass."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    blocks = re.findall(r"<!-- run: pytest -->\n```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)
    assert blocks
    pytester.makepyfile(**{f"test_{number}": code for number, code in enumerate(blocks)})
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=len(blocks))

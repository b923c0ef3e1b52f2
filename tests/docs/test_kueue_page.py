"""What docs/kueue.md shows comes true."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/kueue.md").read_text()


def test_the_tests_of_the_page_pass(pytester: pytest.Pytester) -> None:
    """Given the tests on the page, when pytest runs them, then all pass."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    blocks = re.findall(r"<!-- run: pytest -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    pytester.makepyfile(**{f"test_{number}": code for number, code in enumerate(blocks)})
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=len(blocks))

"""What the page about faults shows works."""

import re
from pathlib import Path

import yaml

from fakekube.faults.rules import DOES, ErrorName, Rule, rules_of
from tests.docs.test_readme import ROOT, of_page, python


def test_the_tests_on_the_page_pass(tmp_path: Path) -> None:
    """Given the tests that the page shows, when pytest runs them in an empty project, then they
    pass.
    """
    (tmp_path / "test_page.py").write_text(of_page("faults.md", "pytest"))
    output = python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "2 passed" in output


def test_the_plan_on_the_page_is_one() -> None:
    """Given the plan that the page shows, when it is read, then it has three rules."""
    rules = rules_of(yaml.safe_load(of_page("faults.md", "plan")))
    assert [rule.what for rule in rules] == ["cut after", "error EtcdLeaderChanged", "stale"]


def test_the_page_names_every_fault_and_every_field() -> None:
    """Given what rules may say, when the page is read, then each stands in it."""
    lines = (ROOT / "docs" / "faults.md").read_text().splitlines()
    told = [one for line in lines for one in re.findall(r"`([^`]+)`", line)]
    names = {*DOES, *ErrorName.__args__, *Rule.model_fields} - {"name", "retry_after_seconds"}
    assert sorted(name for name in names if not any(re.search(rf"\b{name}\b", one) for one in told)) == []

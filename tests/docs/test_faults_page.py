"""What the page about faults shows works."""

import re
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import yaml

from fakekube import Cluster
from fakekube.faults.rules import DOES, ErrorName, Rule, WatchFault, json_schema, rules_of
from tests.docs.test_readme import ROOT, of_page, python


def test_the_tests_on_the_page_pass(tmp_path: Path) -> None:
    """Given the tests that the page shows, and the plan that one of them names, when pytest runs
    them in an empty project, then they pass.
    """
    (tmp_path / "test_page.py").write_text(of_page("faults.md", "pytest"))
    (tmp_path / "test_outside.py").write_text(of_page("faults.md", "pytest, outside"))
    (tmp_path / "plan.yaml").write_text(of_page("faults.md", "plan"))
    output = python(tmp_path, "-m", "pytest", "-q", "-o", "asyncio_default_fixture_loop_scope=function")
    assert "5 passed" in output


def test_the_plan_on_the_page_is_one() -> None:
    """Given the plan that the page shows, when it is read, then it has three rules."""
    rules = rules_of(yaml.safe_load(of_page("faults.md", "plan")))
    assert [rule.what for rule in rules] == ["cut after", "error EtcdTimeout", "stale"]


async def test_one_of_each_is_each() -> None:
    """Given the list of the page, when a cluster begins with it, then it takes it, and the list has
    every field and every answer that there is.
    """
    tree = yaml.safe_load(of_page("faults.md", "plan, each"))
    rules = rules_of(tree)
    jsonschema.validate(tree, json_schema())
    assert {field for rule in rules for field in rule.model_fields_set} == set(Rule.model_fields)
    assert {rule.error for rule in rules if rule.error} == set(ErrorName.__args__)
    assert {rule.watch for rule in rules if rule.watch} == set(WatchFault.__args__)
    assert {rule.webhook for rule in rules} | {rule.cut for rule in rules} == {
        None, "refused", "timeout", "error", "before", "after", "body"}
    assert {rule.does[0] for rule in rules} == set(DOES)
    async with Cluster(nodes=0, faults=tree) as cluster:
        assert len(cluster.faults) == len(rules)


def test_the_page_names_every_fault_and_every_field() -> None:
    """Given what rules may say, when the page is read, then each stands in it."""
    lines = (ROOT / "docs" / "faults.md").read_text().splitlines()
    told = [one for line in lines for one in re.findall(r"`([^`]+)`", line)]
    names = {*DOES, *ErrorName.__args__, *Rule.model_fields} - {"name", "retry_after_seconds"}
    assert sorted(name for name in names if not any(re.search(rf"\b{name}\b", one) for one in told)) == []

"""What is refused, and in which words: of each file a row of objects, each with many things wrong
at once, and of what is told all of it, in order.

``told`` are the causes, ``warned`` the warnings; who has none of the first is accepted. With
``before`` that is created first and ``object`` put in its place, with ``status`` through the status
endpoint, or another that ``through`` names.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.fuzz.conftest import Target

FOLDER = Path(__file__).parent


def cases() -> Iterator[Any]:
    """All of them, each named after its file and its title."""
    for file in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.load(file.read_text(), yaml.CSafeLoader):
            yield pytest.param(case, id=f"{file.stem}-{case['case'].replace(' ', '-')}")


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    found = Target()
    yield found
    found.loop.close()


def put(target: Target, case: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What is told of a case, and the warnings."""
    path, meta = case["at"], case["object"].get("metadata", {})
    tree = {**case["object"], "metadata": {"name": "x", **meta}}
    query = {"fieldValidation": "Strict", "dryRun": "All"}
    if "before" not in case:
        answer = target.send("POST", path, orjson.dumps(tree), query=query)
    else:
        # what has finalizers stays
        before = {"metadata": {"name": case["case"].replace(" ", "-")}, **case["before"]}
        made = target.send("POST", path, orjson.dumps(before))
        assert made.status == 201, made.body
        name = before["metadata"]["name"]
        version = orjson.loads(made.body)["metadata"]
        tree["metadata"] = {**version, **meta}
        through = case.get("through", "")
        answer = target.send("PUT", f"{path}/{name}{through and '/'}{through}", orjson.dumps(tree), query=query)
        query = {"gracePeriodSeconds": "0"}
        assert target.send("DELETE", f"{path}/{name}", query=query).status == 200
    warned = [value.partition('"')[2][:-1].replace('\\"', '"') for name, value in answer.headers if name == "Warning"]
    if answer.status in (200, 201):
        return [], warned
    status = orjson.loads(answer.body)
    causes = (status.get("details") or {}).get("causes") or []
    return [f"{cause['field']}: {cause['message']}" for cause in causes] or [f"{status['code']}: {status['message']}"], warned


@pytest.mark.parametrize("case", list(cases()))
def test_every_fault_is_told_in_upstreams_words(target: Target, case: dict[str, Any]) -> None:
    """Given an object with many faults / when it is sent / then all of them are told, and what is
    only discouraged is warned of.
    """
    told, warned = put(target, case)
    assert told == case.get("told", [])
    assert warned == case.get("warned", [])

"""What upstream says of many more expressions: by the library that they are about.

``upstream/main.go`` was asked, as for ``answers.jsonl``; what it said stands in ``upstream/said``.
Of texts that are no expression only the places and the words of the errors are kept.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cel.test_upstream_answers import QUESTION, ours

FOLDER = Path(__file__).parent / "upstream" / "said"
SUBJECTS = (
    "formats", "formatting", "lists", "loops", "networks", "optionals", "quantities", "regex", "releases", "semvers", "sets",
    "standard", "strings", "urls",
)
ERROR = re.compile(r"^ERROR: <input>:([-\d]+:\d+: .*)$", re.MULTILINE)


def said(subject: str) -> list[dict[str, Any]]:
    """The questions and the answers."""
    return [json.loads(line) for line in (FOLDER / f"{subject}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_expressions_are_what_upstream_says(subject: str) -> None:
    """given expressions, when they are compiled and run, then type, value or error, the estimates
    and the cost are upstream's
    """
    differing = {}
    for answer in said(subject):
        expected = {key: value for key, value in answer.items() if key not in QUESTION}
        found = ours(answer)
        if found != expected:
            differing[json.dumps(answer)] = found
    assert differing == {}


def test_syntax_errors_are_what_upstream_says() -> None:
    """given texts that are no expression, when they are compiled, then all errors are upstream's"""
    found = {answer["expr"]: ERROR.findall(ours(answer).get("compile", "")) for answer in said("syntax")}
    assert found == {answer["expr"]: answer["errors"] for answer in said("syntax")}

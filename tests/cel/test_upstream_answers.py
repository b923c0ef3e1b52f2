"""Expressions of all libraries, answered by upstream's own code.

``upstream/main.go`` evaluates expressions with the libraries of apiserver v0.37.1; what it said
stands in ``upstream/answers.jsonl``: the expression, its data, then its type with a value or an
error, or why it does not compile, and what it costs.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cel import shown

ANSWERS = [json.loads(line) for line in (Path(__file__).parent / "upstream" / "answers.jsonl").read_text().splitlines()]


def name_of(answer: dict[str, Any]) -> str:
    """A name for a test: the expression, and the data if there is some."""
    return f"{answer['expr']} {json.dumps(answer['data']) if 'data' in answer else ''}"[:100]


@pytest.mark.spec("API-158")
@pytest.mark.parametrize("answer", ANSWERS, ids=name_of)
def test_an_expression_is_what_upstream_says(answer: dict[str, Any]) -> None:
    """given an expression, when it is compiled and evaluated, then all is as upstream has it"""
    ours = shown.answer(answer["expr"], answer.get("data", {}), minor=answer.get("minor", 37), stored=answer.get("stored", True))
    assert ours == {key: answer[key] for key in ("compile", "type", "error", "value") if key in answer}

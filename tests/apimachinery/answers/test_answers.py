"""What pure functions answer, to the last letter."""

import json
from typing import Any

import pytest

from tests.apimachinery.answers.answers import FOLDER, FUNCTIONS, answer, rows


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_answers(name: str) -> None:
    """Given questions to a function, when they are asked, then it gives the answers that stand in
    the table.
    """
    told: list[list[Any]] = [json.loads(line) for line in (FOLDER / "answers.txt").read_text().splitlines()]
    assert [[one, arguments, answer(one, arguments)] for one, arguments in rows() if one == name] == [
        row for row in told if row[0] == name]

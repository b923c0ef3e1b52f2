"""What patches and owners of fields come to, to the last letter."""

import json
from typing import Any

import pytest

from tests.managedfields.told.answers import FILE, FUNCTIONS, answer

ROWS: list[list[Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_it_comes_to(name: str) -> None:
    """Given objects, patches and owners / when they are put together / then what comes of it, or
    the refusal, is what stands in the table, in this order.
    """
    wanted = [row for row in ROWS if row[0] == name]
    assert wanted
    assert [json.dumps([*row[:2], answer(*row[:2])]) for row in wanted] == [json.dumps(row) for row in wanted]
